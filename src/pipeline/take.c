/* take and release: which batch a consumer gets, and the way to a consumer's device.
 *
 * In order: the batch with the least number of all that may still come to this consumer, once it is
 * ready. Numbers that are gone (abandoned, failed in submit) are on no slot and hold nothing up.
 *
 *   transfer stream     wait consumed | [copy to landed] record landed, record reclaimed
 *   consumer's stream   wait landed | your work | at release: record consumed
 *
 * The slot comes back as soon as the copy is enqueued; its next batch waits for `reclaimed`. */
#include "pipeline/parts.h"

static bool is_for(const struct ssan_pipe_consumer *consumer, const struct slot *slot)
{
    unsigned share = consumer->pipe->options.share;
    return slot_state(slot) != SLOT_EMPTY && slot_state(slot) != SLOT_TAKEN &&
           (share == 0 || slot->batch.number % share == consumer->options.share_index);
}

/* The batch to take, or NULL; *may_come: another one may come later. Under the lock. */
static struct slot *find_batch(const struct ssan_pipe_consumer *consumer, bool *may_come)
{
    struct ssan_pipe *pipe = consumer->pipe;
    bool in_order = pipe->options.order == SSAN_PIPE_IN_ORDER;
    struct slot *best = NULL;
    *may_come = false;
    for (unsigned i = 0; i < pipe->slot_count; i++) {
        struct slot *slot = &pipe->slots[i];
        if (!is_for(consumer, slot)) {
            continue;
        }
        *may_come = true;
        if (in_order ? !best || slot->batch.number < best->batch.number
                     : slot_state(slot) == SLOT_READY && (!best || slot->order < best->order)) {
            best = slot;
        }
    }
    return best && slot_state(best) == SLOT_READY ? best : NULL;
}

static struct landing *find_landing(const struct ssan_pipe_consumer *consumer)
{
    for (unsigned i = 0; i < consumer->options.landings; i++) {
        if (!consumer->landings[i].is_held) {
            return &consumer->landings[i];
        }
    }
    return NULL;
}

/* Waits for a batch, and makes it the consumer's. Under the lock. */
static enum ssan_pipe_status wait_for_batch(struct ssan_pipe_consumer *consumer,
                                            uint64_t timeout_ns, struct slot **found)
{
    struct ssan_pipe *pipe = consumer->pipe;
    const struct timespec deadline = pipe_deadline(timeout_ns);
    bool may_come, in_time = true;
    enum ssan_pipe_status refusal;
    for (;;) {
        refusal = pipe_refusal(pipe);
        if (atomic_load_explicit(&pipe->is_cancelled, memory_order_relaxed)) {
            return SSAN_PIPE_CANCELLED;
        }
        *found = find_batch(consumer, &may_come);
        if (*found) {
            return SSAN_PIPE_OK;
        }
        if (refusal != SSAN_PIPE_OK && !may_come) {
            return refusal;
        }
        if (!in_time) {
            return SSAN_PIPE_TIMEOUT;
        }
        in_time = pipe_wait(pipe, &pipe->can_take, &pipe->takers, NULL, timeout_ns, &deadline);
    }
}

/* The batch leaves the slot without a consumer that holds it: it failed, or was copied away.
 * `failed`: the landing that it didn't get to; NULL: none. Nothing of the pipeline is touched
 * behind it. */
static void return_taken(struct ssan_pipe *pipe, struct slot *slot, struct landing *failed,
                         const struct failure *broke)
{
    pipe_give(RETURNED_HANDOVER, &slot->returned);
    pthread_mutex_lock(&pipe->lock);
    if (broke) {
        pipe_break(pipe, broke);
    }
    if (failed) {
        failed->is_held = false;
        pipe->landings_held--;
        pipe->stats.failed++;
    }
    pipe->taking--;
    slot_return(pipe, slot);
    pthread_mutex_unlock(&pipe->lock);
}

static bool copy_to_landing(struct ssan_pipe_consumer *consumer, const struct slot *slot,
                            const struct landing *landing, struct failure *failure)
{
    size_t bytes = slot->batch.output_bytes;
    int from = slot->lane->part->device, to = consumer->options.device;
    if (!consumer->options.from_device) {
        return PIPE_OK(failure, cudaMemcpyAsync, landing->memory, slot->output, bytes,
                       cudaMemcpyHostToDevice, consumer->transfer);
    }
    if (from == to) {
        return PIPE_OK(failure, cudaMemcpyAsync, landing->memory, slot->device_output, bytes,
                       cudaMemcpyDeviceToDevice, consumer->transfer);
    }
    return PIPE_OK(failure, cudaMemcpyPeerAsync, landing->memory, to, slot->device_output, from,
                   bytes, consumer->transfer);
}

