/* Events: lives, records, waits, joins, queries, times (R-EVENT-*). */
#include "vcuda/api.h"
#include "vcuda/emit.h"
#include "vcuda/handle.h"
#include "vcuda/plan_order.h"
#include "vcuda/plan_sites.h"
#include "vcuda/queue.h"
#include "vcuda/reach.h"
#include "vcuda/sched.h"

static cudaError_t create(struct call *call, cudaEvent_t *handle, unsigned flags)
{
    const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    struct event *event;
    if (!handle || (flags & ~known) ||
        ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming))) {
        return cudaErrorInvalidValue;
    }
    event = mem_zalloc(1, sizeof *event);
    if (!event || !VEC_PUSH(&device.events, event)) {
        mem_free(event);
        return cudaErrorMemoryAllocation;
    }
    event->id = (uint32_t)device.events.count;
    event->flags = flags;
    event->ordinal = call->ordinal;
    emit_event_create(call, event);
    *handle = handle_of_event(device.events.count);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    struct call call;
    return BEGIN(&call, "cudaEventCreate") ? call_end(&call, create(&call, event, 0)) : call.error;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    struct call call;
    return BEGIN(&call, "cudaEventCreateWithFlags") ? call_end(&call, create(&call, event, flags))
                                                    : call.error;
}

static cudaError_t destroy(struct call *call, cudaEvent_t handle)
{
    struct event *event;
    cudaError_t error = handle_find_event(handle, &event);
    if (error == cudaSuccess) {
        emit_event_destroy(call, event);
        device.events.items[handle_number(handle) - 1] = NULL;
        queue_drop(event->record);
        mem_free(event);
    }
    return error;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    struct call call;
    return BEGIN(&call, "cudaEventDestroy") ? call_end(&call, destroy(&call, event)) : call.error;
}

cudaError_t api_event_record(struct call *call, cudaEvent_t handle, cudaStream_t stream_handle,
                             bool per_thread, unsigned flags)
{
    struct stream *stream;
    struct event *event;
    struct op *op;
    cudaError_t error = handle_find_event(handle, &event);
    if (error == cudaSuccess) {
        error = handle_find_stream(call, stream_handle, per_thread, &stream);
    }
    if (error == cudaSuccess && flags != cudaEventRecordDefault) {
        error =
            cudaErrorInvalidValue; /* cudaEventRecordExternal belongs into a capture (R-EVENT-15) */
    }
    if (error == cudaSuccess && event->ordinal != stream->ordinal) {
        error = cudaErrorInvalidResourceHandle; /* R-EVENT-7 */
    }
    if (error != cudaSuccess) {
        return error;
    }
    op = queue_create(SSAN_op_kind_RECORD, stream);
    if (!op) {
        return cudaErrorMemoryAllocation;
    }
    return api_submit(call, op, NULL, SSAN_form_ASYNC, NULL, event, event->id);
}

cudaError_t api_stream_wait(struct call *call, cudaStream_t stream_handle, bool per_thread,
                            cudaEvent_t handle, unsigned flags)
{
    struct stream *stream;
    struct event *event;
    struct op *op;
    cudaError_t error = handle_find_stream(call, stream_handle, per_thread, &stream);
    if (error == cudaSuccess) {
        error = handle_find_event(handle, &event);
    }
    if (error == cudaSuccess && flags != cudaEventWaitDefault) {
        error = cudaErrorInvalidValue;
    }
    if (error != cudaSuccess || plan_sites_ignores(call)) {
        return error;
    }
    op = queue_create(SSAN_op_kind_WAIT, stream);
    if (!op) {
        return cudaErrorMemoryAllocation;
    }
    if (!event->record) {
        /* Orders nothing, not even in the legacy stream (R-EVENT-4, R-STREAM-7): told, but no item.
         */
        op->id = queue_next_id();
        plan_order_pass(&(struct plan_item){.stream = stream->id, .seq = ++stream->seq});
        emit_op(call, op, SSAN_form_ASYNC, NULL, event->id);
        emit_closed(op->id);
        queue_drop(op);
        return cudaSuccess;
    }
    return api_submit(call, op, event->record, SSAN_form_ASYNC, NULL, NULL, event->id);
}

