/* Kernels that may access another device's memory, and which of them the host has waited for: the
 * end of peer access under one that still works is a fault (R-IMPL-3), whatever the schedule made
 * of it.
 *
 * Known are joins of the kernel's own stream, of an event recorded there, of the legacy stream for
 * blocking ones, and of the device. All calls: device lock held. */
#ifndef SSAN_VCUDA_REACH_H
#define SSAN_VCUDA_REACH_H

#include "vcuda/device.h"

/* An operation was accepted, and has its id. */
void reach_accepted(struct op *op);
struct reach_scope reach_scope(const struct stream *stream);
/* The host has waited for the stream up to the operation of that id. */
void reach_joined(struct reach_scope scope, uint64_t until);
/* ... for all streams of a device. */
void reach_joined_device(uint32_t ordinal, uint64_t until);
/* Whether a kernel of a device that may access memory of `peer` has not been waited for. */
bool reach_is_open(uint32_t ordinal, uint32_t peer);

#endif
