/* The program's own words (annotate.h), written into the trace. A program can only speak where this
 * library was preloaded: the entry is weak, and bound when the program is loaded. */
#pragma GCC visibility push(default)
#include "streamsan/annotate.h"
#pragma GCC visibility pop

#include "capture/dispatch.h"

#include "capture/borrow.h"
#include "capture/emit.h"
#include "capture/gate.h"
#include "capture/observe.h"
#include "trace/annotation.h"

void annotate_name(const void *object, const char *text)
{
    struct thread *thread = calls_thread();
    enum ssan_object kind;
    uint64_t id;
    struct caller caller = calls_caller(thread);
    emit_lock();
    if (!handles_find_object(object, thread->context, caller, &kind, &id)) {
        kind = SSAN_object_POINTER;
        id = (uint64_t)(uintptr_t)object;
    }
    emit_name(kind, id, text ? text : "");
    emit_unlock();
}

/* Waits until all that was submitted has run, so that its accesses are in the trace; host threads
 * learn nothing from it. Not inside of a host function, which the device waits for, and not during
 * a capture, which it would spoil. The streams are those of all threads. */
static void wait_for_accesses(const struct thread *thread)
{
    struct sanitizer_stream *handle = NULL;
    CUcontext context = NULL;
    bool more = thread->callback == 0, has_waited = false;
    for (size_t cursor = 0; more && borrow_begin();) {
        emit_lock();
        more = handles_next_stream(&cursor, &context, &handle);
        emit_unlock();
        if (more) {
            observe_joining(context);
        }
        bool waited = more && capture_api.stream_synchronize(handle) == SANITIZER_OK;
        borrow_end();
        if (waited) {
            observe_joined(context, handle);
            has_waited = true;
        }
    }
    if (has_waited) {
        observe_wait();
    }
}

uint64_t ssan_annotate(uint32_t kind, const void *object, uint64_t bytes, const void *pool,
                       const char *text)
{
    const struct annotation annotation = {kind, object, bytes, pool};
    struct ssan_event event;
    struct thread *thread;
    if (!emit_is_on()) {
        return 0;
    }
    thread = calls_thread();
    if (kind == SSAN_ANNOTATE_NAME_POINTER) {
        annotate_name(object, text);
    } else if (kind == SSAN_ANNOTATE_USAGE) {
        emit_name(SSAN_object_USAGE, (uint64_t)(uintptr_t)object, text ? text : "");
    } else if (kind == SSAN_ANNOTATE_FINDINGS) {
        wait_for_accesses(thread);
        return capture_ask_findings(thread->id);
    } else if (kind == SSAN_ANNOTATE_LIBRARY_ASKS) {
        thread->library_asks = bytes != 0;
    } else if (annotation_event(&annotation, thread->id,
                                annotation_has_site(kind) ? calls_site(thread) : 0, &event)) {
        emit_put(&event);
        if (event.kind == SSAN_EV_host_access) {
            gate_host_access(thread->id);
        }
    }
    return 0;
}
