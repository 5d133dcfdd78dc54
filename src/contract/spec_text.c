/* What one text of a contract must be: placeholders that are known, and the form that its key
 * wants. */
#include "contract/spec_parts.h"

#include "contract/expand.h"
#include "contract/forms.h"

#include "base/similar.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

static bool is_word(const char *word, const char *name, size_t length)
{
    return strlen(word) == length && memcmp(word, name, length) == 0;
}

/* The place of a name that is no parameter's, OWN_COUNT: there is none. */
enum own { OWN_SIZE, OWN_SLOTS, OWN_PROGRAM, OWN_MACROS, OWN_DEVICE, OWN_COUNT = 9 };
static enum own find_own(const char *name, size_t length)
{
    static const char *const words[OWN_COUNT] = {[OWN_SIZE] = "size",
                                                 [OWN_SLOTS] = "slots",
                                                 [OWN_PROGRAM] = "program",
                                                 [OWN_MACROS] = "macros",
                                                 [OWN_DEVICE] = "device",
                                                 "schedule",
                                                 "repeat",
                                                 "folder",
                                                 "sources"};
    unsigned i = 0;
    while (i < OWN_COUNT && !is_word(words[i], name, length)) {
        i++;
    }
    return (enum own)i;
}

bool spec_text_is_own_name(const char *name)
{
    return find_own(name, strlen(name)) != OWN_COUNT;
}

static bool is_known(const struct spec_known *known, const char *name, size_t length)
{
    switch (find_own(name, length)) {
    case OWN_SIZE:
        return known->over->sizes.count || (known->fault && known->fault->sizes.count);
    case OWN_SLOTS:
        return known->over->slots.count || (known->fault && known->fault->slots.count);
    case OWN_PROGRAM:
        return known->program;
    case OWN_MACROS: /* a word of its own, spec_text_command */
        return false;
    case OWN_COUNT:
        break;
    default:
        return true; /* of each run */
    }
    for (unsigned i = 0; i < known->over->parameters_count; i++) {
        if (is_word(known->over->parameters[i].name, name, length)) {
            return true;
        }
    }
    return false;
}

/* A value that fits any form, as the real one is not known yet. */
static const char *find_known(const void *self, const char *name, size_t length)
{
    return is_known(self, name, length) ? "1" : NULL;
}

/* The text with each placeholder as "1"; refused where a name is none. */
static enum ssan_status expand_known(const struct spec_checking *checking, const char *path,
                                     const char *text, const struct spec_known *known,
                                     struct strbuf *out)
{
    const struct expand_names names = {find_known, known};
    struct ssan_error inner = {0};
    const enum ssan_status status = expand(out, text, &names, &inner);
    return status == SSAN_FORMAT ? SPEC_FAIL(checking, path, "%s", inner.text)
           : status              ? ssan_fail(checking->err, status, 0, "%s", inner.text)
                                 : SSAN_OK;
}

enum ssan_status spec_text_any(const struct spec_checking *checking, const char *path,
                               const char *text, const struct spec_known *known)
{
    struct strbuf out = {0};
    const enum ssan_status status = expand_known(checking, path, text, known, &out);
    strbuf_finish(&out);
    return status;
}

enum ssan_status spec_text_command(const struct spec_checking *checking, const char *path,
                                   const char *text, const struct spec_known *known)
{
    return strcmp(text, "{macros}") == 0 ? SSAN_OK : spec_text_any(checking, path, text, known);
}

bool spec_uses(const struct spec *spec, const char *name)
{
    struct strbuf wanted = {0};
    bool found = false;
    strbuf_printf(&wanted, "{%s}", name);
    for (size_t i = 0; i < spec->lines.places.count && !found; i++) {
        const char *text = spec->lines.places.items[i].text;
        found = text && strstr(text, strbuf_text(&wanted));
    }
    found |= wanted.failed;
    strbuf_finish(&wanted);
    return found;
}

enum ssan_status spec_text_pattern(const struct spec_checking *checking, const char *path,
                                   const char *text, const struct spec_known *known)
{
    struct strbuf out = {0};
    regex_t pattern;
    enum ssan_status status = expand_known(checking, path, text, known, &out);
    if (status == SSAN_OK) {
        const int error = regcomp(&pattern, strbuf_text(&out), REG_EXTENDED | REG_NOSUB);
        char why[100];
        if (error) {
            regerror(error, NULL, why, sizeof why);
            status = SPEC_FAIL(checking, path, "no regular expression: %s", why);
        } else {
            regfree(&pattern);
        }
    }
    strbuf_finish(&out);
    return status;
}

