/* One run of a program as explore and witness see it: its items, the order that holds between them
 * in every schedule, what they touch, and the order in which they ran.
 *
 * Read from a trace with `call` events. Order comes from the engine (observed reading, all host
 * threads as one timeline), never from rules of its own. Invariant: `before` is transitive and
 * holds between the items of a stream, so of each other stream an item comes behind a prefix; rows
 * of such prefixes are all that is kept. Naive model: a graph of items and reachability in it.
 * Cost: a row has one number a stream; a query of order is one comparison. One thread. */
#ifndef SSAN_EXPLORE_MODEL_H
#define SSAN_EXPLORE_MODEL_H

#include "base/arena.h"
#include "base/vec.h"
#include "core/bytes.h"
#include "trace/plan.h"
#include "trace/sink.h"

#define MODEL_NONE UINT32_MAX

/* How many items of each stream come first: `counts[stream]`, none of streams from `streams` on. */
struct model_row {
    uint32_t *counts;
    uint32_t streams;
};

struct model_item {
    struct plan_item id; /* s1.2 */
    uint64_t op;
    enum ssan_op_kind kind;
    enum ssan_form form;
    uint32_t event;  /* record, wait */
    uint64_t blocks; /* of a kernel */
    uint32_t thread, site;
    uint32_t call;      /* index of the call that submitted it; MODEL_NONE: none was told */
    uint64_t submitted; /* position of its event in the trace, from 0 */
    uint64_t forced;    /* position where the device began it unasked; 0: it did not */
    uint64_t closed;    /* position of its end; 0: it never ran, or not after a device fault */
    bool prints;        /* to the program's output */
    bool dead;          /* a device fault ended it before it ran */
    /* A wait on an event that was never recorded: it has a number and no place in any order. */
    bool is_void;
    bool host_reads, host_writes; /* touches memory that the host sees; a host function does both */
    struct bytes ways[ssan_access_count]; /* absolute addresses, sealed */
    struct ssan_str name;                 /* of the kernel or function, else the call's */
    uint64_t hash;                        /* of its call, as in its step */
    uint64_t touched;                     /* hash of `ways`, memory without allocation aside */
    struct model_row before;              /* what ends before it begins, in every schedule */
};

struct model_call {
    struct plan_call id;
    uint64_t position;
    uint32_t items;          /* submitted before it */
    bool answered;           /* a query that succeeded */
    struct model_row joined; /* what the host has joined when it enters this call */
};

struct model_sync {
    enum ssan_sync_kind kind;
    uint32_t object, thread, site;
    uint32_t call;               /* index; MODEL_NONE: none was told */
    uint64_t position, returned; /* returned 0: never */
    bool ok;
};

struct model_alloc {
    enum ssan_memory memory;
    uint64_t address, size;
    uint64_t born, dead; /* positions; dead UINT64_MAX: never freed */
    uint64_t reach;      /* highest end of this and those before it in `by_address` */
    uint32_t id;
};

/* What a host thread did, or an item's end, in the order of the trace. */
enum model_step_kind { MODEL_STEP_CALL, MODEL_STEP_QUERY, MODEL_STEP_RUN };

struct model_step {
    enum model_step_kind kind;
    uint32_t site;
    uint64_t amount; /* bytes, or blocks of a kernel; 0: neither */
    uint64_t position;
    /* CALL: kind, names, streams, sizes and addresses as allocation and offset, so that it is equal
     * in every process; QUERY: the number of the call; RUN: the item. */
    uint64_t hash;
};

struct model_line {
    struct ssan_str file, text;
    uint32_t line, depth; /* depth in the stack, 0: innermost */
};

struct model {
    VEC(struct model_item) items; /* by operation id - 1 */
    VEC(uint32_t) order;          /* items in the order in which they ended */
    VEC(struct model_call) calls;
    VEC(struct model_sync) syncs; /* by sync id - 1 */
    VEC(struct model_step) steps;
    VEC(struct model_alloc) allocs; /* by address once read, then by birth */
    VEC(struct model_line) lines;   /* by site; innermost host frame with a file */
    uint32_t streams;               /* highest id */
    uint32_t threads;               /* that submitted or joined */
    bool exited;
    uint32_t exit_code;
    uint64_t lost, unsupported; /* records and calls that are missing */
    bool progress_forced;
    uint64_t fault_op; /* item that ended with a device fault, 0: none is known */
    bool fault;
    struct ssan_str fault_text,
        infeasible;         /* infeasible: why the plan was left; empty: it was not */
    uint64_t infeasible_at; /* position */
    struct arena arena;
};

/* Reads a whole trace; `model` is zeroed before and needs model_finish in any case. A cut trace is
 * read as far as it goes. SSAN_FORMAT: damaged; SSAN_UNSUPPORTED: too many items and streams for
 * rows; SSAN_NO_MEMORY. */
enum ssan_status model_read(struct model *model, struct ssan_source *source,
                            struct ssan_error *err);
void model_finish(struct model *model);
/* Gives back the byte sets, which only model_conflict needs. */
void model_forget_bytes(struct model *model);

/* Items by index in `items`. `x` ends before `y` begins in every schedule. Void items: never. */
bool model_before(const struct model *model, uint32_t x, uint32_t y);
/* The host has joined `x` when it enters the call with this index. */
bool model_before_call(const struct model *model, uint32_t x, uint32_t call);
/* They share bytes, one of them writing or updating; or both print; or one is a host function,
 * whose accesses aren't all known, and both touch what the host sees. */
bool model_conflict(const struct model *model, uint32_t x, uint32_t y);
/* MODEL_NONE: there is no such item. */
uint32_t model_find(const struct model *model, struct plan_item id);
/* The index of a call, MODEL_NONE: there is no such call. */
uint32_t model_find_call(const struct model *model, struct plan_call id);
/* The allocation that held the address when the event at `position` was written; NULL: pageable. */
const struct model_alloc *model_alloc_at(const struct model *model, uint64_t address,
                                         uint64_t position);
/* FILE:LINE of a site, or NULL. */
const struct model_line *model_line(const struct model *model, uint32_t site);

#endif
