/* submit: upload, compute and copy out are enqueued; the batch goes to the publisher.
 *
 *   upload stream   [copy in] record uploaded
 *   your stream     wait uploaded | wait reclaimed | [compute] record produced
 *   copy stream     wait produced | wait reclaimed | [copy out] record copied
 *
 * A failure in the middle waits for what was enqueued before it (join_enqueued), so that the slot
 * is at rest when it comes back; if that fails too, the pipeline is broken. An exception of C++
 * that leaves compute is such a failure, and goes on (built with -fexceptions). */
#include "pipeline/parts.h"

struct submission {
    struct ssan_pipe *pipe;
    struct slot *slot;
    cudaStream_t compute;
    struct failure failure;
    bool uploads, computes, copies; /* something stands in that stream */
    int before, shield;             /* the caller's device, and whether it could be cancelled */
};

static void end_thrown(struct submission **submission);

/* Takes the time where the options ask for it; orders nothing. */
static bool begin(struct failure *failure, cudaEvent_t event, cudaStream_t stream)
{
    return !event || PIPE_OK(failure, cudaEventRecord, event, stream);
}

/* Behind the consumer that still copies the slot's last batch out of device_output, or of output.
 */
static bool wait_reclaimed(struct submission *s, bool device, bool has_edge, cudaStream_t stream)
{
    struct slot *slot = s->slot;
    if (!slot->reclaimed || slot->reclaimed_device != device) {
        return true;
    }
    if (!event_wait(&s->failure, has_edge, stream, slot->reclaimed)) {
        return false;
    }
    slot->reclaimed = NULL;
    return true;
}

static bool enqueue_upload(struct submission *s)
{
    struct slot *slot = s->slot;
    struct ssan_pipe_batch *batch = &slot->batch;
    cudaStream_t upload = slot->lane->part->upload;
    if (batch->input_bytes == 0) {
        return true;
    }
    SSAN_HOST_WRITE(slot->input, batch->input_bytes);
    s->uploads = true;
    return begin(&s->failure, slot->upload_begin, upload) &&
           PIPE_OK(&s->failure, cudaMemcpyAsync, slot->device_input, slot->input,
                   batch->input_bytes, cudaMemcpyHostToDevice, upload) &&
           event_record(&s->failure, pipe_has_edge(UPLOADED_RECORD), slot->uploaded, upload) &&
           event_wait(&s->failure, pipe_has_edge(UPLOADED_WAIT), s->compute, slot->uploaded);
}

static bool call_compute(struct submission *s, ssan_pipe_compute *compute, void *user)
{
    struct submission *thrown __attribute__((cleanup(end_thrown))) = s;
    int code = compute(user, &s->slot->batch, s->compute);
    thrown = NULL;
    s->failure.has_looked = false;
    if (code != 0) {
        s->failure.status = SSAN_PIPE_FAILED;
        s->failure.code = code;
        s->failure.call = "compute";
    }
    return device_again(&s->failure, s->slot->lane->part->device) && code == 0;
}

static bool enqueue_compute(struct submission *s, ssan_pipe_compute *compute, void *user)
{
    struct slot *slot = s->slot;
    s->computes = true;
    return wait_reclaimed(s, true, pipe_has_edge(RECLAIMED_COMPUTE_WAIT), s->compute) &&
           begin(&s->failure, slot->compute_begin, s->compute) && call_compute(s, compute, user) &&
           event_record(&s->failure, pipe_has_edge(PRODUCED_RECORD), slot->produced, s->compute);
}

static bool enqueue_copy(struct submission *s)
{
    struct slot *slot = s->slot;
    cudaStream_t copy = slot->lane->copy;
    if (!slot_has_copy(slot)) {
        return true;
    }
    s->copies = true;
    return event_wait(&s->failure, pipe_has_edge(PRODUCED_WAIT), copy, slot->produced) &&
           wait_reclaimed(s, false, pipe_has_edge(RECLAIMED_COPY_WAIT), copy) &&
           begin(&s->failure, slot->copy_begin, copy) &&
           PIPE_OK(&s->failure, cudaMemcpyAsync, slot->output, slot->device_output,
                   slot->batch.output_bytes, cudaMemcpyDeviceToHost, copy) &&
           event_record(&s->failure, pipe_has_edge(COPIED_RECORD), slot->copied, copy);
}

