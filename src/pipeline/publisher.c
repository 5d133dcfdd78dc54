/* The thread of a lane: waits for one submitted batch after the other, and publishes it.
 *
 * Batches of a lane share its copy stream, so waiting for them in the order of submission costs
 * nothing. One whose wait fails is published as failed, once the rest of its work is known to have
 * ended; else the pipeline is broken, and it is published as failed too, so that consumers hear of
 * it. */
#include "pipeline/parts.h"

static void take_time(uint64_t *sum, cudaEvent_t begin, cudaEvent_t end)
{
    float ms = 0;
    if (begin && cudaEventElapsedTime(&ms, begin, end) == cudaSuccess && ms > 0) {
        *sum += (uint64_t)((double)ms * 1e6);
    }
}

/* Joins the batch into this thread. */
static void join_batch(struct slot *slot, struct failure *failure)
{
    if (slot_has_copy(slot)) {
        if (pipe_has_edge(COPIED_JOIN)) {
            PIPE_OK(failure, cudaEventSynchronize, slot->copied);
        }
    } else if (pipe_has_edge(PRODUCED_JOIN)) {
        PIPE_OK(failure, cudaEventSynchronize, slot->produced);
    }
}

/* Behind a failed join: the event once more, which covers no more and no less than the batch. */
static bool join_again(struct slot *slot, struct failure *failure)
{
    return !pipe_has_edge(FAILED_PUBLISH_JOIN) ||
           event_join(failure, slot_has_copy(slot) ? slot->copied : slot->produced);
}

static void measure(struct ssan_pipe *pipe, struct slot *slot, uint64_t stages[3])
{
    if (pipe->options.timing) {
        if (slot->batch.input_bytes) {
            take_time(&stages[0], slot->upload_begin, slot->uploaded);
        }
        take_time(&stages[1], slot->compute_begin, slot->produced);
        if (slot_has_copy(slot)) {
            take_time(&stages[2], slot->copy_begin, slot->copied);
        }
    }
}

/* Counts of a batch that is done. Under the lock. */
static void count(struct ssan_pipe *pipe, struct slot *slot, const uint64_t stages[3])
{
    uint64_t now = pipe_now_ns();
    slot->published_ns = now;
    pipe->publishes++;
    pipe->in_flight_ns += now - slot->submitted_ns;
    if (--pipe->in_flight == 0) {
        pipe->stats.busy_ns += now - pipe->busy_since_ns;
    }
    if (slot->failure.status != SSAN_PIPE_OK) {
        pipe->stats.failed++;
        return;
    }
    latency_add(&pipe->device_latency, now - slot->submitted_ns);
    pipe->stats.published++;
    pipe->stats.input_bytes += slot->batch.input_bytes;
    pipe->stats.output_bytes += slot->batch.output_bytes;
    pipe->stats.upload_ns += stages[0];
    pipe->stats.compute_ns += stages[1];
    pipe->stats.copy_ns += stages[2];
}

static void publish(struct ssan_pipe *pipe, struct slot *slot, const struct failure *broke,
                    const uint64_t stages[3])
{
    pipe_give(PUBLISHED_HANDOVER, &slot->shown);
    pipe_give(FLUSHED_HANDOVER, &pipe->flushed);
    pipe_give(RETURNED_HANDOVER, &slot->returned); /* where cancel drops it */
    pthread_mutex_lock(&pipe->lock);
    count(pipe, slot, stages);
    if (slot->failure.status != SSAN_PIPE_OK && pipe->untold.status == SSAN_PIPE_OK) {
        pipe->untold = slot->failure;
    }
    if (broke) {
        pipe_break(pipe, broke);
    }
    slot_set_state(slot, SLOT_READY);
    slot->order = pipe->next_order++;
    if (atomic_load_explicit(&pipe->is_cancelled, memory_order_relaxed)) {
        pipe->stats.dropped += slot->failure.status == SSAN_PIPE_OK;
        slot_return(pipe, slot);
    }
    pipe_wake(&pipe->can_take, pipe->takers);
    pipe_wake(&pipe->changed, pipe->watchers);
    pthread_mutex_unlock(&pipe->lock);
}

static void finish(struct ssan_pipe *pipe, struct slot *slot)
{
    struct failure failure = {0}, again = {0};
    uint64_t stages[3] = {0};
    bool at_rest = true;
    join_batch(slot, &failure);
    if (failure.status == SSAN_PIPE_OK) {
        measure(pipe, slot, stages);
    } else {
        at_rest = join_again(slot, &again);
        failure.status = SSAN_PIPE_FAILED;
        failure.batch = again.batch = slot->batch.number;
        slot->failure = failure;
    }
    publish(pipe, slot, at_rest ? NULL : &again, stages);
}

void *publisher_run(void *data)
{
    struct lane *lane = data;
    struct ssan_pipe *pipe = lane->pipe;
    (void)cudaSetDevice(lane->part->device); /* failing, the joins below do, and say so */
    pthread_mutex_lock(&pipe->lock);
    for (;;) {
        struct slot *slot = queue_pop(&lane->queue);
        if (slot) {
            pthread_mutex_unlock(&pipe->lock);
            pipe_get(SUBMITTED_HANDOVER, &slot->handed);
            finish(pipe, slot);
            pthread_mutex_lock(&pipe->lock);
        } else if (pipe->is_stopping) {
            break;
        } else {
            pthread_cond_wait(&lane->submitted, &pipe->lock);
        }
    }
    pthread_mutex_unlock(&pipe->lock);
    return NULL;
}
