/* Memory, streams and events of a pipeline and of its consumers: made all or not at all, and
 * dropped in the reverse order, when create.c has waited for the device; and which device is
 * current. */
#include "pipeline/parts.h"

#include <sched.h>
#include <stdlib.h>

static bool set_device(struct failure *failure, int device)
{
    if (failure->status == SSAN_PIPE_OK) {
        failure->device = device;
    }
    return PIPE_OK(failure, cudaSetDevice, device);
}

bool device_enter(struct failure *failure, int device, int *before)
{
    *before = device;
    return PIPE_OK(failure, cudaGetDevice, before) &&
           (*before == device || set_device(failure, device));
}

bool device_again(struct failure *failure, int device)
{
    int now = device;
    return PIPE_OK(failure, cudaGetDevice, &now) && (now == device || set_device(failure, device));
}

bool device_leave(struct failure *failure, int device, int before)
{
    struct failure once = {0};
    return before == device || set_device(&once, before) || set_device(failure, before);
}

/* Polled, where waiting fails: a wait for the whole stream would take in what other producers
 * submit there meanwhile, and that is chance. */
bool event_join(struct failure *failure, cudaEvent_t event)
{
    struct failure once = {0};
    cudaError_t error;
    if (PIPE_OK(&once, cudaEventSynchronize, event)) {
        return true;
    }
    pipe_before_call(failure);
    while ((error = cudaEventQuery(event)) == cudaErrorNotReady) {
        sched_yield();
    }
    return pipe_ok(failure, "cudaEventQuery", error);
}

/* By an event: other threads may be submitting there, and what a wait for the stream itself covers
 * would be chance. */
bool stream_join(struct failure *failure, cudaEvent_t event, cudaStream_t stream)
{
    struct failure once = {0};
    return (PIPE_OK(&once, cudaEventRecord, event, stream) && event_join(&once, event)) ||
           PIPE_OK(failure, cudaStreamSynchronize, stream);
}

static bool make_stream(struct failure *failure, cudaStream_t *stream)
{
    return PIPE_OK(failure, cudaStreamCreateWithFlags, stream, cudaStreamNonBlocking);
}

static bool make_event(struct failure *failure, cudaEvent_t *event, unsigned flags)
{
    return PIPE_OK(failure, cudaEventCreateWithFlags, event, flags);
}

static bool make_pinned(struct ssan_pipe *pipe, struct failure *failure, void **memory, size_t size)
{
    if (size == 0 || !PIPE_OK(failure, cudaHostAlloc, memory, size, cudaHostAllocPortable)) {
        return size == 0;
    }
    pipe->stats.pinned_bytes += size;
    return true;
}

static bool make_device(struct ssan_pipe *pipe, struct failure *failure, void **memory, size_t size)
{
    if (size == 0 || !PIPE_OK(failure, cudaMalloc, memory, size)) {
        return size == 0;
    }
    pipe->stats.device_bytes += size;
    return true;
}

static bool make_slot(struct ssan_pipe *pipe, struct slot *slot, struct failure *failure)
{
    const struct ssan_pipe_options *options = &pipe->options;
    const unsigned order = options->timing ? 0 : cudaEventDisableTiming;
    const unsigned joined = order | (options->blocking_wait ? cudaEventBlockingSync : 0);
    return make_pinned(pipe, failure, &slot->input, options->input_bytes) &&
           make_device(pipe, failure, &slot->device_input, options->input_bytes) &&
           make_device(pipe, failure, &slot->device_output, options->output_bytes) &&
           make_pinned(pipe, failure, &slot->output,
                       options->no_copy_out ? 0 : options->output_bytes) &&
           make_event(failure, &slot->uploaded, order) &&
           make_event(failure, &slot->produced, joined) &&
           make_event(failure, &slot->copied, joined) &&
           (!options->timing || (make_event(failure, &slot->upload_begin, 0) &&
                                 make_event(failure, &slot->compute_begin, 0) &&
                                 make_event(failure, &slot->copy_begin, 0)));
}

bool pipe_make_memory(struct ssan_pipe *pipe, struct failure *failure)
{
    int before = 0;
    bool ok = true;
    for (unsigned i = 0; ok && i < pipe->options.device_count; i++) {
        struct part *part = &pipe->parts[i];
        ok = device_enter(failure, part->device, &before);
        ok = ok && (pipe->options.input_bytes == 0 || make_stream(failure, &part->upload));
        for (unsigned j = 0; ok && j < pipe->lane_count; j++) {
            struct lane *lane = &pipe->lanes[j];
            ok = lane->part != part || pipe->options.no_copy_out ||
                 make_stream(failure, &lane->copy);
        }
        for (unsigned j = 0; ok && j < pipe->slot_count; j++) {
            struct slot *slot = &pipe->slots[j];
            ok = slot->lane->part != part || make_slot(pipe, slot, failure);
        }
        ok = device_leave(failure, part->device, before) && ok;
    }
    return ok;
}

