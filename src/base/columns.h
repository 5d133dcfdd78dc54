/* Columns of a text on a terminal: one for each character of UTF-8, and one for each byte that is
 * part of none. Wide and combining characters count one too. Any thread. */
#ifndef SSAN_BASE_COLUMNS_H
#define SSAN_BASE_COLUMNS_H

#include <stddef.h>

size_t columns_of(const char *text, size_t length_bytes);
/* Bytes of its first `columns` characters, of all when it has no more. */
size_t columns_head(const char *text, size_t length_bytes, size_t columns);
/* Bytes of its last `columns` characters, of all when it has no more. */
size_t columns_tail(const char *text, size_t length_bytes, size_t columns);

#endif
