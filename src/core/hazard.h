/* The hazards found so far, with dynamic repeats folded: one entry for each check, pair of static
 * places and allocation site. Of the repeats the gravest stands; among equals the one
 * with the earliest `then`, and for it the latest `first`. Naive model: a list of all pairs,
 * grouped at the end. Cost: one hash lookup a pair. */
#ifndef SSAN_CORE_HAZARD_H
#define SSAN_CORE_HAZARD_H

#include "base/map.h"
#include "base/vec.h"
#include "core/engine.h"

/* What makes two hazards dynamic repeats of one. */
struct hazard_key {
    uint32_t check, first, then, alloc; /* places; alloc: place of the allocation */
};

/* The pair of positions that was counted last. */
struct hazard_pair {
    uint64_t first, then;
};

struct hazards {
    VEC(struct hazard) items;
    VEC(struct hazard_key) keys;  /* beside items */
    VEC(struct hazard_pair) last; /* beside items */
    struct map index;
    VEC(struct hazard) sorted; /* copies for the caller; bytes borrowed from items */
    bool stale;
};

/* Takes over hazard->bytes (also on failure). False when out of memory. */
bool hazards_add(struct hazards *hazards, struct hazard_key key, struct hazard *hazard);
/* By position of `then`; valid until the next add. */
const struct hazard *hazards_sorted(struct hazards *hazards, size_t *count);
uint64_t hazards_bytes(const struct hazards *hazards);
void hazards_finish(struct hazards *hazards);

#endif
