/* The engine: events in, hazards out.
 *
 * It does clocks at each event and shadow in submission order as operations close (docs/model.md,
 * "Clocks"), in both readings at once. It keeps no history beyond what order and shadow need: who
 * wants names, lines and nearest misses reads the trace again (explain.h). One thread at a time. */
#ifndef SSAN_CORE_ENGINE_H
#define SSAN_CORE_ENGINE_H

#include "base/ranges.h"
#include "base/status.h"
#include "core/check.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stdint.h>

/* What one step of a fix does, as if the program had made that call; EDIT_WAIT_ITEM and
 * EDIT_HOST_JOIN as a wait on an event recorded right behind the item. */
enum edit_kind {
    EDIT_WAIT_ITEM,        /* stream `stream` waits for op `op` and all it covers */
    EDIT_WAIT_LATEST,      /* stream `stream` waits for the latest record of event `event` at that
                              point (nothing if none) */
    EDIT_RECORD,           /* event `event` is recorded on stream `stream` */
    EDIT_HOST_JOIN,        /* host thread `thread` joins op `op` and all it covers */
    EDIT_HOST_JOIN_STREAM, /* host thread `thread` joins all of stream `stream` */
    EDIT_HOST_JOIN_EVENT,  /* host thread `thread` joins the latest record of event `event` */
    EDIT_DROP,             /* the event at `before` has no effect */
};

/* `before`: the index in the trace, from 0, of the event just before which it happens. */
struct edit {
    uint64_t before;
    enum edit_kind kind;
    uint32_t stream, event, thread;
    uint64_t op;
};

enum engine_threads { THREADS_OBSERVED, THREADS_STRICT };

struct stamp; /* core/clock.h */
struct epoch;

/* Is told of the order that the engine has worked out, for who needs more than its hazards. What it
 * gets is borrowed for the call. A wait on an event that was never recorded is no item of its
 * stream (R-EVENT-4) and is not told. */
struct engine_watch {
    void *self;
    /* `op` was submitted: it begins with all that `begin` covers, and ends at `end`. */
    void (*item)(void *self, uint64_t op, const struct stamp *begin, const struct epoch *end);
    /* A `call` event: its thread has joined all that `now` covers. */
    void (*call)(void *self, const struct ssan_ev_call *event, const struct stamp *now);
};

struct engine_options {
    enum engine_threads threads;
    const struct edit *edits; /* sorted by `before`; borrowed until engine_destroy */
    size_t edit_count;
    uint64_t shadow_limit_bytes; /* 0: the default, 1 GiB; above it sets are rounded out (R in the
                                    verdict) */
    uint32_t mutant; /* test builds only: 0 none, else the 1-based index of a rule in order.def to
                        break */
    const struct engine_watch *watch; /* NULL: none; borrowed until engine_destroy */
};

/* What stands on one side of a hazard. */
enum side_kind { SIDE_OP, SIDE_HOST, SIDE_ALLOC, SIDE_FREE };

#define HAZARD_LINES 4

struct side {
    enum side_kind kind;
    uint64_t position; /* of its event in the trace: the op, host_access, alloc or free event */
    uint64_t op;       /* op id (SIDE_OP; SIDE_HOST inside a host function), else 0 */
    uint32_t thread, site;
    enum ssan_access access;
    uint32_t lines[HAZARD_LINES]; /* candidate device lines (site ids), 0-terminated unless full */
    uint32_t width;               /* bytes of one access, 0: a copy or unknown */
};

/* One fault, with its dynamic repeats: same check, same pair of static places, same allocation
 * site. `first` was issued before `then`. Of the repeats the one with the earliest `then`, and for
 * it the latest `first`, stands here. */
struct hazard {
    enum check check;
    enum severity severity;   /* as reported under --order observed */
    enum severity documented; /* as reported under --order documented */
    const char *ordered_by;   /* ordering rule ("R-IMPL-3") that prevents it in the observed reading
                                 only, else NULL */
    enum sureness sureness;
    /* Generation the bytes belong to; 0: pageable memory that no alloc event named. */
    uint32_t alloc;
    uint64_t base; /* address that `bytes` are relative to (the allocation's, or the lowest seen) */
    /* Offsets, of the instance above, united over the repeats of the same pair of ops. */
    struct ranges bytes;
    struct side first, then;
    uint32_t stream, event; /* misuse: the stream and event it is about */
    uint64_t count;         /* dynamic repeats */
};

/* What the run was, for the verdict. */
struct engine_totals {
    uint64_t operations, streams, events, buffers, accesses, allocations;
    uint64_t lost[ssan_loss_count], rounded_sets, open_operations;
    uint64_t footprints;         /* kernels known by their arguments only: with `may` accesses */
    uint32_t submitting_threads; /* host threads that made stream items or joins */
    bool exited;                 /* an `exit` event was seen */
    bool host_accesses;          /* at least one host access was announced */
    bool progress_forced;
    bool faulted; /* a context died */
};

struct engine;

/* NULL when out of memory. */
struct engine *engine_create(const struct engine_options *options);

/* Takes the next event of the trace. An event that contradicts the trace so far (an unknown id, a
 * second close) is a damaged trace: SSAN_FORMAT with the position, and the engine takes no more. */
enum ssan_status engine_feed(struct engine *engine, const struct ssan_event *event,
                             struct ssan_error *err);

/* Judges what is still open: operations never closed count as such, pending work becomes advice.
 * Call once. */
enum ssan_status engine_finish(struct engine *engine, struct ssan_error *err);

/* Hazards so far, in order of `then.position`, valid until the next feed. */
const struct hazard *engine_hazards(const struct engine *engine, size_t *count);
/* How many there are, without putting them in order. */
size_t engine_hazard_count(const struct engine *engine);
const struct engine_totals *engine_totals(const struct engine *engine);
/* Bytes that clocks, operations and shadow hold now. */
uint64_t engine_bytes(const struct engine *engine);
void engine_destroy(struct engine *engine);

#endif
