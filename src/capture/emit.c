/* Fills in the events. The state is the sink, the last ids and the lock. That may be taken again by
 * its holder: what gates ask of the sanitizer library under it may call back. */
#include "capture/emit.h"

#include <pthread.h>
#include <stdatomic.h>

static struct {
    pthread_mutex_t lock;
    _Atomic(struct ssan_sink *) sink;
    uint64_t ops, syncs;
    uint32_t allocs;
} emitter = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

void emit_open(struct ssan_sink *sink)
{
    emitter.ops = emitter.syncs = 0;
    emitter.allocs = 0;
    atomic_store_explicit(&emitter.sink, sink, memory_order_release);
}

bool emit_is_on(void)
{
    return atomic_load_explicit(&emitter.sink, memory_order_relaxed) != NULL;
}

void emit_put(const struct ssan_event *event)
{
    struct ssan_sink *sink = atomic_load_explicit(&emitter.sink, memory_order_acquire);
    if (sink) {
        ssan_put(sink, event);
    }
}

void emit_close(void)
{
    atomic_store_explicit(&emitter.sink, NULL, memory_order_release);
}

void emit_detach(void)
{
    emit_close();
    const pthread_mutex_t fresh = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    emitter.lock = fresh;
}

void emit_lock(void)
{
    pthread_mutex_lock(&emitter.lock);
}

void emit_unlock(void)
{
    pthread_mutex_unlock(&emitter.lock);
}

uint64_t emit_op(struct ssan_ev_op *op)
{
    struct ssan_event event = {.kind = SSAN_EV_op};
    op->op = ++emitter.ops;
    event.op = *op;
    emit_put(&event);
    return op->op;
}

uint64_t emit_sync(struct ssan_ev_sync *sync)
{
    struct ssan_event event = {.kind = SSAN_EV_sync};
    sync->sync = ++emitter.syncs;
    event.sync = *sync;
    emit_put(&event);
    return sync->sync;
}

uint32_t emit_next_alloc(void)
{
    return ++emitter.allocs;
}

void emit_op_return(uint64_t op)
{
    struct ssan_event event = {.kind = SSAN_EV_op_return, .op_return = {op}};
    emit_put(&event);
}

void emit_closed(uint64_t op)
{
    struct ssan_event event = {.kind = SSAN_EV_op_closed, .op_closed = {op}};
    emit_put(&event);
}

void emit_runs(uint64_t op, enum ssan_access access, const struct ssan_run *runs, uint32_t count)
{
    struct ssan_event event = {.kind = SSAN_EV_set};
    event.set = (struct ssan_ev_set){op, access, SSAN_set_sureness_EXACT,
                                     0,  0,      {.ptr = runs, .count = count}};
    emit_put(&event);
}

void emit_sync_return(uint64_t sync, bool ok, uint64_t blocked_ns)
{
    struct ssan_event event = {.kind = SSAN_EV_sync_return, .sync_return = {sync, ok, blocked_ns}};
    emit_put(&event);
}

void emit_unsupported(const char *call, uint32_t thread, uint32_t site)
{
    struct ssan_event event = {.kind = SSAN_EV_unsupported};
    event.unsupported = (struct ssan_ev_unsupported){ssan_str(call), thread, site};
    emit_put(&event);
}

void emit_fault(uint32_t error, const char *text)
{
    struct ssan_event event = {.kind = SSAN_EV_fault};
    event.fault = (struct ssan_ev_fault){0, 0, error, ssan_str(text)};
    emit_put(&event);
}

void emit_callback(bool begin, uint32_t thread, uint64_t op)
{
    struct ssan_event event = {.kind = begin ? SSAN_EV_callback_begin : SSAN_EV_callback_end};
    if (begin) {
        event.callback_begin = (struct ssan_ev_callback_begin){thread, op};
    } else {
        event.callback_end = (struct ssan_ev_callback_end){thread, op};
    }
    emit_put(&event);
}

void emit_name(enum ssan_object object, uint64_t id, const char *text)
{
    struct ssan_event event = {.kind = SSAN_EV_name, .name = {object, id, ssan_str(text)}};
    emit_put(&event);
}
