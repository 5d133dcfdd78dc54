/* Writes the trace: one function for each event of the device. Nothing happens without a session.
 *
 * Calls that belong to accepted API calls are made under the device lock, so the order of the trace
 * is the order of acceptance (R-HOST-13, R-ERR-7); accesses and callbacks are written by their
 * threads without it. */
#ifndef SSAN_VCUDA_EMIT_H
#define SSAN_VCUDA_EMIT_H

#include "trace/emit.h"
#include "vcuda/device.h"
#include "vcuda/memory.h"

/* Looks for a session, chooses the schedule and begins the trace; later calls do nothing. Any
 * thread. */
void emit_open(void);
/* The last event; the trace is sealed, what comes later is dropped. */
void emit_finish(uint32_t code);
/* In a forked child: nothing more is written; a later emit_open may begin a trace of the child's
 * own. */
void emit_detach(void);

void emit_stream_create(struct call *call, const struct stream *stream);
void emit_stream_destroy(struct call *call, const struct stream *stream);
void emit_event_create(struct call *call, const struct event *event);
void emit_event_destroy(struct call *call, const struct event *event);
void emit_alloc(struct call *call, const char *name, const struct memory_block *block);
/* A device variable got its memory: in the course of `call`, but not at its line. */
void emit_variable(const struct call *call, const char *space, const struct memory_block *block);
void emit_free(struct call *call, uint32_t alloc);
/* `id` is the operation's own, or that of a wait that enters no queue (`op` unsubmitted then). */
void emit_op(struct call *call, const struct op *op, enum ssan_form form, const char *name,
             uint32_t event);
void emit_leaf(uint64_t op, enum ssan_access access, uint32_t site, uint32_t width,
               uint64_t address, const uint64_t *bits);
/* The id of the sync, for its return. */
uint64_t emit_sync(struct call *call, enum ssan_sync_kind kind, uint32_t object);
/* The call returns `error`, which is not NotReady; `earlier`: that of earlier work. Any thread:
 * without the lock a kernel stays unnamed. */
void emit_failed(struct call *call, cudaError_t error, bool earlier);
void emit_missed(const char *failure, const char *name, uint64_t calls);
void emit_printed(uint64_t op);
void emit_progress_forced(const struct op *op);
void emit_thread_start(uint32_t thread, uint32_t parent, uint32_t site);
void emit_thread_join(uint32_t thread, uint32_t joined);
/* The number of error findings, once all that is in the trace is judged; 0 without a session or
 * after 10 s. */
uint64_t emit_query_findings(uint32_t thread);

#endif
