/* The program's own words (annotate.h), written into the trace. */
#include "vcuda/cuda.h"

#pragma GCC visibility push(default)
#include "streamsan/annotate.h"
#pragma GCC visibility pop

#include "trace/annotation.h"
#include "vcuda/emit.h"
#include "vcuda/handle.h"
#include "vcuda/plan_calls.h"
#include "vcuda/queue.h"
#include "vcuda/sched.h"
#include "vcuda/site.h"
#include "vcuda/threads.h"

static void tell_name(const void *object, const char *text)
{
    enum ssan_object kind = SSAN_object_POINTER;
    uint64_t id = (uint64_t)(uintptr_t)object;
    struct stream *stream;
    struct event *event;
    device_lock();
    if (object == (const void *)cudaStreamLegacy) {
        stream = device.contexts[device_current()].legacy;
    } else {
        stream = handle_is_stream(object);
    }
    event = handle_is_event(object);
    if (stream) {
        kind = SSAN_object_STREAM;
        id = stream->id;
    } else if (event) {
        kind = SSAN_object_EVENT;
        id = event->id;
    }
    emit_name(kind, id, text ? text : "");
    device_unlock();
}

/* All that was submitted must have run to be judged; host threads learn nothing from it. */
static uint64_t count_findings(void)
{
    struct op_list targets = {0};
    if (!threads_callback()) {
        device_lock();
        if (device.started && !device.orphan && queue_targets_of(&targets, EVERY_DEVICE)) {
            sched_join(&targets);
        }
        queue_targets_finish(&targets);
        device_unlock();
    }
    return emit_query_findings(threads_self());
}

/* A schedule may list the access: then what comes before it there is done first. */
static void tell_access(const struct ssan_event *event)
{
    const uint32_t thread = event->host_access.thread;
    device_lock();
    plan_calls_access(thread);
    emit_put(event);
    plan_calls_accessed(thread);
    device_unlock();
}

uint64_t ssan_annotate(uint32_t kind, const void *object, uint64_t bytes, const void *pool,
                       const char *text)
{
    const struct annotation annotation = {kind, object, bytes, pool};
    const void *frame = __builtin_frame_address(0);
    struct ssan_event event;
    emit_open();
    if (!emit_is_on()) {
        return 0;
    }
    if (kind == SSAN_ANNOTATE_NAME_POINTER) {
        tell_name(object, text);
    } else if (kind == SSAN_ANNOTATE_USAGE) {
        emit_name(SSAN_object_USAGE, (uint64_t)(uintptr_t)object, text ? text : "");
    } else if (kind == SSAN_ANNOTATE_FINDINGS) {
        return count_findings();
    } else if (kind == SSAN_ANNOTATE_LIBRARY_ASKS) {
        threads_set_library_asks(bytes != 0);
    } else if (annotation_event(&annotation, threads_self(),
                                annotation_has_site(kind) ? site_capture(frame) : 0, &event)) {
        if (event.kind == SSAN_EV_host_access) {
            tell_access(&event);
        } else {
            emit_put(&event);
        }
    }
    return 0;
}
