/* The copy matrix and the memset rules: what the return of a copy or memset tells the host
 * (docs/model.md, rows C1 to A7, R-COPY-18, R-COPY-19).
 *
 * Pure functions of the memory kinds of both ends. Of the call's name only what R-COPY-14 says of
 * calls that name devices; no row depends on it (R-COPY-1). Any thread.
 */
#ifndef SSAN_CORE_COPY_MATRIX_H
#define SSAN_CORE_COPY_MATRIX_H

#include "trace/event.h"

#include <stdbool.h>
#include <stdint.h>

/* A copy, or a memset (`src` counts for nothing). */
struct copy_shape {
    bool is_memset;
    enum ssan_form form;
    enum ssan_memory dst, src;
    uint64_t bytes; /* of all rows, without the gaps between them */
};

/* What a row gives at the return, in one reading. */
struct copy_effect {
    bool source_free; /* the source has been read */
    bool joins_prior; /* ... and what stands before the item on its stream has ended */
    bool host_sync;   /* ... and the item itself */
    uint32_t row;     /* enum order_rule */
};

struct copy_effect copy_matrix_effect(const struct copy_shape *shape, bool documented);
/* shape.bytes of a copy or memset event; UINT64_MAX where it would overflow. */
uint64_t copy_matrix_bytes(const struct ssan_ev_op *event);
/* Whether the copy is by a synchronous call that names the devices of both ends: such a copy acts
 * in their legacy streams also where they are one device and another one is current (R-COPY-14). */
bool copy_matrix_names_devices(const struct ssan_ev_op *event);

#endif
