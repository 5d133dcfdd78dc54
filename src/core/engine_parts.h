/* The engine's inside, shared by its files: engine (dispatch), submit (operations), copies
 * (matrix 4.3), joins (host threads), lifetime (allocations), queue (shadow in submission order),
 * judge (pairs into hazards), misuse, edits.
 *
 * Clocks move when an event arrives; shadow work waits in one queue, in the order of the trace,
 * until everything before it is judged and its operation has closed. So addresses resolve as of the
 * submission. One thread at a time. */
#ifndef SSAN_CORE_ENGINE_PARTS_H
#define SSAN_CORE_ENGINE_PARTS_H

#include "core/alloc.h"
#include "core/engine.h"
#include "core/hazard.h"
#include "core/order.h"
#include "core/shadow.h"

/* Own ticks of a host function: each release inside it ends one. Behind the last, releases cover
 * later accesses too, which may hide a race of the function with who acquires, and never makes one
 * up. */
#define HOSTFUNC_TICKS 256u

#define ACCESS_WAYS (ssan_access_count * 2) /* exact, may */

enum work_kind { WORK_OP, WORK_HOST, WORK_ALLOC, WORK_FREE, WORK_HOLE, WORK_FILL, WORK_IGNORE };

/* A host access inside a host function. */
struct inner_access {
    struct actor *actor;
    enum ssan_access access;
    uint64_t address, size;
    uint32_t tick;
    struct times acquired;
};

struct work {
    enum work_kind kind;
    bool closed;
    struct work *next;
    uint64_t position; /* of its event */
    struct actor *actor;
    struct stamp at;     /* op: end of its item; host: the present */
    struct stamp host;   /* op of strict threads: the host at submission; free: behind its join */
    uint32_t first_tick; /* op */
    struct epoch side;   /* op: of its source read */
    uint32_t used;       /* op: bit i: ways[i] is in use, else it means nothing */
    struct bytes *ways[ACCESS_WAYS]; /* op: by access * 2 + may */
    VEC(struct inner_access) inner;
    enum ssan_access access; /* host */
    uint64_t address, size;  /* host, pool, ignore */
    bool on;                 /* ignore */
    struct buffer *buffer;   /* alloc, free, hole: one reference */
};

enum slot_state { SLOT_DONE, SLOT_OPEN, SLOT_LIGHT };

/* An operation between submission and close. Light: no accesses (records, waits). */
struct slot {
    enum slot_state state;
    struct work *work;
};

struct window {
    VEC(struct slot) slots;
    size_t head;       /* slots before it are done */
    uint64_t first_op; /* id of the slot at head */
};

/* What the return of a copy or memset does (matrix 4.3). */
struct call {
    uint64_t op; /* 0: none in progress */
    enum ssan_op_kind kind;
    enum ssan_form form;
    enum ssan_memory src, dst;
    uint64_t bytes;
    struct stamp end;
    uint32_t first_tick;
    struct epoch side;
};

/* A launch that failed, whose error its thread has not asked for. */
struct unasked {
    struct actor *launch; /* one reference */
    bool behind_join;     /* the thread has joined something since */
    bool excused;         /* it was given another error since: it may be about to stop for that */
};

struct thread {
    VEC(struct unasked) unasked;
    bool submitted;
    uint64_t callback;     /* op whose host function it runs, 0: none */
    uint32_t segment;      /* releases made in it so far */
    struct times acquired; /* in it */
    struct call call;
};

struct recorded {
    struct actor *actor; /* the latest record of the event; one reference */
};

struct pending_sync {
    uint64_t sync;
    enum ssan_sync_kind kind;
    uint32_t thread, object, context;
    struct stamp captured;
};

struct submitter {
    uint32_t thread;
    struct actor *actor; /* its latest item on the stream */
};

struct stream_facts {
    struct actor *last; /* latest item that does work, for pending-at-exit */
    struct epoch last_tick;
    VEC(struct submitter) submitters; /* strict threads only */
};

struct object_clock {
    struct times released;
};

/* Whoever comes behind `end` comes behind `acquired`: a host function that acquired, or (lifetimes
 * only, R-HOST-7) a join that returned an error. */
struct late {
    struct epoch end;
    struct times acquired;
    uint64_t position; /* in the trace, when it became known */
    bool lifetimes;
};

struct saved_item {
    uint64_t op;
    struct stamp end;
};

/* The first error that ended a context: what became of it. */
struct sticky_error {
    struct actor *cause;    /* the operation; NULL: unknown */
    struct actor *returned; /* the first call that gave it to the program; NULL: none yet */
    bool asked;             /* the program asked for it */
    bool told;              /* its finding is there */
};