/* Sizes are what acquire gave at most, also behind compute, which may set them. */
static bool has_room(struct submission *s)
{
    const struct slot *slot = s->slot;
    if (slot->batch.input_bytes <= slot->input_room &&
        slot->batch.output_bytes <= slot->output_room) {
        return true;
    }
    s->failure.status = SSAN_PIPE_INVALID;
    return false;
}

/* Waits for what a failed submit has enqueued; false: it can't be shown that it has ended. */
static bool join_enqueued(struct submission *s, struct failure *failure)
{
    const struct slot *slot = s->slot;
    const bool uploads = s->uploads && pipe_has_edge(FAILED_UPLOAD_JOIN);
    const bool computes = s->computes && pipe_has_edge(FAILED_COMPUTE_JOIN);
    const bool copies = s->copies && pipe_has_edge(FAILED_COPY_JOIN);
    bool ok = !uploads || stream_join(failure, slot->uploaded, slot->lane->part->upload);
    ok = (!computes || stream_join(failure, slot->produced, s->compute)) && ok;
    return (!copies || stream_join(failure, slot->copied, slot->lane->copy)) && ok;
}

static enum ssan_pipe_status tell_sizes(const struct submission *s, struct ssan_pipe_error *err)
{
    const struct slot *slot = s->slot;
    bool is_input = slot->batch.input_bytes > slot->input_room;
    return pipe_fail(err, SSAN_PIPE_INVALID, slot->batch.number,
                     "%s, batch %llu: %s is %zu, but acquire gave %zu", s->pipe->name,
                     (unsigned long long)slot->batch.number,
                     is_input ? "input_bytes" : "output_bytes",
                     is_input ? slot->batch.input_bytes : slot->batch.output_bytes,
                     is_input ? slot->input_room : slot->output_room);
}

static enum ssan_pipe_status tell(struct submission *s, struct ssan_pipe_error *err)
{
    uint64_t batch = s->failure.batch;
    switch (s->failure.status) {
    case SSAN_PIPE_CANCELLED:
    case SSAN_PIPE_BROKEN:
        return pipe_fail(err, s->failure.status, batch, "%s, batch %llu: %s", s->pipe->name,
                         (unsigned long long)batch, ssan_pipe_status_text(s->failure.status));
    default:
        s->failure.status = SSAN_PIPE_FAILED;
        return pipe_fail_call(err, &s->failure, s->pipe->name);
    }
}

/* Wrong sizes, and nothing is under way: the batch is the caller's again. */
static enum ssan_pipe_status give_back(struct submission *s, struct ssan_pipe_error *err)
{
    struct ssan_pipe *pipe = s->pipe;
    enum ssan_pipe_status status = tell_sizes(s, err);
    pthread_mutex_lock(&pipe->lock);
    slot_set_state(s->slot, SLOT_FILLING);
    pipe_wake(&pipe->changed, pipe->watchers); /* destroy waits for us */
    pthread_mutex_unlock(&pipe->lock);
    return status;
}

/* The slot comes back; the error is told before. */
static enum ssan_pipe_status give_up(struct submission *s, struct ssan_pipe_error *err)
{
    struct failure joins = {0};
    struct ssan_pipe *pipe = s->pipe;
    bool at_rest = join_enqueued(s, &joins);
    enum ssan_pipe_status status;
    if (s->failure.status == SSAN_PIPE_INVALID && at_rest) {
        return give_back(s, err);
    }
    if (s->failure.status == SSAN_PIPE_INVALID) {
        s->failure = joins;
    }
    s->failure.batch = joins.batch = s->slot->batch.number;
    status = tell(s, err);
    pipe_give(RETURNED_HANDOVER, &s->slot->returned);
    pthread_mutex_lock(&pipe->lock);
    if (status == SSAN_PIPE_CANCELLED) {
        pipe->stats.dropped++;
    } else {
        pipe->stats.failed++;
    }
    if (!at_rest) {
        pipe_break(pipe, &joins);
    }
    slot_return(pipe, s->slot);
    pthread_mutex_unlock(&pipe->lock);
    return status;
}