static bool enqueue_transfer(struct ssan_pipe_consumer *consumer, struct slot *slot,
                             struct landing *landing, struct failure *failure)
{
    cudaEvent_t reclaimed = consumer->reclaimed[slot->batch.slot];
    cudaStream_t transfer = consumer->transfer;
    if (slot->batch.output_bytes == 0) {
        return true;
    }
    if (landing->is_used) {
        pipe_get(LANDING_HANDOVER, &landing->returned);
        if (!event_wait(failure, pipe_has_edge(CONSUMED_WAIT), transfer, landing->consumed)) {
            return false;
        }
    }
    if (!copy_to_landing(consumer, slot, landing, failure) ||
        !event_record(failure, pipe_has_edge(LANDED_RECORD), landing->landed, transfer) ||
        !event_record(failure, pipe_has_edge(RECLAIMED_RECORD), reclaimed, transfer) ||
        !event_wait(failure, pipe_has_edge(LANDED_WAIT), consumer->options.stream,
                    landing->landed)) {
        return false;
    }
    slot->reclaimed = reclaimed;
    slot->reclaimed_device = consumer->options.from_device;
    return true;
}

/* Copies the batch to the consumer's device and gives the slot back. */
static enum ssan_pipe_status land(struct ssan_pipe_consumer *consumer, struct slot *slot,
                                  struct landing *landing, struct ssan_pipe_error *err)
{
    struct ssan_pipe *pipe = consumer->pipe;
    int device = consumer->options.device, before = 0;
    struct failure failure = {0}, again = {0};
    bool at_rest = true;
    bool ok = device_enter(&failure, device, &before) &&
              enqueue_transfer(consumer, slot, landing, &failure);
    ok = device_leave(&failure, device, before) && ok;
    if (!ok) {
        at_rest = !pipe_has_edge(FAILED_TRANSFER_JOIN) ||
                  PIPE_OK(&again, cudaStreamSynchronize, consumer->transfer);
        failure.status = SSAN_PIPE_FAILED;
    }
    failure.batch = again.batch = slot->batch.number;
    landing->batch = slot->batch;
    landing->batch.device = device;
    landing->batch.landed = landing->memory;
    landing->published_ns = slot->published_ns;
    if (failure.status != SSAN_PIPE_OK) {
        (void)pipe_fail_call(err, &failure, pipe->name);
    }
    return_taken(pipe, slot, ok ? NULL : landing, at_rest ? NULL : &again);
    return failure.status;
}

static void show_to_consumer(struct slot *slot)
{
    struct ssan_pipe_batch *batch = &slot->batch;
    batch->input = batch->device_input = batch->device_output = NULL;
    batch->output = slot->output;
}

/* Makes a ready batch this consumer's. Under the lock. */
static void make_taken(const struct ssan_pipe_consumer *consumer, struct slot *slot,
                       struct landing *landing)
{
    struct ssan_pipe *pipe = consumer->pipe;
    atomic_store_explicit(&slot->taker, consumer, memory_order_relaxed);
    slot_set_state(slot, SLOT_TAKEN);
    pipe->ahead--;
    pipe->taking += landing || slot->failure.status != SSAN_PIPE_OK;
    if (slot->failure.status == SSAN_PIPE_OK) {
        latency_add(&pipe->delivery_latency, pipe_now_ns() - slot->published_ns);
        if (landing) {
            landing->is_held = true;
            pipe->landings_held++;
        }
    }
    pipe_wake(&pipe->can_acquire, pipe->producers); /* depth */
    pipe_wake(&pipe->can_take, pipe->takers);       /* the batch behind it is the oldest now */
}

static void tell_no_batch(const struct ssan_pipe *pipe, enum ssan_pipe_status status,
                          struct ssan_pipe_error *err)
{
    if (status == SSAN_PIPE_BROKEN) {
        (void)pipe_fail_call(err, &pipe->broke, pipe->name);
    } else if (status == SSAN_PIPE_TIMEOUT && err) {
        (void)pipe_fail(err, status, SSAN_PIPE_NO_BATCH, "%s: no batch: %s; batches: %s",
                        pipe->name, ssan_pipe_status_text(status), pipe_holders(pipe).text);
    } else {
        (void)pipe_fail(err, status, SSAN_PIPE_NO_BATCH, "%s: no batch: %s", pipe->name,
                        status == SSAN_PIPE_BUSY
                            ? "the consumer holds all its landings; release one"
                            : ssan_pipe_status_text(status));
    }
}

