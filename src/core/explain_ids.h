/* What makes two hazards the same: in a re-run (keys) and between runs (ids). */
#ifndef SSAN_CORE_EXPLAIN_IDS_H
#define SSAN_CORE_EXPLAIN_IDS_H

#include "core/explain_history.h"

/* Same within one trace: the check, both places with what they call, the place of the allocation.
 */
uint64_t hazard_key(const struct history *history, const struct hazard *hazard);

/* Same for all hazards between calls at the same two places, whatever the check and the block; 0
 * where a place is unknown. */
uint64_t hazard_pair_key(const struct history *history, const struct hazard *hazard);

/* Same in every run of a program, whatever the device and the lines: check, both kernels or calls,
 * both enclosing functions, the buffer's name or (NULL) its allocating function. Without the
 * ordinal among equals. */
uint64_t hazard_identity(const struct history *history, const struct hazard *hazard,
                         const char *buffer_name);

/* Eight hexadecimal digits for an identity and its ordinal among equals, from 0; NULL when out of
 * memory. */
const char *id_text(struct arena *arena, uint64_t identity, uint32_t ordinal);

#endif
