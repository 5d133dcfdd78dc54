/* The trace as explain needs it: who called what from where, in tables.
 *
 * Filled in one pass over the source (explain_read.h). Strings live in the arena that was passed
 * in; tables until history_finish. Indices into tables are uint32_t, HISTORY_NONE for none;
 * positions are indices of events in the trace, from 0. */
#ifndef SSAN_CORE_EXPLAIN_HISTORY_H
#define SSAN_CORE_EXPLAIN_HISTORY_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "core/finding.h"
#include "trace/sink.h"

#define HISTORY_NONE UINT32_MAX

/* Where calls come from: frames innermost first. */
struct hist_site {
    struct place *frames;
    size_t frame_count;
    size_t user; /* index of the frame that is shown and edited: not in streamsan's own headers */
    bool of_library;    /* a source file of a library, no header, makes the call */
    uint64_t place_key; /* of that frame's file and line; 0: unknown */
    uint32_t place;     /* dense number of that file and line from 0; HISTORY_NONE: unknown */
    uint64_t stack_key; /* of all frames; of the site's id when they are unknown */
};

struct hist_stream {
    uint32_t id, context, thread, site, ordinal;
    enum ssan_stream_flavour flavour;
    uint64_t position, destroyed; /* destroyed UINT64_MAX: never */
    const char *given;            /* NULL: none */
    VEC(uint32_t) items;          /* indices, in order: seq is the place in here + 1 */
};

struct hist_event {
    uint32_t id, context, thread, site, ordinal; /* context 0: not known */
    uint64_t position, destroyed;                /* destroyed UINT64_MAX: never */
    const char *given;
    VEC(uint32_t) records, waits; /* items */
};

/* An item of a stream. */
struct hist_item {
    uint64_t op, position;
    uint32_t stream, seq; /* stream: index; seq from 1 */
    uint32_t event;       /* index: record, wait */
    uint32_t record;      /* wait: the record it bound to (item), HISTORY_NONE: none */
    uint32_t thread, site;
    const char *call, *name; /* interned: equal text, equal pointer */
    enum ssan_op_kind kind;
    enum ssan_form form;
    bool pageable_source; /* copy from pageable memory to the device */
};

/* A copy between two devices in a legacy stream: an item of the legacy streams of both contexts
 * (R-COPY-14). */
struct hist_peer {
    uint32_t item, contexts[2];
};

/* A call that waits. */
struct hist_sync {
    uint64_t position, returned; /* UINT64_MAX: never */
    uint64_t blocked_ns;
    enum ssan_sync_kind kind;
    uint32_t object; /* index of stream or event; context id */
    uint32_t record; /* of an event: the record it bound to */
    uint32_t thread, site, seq;
    const char *call;
    bool ok;
};

struct hist_alloc {
    uint32_t id, context, thread, site, free_thread, free_site;
    enum ssan_memory memory;
    uint64_t address, size, position, freed; /* freed UINT64_MAX: never */
    uint32_t generation;
    const char *call, *free_call;
    const char *given, *given_inside; /* names of its first byte, of another one */
    const char *usage;                /* what its owner says of it; NULL: nothing */
};

/* allocs, frees and accesses of host threads; also blocks that the program's own allocator hands
 * out and takes back */
struct hist_host {
    uint64_t position, address, size;
    uint32_t thread, seq, site, alloc; /* alloc: index */
    enum report_op_kind kind;          /* ROP_ALLOC, ROP_FREE, ROP_HOST_READ, ROP_HOST_WRITE */
    const char *call;                  /* NULL: an access */
};

/* A call that failed. */
struct hist_failed {
    uint64_t position;
    uint32_t thread, seq, site, error;
    enum ssan_error_of error_of;
    bool discarded;
    const char *call, *name; /* name: the kernel of a launch, else empty */
};

/* What joins a host thread: at `position` its timeline comes behind ... */
enum hist_join_kind {
    JOIN_STREAM,  /* items of stream `object` before `bound` (legacy: and of the blocking ones) */
    JOIN_ITEM,    /* item `object` */
    JOIN_CONTEXT, /* items of context `object` before `bound` */
    JOIN_THREAD,  /* what thread `object` did before `bound` */
};

struct hist_join {
    uint64_t position, bound;
    enum hist_join_kind kind;
    uint32_t object, thread;
    bool observed_only; /* no edge in the documented reading */
    bool strict_only; /* the thread of a host function: on the one timeline of all threads it counts
                         for nothing */
};

/* Every call in the order of the trace, whatever its table. */
enum hist_call_kind { CALL_ITEM, CALL_SYNC, CALL_HOST, CALL_CREATE, CALL_FAILED };

struct hist_call {
    uint64_t position;
    uint32_t site, thread, index; /* in the table of `kind`; CALL_CREATE: 0 a stream, 1 an event */
    enum hist_call_kind kind;
};

/* A name that the program gave to pageable memory, and an operand that lies there. */
struct hist_operand {
    uint64_t address, size, position;
    uint32_t site;
    const char *call;
    bool source; /* the call reads it */
};

