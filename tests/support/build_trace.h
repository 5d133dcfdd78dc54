/* Small traces built in C for unit tests: events are kept in a list and fed to engines with any
 * options, as often as wanted. Ids are given out densely. Names are short: a test reads like the
 * litmus notation of docs/model.md. */
#ifndef SSAN_TESTS_SUPPORT_BUILD_TRACE_H
#define SSAN_TESTS_SUPPORT_BUILD_TRACE_H

#include "base/arena.h"
#include "base/vec.h"
#include "core/engine.h"

struct trace {
    struct arena arena;
    VEC(struct ssan_event) events;
    uint32_t streams, event_ids, allocs, sites, thread;
    uint64_t ops, syncs;
};

static inline void t_put(struct trace *t, struct ssan_event event)
{
    if (!VEC_PUSH(&t->events, event)) {
        __builtin_trap();
    }
}

static inline void t_init(struct trace *t)
{
    *t = (struct trace){.thread = 1};
    t_put(t, (struct ssan_event){.kind = SSAN_EV_process,
                                 .process = {.pid = 1, .accesses = SSAN_accesses_EXACT}});
}

static inline void t_finish(struct trace *t)
{
    arena_finish(&t->arena);
    VEC_FREE(&t->events);
}

/* A site of its own for each call, so that no two fold into one. */
static inline uint32_t t_site(struct trace *t)
{
    return ++t->sites;
}

static inline uint32_t t_stream_of(struct trace *t, uint32_t context,
                                   enum ssan_stream_flavour flavour, uint32_t owner)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_stream_create,
                                 .stream_create = {.stream = ++t->streams,
                                                   .context = context,
                                                   .flavour = flavour,
                                                   .owner = owner,
                                                   .thread = t->thread}});
    return t->streams;
}

static inline uint32_t t_blocking(struct trace *t)
{
    return t_stream_of(t, 1, SSAN_stream_flavour_BLOCKING, 0);
}

static inline uint32_t t_non_blocking(struct trace *t)
{
    return t_stream_of(t, 1, SSAN_stream_flavour_NON_BLOCKING, 0);
}

static inline uint32_t t_legacy(struct trace *t)
{
    return t_stream_of(t, 1, SSAN_stream_flavour_LEGACY, 0);
}

static inline uint32_t t_event(struct trace *t)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_event_create,
                                 .event_create = {.event = ++t->event_ids, .thread = t->thread}});
    return t->event_ids;
}

static inline void t_stream_destroy(struct trace *t, uint32_t stream)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_stream_destroy,
                                 .stream_destroy = {.stream = stream, .thread = t->thread}});
}

static inline void t_event_destroy(struct trace *t, uint32_t event)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_event_destroy,
                                 .event_destroy = {.event = event, .thread = t->thread}});
}

static inline uint32_t t_alloc(struct trace *t, enum ssan_memory memory, uint64_t address,
                               uint64_t size)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_alloc,
                                 .alloc = {.alloc = ++t->allocs,
                                           .context = 1,
                                           .memory = memory,
                                           .address = address,
                                           .size = size,
                                           .thread = t->thread,
                                           .site = t_site(t)}});
    return t->allocs;
}

static inline void t_free(struct trace *t, uint32_t alloc)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_free,
                                 .free = {.alloc = alloc, .thread = t->thread, .site = t_site(t)}});
}

static inline uint64_t t_op(struct trace *t, uint32_t stream, enum ssan_op_kind kind)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_op,
                                 .op = {.op = ++t->ops,
                                        .stream = stream,
                                        .kind = kind,
                                        .thread = t->thread,
                                        .site = t_site(t)}});
    return t->ops;
}

static inline void t_set_run(struct trace *t, uint64_t op, enum ssan_access access,
                             enum ssan_set_sureness sureness, uint32_t site, struct ssan_run run)
{
    struct ssan_run *kept = arena_alloc(&t->arena, sizeof *kept);
    if (!kept) {
        __builtin_trap();
    }
    *kept = run;
    t_put(t, (struct ssan_event){.kind = SSAN_EV_set,
                                 .set = {.op = op,
                                         .access = access,
                                         .sureness = sureness,
                                         .site = site,
                                         .width = 4,
                                         .runs = {.ptr = kept, .count = 1}}});
}

static inline void t_set(struct trace *t, uint64_t op, enum ssan_access access, uint64_t address,
                         uint64_t size)
{
    t_set_run(t, op, access, SSAN_set_sureness_EXACT, 0,
              (struct ssan_run){.address = address, .length = size, .count = 1});
}

static inline void t_close(struct trace *t, uint64_t op)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_op_closed, .op_closed = {.op = op}});
}

static inline void t_return(struct trace *t, uint64_t op)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_op_return, .op_return = {.op = op}});
}

/* A kernel with one access; closed. */
static inline uint64_t t_kernel(struct trace *t, uint32_t stream, enum ssan_access access,
                                uint64_t address, uint64_t size)
{
    uint64_t op = t_op(t, stream, SSAN_op_kind_KERNEL);
    t_set(t, op, access, address, size);
    t_close(t, op);
    return op;
}