enum ssan_status spec_text_number(const struct spec_checking *checking, const char *path,
                                  const char *text, const struct spec_known *known)
{
    struct strbuf out = {0};
    double number;
    enum ssan_status status = expand_known(checking, path, text, known, &out);
    if (status == SSAN_OK && !forms_number(strbuf_text(&out), &number)) {
        status = SPEC_FAIL(checking, path, "a number is wanted, not '%.60s'", text);
    }
    strbuf_finish(&out);
    return status;
}

/* Checks each text of a list. */
enum ssan_status spec_text_list(const struct spec_checking *checking, const char *path,
                                const struct spec_list *list, const struct spec_known *known,
                                spec_text_check *check)
{
    enum ssan_status status = SSAN_OK;
    for (unsigned i = 0; i < list->count && status == SSAN_OK; i++) {
        char inside[SPEC_PATH_ROOM];
        snprintf(inside, sizeof inside, "%.200s[%u]", path, i);
        status = check(checking, inside, list->items[i], known);
    }
    return status;
}

/* A file below the folder of the contract, by its name alone. */
enum ssan_status spec_text_below(const struct spec_checking *checking, const char *path,
                                 const char *text, const struct spec_known *known)
{
    (void)known;
    return forms_is_below(text) ? SSAN_OK
                                : SPEC_FAIL(checking, path,
                                            "'%.100s': a file below the folder of the contract is "
                                            "wanted, without '..'",
                                            text);
}

enum ssan_status spec_text_macro(const struct spec_checking *checking, const char *path,
                                 const char *text, const struct spec_known *known)
{
    if (!text[0] || text[0] == '-' || text[0] == '=' || (text[0] >= '0' && text[0] <= '9')) {
        return SPEC_FAIL(checking, path, "NAME or NAME=VALUE is wanted, without -D, not '%.60s'",
                         text);
    }
    return spec_text_any(checking, path, text, known);
}

enum ssan_status spec_text_environment(const struct spec_checking *checking, const char *path,
                                       const char *text, const struct spec_known *known)
{
    if (!strchr(text, '=') || text[0] == '=') {
        return SPEC_FAIL(checking, path, "NAME=VALUE is wanted, not '%.60s'", text);
    }
    return spec_text_any(checking, path, text, known);
}

enum ssan_status spec_text_device(const struct spec_checking *checking, const char *path,
                                  const char *text, const struct spec_known *known)
{
    (void)known;
    return forms_is_device(text)
               ? SSAN_OK
               : SPEC_FAIL(checking, path,
                           "it takes virtual, virtual:N (1 to %d) and gpu, not '%.60s'",
                           FORMS_DEVICES_MOST, text);
}

enum ssan_status spec_text_schedule(const struct spec_checking *checking, const char *path,
                                    const char *text, const struct spec_known *known)
{
    (void)known;
    if (strncmp(text, "file:", 5) == 0 && text[5] != '/' && !forms_is_below(text + 5)) {
        return SPEC_FAIL(
            checking, path,
            "'%.100s': a file below the folder of the contract is wanted, without '..', or "
            "one that begins with '/'",
            text);
    }
    return text[0] ? SSAN_OK : SPEC_FAIL(checking, path, "is empty");
}

enum ssan_status spec_text_place(const struct spec_checking *checking, const char *path,
                                 const char *text, const struct spec_known *known)
{
    struct forms_place place;
    (void)known;
    return forms_place(&place, text)
               ? SSAN_OK
               : SPEC_FAIL(checking, path, "FILE:LINE or FILE:/text/ is wanted, not '%.60s'", text);
}

enum ssan_status spec_text_failing(const struct spec_checking *checking, const char *path,
                                   const char *text, const struct spec_known *known)
{
    if (!strchr(text, '=') || text[0] == '=') {
        return SPEC_FAIL(checking, path,
                         "CALL=ERROR or CALL:N=ERROR is wanted, as in "
                         "cudaMalloc:2=cudaErrorMemoryAllocation, not '%.60s'",
                         text);
    }
    return spec_text_any(checking, path, text, known);
}

enum ssan_status spec_text_rule(const struct spec_checking *checking, const char *path,
                                const char *text, const struct spec_known *known)
{
    (void)known;
    for (size_t i = 0; i < checking->check_count; i++) {
        if (strcmp(checking->checks[i], text) == 0) {
            return SSAN_OK;
        }
    }
    const char *near = similar_word(text, checking->checks, checking->check_count);
    return SPEC_FAIL(checking, path, "there is no check '%.60s'%s%s%s", text,
                     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}