static cudaError_t synchronize(struct call *call, cudaEvent_t handle)
{
    int64_t began = device_now_ns();
    struct event *event;
    cudaError_t error = handle_find_event(handle, &event);
    uint64_t sync;
    if (error != cudaSuccess || plan_sites_ignores(call)) {
        return error;
    }
    sync = emit_sync(call, SSAN_sync_kind_EVENT, event->id);
    if (event->record) {
        struct op *record = event->record;
        queue_hold(record);
        sched_join_op(record);
        reach_joined(record->scope, record->id);
        queue_drop(record);
        error = device.sticky;
    }
    emit_sync_return(sync, error == cudaSuccess, (uint64_t)(device_now_ns() - began));
    return error;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    struct call call;
    return BEGIN(&call, "cudaEventSynchronize") ? call_end(&call, synchronize(&call, event))
                                                : call.error;
}

/* Whether what the event captured is done; runs a part of it as sched_query does. */
static cudaError_t poll(struct event *event)
{
    struct op *items[1] = {event->record};
    struct op_list targets = {items, 1, 1};
    bool done, polled = event->polled;
    uint32_t id = event->id;
    if (!event->record) {
        return cudaSuccess;
    }
    queue_hold(items[0]);
    done = sched_query(&targets, &polled);
    if (done) {
        reach_joined(items[0]->scope, items[0]->id);
    }
    queue_drop(items[0]);
    event = device.events.items[id - 1];
    if (event) {
        event->polled = polled;
    }
    return device.sticky ? device.sticky : done ? cudaSuccess : cudaErrorNotReady;
}

static cudaError_t query(struct call *call, cudaEvent_t handle)
{
    struct event *event;
    cudaError_t error = handle_find_event(handle, &event);
    if (error == cudaSuccess && !plan_sites_ignores(call)) {
        uint32_t id = event->id;
        error = poll(event);
        if (error == cudaSuccess) {
            emit_sync_return(emit_sync(call, SSAN_sync_kind_EVENT_QUERY, id), true, 0);
        }
    }
    return error;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    struct call call;
    return BEGIN(&call, "cudaEventQuery") ? call_end(&call, query(&call, event)) : call.error;
}

/* An event that a time can be taken from: timing on, recorded, done. */
static cudaError_t find_timed(cudaEvent_t handle, struct event **event)
{
    cudaError_t error = handle_find_event(handle, event);
    if (error == cudaSuccess && (((*event)->flags & cudaEventDisableTiming) || !(*event)->record)) {
        error = cudaErrorInvalidResourceHandle;
    }
    return error;
}

static cudaError_t elapsed(struct call *call, float *ms, cudaEvent_t start_handle,
                           cudaEvent_t end_handle)
{
    struct event *start, *end;
    cudaError_t error = find_timed(start_handle, &start);
    if (error == cudaSuccess) {
        error = find_timed(end_handle, &end);
    }
    if (error == cudaSuccess && start->ordinal != end->ordinal) {
        error = cudaErrorInvalidResourceHandle; /* devices have no clock in common */
    }
    if (error == cudaSuccess && !ms) {
        error = cudaErrorInvalidValue;
    }
    if (error == cudaSuccess) {
        error = poll(start);
    }
    if (error == cudaSuccess) {
        error = find_timed(end_handle, &end);
    }
    if (error == cudaSuccess) {
        error = poll(end);
    }
    if (error == cudaSuccess && (find_timed(start_handle, &start) != cudaSuccess ||
                                 find_timed(end_handle, &end) != cudaSuccess)) {
        error = cudaErrorInvalidResourceHandle;
    }
    if (error == cudaSuccess) {
        *ms = (float)((double)(int64_t)(end->record->time - start->record->time) / 1e6);
        if (!plan_sites_ignores(call)) {
            emit_sync_return(emit_sync(call, SSAN_sync_kind_ELAPSED, start->id), true, 0);
            emit_sync_return(emit_sync(call, SSAN_sync_kind_ELAPSED, end->id), true, 0);
        }
    }
    return error;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    struct call call;
    return BEGIN(&call, "cudaEventElapsedTime") ? call_end(&call, elapsed(&call, ms, start, end))
                                                : call.error;
}
