/* Reads a contract: the schema, then what a schema can't say, then nothing is left to doubt.
 *
 * Invariant: a message names file, line and key. */
#include "contract/spec_parts.h"

#include "base/similar.h"
#include "base/strbuf.h"
#include "yaml/load.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum ssan_status spec_blame(struct ssan_error *err, const struct spec *spec, const char *name,
                            const char *path, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const uint32_t line = yaml_lines_find(&spec->lines, path);
    return ssan_fail(err, SSAN_FORMAT, line, "%.100s:%" PRIu32 ": %s%.100s%s%.280s", name, line,
                     *path ? "'" : "", path, *path ? "': " : "", text);
}

/* "name, values, mode" */
static void list_keys(struct strbuf *out, const char *const *keys)
{
    for (size_t i = 0; keys[i]; i++) {
        strbuf_printf(out, "%s%s", i ? ", " : "", keys[i]);
    }
}

/* What is wrong with a key of the mapping at the fault's path. */
static void tell_key(struct strbuf *out, const struct yaml_fault *fault)
{
    const char *keys[SPEC_KEYS_MOST + 1];
    size_t count = 0;
    if (!spec_keys(fault->path, keys)) {
        keys[0] = NULL;
    }
    while (keys[count]) {
        count++;
    }
    const char *near = similar_word(fault->word, keys, count);
    strbuf_printf(out, "there is no key '%s'", fault->word);
    if (near) {
        strbuf_printf(out, "; did you mean '%s'?", near);
    } else {
        strbuf_puts(out, "; it has ");
        list_keys(out, keys);
    }
}

/* What belongs where a text, a list or a mapping of another kind stands. */
static void tell_form(struct strbuf *out, const struct yaml_fault *fault)
{
    const char *keys[SPEC_KEYS_MOST + 1];
    if (spec_keys(fault->path, keys)) {
        strbuf_puts(out, !fault->wanted || fault->wanted->type == CYAML_MAPPING
                             ? "keys are wanted, each with a colon: "
                             : "keys or a list of them are wanted, each with a colon: ");
        list_keys(out, keys);
    } else if (fault->wanted && fault->wanted->type != CYAML_SEQUENCE) {
        strbuf_printf(out, "one %s is wanted here, not %s",
                      fault->wanted->type == CYAML_STRING ? "text" : "word or number",
                      fault->form == YAML_FORM_LIST ? "a list"
                                                    : "keys: a text with a colon and a space in "
                                                      "it stands in quotes");
    } else {
        strbuf_puts(out, "a list is wanted here, such as [one, two]");
    }
}

/* A word that is none of those of the schema. */
static void tell_word(struct strbuf *out, const struct yaml_fault *fault)
{
    const char *words[SPEC_KEYS_MOST];
    size_t count = 0;
    strbuf_printf(out, "'%s' is not taken here", fault->word);
    if (fault->wanted && fault->wanted->type == CYAML_BOOL) {
        strbuf_puts(out, "; it takes true or false");
        return;
    }
    while (fault->wanted && count < fault->wanted->enumeration.count && count < SPEC_KEYS_MOST) {
        words[count] = fault->wanted->enumeration.strings[count].str;
        strbuf_printf(out, "%s%s",
                      count == 0                                      ? "; it takes "
                      : count + 1 == fault->wanted->enumeration.count ? " or "
                                                                      : ", ",
                      words[count]);
        count++;
    }
    const char *near = similar_word(fault->word, words, count);
    if (near) {
        strbuf_printf(out, "; did you mean '%s'?", near);
    }
}

static void tell_number(struct strbuf *out, const struct yaml_fault *fault)
{
    const cyaml_type_e type = fault->wanted ? fault->wanted->type : CYAML_FLOAT;
    strbuf_printf(out, "%s, not '%s'",
                  type == CYAML_FLOAT ? "a number is wanted, such as 0.01 or 1e-5"
                  : type == CYAML_INT ? "a whole number is wanted, in digits"
                                      : "a whole number is wanted, in digits and not negative",
                  fault->word);
}

static void tell_long(struct strbuf *out, const struct yaml_fault *fault)
{
    if (fault->wanted && fault->wanted->type == CYAML_SEQUENCE) {
        strbuf_printf(out, "has more than %u entries", (unsigned)fault->wanted->sequence.max);
    } else {
        strbuf_puts(out, "is too long");
    }
}

static enum ssan_status blame_schema(struct ssan_error *err, const struct spec *spec,
                                     const char *name, const struct yaml_fault *fault)
{
    char path[sizeof fault->path + sizeof fault->word + 2];
    struct strbuf text = {0};
    const bool inside = fault->kind == YAML_FAULT_UNKNOWN_KEY || fault->kind == YAML_FAULT_TWICE;
    snprintf(path, sizeof path, "%s%s%s", fault->path, inside && fault->path[0] ? "." : "",
             inside ? fault->word : "");
    switch (fault->kind) {
    case YAML_FAULT_UNKNOWN_KEY:
        tell_key(&text, fault);
        break;
    case YAML_FAULT_MISSING_KEY:
        strbuf_printf(&text, "the key '%s' is missing", fault->word);
        break;
    case YAML_FAULT_TWICE:
        strbuf_puts(&text, "stands twice");
        break;
    case YAML_FAULT_EMPTY:
        strbuf_puts(&text, "is empty");
        break;
    case YAML_FAULT_LONG:
        tell_long(&text, fault);
        break;
    case YAML_FAULT_WORD:
        tell_word(&text, fault);
        break;
    case YAML_FAULT_NUMBER:
        tell_number(&text, fault);
        break;
    case YAML_FAULT_FORM:
        tell_form(&text, fault);
        break;
    }
    const enum ssan_status status = spec_blame(err, spec, name, path, "%s", strbuf_text(&text));
    strbuf_finish(&text);
    return status;
}

enum ssan_status spec_parse(struct spec *spec, const char *name, const char *text, size_t length,
                            const char *const *checks, size_t check_count, struct ssan_error *err)
{
    struct yaml_fault fault = {0};
    struct ssan_error inner = {0};
    void *data = NULL;
    *spec = (struct spec){0};
    enum ssan_status status =
        yaml_load(&data, NULL, &spec_schema, text, length, &spec->lines, &fault, &inner);
    spec->contract = data;
    if (status == SSAN_FORMAT && inner.text[0]) {
        return ssan_fail(err, SSAN_FORMAT, inner.position, "%.150s:%" PRIu64 ": %.340s", name,
                         inner.position, inner.text);
    }
    if (status == SSAN_FORMAT) {
        return blame_schema(err, spec, name, &fault);
    }
    if (status) {
        return ssan_fail(err, status, 0, "%s", inner.text);
    }
    if (!spec->contract) {
        return ssan_fail(err, SSAN_FORMAT, 0,
                         "%.150s: it holds no contract; --template prints one to start from", name);
    }
    const struct spec_checking checking = {spec, name, checks, check_count, err};
    return spec_check(&checking);
}

void spec_finish(struct spec *spec)
{
    yaml_unload(&spec_schema, spec->contract, 0);
    yaml_lines_finish(&spec->lines);
    *spec = (struct spec){0};
}
