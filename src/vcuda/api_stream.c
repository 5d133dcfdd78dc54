/* Streams: their lives, joins and queries (R-STREAM-*, R-HOST-1 to 3). */
#include "vcuda/api.h"
#include "vcuda/emit.h"
#include "vcuda/handle.h"
#include "vcuda/plan_sites.h"
#include "vcuda/queue.h"
#include "vcuda/reach.h"
#include "vcuda/sched.h"

/* Highest priority; 0 is the lowest. */
#define GREATEST_PRIORITY (-5)

static cudaError_t create(struct call *call, cudaStream_t *handle, unsigned flags, int priority)
{
    bool is_blocking = !(flags & cudaStreamNonBlocking);
    struct stream *stream;
    if (!handle || (flags & ~(unsigned)cudaStreamNonBlocking)) {
        return cudaErrorInvalidValue;
    }
    if (!VEC_RESERVE(&device.by_number, device.by_number.count + 1)) {
        return cudaErrorMemoryAllocation;
    }
    stream = queue_new_stream(is_blocking ? SSAN_stream_flavour_BLOCKING
                                          : SSAN_stream_flavour_NON_BLOCKING,
                              call->ordinal);
    if (!stream) {
        return cudaErrorMemoryAllocation;
    }
    device.by_number.items[device.by_number.count++] = stream;
    stream->number = device.by_number.count;
    stream->flags = flags;
    stream->priority = priority > 0                   ? 0
                       : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY
                                                      : priority;
    emit_stream_create(call, stream);
    *handle = handle_of_stream(stream->number);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    struct call call;
    return BEGIN(&call, "cudaStreamCreate") ? call_end(&call, create(&call, stream, 0, 0))
                                            : call.error;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    struct call call;
    return BEGIN(&call, "cudaStreamCreateWithFlags")
               ? call_end(&call, create(&call, stream, flags, 0))
               : call.error;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
    struct call call;
    return BEGIN(&call, "cudaStreamCreateWithPriority")
               ? call_end(&call, create(&call, stream, flags, priority))
               : call.error;
}

static cudaError_t destroy(struct call *call, cudaStream_t handle)
{
    struct stream *stream = handle_is_stream(handle);
    if (!stream) {
        return cudaErrorInvalidResourceHandle;
    }
    emit_stream_destroy(call, stream);
    device.by_number.items[stream->number - 1] = NULL;
    queue_abandon_stream(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    struct call call;
    return BEGIN(&call, "cudaStreamDestroy") ? call_end(&call, destroy(&call, stream)) : call.error;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    struct call call;
    if (!BEGIN(&call, "cudaDeviceGetStreamPriorityRange")) {
        return call.error;
    }
    if (least) {
        *least = 0;
    }
    if (greatest) {
        *greatest = GREATEST_PRIORITY;
    }
    return call_end(&call, cudaSuccess);
}

cudaError_t api_stream_priority(struct call *call, cudaStream_t handle, bool per_thread,
                                int *priority)
{
    struct stream *stream;
    cudaError_t error = handle_find_stream(call, handle, per_thread, &stream);
    if (error == cudaSuccess && !priority) {
        error = cudaErrorInvalidValue;
    }
    if (error == cudaSuccess) {
        *priority = stream->priority;
    }
    return error;
}

cudaError_t api_stream_flags(struct call *call, cudaStream_t handle, bool per_thread,
                             unsigned *flags)
{
    struct stream *stream;
    cudaError_t error = handle_find_stream(call, handle, per_thread, &stream);
    if (error == cudaSuccess && !flags) {
        error = cudaErrorInvalidValue;
    }
    if (error == cudaSuccess) {
        *flags = stream->flags;
    }
    return error;
}

cudaError_t api_stream_id(struct call *call, cudaStream_t handle, bool per_thread,
                          unsigned long long *id)
{
    struct stream *stream;
    cudaError_t error = handle_find_stream(call, handle, per_thread, &stream);
    if (error == cudaSuccess && !id) {
        error = cudaErrorInvalidValue;
    }
    if (error == cudaSuccess) {
        *id = stream->id;
    }
    return error;
}

/* Waits for what `stream` (NULL: every one of the current device) holds now. */
static cudaError_t join(struct call *call, struct stream *stream)
{
    int64_t began = device_now_ns();
    uint64_t sync;
    struct op_list targets = {0};
    cudaError_t error;
    if (plan_sites_ignores(call)) {
        return cudaSuccess;
    }
    const struct reach_scope scope = stream ? reach_scope(stream) : (struct reach_scope){0};
    const uint64_t before = device.op_count;
    sync = stream ? emit_sync(call, SSAN_sync_kind_STREAM, stream->id)
                  : emit_sync(call, SSAN_sync_kind_DEVICE, call->ordinal + 1);
    error = (stream ? queue_targets(&targets, stream) : queue_targets_of(&targets, call->ordinal))
                ? cudaSuccess
                : cudaErrorMemoryAllocation;
    if (error == cudaSuccess) {
        sched_join(&targets);
        error = device.sticky;
    }
    if (error == cudaSuccess && stream) {
        reach_joined(scope, before);
    } else if (error == cudaSuccess) {
        reach_joined_device(call->ordinal, before);
    }
    queue_targets_finish(&targets);
    emit_sync_return(sync, error == cudaSuccess, (uint64_t)(device_now_ns() - began));
    return error;
}

cudaError_t api_stream_synchronize(struct call *call, cudaStream_t handle, bool per_thread)
{
    struct stream *stream;
    cudaError_t error = handle_find_stream(call, handle, per_thread, &stream);
    return error == cudaSuccess ? join(call, stream) : error;
}

cudaError_t cudaDeviceSynchronize(void)
{
    struct call call;
    return BEGIN(&call, "cudaDeviceSynchronize") ? call_end(&call, join(&call, NULL)) : call.error;
}

cudaError_t cudaThreadSynchronize(void)
{
    struct call call;
    return BEGIN(&call, "cudaThreadSynchronize") ? call_end(&call, join(&call, NULL)) : call.error;
}

cudaError_t api_stream_query(struct call *call, cudaStream_t handle, bool per_thread)
{
    struct op_list targets = {0};
    struct stream *stream;
    bool done, polled;
    uint32_t id;
    cudaError_t error = handle_find_stream(call, handle, per_thread, &stream);
    if (error == cudaSuccess && plan_sites_ignores(call)) {
        return cudaSuccess;
    }
    if (error == cudaSuccess && !queue_targets(&targets, stream)) {
        error = cudaErrorMemoryAllocation;
    }
    if (error == cudaSuccess) {
        id = stream->id;
        polled = stream->polled;
        const struct reach_scope scope = reach_scope(stream);
        const uint64_t before = device.op_count;
        done = sched_query(&targets, &polled);
        if (done) {
            reach_joined(scope, before);
        }
        /* Another thread may have destroyed the stream meanwhile. */
        if (handle_find_stream(call, handle, per_thread, &stream) == cudaSuccess) {
            stream->polled = polled;
        }
        error = device.sticky ? device.sticky : done ? cudaSuccess : cudaErrorNotReady;
        if (error == cudaSuccess) {
            emit_sync_return(emit_sync(call, SSAN_sync_kind_STREAM_QUERY, id), true, 0);
        }
    }
    queue_targets_finish(&targets);
    return error;
}
