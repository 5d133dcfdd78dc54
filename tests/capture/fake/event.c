/* Events. The runtime's waits and records pass through the driver's, whose callbacks come in
 * between. */
#include "capture/fake/fake.h"

#include <stdlib.h>

static struct fake_event *free_events;

struct fake_event *fake_event(CUevent argument, int *error)
{
    struct fake_event *event = (struct fake_event *)(uintptr_t)argument;
    pthread_mutex_lock(&fake_lock);
    struct fake_event *freed = free_events;
    while (freed && freed != event) {
        freed = freed->next;
    }
    pthread_mutex_unlock(&fake_lock);
    if (!event || freed) {
        *error = CUDA_INVALID_HANDLE;
        return NULL;
    }
    return event;
}

static void end_event(struct fake_event *event)
{
    fake_tell_event(SANITIZER_EVENT_DESTROYED, event, event->context, NULL);
    pthread_mutex_lock(&fake_lock);
    struct fake_event **at = &event->context->events;
    while (*at && *at != event) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = event->next;
    }
    event->next = free_events;
    free_events = event;
    pthread_mutex_unlock(&fake_lock);
}

void fake_end_context_events(struct fake_context *context)
{
    while (context->events) {
        end_event(context->events);
    }
}

int cuEventCreate(CUevent *out, unsigned int flags)
{
    struct cuda_event_create_params params = {out, flags};
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, 118, "cuEventCreate", &params, NULL);
    int result = fake_failure();
    if (!result) {
        pthread_mutex_lock(&fake_lock);
        struct fake_event *event = free_events;
        free_events = event ? event->next : NULL;
        event = event ? event : malloc(sizeof(*event));
        struct fake_context *context = fake_current();
        *event = (struct fake_event){.context = context, .flags = flags, .next = context->events};
        context->events = event;
        pthread_mutex_unlock(&fake_lock);
        fake_tell_event(SANITIZER_EVENT_CREATED, event, context, NULL);
        *out = (CUevent)event;
    }
    return fake_exit(&call, result);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 133, "cudaEventCreate", &event, NULL);
    fake_runtime();
    return fake_exit(&call, cuEventCreate(event, 0));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    struct cuda_event_create_params params = {event, flags};
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 134, "cudaEventCreateWithFlags", &params, NULL);
    fake_runtime();
    return fake_exit(&call, cuEventCreate(event, flags));
}

int cuEventDestroy_v2(CUevent argument)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, 325, "cuEventDestroy_v2", &argument, NULL);
    int result = fake_failure();
    struct fake_event *event = result ? NULL : fake_event(argument, &result);
    if (!result) {
        end_event(event);
    }
    return fake_exit(&call, result);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 136, "cudaEventDestroy", &event, NULL);
    return fake_exit(&call, cuEventDestroy_v2(event));
}

static int record(uint32_t id, const char *name, struct cuda_event_record_params *params,
                  bool per_thread)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, id, name, params, NULL);
    int result = fake_failure();
    struct fake_event *event = result ? NULL : fake_event(params->event, &result);
    struct fake_stream *stream = result ? NULL : fake_stream(params->stream, per_thread, &result);
    if (!result && event->context != stream->context) {
        result = CUDA_INVALID_HANDLE;
    }
    if (!result) {
        struct fake_item item = {.run = NULL};
        event->capture = stream->capture;
        if (!event->capture) {
            fake_tell_event(SANITIZER_EVENT_RECORD, event, stream->context, stream);
            event->item = fake_submit(stream, &item);
        }
    }
    return fake_exit(&call, result);
}

int cuEventRecord(CUevent event, CUstream stream)
{
    struct cuda_event_record_params params = {event, stream, 0};
    return record(119, "cuEventRecord", &params, false);
}

