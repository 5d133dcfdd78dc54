/* Placeholders in the texts of a contract: {size}, {slots}, {device}, {schedule}, {repeat},
 * {program}, {folder}, {sources} and the parameters' own names; "{{" is a brace. Other braces stand
 * for themselves, as in the regular expression "a{2}". */
#ifndef SSAN_CONTRACT_EXPAND_H
#define SSAN_CONTRACT_EXPAND_H

#include "base/status.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* The value of a name; NULL: there is none. */
struct expand_names {
    const char *(*find)(const void *self, const char *name, size_t length);
    const void *self;
};

/* Letters, digits, '_' and '-', the first a letter or '_': what is replaced where it stands in
 * braces. */
bool expand_is_name(const char *text, size_t length);

/* Appends `text` with the values. SSAN_FORMAT: a name that is none; the text says which. */
enum ssan_status expand(struct strbuf *out, const char *text, const struct expand_names *names,
                        struct ssan_error *err);

#endif
