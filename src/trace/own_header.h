/* The headers that `streamsan cc` builds programs with, by their place. A frame in one of them is
 * no place of the user's. */
#ifndef SSAN_TRACE_OWN_HEADER_H
#define SSAN_TRACE_OWN_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define OWN_HEADERS "/streamsan/include/"

/* Whether a file of a `line` event is one of them, or none at all. */
static inline bool is_own_header(const char *file, size_t length)
{
    return length == 0 || memmem(file, length, OWN_HEADERS, sizeof OWN_HEADERS - 1) != NULL;
}

#endif