static inline uint64_t t_writes(struct trace *t, uint32_t stream, uint64_t address, uint64_t size)
{
    return t_kernel(t, stream, SSAN_access_WRITE, address, size);
}

static inline uint64_t t_reads(struct trace *t, uint32_t stream, uint64_t address, uint64_t size)
{
    return t_kernel(t, stream, SSAN_access_READ, address, size);
}

static inline uint64_t t_idle(struct trace *t, uint32_t stream)
{
    uint64_t op = t_op(t, stream, SSAN_op_kind_KERNEL);
    t_close(t, op);
    return op;
}

static inline uint64_t t_event_item(struct trace *t, uint32_t stream, uint32_t event,
                                    enum ssan_op_kind kind)
{
    uint64_t op = t_op(t, stream, kind);
    t->events.items[t->events.count - 1].op.event = event;
    t_close(t, op);
    return op;
}

static inline uint64_t t_record(struct trace *t, uint32_t event, uint32_t stream)
{
    return t_event_item(t, stream, event, SSAN_op_kind_RECORD);
}

static inline uint64_t t_wait(struct trace *t, uint32_t stream, uint32_t event)
{
    return t_event_item(t, stream, event, SSAN_op_kind_WAIT);
}

/* A copy that returns and closes at once. */
static inline uint64_t t_copy(struct trace *t, uint32_t stream, enum ssan_form form, uint64_t dst,
                              uint64_t src, uint64_t size)
{
    uint64_t op = t_op(t, stream, SSAN_op_kind_COPY);
    struct ssan_ev_op *event = &t->events.items[t->events.count - 1].op;
    event->form = form;
    event->dst = dst;
    event->src = src;
    event->width = size;
    event->height = 1;
    t_set(t, op, SSAN_access_READ, src, size);
    t_set(t, op, SSAN_access_WRITE, dst, size);
    t_return(t, op);
    t_close(t, op);
    return op;
}

static inline uint64_t t_memset(struct trace *t, uint32_t stream, enum ssan_form form, uint64_t dst,
                                uint64_t size)
{
    uint64_t op = t_op(t, stream, SSAN_op_kind_MEMSET);
    struct ssan_ev_op *event = &t->events.items[t->events.count - 1].op;
    event->form = form;
    event->dst = dst;
    event->width = size;
    event->height = 1;
    t_set(t, op, SSAN_access_WRITE, dst, size);
    t_return(t, op);
    t_close(t, op);
    return op;
}

static inline uint64_t t_sync_begin(struct trace *t, enum ssan_sync_kind kind, uint32_t object)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_sync,
                                 .sync = {.sync = ++t->syncs,
                                          .kind = kind,
                                          .object = object,
                                          .thread = t->thread,
                                          .site = t_site(t)}});
    return t->syncs;
}

static inline void t_sync_end(struct trace *t, uint64_t sync, bool ok)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_sync_return,
                                 .sync_return = {.sync = sync, .ok = ok}});
}

static inline void t_sync(struct trace *t, enum ssan_sync_kind kind, uint32_t object)
{
    t_sync_end(t, t_sync_begin(t, kind, object), true);
}

static inline void t_host(struct trace *t, enum ssan_access access, uint64_t address, uint64_t size)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_host_access,
                                 .host_access = {.thread = t->thread,
                                                 .access = access,
                                                 .address = address,
                                                 .size = size,
                                                 .site = t_site(t)}});
}

static inline void t_release(struct trace *t, uint64_t object)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_release,
                                 .release = {.thread = t->thread, .object = object}});
}

static inline void t_acquire(struct trace *t, uint64_t object)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_acquire,
                                 .acquire = {.thread = t->thread, .object = object}});
}

static inline void t_callback(struct trace *t, uint32_t thread, uint64_t op, bool begin)
{
    struct ssan_event event = {.kind = begin ? SSAN_EV_callback_begin : SSAN_EV_callback_end};
    if (begin) {
        event.callback_begin.thread = thread;
        event.callback_begin.op = op;
    } else {
        event.callback_end.thread = thread;
        event.callback_end.op = op;
    }
    t_put(t, event);
}

static inline void t_exit(struct trace *t)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_exit});
}

/* An engine that has read the whole trace; NULL when it refused it (*err says why). */
static inline struct engine *t_run(const struct trace *t, const struct engine_options *options,
                                   struct ssan_error *err)
{
    struct engine *engine = engine_create(options);
    if (!engine) {
        return NULL;
    }
    for (size_t i = 0; i < t->events.count; i++) {
        if (engine_feed(engine, &t->events.items[i], err) != SSAN_OK) {
            engine_destroy(engine);
            return NULL;
        }
    }
    if (engine_finish(engine, err) != SSAN_OK) {
        engine_destroy(engine);
        return NULL;
    }
    return engine;
}

#endif
