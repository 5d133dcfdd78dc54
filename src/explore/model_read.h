/* What the parts of the reading of a model share; see model.h. */
#ifndef SSAN_EXPLORE_MODEL_READ_H
#define SSAN_EXPLORE_MODEL_READ_H

#include "base/map.h"
#include "core/clock.h"
#include "core/engine.h"
#include "explore/model.h"

/* Of one stream: the ends of its items by seq - 1 (a void item has that of the one before it). */
struct stream_ends {
    VEC(struct epoch) ends;
    struct model_row *last; /* of its latest item: a lower bound of the next */
};

struct thread_state {
    uint32_t call;     /* index of the latest; MODEL_NONE */
    uint64_t callback; /* op whose host function it runs, 0: none */
    bool active;       /* submitted or joined */
};

struct reading {
    struct model *model;
    struct engine *engine;
    VEC(struct stream_ends) streams; /* by id */
    VEC(struct thread_state) threads;
    struct map alloc_ids; /* id -> index, while they are by birth */
    VEC(uint32_t) alive;  /* allocations that are, by address; indices */
    uint64_t position;
    uint64_t row_bytes;
    enum ssan_status status; /* of what the engine's watch did; SSAN_FORMAT: an id is damage */
};

/* Adds what the event tells, before the engine gets it. False when out of memory, or with
 * SSAN_FORMAT in reading->status. */
bool model_take(struct reading *reading, const struct ssan_event *event);
/* Makes the stream known, and all with lower ids. False as above. */
bool model_add_stream(struct reading *reading, uint32_t stream);
/* The place of the address in `alive`: behind all allocations that begin at or below it. */
size_t model_alive_behind(const struct reading *reading, uint64_t address);
/* The hash of what the event asked for, the same in every process (model_step). */
uint64_t model_hash_event(const struct reading *reading, const struct ssan_event *event);
/* The hash of the sealed byte sets of an item, the same in every process; allocations are by
 * address. */
uint64_t model_hash_touched(const struct model *model, const struct model_item *item);

#endif