/* An earlier consumer of the pipeline has had peer access enabled for the same device. */
static bool has_enabled_peers(struct ssan_pipe *pipe, int device)
{
    bool has = false;
    pthread_mutex_lock(&pipe->lock);
    for (const struct ssan_pipe_consumer *c = pipe->consumers; c && !has; c = c->next) {
        has = c->options.from_device && c->options.device == device;
    }
    pthread_mutex_unlock(&pipe->lock);
    return has;
}

/* Copies between the two devices go directly then; without it the driver takes the way over the
 * host, so no failure is one of ours. Fails where the program has it enabled already; such an error
 * would cover one of the program's that stands, so then nothing is tried. */
static void enable_peers(struct ssan_pipe *pipe, int device)
{
    for (unsigned i = 0; i < pipe->options.device_count; i++) {
        int can = 0, peer = pipe->parts[i].device;
        if (device == peer || pipe_error_stands()) {
            continue;
        }
        if (cudaDeviceCanAccessPeer(&can, device, peer) != cudaSuccess ||
            (can && cudaDeviceEnablePeerAccess(peer, 0) != cudaSuccess)) {
            (void)cudaGetLastError(); /* on already, or refused */
        }
    }
}

static bool make_landing(struct ssan_pipe_consumer *consumer, struct landing *landing,
                         struct failure *failure)
{
    size_t size = consumer->pipe->options.output_bytes;
    return (size == 0 || PIPE_OK(failure, cudaMalloc, &landing->memory, size)) &&
           make_event(failure, &landing->landed, cudaEventDisableTiming) &&
           make_event(failure, &landing->consumed, cudaEventDisableTiming);
}

bool consumer_make_memory(struct ssan_pipe_consumer *consumer, struct failure *failure)
{
    struct ssan_pipe *pipe = consumer->pipe;
    int device = consumer->options.device, before = 0;
    bool ok = device_enter(failure, device, &before) && make_stream(failure, &consumer->transfer);
    for (unsigned i = 0; ok && i < consumer->options.landings; i++) {
        ok = make_landing(consumer, &consumer->landings[i], failure);
    }
    for (unsigned i = 0; ok && i < pipe->slot_count; i++) {
        ok = make_event(failure, &consumer->reclaimed[i], cudaEventDisableTiming);
    }
    if (ok && consumer->options.from_device && !has_enabled_peers(pipe, device)) {
        enable_peers(pipe, device);
    }
    return device_leave(failure, device, before) && ok;
}

static void drop_event(struct failure *failure, cudaEvent_t event)
{
    if (event) {
        PIPE_OK(failure, cudaEventDestroy, event);
    }
}

static void drop_stream(struct failure *failure, cudaStream_t stream)
{
    if (stream) {
        PIPE_OK(failure, cudaStreamDestroy, stream);
    }
}

static void drop_slot(struct slot *slot, struct failure *failure)
{
    cudaEvent_t events[] = {slot->uploaded,     slot->produced,      slot->copied,
                            slot->upload_begin, slot->compute_begin, slot->copy_begin};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        drop_event(failure, events[i]);
    }
    if (slot->output) {
        PIPE_OK(failure, cudaFreeHost, slot->output);
    }
    if (slot->device_output) {
        PIPE_OK(failure, cudaFree, slot->device_output);
    }
    if (slot->device_input) {
        PIPE_OK(failure, cudaFree, slot->device_input);
    }
    if (slot->input) {
        PIPE_OK(failure, cudaFreeHost, slot->input);
    }
}

void pipe_drop_memory(struct ssan_pipe *pipe, struct failure *failure)
{
    for (unsigned j = 0; j < pipe->slot_count; j++) {
        drop_slot(&pipe->slots[j], failure);
    }
    for (unsigned j = 0; j < pipe->lane_count; j++) {
        drop_stream(failure, pipe->lanes[j].copy);
    }
    for (unsigned i = 0; i < pipe->options.device_count; i++) {
        drop_stream(failure, pipe->parts[i].upload);
    }
}

void consumer_drop_memory(struct ssan_pipe_consumer *consumer, struct failure *failure)
{
    for (unsigned i = 0; consumer->landings && i < consumer->options.landings; i++) {
        struct landing *landing = &consumer->landings[i];
        drop_event(failure, landing->landed);
        drop_event(failure, landing->consumed);
        if (landing->memory) {
            PIPE_OK(failure, cudaFree, landing->memory);
        }
    }
    for (unsigned i = 0; consumer->reclaimed && i < consumer->pipe->slot_count; i++) {
        drop_event(failure, consumer->reclaimed[i]);
    }
    drop_stream(failure, consumer->transfer);
    free(consumer->landings);
    free(consumer->reclaimed);
    free(consumer);
}
