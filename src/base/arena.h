/* Bump memory for what lives as long as a run. Zeroed is empty; single objects are never freed. Not
 * thread-safe. */
#ifndef SSAN_BASE_ARENA_H
#define SSAN_BASE_ARENA_H

#include <stddef.h>

struct arena {
    struct arena_block *block; /* newest first */
};

/* Zeroed memory aligned for any type, valid until arena_finish; NULL when out of memory. */
void *arena_alloc(struct arena *arena, size_t size_bytes);
/* NUL-terminated copy. */
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_strdup(struct arena *arena, const char *text);
void arena_finish(struct arena *arena);

#endif
