/* acquire and abandon: who gets the next slot.
 *
 * First come, first served: a producer is served when its device has a free slot, the limits allow
 * its batch, and no earlier one waits for a slot of the same device or for the limits. Numbers are
 * given in that order. */
#include "pipeline/parts.h"

static bool fits_limits(const struct ssan_pipe *pipe, const struct ssan_pipe_request *request)
{
    uint64_t bytes = (uint64_t)request->input_bytes + request->output_bytes;
    return pipe->ahead < pipe->options.depth &&
           (pipe->options.max_bytes == 0 || pipe->bytes + bytes <= pipe->options.max_bytes);
}

static bool has_slot(const struct ssan_pipe *pipe, const struct ssan_pipe_request *request)
{
    return pipe->parts[request->device_index].free.first != NULL;
}

static bool can_serve(const struct ssan_pipe *pipe, const struct ssan_pipe_request *request,
                      const struct waiter *self)
{
    for (const struct waiter *w = pipe->first_waiter; w && w != self; w = w->next) {
        if (w->request->device_index == request->device_index || has_slot(pipe, w->request)) {
            return false;
        }
    }
    return has_slot(pipe, request) && fits_limits(pipe, request);
}

static void push_waiter(struct ssan_pipe *pipe, struct waiter *waiter)
{
    if (pipe->last_waiter) {
        pipe->last_waiter->next = waiter;
    } else {
        pipe->first_waiter = waiter;
    }
    pipe->last_waiter = waiter;
}

void waiter_remove(struct ssan_pipe *pipe, const struct waiter *waiter)
{
    struct waiter *before = NULL;
    for (struct waiter *w = pipe->first_waiter; w != waiter; w = w->next) {
        before = w;
    }
    if (before) {
        before->next = waiter->next;
    } else {
        pipe->first_waiter = waiter->next;
    }
    if (pipe->last_waiter == waiter) {
        pipe->last_waiter = before;
    }
    pipe_wake(&pipe->can_acquire, pipe->producers); /* those behind it may have their turn */
}

/* Waits for its turn; the wait is counted for what was missing when it began. */
static enum ssan_pipe_status
wait_for_turn(struct ssan_pipe *pipe, const struct ssan_pipe_request *request, uint64_t timeout_ns)
{
    struct waiter waiter = {.request = request};
    const bool for_slot = !has_slot(pipe, request);
    bool in_time = true;
    uint64_t waited_ns;
    enum ssan_pipe_status status;
    if (timeout_ns == 0) {
        return SSAN_PIPE_TIMEOUT;
    }
    const uint64_t begin = pipe_now_ns();
    const struct timespec deadline = pipe_deadline(timeout_ns);
    push_waiter(pipe, &waiter);
    while ((status = pipe_refusal(pipe)) == SSAN_PIPE_OK && !can_serve(pipe, request, &waiter)) {
        if (!in_time) {
            status = SSAN_PIPE_TIMEOUT;
            break;
        }
        in_time =
            pipe_wait(pipe, &pipe->can_acquire, &pipe->producers, &waiter, timeout_ns, &deadline);
    }
    waiter_remove(pipe, &waiter);
    waited_ns = pipe_now_ns() - begin;
    if (for_slot) {
        pipe->stats.slot_waits++;
        pipe->stats.slot_wait_ns += waited_ns;
    } else {
        pipe->stats.limit_waits++;
        pipe->stats.limit_wait_ns += waited_ns;
    }
    pipe_wake(&pipe->changed, pipe->watchers); /* destroy waits for us */
    return status;
}

static struct slot *pop_free(struct ssan_pipe *pipe, const struct ssan_pipe_request *request)
{
    struct slot *slot = queue_pop(&pipe->parts[request->device_index].free);
    slot_set_state(slot, SLOT_FILLING);
    slot->input_room = request->input_bytes;
    slot->output_room = request->output_bytes;
    slot->batch.number = pipe->next_number++;
    pipe->live++;
    pipe->ahead++;
    pipe->bytes += (uint64_t)request->input_bytes + request->output_bytes;
    return slot;
}

