/* Calls of the runtime and of the driver: where the program is, and what only they tell - joins,
 * queries, times, returns of copies, errors, what is not modelled.
 *
 * A join is told when the driver's call is entered, since the context is known there; everything
 * that depends on the result is told when the outermost call returns. */
#include "capture/dispatch.h"

#include "capture/borrow.h"
#include "capture/emit.h"
#include "capture/gate.h"
#include "capture/observe.h"
#include "trace/session.h"

#include "base/strbuf.h"

#include <stdatomic.h>
#include <string.h>

static void begin_sync(struct thread *thread, enum ssan_sync_kind kind, uint32_t object,
                       struct caller caller)
{
    struct ssan_ev_sync sync = {.kind = kind,
                                .object = object,
                                .call = ssan_str(calls_name(thread)),
                                .thread = caller.thread,
                                .site = caller.site};
    if (object) {
        thread->sync = emit_sync(&sync);
        thread->sync_began_ns = session_now_ns();
    }
}

/* The context that cuCtxSynchronize waits for: its second version names it. */
static CUcontext synced_context(const struct call_frame *frame, CUcontext current)
{
    const CUcontext *named = frame->params;
    bool has_name = frame->call->domain == SANITIZER_DRIVER_API && frame->call->number == 800;
    return has_name && *named ? *named : current;
}

/* A join, at entry: it binds to what its object is now (R-EVENT-3). What needs the context is told
 * at the driver's call where a thread's first call is a join: the runtime sets it in between. */
static void enter_join(struct thread *thread, const struct call_frame *frame, CUcontext current)
{
    struct caller caller;
    const struct event_facts *event;
    const struct cuda_stream_params *stream = frame->params;
    if (thread->sync) {
        return; /* told already */
    }
    caller = calls_caller(thread);
    emit_lock();
    if (frame->call->class == API_STREAM_SYNC) {
        begin_sync(
            thread, SSAN_sync_kind_STREAM,
            handles_stream_argument(current, stream->stream, frame->call->per_thread, caller),
            caller);
    } else if (frame->call->class == API_EVENT_SYNC) {
        event = handles_find_event(((const struct cuda_event_params *)frame->params)->event);
        begin_sync(thread, SSAN_sync_kind_EVENT, event ? event->id : 0, caller);
    } else {
        begin_sync(thread, SSAN_sync_kind_DEVICE,
                   handles_find_context(synced_context(frame, current)), caller);
    }
    emit_unlock();
}

static void leave_join(struct thread *thread, bool ok)
{
    if (thread->sync) {
        emit_sync_return(thread->sync, ok, (uint64_t)(session_now_ns() - thread->sync_began_ns));
        thread->sync = 0;
    }
}

/* A query that found its object done joins it (R-EVENT-10, R-STREAM-14). */
static void tell_done(struct thread *thread, enum ssan_sync_kind kind, uint32_t object,
                      struct caller caller)
{
    begin_sync(thread, kind, object, caller);
    if (thread->sync) {
        emit_sync_return(thread->sync, true, 0);
        thread->sync = 0;
    }
}

static void tell_event_done(struct thread *thread, enum ssan_sync_kind kind, CUevent event,
                            struct caller caller)
{
    const struct event_facts *facts = handles_find_event(event);
    tell_done(thread, kind, facts ? facts->id : 0, caller);
}

static void leave_query(struct thread *thread, const struct call_frame *frame)
{
    struct caller caller = calls_caller(thread);
    const struct cuda_elapsed_params *elapsed = frame->params;
    const struct cuda_stream_params *stream = frame->params;
    emit_lock();
    if (frame->call->class == API_STREAM_QUERY) {
        tell_done(thread, SSAN_sync_kind_STREAM_QUERY,
                  handles_stream_argument(thread->context, stream->stream, frame->call->per_thread,
                                          caller),
                  caller);
    } else if (frame->call->class == API_EVENT_QUERY) {
        tell_event_done(thread, SSAN_sync_kind_EVENT_QUERY,
                        ((const struct cuda_event_params *)frame->params)->event, caller);
    } else {
        tell_event_done(thread, SSAN_sync_kind_ELAPSED, elapsed->start, caller);
        tell_event_done(thread, SSAN_sync_kind_ELAPSED, elapsed->end, caller);
    }
    emit_unlock();
}

