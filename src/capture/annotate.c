/* The program's own words (annotate.h), written into the trace. A program can only speak where this
 * library was preloaded: the entry is weak, and bound when the program is loaded. */
#pragma GCC visibility push(default)
#include "streamsan/annotate.h"
#pragma GCC visibility pop

#include "capture/dispatch.h"

#include "capture/emit.h"
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
    } else if (kind == SSAN_ANNOTATE_FINDINGS) {
        return capture_ask_findings(thread->id);
    } else if (annotation_event(&annotation, thread->id,
                                annotation_has_site(kind) ? calls_site(thread) : 0, &event)) {
        emit_put(&event);
    }
    return 0;
}
