/* Puts values in the place of names in braces. */
#include "contract/expand.h"

#include <string.h>

bool expand_is_name(const char *text, size_t length)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-";
    return length > 0 && strchr(first, text[0]) && strspn(text, rest) >= length;
}

enum ssan_status expand(struct strbuf *out, const char *text, const struct expand_names *names,
                        struct ssan_error *err)
{
    while (*text) {
        const size_t plain = strcspn(text, "{");
        strbuf_add(out, text, plain);
        text += plain;
        if (!*text) {
            break;
        }
        const size_t length = strcspn(text + 1, "}");
        if (text[1] == '{') {
            strbuf_puts(out, "{");
            text += 2;
        } else if (text[1 + length] != '}' || !expand_is_name(text + 1, length)) {
            strbuf_puts(out, "{");
            text++;
        } else {
            const char *value = names->find(names->self, text + 1, length);
            if (!value) {
                return ssan_fail(err, SSAN_FORMAT, 0,
                                 "there is no {%.*s} here ('{{' is a brace as it stands)",
                                 (int)(length < 60 ? length : 60), text + 1);
            }
            strbuf_puts(out, value);
            text += length + 2;
        }
    }
    return out->failed ? ssan_no_memory(err) : SSAN_OK;
}