static void put_count(struct strbuf *text, uint32_t count, const char *one, const char *many)
{
    if (count > 0) {
        strbuf_printf(text, "%s%u %s", text->length > 0 ? ", " : "", count,
                      count == 1 ? one : many);
    }
}

/* What the first graph does that is launched, once. */
static void tell_missed(struct thread *thread)
{
    static atomic_bool told;
    const struct graph_facts *graph = &thread->graph;
    struct strbuf text = {0};
    if (graph->kernels + graph->copies + graph->memsets + graph->others == 0 ||
        atomic_exchange(&told, true)) {
        return;
    }
    put_count(&text, graph->kernels, "kernel", "kernels");
    if (graph->kernel && *graph->kernel) {
        strbuf_printf(&text, " (%s%s)", graph->kernel, graph->kernels > 1 ? ", ..." : "");
    }
    put_count(&text, graph->copies, "copy", "copies");
    put_count(&text, graph->memsets, "memset", "memsets");
    put_count(&text, graph->others, "other node", "other nodes");
    strbuf_puts(&text, " of the first graph were not seen");
    emit_unsupported(strbuf_text(&text), thread->id, calls_site(thread));
    strbuf_finish(&text);
}

/* A capture that was spoilt ends, too, though the call that ends it fails. */
static void leave_graph(const struct api_call *call, int result)
{
    bool begins = result == 0 && call->begins_capture;
    if (begins || call->ends_capture) {
        emit_lock();
        handles_capture(begins);
        emit_unlock();
        borrow_capture(begins);
    }
}

static void leave_wait(struct thread *thread, const struct call_frame *frame)
{
    const struct cuda_stream_wait_event_params *wait = frame->params;
    if (thread->accepted == 0) {
        unrecorded_wait(thread, wait->stream, wait->event, frame->call->per_thread);
    }
}

static void leave_global(const struct call_frame *frame)
{
    const struct cuda_global_params *global = frame->params;
    if (global->address && global->size) {
        resource_variable(NULL, *global->address, *global->size, global->name,
                          strstr(frame->call->name, "Managed") ? "__managed__" : "__device__");
    }
}

static void unsupported(struct thread *thread, const struct api_call *call)
{
    emit_unsupported(call->name, thread->id, calls_site(thread));
}

/* Whether an attribute takes order away, or gives it where no item ends (R-PDL-1, 9, 10). A kernel
 * whose threads all wait for what is before them first of all is as ordered as any other
 * (R-PDL-3): end(P) comes before each of its accesses, and before its end. So is one that stands
 * behind no kernel (R-PDL-11). */
static bool changes_order(const struct thread *thread,
                          const struct cuda_launch_attribute *attribute)
{
    switch (attribute->id) {
    case CUDA_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CUDA_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return true;
    case CUDA_ATTRIBUTE_PROGRAMMATIC_SERIALIZATION:
        return attribute->value.number && thread->behind_kernel && !observe_waits_first();
    default:
        return false;
    }
}

static void leave_launch(struct thread *thread, const struct call_frame *frame)
{
    const struct cuda_launch_config *config;
    if (frame->call->domain != SANITIZER_DRIVER_API || !frame->call->has_attributes ||
        thread->accepted == 0) {
        return;
    }
    config = ((const struct cuda_launch_ex_params *)frame->params)->config;
    for (unsigned int i = 0; config && config->attributes && i < config->attribute_count; i++) {
        if (changes_order(thread, &config->attributes[i])) {
            emit_unsupported("programmatic dependent launch", thread->id, calls_site(thread));
            return;
        }
    }
}