struct engine {
    struct engine_options options;
    struct engine_totals totals;
    uint64_t position;       /* of the event being taken */
    enum ssan_status broken; /* the error that was told; nothing more is taken */
    struct clocks clocks;
    struct order order;
    struct actors actors;
    struct places places;
    struct hazards hazards;
    struct shadow_owner shadows;
    struct spans front, live, dead, holes;
    struct buffer pageable;
    struct map pool_blocks; /* address -> size, present of the trace */
    struct ranges ignored;
    struct window window;
    struct work *first, *last, *spare;
    struct bytes *spare_way; /* linked through `begin` */
    uint64_t work_bytes, last_op, last_sync;
    uint64_t dead_position; /* of the first sticky error, 0: none */
    uint64_t judged;        /* position of the work that is being judged */
    VEC(struct thread) threads;
    VEC(struct recorded) records;     /* by event */
    VEC(struct stream_facts) streams; /* by stream */
    VEC(struct buffer *) allocs;      /* by alloc id; NULL once freed */
    VEC(struct pending_sync) syncs;
    VEC(struct object_clock) objects;
    struct map object_index; /* address -> index + 1 */
    VEC(struct late) late;
    struct sticky_error sticky;
    struct stopped {
        bool failed; /* a call failed as planned (--fail), behind the last item and join */
        bool told;   /* ... and the program was given the error: it may have stopped for that */
    } stopped;
    struct stamp last_callback; /* for a mutant only */
    size_t next_edit;
    VEC(struct saved_item) saved; /* ends of items that edits name */
    bool drop;                    /* the event being taken has no effect */
};

static inline bool is_strict(const struct engine *engine)
{
    return engine->order.strict;
}

/* A damaged trace: names the position and stops the engine. */
enum ssan_status engine_refuse(struct engine *engine, struct ssan_error *err, const char *what,
                               uint64_t id);
enum ssan_status engine_no_memory(struct engine *engine, struct ssan_error *err);
struct thread *engine_thread_slow(struct engine *engine, uint32_t thread);
/* NULL: absurd id or out of memory; fast for a thread that was seen before. */
static inline struct thread *engine_thread(struct engine *engine, uint32_t thread)
{
    return thread < engine->threads.count ? &engine->threads.items[thread]
                                          : engine_thread_slow(engine, thread);
}
struct actor *engine_actor(struct engine *engine, enum side_kind kind, uint32_t thread,
                           uint32_t site);
uint32_t engine_place(struct engine *engine, enum side_kind kind, uint32_t what, uint32_t site,
                      uint32_t name, uint32_t flavour, uint32_t instead);

/* submit.c */
enum ssan_status on_op(struct engine *engine, const struct ssan_ev_op *event,
                       struct ssan_error *err);
enum ssan_status on_set(struct engine *engine, const struct ssan_ev_set *event,
                        struct ssan_error *err);
enum ssan_status on_set_leaf(struct engine *engine, const struct ssan_ev_set_leaf *event,
                             struct ssan_error *err);
enum ssan_status on_op_closed(struct engine *engine, uint64_t op, struct ssan_error *err);
/* NULL: no such operation, or closed. */
static inline struct slot *window_find(struct window *window, uint64_t op)
{
    uint64_t index = op - window->first_op; /* an earlier one wraps to a huge index */
    if (index >= window->slots.count - window->head) {
        return NULL;
    }
    struct slot *slot = &window->slots.items[window->head + index];
    return slot->state == SLOT_DONE ? NULL : slot;
}

/* copies.c */
enum ssan_memory copies_kind(const struct engine *engine, uint64_t address, uint64_t size);
/* The context of the device memory at an address; 0: it is none. */
uint32_t copies_context(const struct engine *engine, uint64_t address);
/* Whether a copy's source read needs a side tick, and whether its return takes that tick in both
 * readings. */
bool copies_need_side(const struct engine *engine, const struct call *call, bool *documented);
enum ssan_status on_op_return(struct engine *engine, uint64_t op, struct ssan_error *err);

/* joins.c */
enum ssan_status on_sync(struct engine *engine, const struct ssan_ev_sync *event,
                         struct ssan_error *err);
enum ssan_status on_sync_return(struct engine *engine, const struct ssan_ev_sync_return *event,
                                struct ssan_error *err);
enum ssan_status on_thread(struct engine *engine, const struct ssan_event *event,
                           struct ssan_error *err);
enum ssan_status on_callback(struct engine *engine, uint32_t thread, uint64_t op, bool begin,
                             struct ssan_error *err);
enum ssan_status on_host_access(struct engine *engine, const struct ssan_ev_host_access *event,
                                struct ssan_error *err);

