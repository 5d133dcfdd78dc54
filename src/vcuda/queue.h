/* Streams as queues: which operation must be done before which (the observed edges of the ordering
 * rules). */
#ifndef SSAN_VCUDA_QUEUE_H
#define SSAN_VCUDA_QUEUE_H

#include "vcuda/device.h"

/* All with the device lock held. */

/* A new operation, one reference for the caller; NULL when out of memory. `kind` and `stream` are
 * set, no id yet. */
struct op *queue_create(enum ssan_op_kind kind, struct stream *stream);
void queue_hold(struct op *op);
/* Gives a reference back; NULL is allowed. */
void queue_drop(struct op *op);

/* Works out what `op` must wait for, without changing anything; `also` (may be NULL) is one more
 * such operation: the record that a wait binds to. False when out of memory. */
bool queue_link(struct op *op, struct op *also);
/* Makes a linked operation an item of its stream, with the next id. Cannot fail. The queue takes
 * its own reference. */
void queue_submit(struct op *op);
/* An id for something that enters no queue (a wait on an event that was never recorded). */
uint64_t queue_next_id(void);

/* `op` has ended: whatever waited for it may begin. */
void queue_complete(struct op *op);
/* Out of the ready list. */
void queue_take(struct op *op);
/* Back into it, not done. */
void queue_put_back(struct op *op);

/* Adds to `targets` what a host join of the stream waits for (the legacy stream: blocking streams
 * of its device too). Each added one is held; free with queue_targets_finish. False when out of
 * memory. */
bool queue_targets(struct op_list *targets, struct stream *stream);
/* The same for all streams of a device, or of EVERY_DEVICE. */
bool queue_targets_of(struct op_list *targets, uint32_t ordinal);
void queue_targets_finish(struct op_list *targets);
bool queue_all_done(const struct op_list *targets);

/* Calls visit(op) once for each of `targets` that is not done, and for what waits not done behind
 * those for which `visit` answers true. False when out of memory. */
bool queue_walk(const struct op_list *targets, bool (*visit)(struct op *op, void *self),
                void *self);
/* The same from one operation. */
bool queue_walk_op(struct op *target, bool (*visit)(struct op *op, void *self), void *self);

/* A default stream appears at its first use; created ones come from here too. NULL when out of
 * memory. */
struct stream *queue_new_stream(enum ssan_stream_flavour flavour, uint32_t ordinal);
bool queue_is_blocking(const struct stream *stream);
/* No handle names the stream any more: it goes when its work is done. */
void queue_abandon_stream(struct stream *stream);

#endif
