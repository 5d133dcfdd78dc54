/* The state is the last ids and the lock. Invariant: nothing that is called under the lock calls
 * the driver, so no callback comes to its holder. */
#include "capture/emit.h"

#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    uint64_t ops, syncs;
    uint32_t allocs;
} emitter = {.lock = PTHREAD_MUTEX_INITIALIZER};

void emit_open(struct ssan_sink *sink)
{
    emitter.ops = emitter.syncs = 0;
    emitter.allocs = 0;
    emit_to(sink);
}

void emit_detach(void)
{
    emit_to(NULL);
    pthread_mutex_init(&emitter.lock, NULL);
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