/* late.c */
/* Takes over `take_acquired`, also on failure. False when out of memory. */
bool late_add(struct engine *engine, struct epoch end, struct times *take_acquired, bool lifetimes);
/* What an access that began at `begin` comes behind through them; `lifetimes`: failed joins count
 * too. The caller drops it. */
struct times late_closure(struct engine *engine, const struct moment *begin, bool lifetimes);

/* lifetime.c */
enum ssan_status on_alloc(struct engine *engine, const struct ssan_ev_alloc *event,
                          struct ssan_error *err);
enum ssan_status on_free(struct engine *engine, const struct ssan_ev_free *event,
                         struct ssan_error *err);
enum ssan_status on_pool_alloc(struct engine *engine, const struct ssan_ev_pool_alloc *event,
                               struct ssan_error *err);
enum ssan_status on_pool_free(struct engine *engine, const struct ssan_ev_pool_free *event,
                              struct ssan_error *err);
enum ssan_status on_ignore(struct engine *engine, const struct ssan_ev_ignore *event,
                           struct ssan_error *err);
/* The queue has come to it: false when out of memory. */
bool lifetime_begin(struct engine *engine, struct work *work);
bool lifetime_end(struct engine *engine, struct work *work);
bool lifetime_hole(struct engine *engine, struct work *work);
/* Bytes of the access that lie in `spans`, each a use after its free. */
void lifetime_use_after_free(struct engine *engine, const struct spans *spans,
                             const struct access *access);

/* queue.c */
/* New work at the end of the queue, without any of its parts; what it gets belongs to it. NULL when
 * out of memory. */
struct work *queue_add(struct engine *engine, enum work_kind kind);
/* An empty set for an open operation; goes back with its work. NULL when out of memory. */
struct bytes *way_create(struct engine *engine);
/* Whether the first work can be judged. */
static inline bool queue_is_ready(const struct engine *engine)
{
    return engine->first && (engine->first->kind != WORK_OP || engine->first->closed);
}
/* Judges what can be judged; `all`: also what is still open. False when out of memory. */
bool queue_run(struct engine *engine, bool all);
uint64_t queue_bytes(const struct engine *engine);
void queue_finish(struct engine *engine);

/* judge.c */
struct verdict {
    enum check check;
    enum severity severity, documented;
    uint32_t rule;
    enum sureness sureness;
};
/* Unordered in both readings: an error; ordered in the observed one only: a warning by `rule`. */
void judge_readings(struct verdict *verdict, bool observed, uint32_t rule);
void judge_access(struct engine *engine, struct buffer *buffer, struct access *access,
                  const struct work *work);
/* A hazard without bytes (misuse, races of host threads). */
void judge_plain(struct engine *engine, const struct verdict *verdict, const struct actor *first,
                 const struct actor *then, uint32_t stream, uint32_t event);
/* A hazard over bytes that `first` and `then` share, inside the ignored ranges nothing. */
void judge_bytes(struct engine *engine, const struct verdict *verdict, const struct buffer *buffer,
                 const struct actor *first, enum ssan_access first_access,
                 const struct bytes *first_bytes, const struct actor *then,
                 enum ssan_access then_access, const struct bytes *then_bytes);

/* misuse.c */
void misuse_unrecorded(struct engine *engine, uint32_t stream, uint32_t event, struct actor *then);
void misuse_event_race(struct engine *engine, const struct host *host, uint32_t event,
                       struct actor *then);
/* Joins that cover work which other threads submitted without order before the call (R-HOST-6). */
void misuse_join(struct engine *engine, const struct host *host, const struct ssan_ev_sync *event,
                 struct actor *then);
void misuse_pending(struct engine *engine);

/* failures.c */
enum ssan_status on_failed(struct engine *engine, const struct ssan_ev_failed *event,
                           struct ssan_error *err);
enum ssan_status on_asked(struct engine *engine, const struct ssan_ev_asked *event,
                          struct ssan_error *err);
/* The thread waits for work. */
void failures_join(struct engine *engine, struct thread *thread);
/* A context has died; `cause` may be NULL. Before dead_position is set. */
void failures_fault(struct engine *engine, struct actor *cause);
/* The program has ended: nobody asks any more. */
void failures_exit(struct engine *engine);
void failures_finish(struct engine *engine);

/* edits.c */
void edits_apply_slow(struct engine *engine);
/* What the edits do before the event at hand; fast while there are none left. */
static inline void edits_apply(struct engine *engine)
{
    if (engine->drop || engine->next_edit < engine->options.edit_count) {
        edits_apply_slow(engine);
    }
}
/* Remembers the item just submitted if an edit names it; there are edits. */
void edits_save(struct engine *engine, uint64_t op, const struct stamp *end);

#endif