/* The outermost call has succeeded. */
static void leave_well(struct thread *thread, const struct call_frame *frame)
{
    const struct api_call *call = frame->call;
    switch (call->class) {
    case API_STREAM_QUERY:
    case API_EVENT_QUERY:
    case API_ELAPSED:
        leave_query(thread, frame);
        break;
    case API_STREAM_WAIT:
        leave_wait(thread, frame);
        break;
    case API_COPY:
        if (call->is_batch || (call->has_array && thread->accepted == 0)) {
            unsupported(thread, call);
        }
        break;
    case API_PROFILER_START:
    case API_PROFILER_STOP:
        if (capture_plan()->window == OBSERVE_PROFILER) {
            observe_window_set(call->class == API_PROFILER_START);
        }
        break;
    case API_GRAPH:
        if (call->launches_graph) { /* the others only capture, build or change graphs */
            unsupported(thread, call);
            tell_missed(thread);
        }
        break;
    case API_WAIT_VALUE_32:
    case API_WAIT_VALUE_64:
    case API_WRITE_VALUE_32:
    case API_WRITE_VALUE_64:
    case API_BATCH:
    case API_POOL_ALLOC:
    case API_POOL_FREE:
    case API_PREFETCH:
    case API_PREFETCH_V2:
    case API_ATTACH:
    case API_UNSUPPORTED:
        unsupported(thread, call);
        break;
    default:
        break;
    }
}

/* What a call will take of the device's memory, as for observe_before_alloc. */
static uint64_t bytes_of(const struct api_call *call, const void *params)
{
    if (call->is_of_host) {
        return 0;
    }
    return params && call->gives_size ? ((const struct cuda_alloc_params *)params)->size
                                      : UINT64_MAX;
}

static void enter(struct thread *thread, const struct api_call *call,
                  const struct sanitizer_api_data *data)
{
    struct call_frame *frame;
    thread->context = data->context ? data->context : thread->context;
    resource_context(data->context);
    if (thread->depth == 0) {
        thread->has_site = false;
        thread->accepted = 0;
        thread->graph = (struct graph_facts){0};
        if (call->class == API_LAUNCH) {
            observe_before_launch(thread->context);
        } else if (call->class == API_STREAM_DESTROY || call->begins_capture) {
            thread->forbids = true;
            borrow_forbid();
        } else if (call->takes_memory) {
            observe_before_alloc(thread->context, bytes_of(call, data->params));
        }
    }
    if (thread->depth++ >= CALLS_DEPTH) {
        return;
    }
    frame = &thread->frames[thread->depth - 1];
    *frame = (struct call_frame){call, data->params};
    switch (call->class) {
    case API_STREAM_SYNC:
    case API_EVENT_SYNC:
    case API_CONTEXT_SYNC:
        observe_joining(data->context);
        enter_join(thread, frame, data->context);
        break;
    case API_HOST_FUNC:
    case API_CALLBACK:
        if (call->domain == SANITIZER_DRIVER_API) {
            hostfunc_enter(thread, frame);
        }
        break;
    default:
        break;
    }
}

static void leave(struct thread *thread, const struct api_call *call,
                  const struct sanitizer_api_data *data)
{
    const int result = data->result ? *data->result : 0;
    const struct call_frame frame = {call, data->params};
    thread->context = data->context ? data->context : thread->context;
    if (thread->depth == 0) {
        return; /* entered before we listened */
    }
    if (call->domain == SANITIZER_DRIVER_API &&
        (call->class == API_HOST_FUNC || call->class == API_CALLBACK)) {
        hostfunc_leave(thread, &frame, result == 0);
    } else if (call->class == API_GLOBAL && result == 0) {
        leave_global(&frame);
    } else if (call->class == API_LAUNCH && result == 0) {
        leave_launch(thread, &frame);
    }
    if (thread->depth == 1) {
        leave_join(thread, result == 0);
        transfer_return(thread);
        gate_call_end();
        observe_call_end();
        if (result == 0) {
            leave_well(thread, &frame);
        } else if (result == CUDA_NOT_READY) {
            /* no error (R-ERR-5) */
        } else if (call->class == API_ASK) {
            error_asked(thread, call, result);
        } else {
            error_returned(thread, call, data);
        }
        if (call->class == API_GRAPH &&
            (result == 0 || result == CUDA_STREAM_CAPTURE_INVALIDATED)) {
            leave_graph(call, result);
        }
        if (thread->forbids) {
            thread->forbids = false;
            borrow_allow();
        }
    }
    thread->depth--;
}

void on_api(uint32_t domain, uint32_t id, const struct sanitizer_api_data *data)
{
    const struct api_call *call = calls_find(domain, id);
    struct thread *thread = calls_thread();
    if (!call) {
        return;
    }
    if (data->site == SANITIZER_API_ENTER) {
        enter(thread, call, data);
    } else {
        leave(thread, call, data);
    }
}
