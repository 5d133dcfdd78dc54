/* Sets of bytes as sorted, disjoint, non-touching half-open intervals [begin, end).
 *
 * Zeroed is empty. The naive model is a bit per byte. Adding in ascending order is O(1) amortised,
 * elsewhere O(n). Not thread-safe. */
#ifndef SSAN_BASE_RANGES_H
#define SSAN_BASE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    uint64_t begin, end; /* end is exclusive; begin < end inside a set */
};

struct ranges {
    struct range *items;
    size_t count, room;
};

/* Adds [begin, end); nothing when empty. False when out of memory, the set then stays as it was. */
bool ranges_add(struct ranges *set, uint64_t begin, uint64_t end);
/* Removes [begin, end). False when out of memory, the set then stays as it was. */
bool ranges_remove(struct ranges *set, uint64_t begin, uint64_t end);
/* First interval that ends behind `at` (the one that holds it, or the next); NULL when none. */
const struct range *ranges_find(const struct ranges *set, uint64_t at);
bool ranges_contains(const struct ranges *set, uint64_t begin, uint64_t end);
uint64_t ranges_bytes(const struct ranges *set);
void ranges_finish(struct ranges *set);

#endif
