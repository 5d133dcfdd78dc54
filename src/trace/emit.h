/* Where the events of this process go, and those that need no table of the producer. A process has
 * one producer, which says where. Any thread, but for emit_to. */
#ifndef SSAN_TRACE_EMIT_H
#define SSAN_TRACE_EMIT_H

#include "trace/sink.h"
#include "trace/writer.h"

#include <stdbool.h>

/* Events go to `sink` from here on; NULL: nowhere. */
void emit_to(struct ssan_sink *sink);
/* NULL: there is no trace. */
struct ssan_sink *emit_sink(void);
/* There is a trace that takes events. */
bool emit_is_on(void);
void emit_put(const struct ssan_event *event);

void emit_op_return(uint64_t op);
void emit_closed(uint64_t op);
void emit_set(uint64_t op, enum ssan_access access, uint32_t site, uint32_t width,
              struct ssan_runs runs);
void emit_lost(enum ssan_loss what, uint64_t op);
void emit_sync_return(uint64_t sync, bool ok, uint64_t blocked_ns);
void emit_unsupported(const char *call, uint32_t thread, uint32_t site);
void emit_fault(uint64_t op, uint32_t site, uint32_t error, bool planned, const char *text);
void emit_asked(const char *call, uint32_t error, uint32_t thread, uint32_t site);
void emit_callback(bool begin, uint32_t thread, uint64_t op);
void emit_name(enum ssan_object object, uint64_t id, const char *text);
/* The last event, where there is a trace: it is sealed, what comes later is dropped. */
void emit_exit(struct writer *writer, uint32_t code);

#endif