/* Runs when compute is left: does nothing if it returned. */
static void end_thrown(struct submission **submission)
{
    struct submission *s = *submission;
    if (s) {
        int device = s->slot->lane->part->device;
        s->failure = (struct failure){.status = SSAN_PIPE_FAILED, .call = "compute"};
        (void)device_again(&s->failure, device);
        (void)device_leave(&s->failure, device, s->before);
        (void)give_up(s, NULL);
        pipe_unshield(s->shield);
    }
}

static void hand_to_publisher(struct ssan_pipe *pipe, struct slot *slot)
{
    struct lane *lane = slot->lane;
    uint64_t now = pipe_now_ns();
    pipe_give(SUBMITTED_HANDOVER, &slot->handed);
    pthread_mutex_lock(&pipe->lock);
    slot_set_state(slot, SLOT_SUBMITTED);
    slot->submitted_ns = now;
    if (!lane->queue.first) {
        pthread_cond_signal(&lane->submitted);
    }
    queue_push(&lane->queue, slot);
    slot->order = pipe->submits++;
    pipe->stats.submitted++;
    if (pipe->in_flight++ == 0) {
        pipe->busy_since_ns = now;
    }
    pthread_mutex_unlock(&pipe->lock);
}

static bool enqueue(struct submission *s, ssan_pipe_compute *compute, void *user)
{
    return enqueue_upload(s) && enqueue_compute(s, compute, user) && has_room(s) && enqueue_copy(s);
}

static bool run(struct submission *s, ssan_pipe_compute *compute, void *user)
{
    struct ssan_pipe *pipe = s->pipe;
    int device = s->slot->lane->part->device;
    bool ok;
    if (atomic_load(&pipe->is_broken) || atomic_load(&pipe->is_cancelled)) {
        s->failure.status = atomic_load(&pipe->is_broken) ? SSAN_PIPE_BROKEN : SSAN_PIPE_CANCELLED;
        return false;
    }
    if (!has_room(s)) {
        return false;
    }
    ok = device_enter(&s->failure, device, &s->before);
    ok = ok && enqueue(s, compute, user);
    return device_leave(&s->failure, device, s->before) && ok;
}

/* From FILLING on; one of two threads that submit the same batch. */
static bool begin_submit(struct slot *slot)
{
    int filling = SLOT_FILLING;
    return atomic_compare_exchange_strong(&slot->state, &filling, SLOT_SUBMITTING);
}

/* Why a batch that was given to submit is not the caller's; slot NULL: it is no slot's. */
static const char *what_is_not_acquired(const struct slot *slot)
{
    switch (slot ? slot_state(slot) : SLOT_FILLING) {
    case SLOT_FILLING:
        return "of what is no batch of acquire";
    case SLOT_TAKEN:
        return "of a batch that a consumer has: it was submitted before";
    case SLOT_EMPTY:
        return "of a batch that is gone: it was released, abandoned or failed";
    default:
        return "of a batch that is submitted already";
    }
}

enum ssan_pipe_status ssan_pipe_submit(struct ssan_pipe *pipe, struct ssan_pipe_batch *batch,
                                       ssan_pipe_compute *compute, void *user,
                                       struct CUstream_st *stream, struct ssan_pipe_error *err)
{
    struct submission s = {.pipe = pipe, .slot = slot_of(pipe, batch), .compute = stream};
    enum ssan_pipe_status status = SSAN_PIPE_OK;
    if (!compute || !s.slot || !begin_submit(s.slot)) {
        return pipe_fail(err, SSAN_PIPE_INVALID, SSAN_PIPE_NO_BATCH, "%s: submit %s", pipe->name,
                         compute ? what_is_not_acquired(s.slot) : "without compute");
    }
    s.shield = pipe_shield();
    if (run(&s, compute, user)) {
        hand_to_publisher(pipe, s.slot);
    } else {
        status = give_up(&s, err);
    }
    pipe_unshield(s.shield);
    return status;
}
