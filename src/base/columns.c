/* Characters of UTF-8 by their first bytes; a byte that begins none counts alone. */
#include "base/columns.h"

/* Bytes of the character at `at` < `end`. */
static size_t step(const char *at, const char *end)
{
    const unsigned char lead = (unsigned char)*at;
    const size_t wanted = lead >= 0xf0 && lead < 0xf8   ? 4
                          : lead >= 0xe0 && lead < 0xf0 ? 3
                          : lead >= 0xc2 && lead < 0xe0 ? 2
                                                        : 1;
    if (wanted > (size_t)(end - at)) {
        return 1;
    }
    for (size_t i = 1; i < wanted; i++) {
        if (((unsigned char)at[i] & 0xc0) != 0x80) {
            return 1;
        }
    }
    return wanted;
}

size_t columns_of(const char *text, size_t length_bytes)
{
    const char *at = text, *end = text + length_bytes;
    size_t columns = 0;
    for (; at < end; at += step(at, end)) {
        columns++;
    }
    return columns;
}

size_t columns_head(const char *text, size_t length_bytes, size_t columns)
{
    const char *at = text, *end = text + length_bytes;
    for (; at < end && columns > 0; columns--) {
        at += step(at, end);
    }
    return (size_t)(at - text);
}

size_t columns_tail(const char *text, size_t length_bytes, size_t columns)
{
    const size_t all = columns_of(text, length_bytes);
    return length_bytes - columns_head(text, length_bytes, all > columns ? all - columns : 0);
}
