/* Fills in the events. The state is one pointer. */
#include "trace/emit.h"

#include <stdatomic.h>

static _Atomic(struct ssan_sink *) current;

void emit_to(struct ssan_sink *sink)
{
    atomic_store_explicit(&current, sink, memory_order_release);
}

struct ssan_sink *emit_sink(void)
{
    return atomic_load_explicit(&current, memory_order_acquire);
}

bool emit_is_on(void)
{
    return emit_sink() != NULL;
}

void emit_put(const struct ssan_event *event)
{
    struct ssan_sink *sink = emit_sink();
    if (sink) {
        ssan_put(sink, event);
    }
}

void emit_op_return(uint64_t op)
{
    struct ssan_event event = {.kind = SSAN_EV_op_return, .op_return = {.op = op}};
    emit_put(&event);
}

void emit_closed(uint64_t op)
{
    struct ssan_event event = {.kind = SSAN_EV_op_closed, .op_closed = {.op = op}};
    emit_put(&event);
}

void emit_set(uint64_t op, enum ssan_access access, uint32_t site, uint32_t width,
              struct ssan_runs runs)
{
    struct ssan_event event = {.kind = SSAN_EV_set};
    event.set = (struct ssan_ev_set){op, access, SSAN_set_sureness_EXACT, site, width, runs};
    emit_put(&event);
}

void emit_lost(enum ssan_loss what, uint64_t op)
{
    struct ssan_event event = {.kind = SSAN_EV_lost, .lost = {what, op, 1}};
    emit_put(&event);
}

void emit_sync_return(uint64_t sync, bool ok, uint64_t blocked_ns)
{
    struct ssan_event event = {.kind = SSAN_EV_sync_return, .sync_return = {sync, ok, blocked_ns}};
    emit_put(&event);
}

void emit_unsupported(const char *call, uint32_t thread, uint32_t site)
{
    struct ssan_event event = {.kind = SSAN_EV_unsupported};
    event.unsupported = (struct ssan_ev_unsupported){ssan_str(call), thread, site};
    emit_put(&event);
}

void emit_fault(uint64_t op, uint32_t site, uint32_t error, bool planned, const char *text)
{
    struct ssan_event event = {.kind = SSAN_EV_fault};
    event.fault = (struct ssan_ev_fault){op, site, error, planned, ssan_str(text)};
    emit_put(&event);
}

void emit_asked(const char *call, uint32_t error, uint32_t thread, uint32_t site)
{
    struct ssan_event event = {.kind = SSAN_EV_asked};
    event.asked = (struct ssan_ev_asked){ssan_str(call), error, thread, site};
    emit_put(&event);
}

void emit_callback(bool begin, uint32_t thread, uint64_t op)
{
    struct ssan_event event = {.kind = begin ? SSAN_EV_callback_begin : SSAN_EV_callback_end};
    if (begin) {
        event.callback_begin = (struct ssan_ev_callback_begin){thread, op};
    } else {
        event.callback_end = (struct ssan_ev_callback_end){thread, op};
    }
    emit_put(&event);
}

void emit_name(enum ssan_object object, uint64_t id, const char *text)
{
    struct ssan_event event = {.kind = SSAN_EV_name, .name = {object, id, ssan_str(text)}};
    emit_put(&event);
}

void emit_exit(struct writer *writer, uint32_t code)
{
    struct ssan_event event = {.kind = SSAN_EV_exit, .exit = {.code = code}};
    if (emit_is_on()) {
        emit_put(&event);
        emit_to(NULL);
        writer_finish(writer);
    }
}
