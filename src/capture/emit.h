/* Writes the trace: where it goes, the ids, and the lock under which ids and records are one order.
 *
 * The lock is ours alone, is held for a few hundred nanoseconds, and nothing of the sanitizer
 * library is called under it. It guards the tables of handles.h too. What needs no id (`set`,
 * `op_closed`, ...) is put without it. */
#ifndef SSAN_CAPTURE_EMIT_H
#define SSAN_CAPTURE_EMIT_H

#include "trace/event.h"
#include "trace/sink.h"

#include <stdbool.h>

/* Where events go from here on. One thread. */
void emit_open(struct ssan_sink *sink);
/* There is a trace that takes events. Any thread. */
bool emit_is_on(void);
/* Any thread, with or without the lock; nothing without a trace. */
void emit_put(const struct ssan_event *event);
/* Nothing goes to the trace from here on. */
void emit_close(void);
/* In a forked child: the same, and nobody holds the lock. */
void emit_detach(void);

void emit_lock(void);
void emit_unlock(void);

/* Puts an op with the next id, which it returns. Lock held. */
uint64_t emit_op(struct ssan_ev_op *op);
/* The same for a sync. Lock held. */
uint64_t emit_sync(struct ssan_ev_sync *sync);
/* The next id of an allocation. Lock held. */
uint32_t emit_next_alloc(void);

void emit_op_return(uint64_t op);
void emit_closed(uint64_t op);
void emit_runs(uint64_t op, enum ssan_access access, const struct ssan_run *runs, uint32_t count);
void emit_sync_return(uint64_t sync, bool ok, uint64_t blocked_ns);
void emit_unsupported(const char *call, uint32_t thread, uint32_t site);
void emit_fault(uint32_t error, const char *text);
void emit_callback(bool begin, uint32_t thread, uint64_t op);
void emit_name(enum ssan_object object, uint64_t id, const char *text);

#endif
