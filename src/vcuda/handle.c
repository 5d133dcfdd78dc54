/* A handle is a tag and a number from 1; no canonical address begins with such a tag. Numbers are
 * never used again, so a handle of something destroyed stays invalid. */
#include "vcuda/handle.h"

#include "vcuda/emit.h"
#include "vcuda/queue.h"

#define STREAM_TAG (UINT64_C(0x53535354) << 32)
#define EVENT_TAG  (UINT64_C(0x53535345) << 32)
#define TAG_MASK   (UINT64_C(0xffffffff) << 32)

cudaStream_t handle_of_stream(uint64_t number)
{
    return (cudaStream_t)(uintptr_t)(STREAM_TAG | number);
}

cudaEvent_t handle_of_event(uint64_t number)
{
    return (cudaEvent_t)(uintptr_t)(EVENT_TAG | number);
}

uint64_t handle_number(const void *handle)
{
    return (uint64_t)(uintptr_t)handle & ~TAG_MASK;
}

struct stream *handle_is_stream(const void *object)
{
    uint64_t number = handle_number(object);
    return ((uint64_t)(uintptr_t)object & TAG_MASK) == STREAM_TAG && number >= 1 &&
                   number <= device.by_number.count
               ? device.by_number.items[number - 1]
               : NULL;
}

struct event *handle_is_event(const void *object)
{
    uint64_t number = handle_number(object);
    return ((uint64_t)(uintptr_t)object & TAG_MASK) == EVENT_TAG && number >= 1 &&
                   number <= device.events.count
               ? device.events.items[number - 1]
               : NULL;
}

static struct stream *find_per_thread(const struct call *call)
{
    for (size_t i = 0; i < device.streams.count; i++) {
        struct stream *stream = device.streams.items[i];
        if (stream->flavour == SSAN_stream_flavour_PER_THREAD && stream->owner == call->thread &&
            stream->ordinal == call->ordinal) {
            return stream;
        }
    }
    return NULL;
}

static struct stream *make_default(struct call *call, bool per_thread)
{
    struct stream *stream = queue_new_stream(
        per_thread ? SSAN_stream_flavour_PER_THREAD : SSAN_stream_flavour_LEGACY, call->ordinal);
    if (stream) {
        if (per_thread) {
            stream->owner = call->thread;
        } else {
            device.contexts[call->ordinal].legacy = stream;
        }
        emit_stream_create(call, stream);
    }
    return stream;
}

cudaError_t handle_find_stream(struct call *call, cudaStream_t handle, bool per_thread,
                               struct stream **stream)
{
    if (handle == cudaStreamPerThread || (!handle && per_thread)) {
        *stream = find_per_thread(call);
        per_thread = true;
    } else if (handle == cudaStreamLegacy || !handle) {
        *stream = device.contexts[call->ordinal].legacy;
        per_thread = false;
    } else {
        *stream = handle_is_stream(handle);
        return *stream ? cudaSuccess : cudaErrorInvalidResourceHandle;
    }
    if (!*stream) {
        *stream = make_default(call, per_thread);
    }
    return *stream ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t handle_find_event(cudaEvent_t handle, struct event **event)
{
    *event = handle_is_event(handle);
    return *event ? cudaSuccess : cudaErrorInvalidResourceHandle;
}
