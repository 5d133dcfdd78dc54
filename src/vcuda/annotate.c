/* The program's own words (annotate.h), written into the trace. */
#include "vcuda/cuda.h"

#pragma GCC visibility push(default)
#include "streamsan/annotate.h"
#pragma GCC visibility pop

#include "vcuda/emit.h"
#include "vcuda/handle.h"
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
        stream = device.legacy;
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

static void tell_access(enum ssan_access access, const void *object, uint64_t bytes, uint32_t site)
{
    struct ssan_event event = {.kind = SSAN_EV_host_access};
    if (bytes > 0) {
        event.host_access = (struct ssan_ev_host_access){threads_self(), access,
                                                         (uint64_t)(uintptr_t)object, bytes, site};
        emit_put(&event);
    }
}

static void tell_edge(bool is_release, const void *object)
{
    struct ssan_event event = {.kind = is_release ? SSAN_EV_release : SSAN_EV_acquire};
    uint64_t address = (uint64_t)(uintptr_t)object;
    if (is_release) {
        event.release = (struct ssan_ev_release){threads_self(), address};
    } else {
        event.acquire = (struct ssan_ev_acquire){threads_self(), address};
    }
    emit_put(&event);
}

static void tell_pool(bool is_alloc, const void *object, uint64_t bytes, const void *pool,
                      uint32_t site)
{
    struct ssan_event event = {.kind = is_alloc ? SSAN_EV_pool_alloc : SSAN_EV_pool_free};
    uint64_t address = (uint64_t)(uintptr_t)object, name = (uint64_t)(uintptr_t)pool;
    if (is_alloc) {
        event.pool_alloc = (struct ssan_ev_pool_alloc){name, address, bytes, threads_self(), site};
    } else {
        event.pool_free = (struct ssan_ev_pool_free){name, address, threads_self(), site};
    }
    emit_put(&event);
}

/* All that was submitted must have run to be judged; host threads learn nothing from it. */
static uint64_t count_findings(void)
{
    struct op_list targets = {0};
    if (!threads_callback()) {
        device_lock();
        if (device.started && !device.orphan && queue_targets(&targets, NULL)) {
            sched_join(&targets);
        }
        queue_targets_finish(&targets);
        device_unlock();
    }
    return emit_query_findings(threads_self());
}

uint64_t ssan_annotate(uint32_t kind, const void *object, uint64_t bytes, const void *pool,
                       const char *text)
{
    struct ssan_event event = {.kind = SSAN_EV_ignore};
    const void *frame = __builtin_frame_address(0);
    emit_open();
    if (!emit_is_on()) {
        return 0;
    }
    switch (kind) {
    case SSAN_ANNOTATE_NAME_POINTER:
        tell_name(object, text);
        break;
    case SSAN_ANNOTATE_HOST_READ:
    case SSAN_ANNOTATE_HOST_WRITE:
        tell_access(kind == SSAN_ANNOTATE_HOST_READ ? SSAN_access_READ : SSAN_access_WRITE, object,
                    bytes, site_capture(frame));
        break;
    case SSAN_ANNOTATE_IGNORE:
    case SSAN_ANNOTATE_UNIGNORE:
        event.ignore = (struct ssan_ev_ignore){(uint64_t)(uintptr_t)object, bytes,
                                               kind == SSAN_ANNOTATE_IGNORE};
        emit_put(&event);
        break;
    case SSAN_ANNOTATE_HAPPENS_BEFORE:
    case SSAN_ANNOTATE_HAPPENS_AFTER:
        tell_edge(kind == SSAN_ANNOTATE_HAPPENS_BEFORE, object);
        break;
    case SSAN_ANNOTATE_POOL_ALLOC:
    case SSAN_ANNOTATE_POOL_FREE:
        tell_pool(kind == SSAN_ANNOTATE_POOL_ALLOC, object, bytes, pool, site_capture(frame));
        break;
    case SSAN_ANNOTATE_FINDINGS:
        return count_findings();
    default:
        break;
    }
    return 0;
}
