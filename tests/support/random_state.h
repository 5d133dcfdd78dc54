/* What a random trace has so far: shared by random_trace.c (time), random_calls.c (calls),
 * random_memory.c (bytes). */
#ifndef SSAN_TESTS_SUPPORT_RANDOM_STATE_H
#define SSAN_TESTS_SUPPORT_RANDOM_STATE_H

#include "base/rng.h"
#include "support/tape.h"

/* A host thread; while it waits it makes no call. */
struct random_thread {
    uint32_t id;
    bool live, callback;
    uint64_t sync, op; /* what its next record returns from; 0: nothing */
    bool ok;
};

struct random_stream {
    enum ssan_stream_flavour flavour;
    uint32_t context, owner;
    bool live;
};

struct random_event {
    uint32_t context; /* of its first record, 0: none yet */
    bool live;
};

/* A piece of address space; what lives there changes. Pageable places are there without an
 * allocation. */
struct random_place {
    enum ssan_memory memory;
    uint64_t address;
    uint32_t alloc; /* live generation, 0 none */
    bool used;      /* had a generation before */
};

/* Records of one operation that are still to be written: [next, end) of `held`, then its op_closed.
 */
struct random_late {
    uint64_t op;
    uint32_t stream;
    size_t next, end;
    bool callback;
    uint32_t thread; /* the callback thread once it has begun */
};

struct random_block {
    uint64_t address, size;
    bool out; /* handed out */
};

#define PLACE_COUNT 9
#define PLACE_BYTES UINT64_C(0x200000)

struct random_state {
    struct rng *rng;
    struct tape *tape;
    struct tape held;
    VEC(struct random_thread) threads;
    VEC(struct random_stream) streams;
    VEC(struct random_event) events;
    VEC(struct random_late) late;
    VEC(struct random_block) blocks;
    struct random_place places[PLACE_COUNT];
    uint64_t ops, syncs, wanted;
    uint32_t allocs, site, contexts, max_threads;
    uint32_t join_weight, misc_weight;
    bool callback_acquires, pools, ignores;
};

static inline uint64_t pick(struct random_state *state, uint64_t bound)
{
    return rng_below(state->rng, bound);
}

static inline bool chance(struct random_state *state, uint64_t percent)
{
    return pick(state, 100) < percent;
}

static inline void emit(struct random_state *state, const struct ssan_event *event)
{
    tape_put(state->tape, event);
}

/* random_trace.c: writes late records; everything of host functions when a join is about to return.
 */
void random_run_callbacks(struct random_state *state);
/* random_calls.c: one call of a thread. */
void random_call(struct random_state *state, size_t thread);
/* The record with which a waiting thread goes on. */
void random_return(struct random_state *state, size_t thread);
/* random_errors.c: a call that fails, or a question for the last error. */
void random_errors(struct random_state *state, uint32_t thread);
/* A call that returns the error of earlier work, or a question for it. */
void random_dead_call(struct random_state *state, uint32_t thread);
/* random_memory.c */
void random_places(struct random_state *state);
/* A place that holds memory of a mask of kinds (bit: enum ssan_memory) now; NULL: none. */
struct random_place *random_find_place(struct random_state *state, unsigned memories);
/* Holds back one or two sets of operation `op` somewhere in the place; `address`: of the first
 * byte. */
void random_hold_set(struct random_state *state, uint64_t op, const struct random_place *place,
                     enum ssan_access access, enum ssan_set_sureness sureness, uint64_t *address);
uint64_t random_host_bytes(struct random_state *state, const struct random_place *place,
                           uint64_t *size);
void random_lifetime_call(struct random_state *state, uint32_t thread);
void random_pool_call(struct random_state *state, uint32_t thread);
void random_ignore(struct random_state *state);
bool random_is_live(const struct random_place *place);

#endif
