/* Folding of dynamic repeats. */
#include "core/hazard.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

/* Graver first: as reported, then under --order documented, then how sure. */
static unsigned gravity(const struct hazard *hazard)
{
    return (unsigned)hazard->severity * 16 + (unsigned)hazard->documented * 4 +
           (2 - (unsigned)hazard->sureness);
}

static bool precedes(const struct hazard *a, const struct hazard *b)
{
    if (gravity(a) != gravity(b)) {
        return gravity(a) > gravity(b);
    }
    if (a->then.position != b->then.position) {
        return a->then.position < b->then.position;
    }
    return a->first.position > b->first.position;
}

static bool same_pair(const struct hazard *a, const struct hazard *b)
{
    return a->first.position == b->first.position && a->then.position == b->then.position;
}

static void add_lines(struct side *into, const struct side *from)
{
    size_t n = 0;
    while (n < HAZARD_LINES && into->lines[n] != 0) {
        n++;
    }
    for (size_t i = 0; i < HAZARD_LINES && from->lines[i] != 0; i++) {
        bool known = false;
        for (size_t k = 0; k < n; k++) {
            known = known || into->lines[k] == from->lines[i];
        }
        if (!known && n < HAZARD_LINES) {
            into->lines[n++] = from->lines[i];
        }
    }
}

/* The bytes of one more conflict of the same two operations. */
static bool unite(struct hazard *into, const struct hazard *from)
{
    if (from->base < into->base) { /* pageable memory: bytes are relative to the lowest seen */
        uint64_t shift = into->base - from->base;
        for (size_t i = 0; i < into->bytes.count; i++) {
            into->bytes.items[i].begin += shift;
            into->bytes.items[i].end += shift;
        }
        into->base = from->base;
    }
    uint64_t shift = from->base - into->base;
    for (size_t i = 0; i < from->bytes.count; i++) {
        const struct range *range = &from->bytes.items[i];
        if (!ranges_add(&into->bytes, range->begin + shift, range->end + shift)) {
            return false;
        }
    }
    add_lines(&into->first, &from->first);
    add_lines(&into->then, &from->then);
    return true;
}

static bool add_new(struct hazards *hazards, uint64_t hash, struct hazard_key key,
                    struct hazard *hazard)
{
    hazard->count = 1;
    struct hazard_pair pair = {hazard->first.position, hazard->then.position};
    if (!VEC_RESERVE(&hazards->items, hazards->items.count + 1) ||
        !VEC_RESERVE(&hazards->keys, hazards->keys.count + 1) ||
        !VEC_RESERVE(&hazards->last, hazards->last.count + 1) ||
        !VEC_RESERVE(&hazards->sorted, hazards->items.count + 1) || /* so that sorting can't fail */
        !map_set(&hazards->index, hash, hazards->items.count)) {
        ranges_finish(&hazard->bytes);
        return false;
    }
    hazards->items.items[hazards->items.count++] = *hazard;
    hazards->keys.items[hazards->keys.count++] = key;
    hazards->last.items[hazards->last.count++] = pair;
    return true;
}

static bool add_repeat(struct hazards *hazards, size_t at, struct hazard *hazard)
{
    struct hazard *known = &hazards->items.items[at];
    struct hazard_pair *last = &hazards->last.items[at];
    bool counted = last->first == hazard->first.position && last->then == hazard->then.position;
    known->count += counted ? 0 : 1;
    *last = (struct hazard_pair){hazard->first.position, hazard->then.position};
    bool fine = true;
    if (same_pair(known, hazard) && gravity(known) == gravity(hazard)) {
        fine = unite(known, hazard);
    } else if (precedes(hazard, known)) {
        struct hazard old = *known;
        *known = *hazard;
        known->count = old.count;
        *hazard = old;
    }
    ranges_finish(&hazard->bytes);
    return fine;
}

bool hazards_add(struct hazards *hazards, struct hazard_key key, struct hazard *hazard)
{
    uint64_t hash = mix(mix(mix(mix(7, key.check), key.first), key.then), key.alloc);
    hazards->stale = true;
    for (;; hash++) {
        const uint64_t *found = map_find(&hazards->index, hash);
        if (!found) {
            return add_new(hazards, hash, key, hazard);
        }
        if (memcmp(&hazards->keys.items[*found], &key, sizeof key) == 0) {
            return add_repeat(hazards, (size_t)*found, hazard);
        }
    }
}

static int by_position(const void *left, const void *right)
{
    const struct hazard *a = left, *b = right;
    if (a->then.position != b->then.position) {
        return a->then.position < b->then.position ? -1 : 1;
    }
    if (a->first.position != b->first.position) {
        return a->first.position < b->first.position ? -1 : 1;
    }
    if (a->check != b->check) {
        return a->check < b->check ? -1 : 1;
    }
    return a->alloc < b->alloc ? -1 : a->alloc > b->alloc;
}

const struct hazard *hazards_sorted(struct hazards *hazards, size_t *count)
{
    if (hazards->stale) {
        hazards->sorted.count = hazards->items.count;
        if (hazards->items.count > 0) {
            memcpy(hazards->sorted.items, hazards->items.items,
                   hazards->items.count * sizeof hazards->items.items[0]);
            qsort(hazards->sorted.items, hazards->sorted.count, sizeof hazards->sorted.items[0],
                  by_position);
        }
        hazards->stale = false;
    }
    *count = hazards->sorted.count;
    return hazards->sorted.items;
}

uint64_t hazards_bytes(const struct hazards *hazards)
{
    uint64_t bytes = (hazards->items.room + hazards->sorted.room) * sizeof(struct hazard) +
                     hazards->keys.room * sizeof(struct hazard_key) +
                     hazards->last.room * sizeof(struct hazard_pair) + hazards->index.room * 24;
    for (size_t i = 0; i < hazards->items.count; i++) {
        bytes += hazards->items.items[i].bytes.room * sizeof(struct range);
    }
    return bytes;
}

void hazards_finish(struct hazards *hazards)
{
    for (size_t i = 0; i < hazards->items.count; i++) {
        ranges_finish(&hazards->items.items[i].bytes);
    }
    VEC_FREE(&hazards->items);
    VEC_FREE(&hazards->keys);
    VEC_FREE(&hazards->last);
    VEC_FREE(&hazards->sorted);
    map_finish(&hazards->index);
}
