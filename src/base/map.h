/* Hash map from uint64_t to uint64_t (open addressing, linear probing, grows at 3/4).
 *
 * Zeroed is empty. Key 0 is an ordinary key. Not thread-safe. Pointers to values hold until the
 * next map_set or map_remove. */
#ifndef SSAN_BASE_MAP_H
#define SSAN_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map {
    struct map_slot *slots;
    size_t count, used, room; /* used: with removed ones; room is a power of two or 0 */
};

/* The value of a key, or NULL. */
uint64_t *map_find(const struct map *map, uint64_t key);
/* Sets a key; false when out of memory, the map then stays as it was. */
bool map_set(struct map *map, uint64_t key, uint64_t value);
/* True when the key was there. */
bool map_remove(struct map *map, uint64_t key);
/* Walks all pairs in no particular order: start with *cursor 0; false at the end. */
bool map_next(const struct map *map, size_t *cursor, uint64_t *key, uint64_t *value);
void map_finish(struct map *map);

#endif