struct history {
    struct arena *arena;
    VEC(uint32_t) devices; /* by context: the number of its device + 1, 0: it is the context's */
    VEC(struct hist_stream) streams;
    VEC(struct hist_event) events;
    VEC(struct hist_item) items;
    VEC(struct hist_peer) peers; /* in order */
    VEC(struct hist_sync) syncs;
    VEC(struct hist_alloc) allocs;
    VEC(struct hist_host) hosts;
    VEC(struct hist_failed) failed;
    VEC(struct run_missed) missed;
    VEC(struct hist_join) joins;
    VEC(struct hist_call) calls;
    VEC(struct hist_operand) operands; /* pageable, each address once */
    VEC(struct {
        uint64_t address;
        const char *text;
    })
    pointer_names;                                                       /* pageable */
    struct ranges pageable;                                              /* union of operands */
    struct map stream_of, event_of, item_of, sync_of, alloc_of, site_of; /* id -> index */
    VEC(struct hist_site) sites;
    VEC(struct {
        const char *call;
        uint64_t count;
        uint32_t site; /* of the first */
    })
    unsupported;
    VEC(struct { const char *text; }) command;
    enum ssan_producer producer;
    enum ssan_accesses accesses;
    enum ssan_host_scope host_scope;
    const char *schedule, *altered, *observed, *infeasible, *fault;
    uint64_t fault_op; /* 0: unknown */
    uint32_t fault_site, fault_error, exit_code;
    bool fault_planned, exited, cut, strict;
    uint64_t event_count;   /* events of the trace that were read */
    uint32_t *place_calls;  /* indices of calls, by place and then in order */
    uint32_t *place_begins; /* place_count + 1 offsets into place_calls */
    uint32_t place_count;
};

void history_finish(struct history *history);

/* The device of a context; -1 for context 0. */
int history_device(const struct history *history, uint32_t context);
/* The device of the stream of an item, and whether that stream is a default one. */
int history_device_of(const struct history *history, const struct hist_item *item);
bool history_is_default(const struct history *history, const struct hist_item *item);
/* Devices that streams or memory of the trace are of. */
uint32_t history_count_devices(const struct history *history);

/* HISTORY_NONE for unknown ids. */
uint32_t history_find(const struct map *ids, uint64_t id);
/* Never NULL: a site without frames for unknown ids. */
const struct hist_site *history_site(const struct history *history, uint32_t site);
/* The frame of a site that is shown; file NULL when unknown. */
struct place history_place(const struct history *history, uint32_t site);
/* The alloc that lived at `address` just before `position`, HISTORY_NONE: none. */
uint32_t history_alloc_at(const struct history *history, uint64_t address, uint64_t position);
/* The latest record of an event before `position` (item), HISTORY_NONE: none. */
uint32_t history_latest_record(const struct history *history, uint32_t event, uint64_t position);
/* How many items of a stream stand before `position`. */
uint32_t history_items_before(const struct history *history, uint32_t stream, uint64_t position);
/* Index into calls of the first call at or behind `position`; calls.count when none. */
size_t history_call_at(const struct history *history, uint64_t position);
/* The calls of a place in order; NULL and 0 for HISTORY_NONE. */
const uint32_t *history_calls_of(const struct history *history, uint32_t place, size_t *count);
/* Which of several equal calls in one statement, with one caller, a site is, from 0, in order of
 * first appearance.
 * Calls that create streams or events are counted together, whatever their names. */
#define NTH_STREAM "stream"
#define NTH_EVENT  "event"
size_t history_nth_on_line(const struct history *history, uint32_t site, const char *call);

/* The call that failed at `position`, NULL: none did there. */
const struct hist_failed *history_failed_at(const struct history *history, uint64_t position);

/* The CUDA call that a call of the history made, NULL for those without a name. */
const char *history_call_name(const struct history *history, const struct hist_call *call);

/* Same file and function; functions that are both unknown count as one. False when a file is
 * unknown. */
bool history_same_function(struct place a, struct place b);

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length);
uint64_t hash_text(uint64_t hash, const char *text); /* with its end; NULL like "" */
#define HASH_SEED UINT64_C(0xcbf29ce484222325)
/* Index of the first join at or behind `position`; the count of joins when there is none. */
size_t history_join_at(const struct history *history, uint64_t position);
/* One is the legacy stream and the other a blocking stream of its context: they wait for each other
 * (R-STREAM-3). */
bool history_is_barrier(const struct history *history, uint32_t stream, uint32_t other);
/* Sees what comes before an item of `stream` at `position` by legacy streams: the first `until`
 * items of others. */
typedef void history_see(void *self, uint32_t stream, uint32_t until);
void history_each_barrier(const struct history *history, uint32_t stream, uint64_t position,
                          history_see *see, void *self);
/* What a join of a context (HISTORY_NONE: of all) at `bound` covers. */
void history_each_of_context(const struct history *history, uint32_t context, uint64_t bound,
                             history_see *see, void *self);
/* The same for what an item comes behind in further contexts, when it is a copy between devices. */
void history_each_peer(const struct history *history, uint32_t item, history_see *see, void *self);

#endif
