/* A small splitter of words; one pass, each word copied without its quotes. */
#include "cli/quoted.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Copies one word without its quotes and returns where it ends; NULL when a quote stays open. */
static const char *take_word(const char *p, char *out)
{
    char quote = 0;
    for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
        if (quote == 0 && (*p == '"' || *p == '\'')) {
            quote = *p;
        } else if (quote && *p == quote) {
            quote = 0;
        } else if (*p == '\\' && quote != '\'' && p[1]) {
            *out++ = *++p;
        } else {
            *out++ = *p;
        }
    }
    *out = '\0';
    return quote ? NULL : p;
}

enum ssan_status quoted_split(const char *text, struct arena *arena, char ***words, size_t *count,
                              struct ssan_error *err)
{
    size_t length = strlen(text), used = 0;
    /* a word needs at least one character and a space, so this many are enough */
    char **list = arena_alloc(arena, (length / 2 + 2) * sizeof *list);
    char *buffer = arena_alloc(arena, length * 2 + 2);
    const char *p = text;
    if (!list || !buffer) {
        return ssan_no_memory(err);
    }
    for (;;) {
        while (isspace((unsigned char)*p)) {
            p++;
        }
        if (!*p) {
            break;
        }
        p = take_word(p, buffer);
        if (!p) {
            return ssan_fail(err, SSAN_USAGE, 0, "a quote does not end in: %s", text);
        }
        list[used++] = buffer;
        buffer += strlen(buffer) + 1;
    }
    *words = list;
    *count = used;
    return SSAN_OK;
}