enum ssan_pipe_status ssan_pipe_take(struct ssan_pipe_consumer *consumer, uint64_t timeout_ns,
                                     struct ssan_pipe_batch **batch, struct ssan_pipe_error *err)
{
    struct ssan_pipe *pipe = consumer->pipe;
    struct landing *landing = NULL;
    struct slot *slot = NULL;
    enum ssan_pipe_status status = SSAN_PIPE_OK;
    pthread_mutex_lock(&pipe->lock);
    if (consumer->options.on_device) {
        landing = find_landing(consumer);
        status = landing ? SSAN_PIPE_OK : SSAN_PIPE_BUSY;
    }
    if (status == SSAN_PIPE_OK) {
        status = wait_for_batch(consumer, timeout_ns, &slot);
    }
    if (status == SSAN_PIPE_OK) {
        make_taken(consumer, slot, landing);
    } else {
        pipe_wake(&pipe->changed, pipe->watchers); /* destroy waits for us */
        tell_no_batch(pipe, status, err);
    }
    pthread_mutex_unlock(&pipe->lock);
    if (status != SSAN_PIPE_OK) {
        return status;
    }
    pipe_get(PUBLISHED_HANDOVER, &slot->shown);
    if (slot->failure.status != SSAN_PIPE_OK) {
        status = pipe_fail_call(err, &slot->failure, pipe->name);
        return_taken(pipe, slot, NULL, NULL);
        return status;
    }
    show_to_consumer(slot);
    if (landing) {
        int shield = pipe_shield();
        slot->batch.output = NULL;
        status = land(consumer, slot, landing, err);
        pipe_unshield(shield);
    }
    if (status == SSAN_PIPE_OK) {
        *batch = landing ? &landing->batch : &slot->batch;
    }
    return status;
}

/* The caller of release is who took the batch, not another consumer. */
static bool is_held_by(const struct ssan_pipe_consumer *consumer, const struct slot *slot)
{
    return slot_state(slot) == SLOT_TAKEN &&
           atomic_load_explicit(&slot->taker, memory_order_relaxed) == consumer;
}

/* Why a batch that was given to release isn't held by its consumer; slot NULL: it is no slot's. */
static const char *what_is_not_held(const struct slot *slot)
{
    switch (slot ? slot_state(slot) : SLOT_EMPTY) {
    case SLOT_EMPTY:
        return "what is no batch any more: it was released, or never taken here";
    case SLOT_TAKEN:
        return "a batch that another consumer holds";
    default:
        return "a batch that take has not given";
    }
}

static struct landing *landing_of(const struct ssan_pipe_consumer *consumer,
                                  const struct ssan_pipe_batch *batch)
{
    for (unsigned i = 0; consumer->landings && i < consumer->options.landings; i++) {
        if (&consumer->landings[i].batch == batch && consumer->landings[i].is_held) {
            return &consumer->landings[i];
        }
    }
    return NULL;
}

/* The landing is free once the consumer's stream is past this point. */
static enum ssan_pipe_status release_landing(struct ssan_pipe_consumer *consumer,
                                             struct landing *landing, struct ssan_pipe_error *err)
{
    struct ssan_pipe *pipe = consumer->pipe;
    struct failure failure = {0}, again = {0};
    int device = consumer->options.device, before = 0;
    uint64_t number = landing->batch.number;
    bool at_rest = true, ok;
    landing->is_used = true;
    ok = device_enter(&failure, device, &before) &&
         event_record(&failure, pipe_has_edge(CONSUMED_RECORD), landing->consumed,
                      consumer->options.stream);
    ok = device_leave(&failure, device, before) && ok;
    if (!ok) {
        at_rest = !pipe_has_edge(FAILED_RELEASE_JOIN) ||
                  stream_join(&again, landing->consumed, consumer->options.stream);
        landing->is_used = false; /* at rest: nothing to wait for */
    }
    failure.batch = again.batch = number;
    if (failure.status != SSAN_PIPE_OK) {
        (void)pipe_fail_call(err, &failure, pipe->name);
    }
    pipe_give(LANDING_HANDOVER, &landing->returned);
    pthread_mutex_lock(&pipe->lock);
    if (!at_rest) {
        pipe_break(pipe, &again);
    }
    landing->is_held = false;
    pipe->landings_held--;
    pipe->stats.released++;
    pipe_wake(&pipe->changed, pipe->watchers);
    pthread_mutex_unlock(&pipe->lock);
    return failure.status;
}

enum ssan_pipe_status ssan_pipe_release(struct ssan_pipe_consumer *consumer,
                                        struct ssan_pipe_batch *batch, struct ssan_pipe_error *err)
{
    struct ssan_pipe *pipe = consumer->pipe;
    struct landing *landing = landing_of(consumer, batch);
    struct slot *slot = landing ? NULL : slot_of(pipe, batch);
    if (landing) {
        int shield = pipe_shield();
        enum ssan_pipe_status status = release_landing(consumer, landing, err);
        pipe_unshield(shield);
        return status;
    }
    if (!slot || !is_held_by(consumer, slot)) {
        return pipe_fail(err, SSAN_PIPE_INVALID, SSAN_PIPE_NO_BATCH, "%s: release of %s",
                         pipe->name, what_is_not_held(slot));
    }
    if (slot->batch.output_bytes) {
        SSAN_HOST_READ(slot->output, slot->batch.output_bytes);
    }
    pipe_give(RETURNED_HANDOVER, &slot->returned);
    pthread_mutex_lock(&pipe->lock);
    pipe->stats.released++;
    slot_return(pipe, slot);
    pthread_mutex_unlock(&pipe->lock);
    return SSAN_PIPE_OK;
}
