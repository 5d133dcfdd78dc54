/* flush, drain, close, cancel: what concerns all batches at once. */
#include "pipeline/parts.h"

/* The first failure behind a submit that nobody was told here, once. Under the lock. */
static struct failure take_untold(struct ssan_pipe *pipe)
{
    struct failure untold = pipe->untold;
    pipe->untold.status = SSAN_PIPE_OK;
    if (untold.status == SSAN_PIPE_OK && atomic_load(&pipe->is_broken)) {
        untold = pipe->broke;
    }
    return untold;
}

/* Ends a flush or drain. Under the lock; nothing of the pipeline is touched behind it, for destroy
 * may wait for its end only. */
static enum ssan_pipe_status end_watch(struct ssan_pipe *pipe, const char *call, unsigned left,
                                       struct ssan_pipe_error *err)
{
    struct failure untold;
    pipe_wake(&pipe->changed, pipe->watchers);
    if (left) {
        return pipe_fail(err, SSAN_PIPE_TIMEOUT, SSAN_PIPE_NO_BATCH,
                         "%s: %s: %u %s still under way; batches: %s", pipe->name, call, left,
                         left == 1 ? "batch is" : "batches are", pipe_holders(pipe).text);
    }
    untold = take_untold(pipe);
    return untold.status == SSAN_PIPE_OK ? SSAN_PIPE_OK : pipe_fail_call(err, &untold, pipe->name);
}

/* How many of the first `submits` batches are with a publisher. Under the lock. */
static unsigned count_unpublished(const struct ssan_pipe *pipe, uint64_t submits)
{
    unsigned count = 0;
    for (unsigned i = 0; i < pipe->slot_count; i++) {
        const struct slot *slot = &pipe->slots[i];
        count += slot_state(slot) == SLOT_SUBMITTED && slot->order < submits;
    }
    return count;
}

enum ssan_pipe_status ssan_pipe_flush(struct ssan_pipe *pipe, uint64_t timeout_ns,
                                      struct ssan_pipe_error *err)
{
    const struct timespec deadline = pipe_deadline(timeout_ns);
    enum ssan_pipe_status status;
    bool in_time = true;
    unsigned left;
    pthread_mutex_lock(&pipe->lock);
    const uint64_t wanted = pipe->submits;
    while ((left = count_unpublished(pipe, wanted)) != 0 && in_time) {
        in_time = pipe_wait(pipe, &pipe->changed, &pipe->watchers, NULL, timeout_ns, &deadline);
    }
    status = end_watch(pipe, "flush", left, err);
    pthread_mutex_unlock(&pipe->lock);
    pipe_get(FLUSHED_HANDOVER, &pipe->flushed);
    return status;
}

enum ssan_pipe_status ssan_pipe_drain(struct ssan_pipe *pipe, uint64_t timeout_ns,
                                      struct ssan_pipe_error *err)
{
    const struct timespec deadline = pipe_deadline(timeout_ns);
    const struct slot *slots = pipe->slots;
    const unsigned count = pipe->slot_count;
    enum ssan_pipe_status status;
    bool in_time = true;
    unsigned left;
    pthread_mutex_lock(&pipe->lock);
    while ((left = pipe->live + pipe->landings_held) != 0 && in_time) {
        in_time = pipe_wait(pipe, &pipe->changed, &pipe->watchers, NULL, timeout_ns, &deadline);
    }
    status = end_watch(pipe, "drain", left, err);
    pthread_mutex_unlock(&pipe->lock);
    for (unsigned i = 0; i < count; i++) {
        pipe_get(DRAINED_HANDOVER, &slots[i].returned);
    }
    return status;
}

void ssan_pipe_close(struct ssan_pipe *pipe)
{
    pthread_mutex_lock(&pipe->lock);
    pipe->is_closed = true;
    pipe_wake(&pipe->can_acquire, pipe->producers);
    pipe_wake(&pipe->can_take, pipe->takers);
    pthread_mutex_unlock(&pipe->lock);
}

/* The publisher has given the return of each published batch already (publish). */
void ssan_pipe_cancel(struct ssan_pipe *pipe)
{
    pthread_mutex_lock(&pipe->lock);
    atomic_store(&pipe->is_cancelled, true);
    for (unsigned i = 0; i < pipe->slot_count; i++) {
        struct slot *slot = &pipe->slots[i];
        if (slot_state(slot) == SLOT_READY) {
            pipe->stats.dropped += slot->failure.status == SSAN_PIPE_OK;
            slot_return(pipe, slot);
        }
    }
    pipe_wake_all(pipe);
    pthread_mutex_unlock(&pipe->lock);
}
