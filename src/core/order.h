/* CUDA's ordering rules as operations on clocks (docs/model.md): streams, events, host joins, the
 * legacy stream.
 *
 * Owns the live objects that hold clocks: host timelines, streams, events, contexts. Every rule
 * that has code is applied here through its entry in order.def, and can be broken by the mutant of
 * that entry. Invariant: a stream's tail covers all items of the stream; a chain's new tick is
 * given only where its last one is covered. Naive model: a graph with a begin and an end node for
 * each item, and reachability in it. One thread at a time. */
#ifndef SSAN_CORE_ORDER_H
#define SSAN_CORE_ORDER_H

#include "base/vec.h"
#include "core/clock.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stdint.h>

enum order_rule {
    ORDER_NONE,
#define ORDER(name, id, source, test, code, why) ORDER_##name,
#include "core/order.def"
#undef ORDER
    ORDER_COUNT
};

/* Host threads of one trace; a thread id above is damage. */
#define ORDER_MAX_THREADS 65536u
/* The same for contexts. */
#define ORDER_MAX_CONTEXTS 65536u

struct order_info {
    const char *id, *source, *test,
        *why; /* test "" when the rule has no code, why "" when it has */
    bool has_code;
};

/* NULL outside 1 .. ORDER_COUNT - 1. */
const struct order_info *order_info(uint32_t rule);
/* Whether a program that calls what the rule (an id) is of asks for its order; ASKED_FOR in
 * order.def. */
bool order_is_asked_for(const char *id);

/* A timeline of host calls: one for all threads (observed), or one for each (strict). */
struct host {
    struct stamp now;
    bool ended;     /* it was joined: makes no more calls */
    bool published; /* somebody took `now` since its last tick: the next access needs a new one */
};

struct stream {
    bool live, known;
    uint32_t context, owner;
    enum ssan_stream_flavour flavour;
    struct stamp tail;                   /* end of the last item */
    struct stamp seen_host, seen_legacy; /* what the tail has taken already: saves joins */
    bool dirty_all, dirty_blocking;      /* the tail is newer than what ALL, BLK hold */
};

struct event_state {
    bool live, recorded;
    uint32_t stream; /* of the latest record */
    struct stamp at;
};

struct context {
    uint64_t dead_position; /* of the sticky error that ended it (R-ERR-3), 0: none */
    uint32_t legacy;        /* stream id, 0: none yet */
    struct times foreign;   /* until there is one: legacy items of other contexts that count here */
    struct times all, blocking;
    VEC(uint32_t) dirty_all, dirty_blocking;
};

struct chain {
    uint32_t last;
};

struct order {
    struct clocks *clocks;
    uint32_t mutant;
    bool strict, failed;    /* failed: out of memory */
    VEC(struct host) hosts; /* by thread; [0] is the one timeline of the observed mode */
    VEC(struct stream) streams;
    VEC(struct event_state) events;
    VEC(struct context) contexts;
    VEC(struct chain) chains;
    VEC(uint32_t) spare; /* chains to hand on */
};

/* What an item takes besides host, stream and legacy order, and what it gets. */
struct item {
    const struct stamp *wait; /* the record it waits for, or NULL */
    bool record;              /* it is an event record */
    uint32_t barriers[2];     /* other contexts in which it is a legacy action too (R-COPY-14); 0:
                                 none */
    uint32_t ticks;           /* own ticks: 1, or more for a host function (releases split it) */
    bool side;                /* its source read may be free before its end: give it a side tick */
    bool side_documented;     /* ... and the return takes that tick in both readings */
    uint32_t first_tick;      /* out: its first own tick; the stream's tail holds its last */
    struct epoch side_epoch;  /* out; tick 0: none */
};

static inline bool order_broken(const struct order *order, enum order_rule rule)
{
    return order->mutant == (uint32_t)rule;
}

struct host *order_host_slow(struct order *order, uint32_t index);
/* NULL when out of memory. Valid until the next call with a higher thread. Fast for a host seen
 * before. */
static inline struct host *order_host(struct order *order, uint32_t thread)
{
    /* R-HOST-13: one timeline of all host threads, or one for each */
    uint32_t index = order->strict || order_broken(order, ORDER_R_HOST_13) ? thread : 0;
    return index < order->hosts.count ? &order->hosts.items[index] : order_host_slow(order, index);
}
/* The epoch of an access that the host makes now. */
struct epoch order_host_epoch(struct order *order, struct host *host);
/* Somebody takes host->now: later accesses are not covered by it. */
void order_publish(struct host *host);

bool order_stream_create(struct order *order, const struct ssan_ev_stream_create *event);
void order_stream_destroy(struct order *order, uint32_t stream);
bool order_event_create(struct order *order, uint32_t event);
void order_event_destroy(struct order *order, uint32_t event);
/* NULL: no such live object. */
static inline struct stream *order_stream(struct order *order, uint32_t stream)
{
    return stream < order->streams.count && order->streams.items[stream].live
               ? &order->streams.items[stream]
               : NULL;
}

static inline struct event_state *order_event(struct order *order, uint32_t event)
{
    return event < order->events.count && order->events.items[event].live
               ? &order->events.items[event]
               : NULL;
}

/* NULL when out of memory or the id is absurd. */
struct context *order_context(struct order *order, uint32_t context);

/* Submits an item to a live stream; `host` may be NULL (an edit without a thread). */
void order_submit(struct order *order, uint32_t stream, struct host *host, struct item *item);
void order_record(struct order *order, uint32_t event, uint32_t stream);

/* What a host join of a stream, an event, a context covers now; the caller drops it. */
struct stamp order_capture_stream(struct order *order, uint32_t stream);
struct stamp order_capture_event(struct order *order, uint32_t event);
struct stamp order_capture_context(struct order *order, uint32_t context);
/* The caller of `kind` has joined what was captured. */
void order_join(struct order *order, struct host *host, enum ssan_sync_kind kind,
                const struct stamp *captured);
/* Page-locked memory is in reach of every context: drivers wait for all of them before they free it
 * (measured), but for its own alone before they free memory of a device (R-IMPL-3). */
static inline bool order_free_joins_all(enum ssan_memory memory)
{
    return memory == SSAN_memory_PINNED || memory == SSAN_memory_REGISTERED;
}
/* The caller of a free has, in the observed reading, waited for the whole context, or for all of
 * them (0) (R-IMPL-3). */
void order_join_free(struct order *order, struct host *host, uint32_t context);
/* All own ticks of the tail of every stream, for the report of pending work. */
bool order_is_joined(const struct order *order, struct epoch at);
/* Every thread seen so far is behind `at`. */
bool order_is_common(const struct order *order, struct epoch at);
uint64_t order_bytes(const struct order *order);
void order_finish(struct order *order);

#endif
