/* Lives, records and waits of events. Joins of the host come from the calls themselves (cb_api.c),
 * which know when they were entered. */
#include "capture/dispatch.h"

#include "capture/emit.h"
#include "capture/observe.h"

static void put_item(struct thread *thread, enum ssan_op_kind kind, uint32_t stream, uint32_t event,
                     struct sanitizer_stream *handle, struct caller caller)
{
    struct ssan_ev_op op = {.kind = kind,
                            .form = SSAN_form_ASYNC,
                            .stream = stream,
                            .event = event,
                            .call = ssan_str(calls_name(thread)),
                            .thread = caller.thread,
                            .site = caller.site};
    if (stream && event) {
        emit_closed(item_put(thread, &op, handle, NULL));
    }
}

static unsigned creation_flags(const struct thread *thread)
{
    const struct call_frame *frame = calls_inside(thread, API_EVENT_CREATE);
    if (!frame || frame->call->domain != SANITIZER_DRIVER_API) {
        return 0;
    }
    return ((const struct cuda_event_create_params *)frame->params)->flags;
}

void on_event(uint32_t id, const struct sanitizer_event_data *data)
{
    struct thread *thread = calls_thread();
    struct caller caller = calls_caller(thread);
    struct event_facts *facts;
    uint32_t stream;
    emit_lock();
    switch (id) {
    case SANITIZER_EVENT_CREATED:
        handles_add_event(data->event, data->context, creation_flags(thread), caller);
        break;
    case SANITIZER_EVENT_DESTROYED:
        handles_remove_event(data->event, caller);
        break;
    case SANITIZER_EVENT_RECORD:
    case SANITIZER_EVENT_STREAM_WAIT:
        stream = handles_stream(data->context, data->stream, data->handle, caller);
        facts = handles_event(data->event, caller);
        put_item(thread, id == SANITIZER_EVENT_RECORD ? SSAN_op_kind_RECORD : SSAN_op_kind_WAIT,
                 stream, facts ? facts->id : 0, data->handle, caller);
        if (facts && id == SANITIZER_EVENT_RECORD) {
            facts->recorded = true;
        }
        break;
    default:
        break;
    }
    emit_unlock();
}

void unrecorded_wait(struct thread *thread, CUstream stream, CUevent event, bool per_thread)
{
    struct caller caller = calls_caller(thread);
    const struct event_facts *facts;
    emit_lock();
    facts = handles_find_event(event);
    if (facts && !facts->recorded && !handles_is_capturing()) {
        put_item(thread, SSAN_op_kind_WAIT,
                 handles_stream_argument(thread->context, stream, per_thread, caller), facts->id,
                 NULL, caller);
    }
    emit_unlock();
}

void on_synchronize(uint32_t id, const struct sanitizer_synchronize_data *data)
{
    if (id == SANITIZER_STREAM_SYNCHRONIZED) {
        observe_joined(data->context, data->handle);
    } else if (id == SANITIZER_CONTEXT_SYNCHRONIZED) {
        observe_joined(data->context, NULL);
    }
}
