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
        strbuf_puts(out, strchr(fault->path, '[') || !fault->path[0]
                             ? "keys are wanted, each with a colon: "
                             : "keys or a list of them are wanted, each with a colon: ");
        list_keys(out, keys);
    } else {
        strbuf_printf(out, "another form is wanted here: a text, or a list such as [one, two]");
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
        strbuf_puts(&text, "is too long");
        break;
    case YAML_FAULT_WORD:
        strbuf_printf(&text, "'%s' is not taken here", fault->word);
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