static enum ssan_pipe_status check_request(const struct ssan_pipe *pipe,
                                           const struct ssan_pipe_request *request,
                                           struct ssan_pipe_error *err)
{
    const struct ssan_pipe_options *o = &pipe->options;
    uint64_t bytes = (uint64_t)request->input_bytes + request->output_bytes;
    if (request->device_index >= o->device_count) {
        return pipe_fail(err, SSAN_PIPE_INVALID, SSAN_PIPE_NO_BATCH,
                         "%s: device_index %u, but the pipeline has %u device%s", pipe->name,
                         request->device_index, o->device_count, &"s"[o->device_count == 1]);
    }
    if (request->input_bytes > o->input_bytes || request->output_bytes > o->output_bytes) {
        return pipe_fail(err, SSAN_PIPE_INVALID, SSAN_PIPE_NO_BATCH,
                         "%s: a batch of %zu and %zu bytes, but slots have room for %zu and %zu",
                         pipe->name, request->input_bytes, request->output_bytes, o->input_bytes,
                         o->output_bytes);
    }
    if (o->max_bytes && bytes > o->max_bytes) {
        return pipe_fail(err, SSAN_PIPE_INVALID, SSAN_PIPE_NO_BATCH,
                         "%s: a batch of %llu bytes is above max_bytes, %llu", pipe->name,
                         (unsigned long long)bytes, (unsigned long long)o->max_bytes);
    }
    return SSAN_PIPE_OK;
}

static void show_to_producer(struct slot *slot)
{
    struct ssan_pipe_batch *batch = &slot->batch;
    batch->tag = NULL;
    batch->input_bytes = slot->input_room;
    batch->output_bytes = slot->output_room;
    batch->input = slot->input;
    batch->device_input = slot->device_input;
    batch->device_output = slot->device_output;
    batch->output = NULL;
    batch->landed = NULL;
}

enum ssan_pipe_status ssan_pipe_acquire(struct ssan_pipe *pipe,
                                        const struct ssan_pipe_request *request,
                                        uint64_t timeout_ns, struct ssan_pipe_batch **batch,
                                        struct ssan_pipe_error *err)
{
    const struct ssan_pipe_request whole = {0, pipe->options.input_bytes,
                                            pipe->options.output_bytes};
    struct slot *slot = NULL;
    enum ssan_pipe_status status;
    request = request ? request : &whole;
    status = check_request(pipe, request, err);
    if (status != SSAN_PIPE_OK) {
        return status;
    }
    pthread_mutex_lock(&pipe->lock);
    status = pipe_refusal(pipe);
    if (status == SSAN_PIPE_OK && !can_serve(pipe, request, NULL)) {
        status = wait_for_turn(pipe, request, timeout_ns);
    }
    if (status == SSAN_PIPE_OK) {
        slot = pop_free(pipe, request);
        pipe_wake(&pipe->can_acquire, pipe->producers); /* the next one's turn */
    }
    if (status == SSAN_PIPE_BROKEN) {
        (void)pipe_fail_call(err, &pipe->broke, pipe->name);
    } else if (status == SSAN_PIPE_TIMEOUT && err) {
        (void)pipe_fail(err, status, SSAN_PIPE_NO_BATCH, "%s: no slot: %s; batches: %s", pipe->name,
                        ssan_pipe_status_text(status), pipe_holders(pipe).text);
    } else if (status != SSAN_PIPE_OK) {
        (void)pipe_fail(err, status, SSAN_PIPE_NO_BATCH, "%s: no slot: %s", pipe->name,
                        ssan_pipe_status_text(status));
    }
    pthread_mutex_unlock(&pipe->lock);
    if (status != SSAN_PIPE_OK) {
        return status;
    }
    pipe_get(RETURNED_HANDOVER, &slot->returned);
    show_to_producer(slot);
    *batch = &slot->batch;
    return SSAN_PIPE_OK;
}

void ssan_pipe_abandon(struct ssan_pipe *pipe, struct ssan_pipe_batch *batch)
{
    struct slot *slot = slot_of(pipe, batch);
    if (!slot) {
        return;
    }
    pipe_give(RETURNED_HANDOVER, &slot->returned);
    pthread_mutex_lock(&pipe->lock);
    if (slot_state(slot) == SLOT_FILLING) {
        pipe->stats.abandoned++;
        slot_return(pipe, slot);
    }
    pthread_mutex_unlock(&pipe->lock);
}
