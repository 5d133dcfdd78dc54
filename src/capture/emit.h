/* Ids of the trace, and the lock under which ids and records are one order.
 *
 * The lock is ours alone and is held for a few hundred nanoseconds; nothing under it calls the
 * driver, which may hold locks of its own when it calls back. It guards the tables of handles.h
 * too. What needs no id (`set`, `op_closed`, ...) is put without it. */
#ifndef SSAN_CAPTURE_EMIT_H
#define SSAN_CAPTURE_EMIT_H

#include "trace/emit.h"

/* Ids begin anew and events go to `sink`. One thread. */
void emit_open(struct ssan_sink *sink);
/* In a forked child: there is no trace, and nobody holds the lock. */
void emit_detach(void);

void emit_lock(void);
void emit_unlock(void);

/* Puts an op with the next id, which it returns. Lock held. */
uint64_t emit_op(struct ssan_ev_op *op);
/* The same for a sync. Lock held. */
uint64_t emit_sync(struct ssan_ev_sync *sync);
/* The next id of an allocation. Lock held. */
uint32_t emit_next_alloc(void);

#endif