static cudaError_t runtime_record(uint32_t id, const char *name, uint32_t inner_id,
                                  const char *inner, struct cuda_event_record_params params,
                                  bool per_thread)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, id, name, &params, NULL);
    fake_runtime();
    return fake_exit(&call, record(inner_id, inner, &params, per_thread));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return runtime_record(135, "cudaEventRecord", 119, "cuEventRecord",
                          (struct cuda_event_record_params){event, stream, 0}, false);
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream)
{
    return runtime_record(242, "cudaEventRecord_ptsz", 441, "cuEventRecord_ptsz",
                          (struct cuda_event_record_params){event, stream, 0}, true);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    return runtime_record(370, "cudaEventRecordWithFlags", 587, "cuEventRecordWithFlags",
                          (struct cuda_event_record_params){event, stream, flags}, false);
}

/* A wait for an event that was never recorded is accepted, and nobody is told. */
int cuStreamWaitEvent(CUstream argument, CUevent which, unsigned int flags)
{
    struct cuda_stream_wait_event_params params = {argument, which, flags};
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, 295, "cuStreamWaitEvent", &params, NULL);
    int result = fake_failure();
    struct fake_event *event = result ? NULL : fake_event(which, &result);
    struct fake_stream *stream = result ? NULL : fake_stream(argument, false, &result);
    if (!result && event->capture) {
        stream->capture = event->capture; /* until that capture ends */
    } else if (!result && event->item) {
        fake_tell_event(SANITIZER_EVENT_STREAM_WAIT, event, stream->context, stream);
        fake_submit(stream, &(struct fake_item){.run = NULL});
    }
    return fake_exit(&call, result);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    struct cuda_stream_wait_event_params params = {stream, event, flags};
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 147, "cudaStreamWaitEvent", &params, NULL);
    fake_runtime();
    return fake_exit(&call, cuStreamWaitEvent(stream, event, flags));
}

int cuEventSynchronize(CUevent argument)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, 121, "cuEventSynchronize", &argument, NULL);
    int result = fake_failure();
    struct fake_event *event = result ? NULL : fake_event(argument, &result);
    if (!result) {
        fake_wait(event->item);
        fake_tell_event(SANITIZER_EVENT_SYNCHRONIZE, event, event->context, NULL);
    }
    return fake_exit(&call, result);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 137, "cudaEventSynchronize", &event, NULL);
    fake_runtime();
    return fake_exit(&call, cuEventSynchronize(event));
}

/* Told by the API call alone. */
int cuEventQuery(CUevent argument)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, 120, "cuEventQuery", &argument, NULL);
    int result = fake_failure();
    struct fake_event *event = result ? NULL : fake_event(argument, &result);
    if (!result && !fake_done(event->item)) {
        result = CUDA_NOT_READY;
    }
    return fake_exit(&call, result);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 138, "cudaEventQuery", &event, NULL);
    fake_runtime();
    return fake_exit(&call, cuEventQuery(event));
}

int cuEventElapsedTime_v2(float *milliseconds, CUevent first, CUevent second)
{
    struct cuda_elapsed_params params = {milliseconds, first, second};
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, 780, "cuEventElapsedTime_v2", &params, NULL);
    int result = fake_failure();
    struct fake_event *start = result ? NULL : fake_event(first, &result);
    struct fake_event *end = result ? NULL : fake_event(second, &result);
    if (!result &&
        ((start->flags | end->flags) & CUDA_EVENT_DISABLE_TIMING || !start->item || !end->item)) {
        result = CUDA_INVALID_HANDLE;
    }
    if (!result && !(fake_done(start->item) && fake_done(end->item))) {
        result = CUDA_NOT_READY;
    }
    if (!result) {
        *milliseconds = (float)(end->item - start->item);
    }
    return fake_exit(&call, result);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    struct cuda_elapsed_params params = {milliseconds, start, end};
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 486, "cudaEventElapsedTime", &params, NULL);
    fake_runtime();
    return fake_exit(&call, cuEventElapsedTime_v2(milliseconds, start, end));
}
