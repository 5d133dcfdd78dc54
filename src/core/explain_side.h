/* The two sides and the bytes of a hazard, as facts of a finding. */
#ifndef SSAN_CORE_EXPLAIN_SIDE_H
#define SSAN_CORE_EXPLAIN_SIDE_H

#include "core/explain_tables.h"

/* The block that a hazard's bytes lie in, as a key (explain_window.h). */
uint64_t hazard_block(const struct history *history, const struct hazard *hazard);
bool hazard_has_block(const struct hazard *hazard);

/* Marks the call of a side for the report; `item`: as struct pair has it. False when out of memory.
 */
bool side_want(struct tables *tables, const struct side *side, uint32_t item);
/* Behind tables_build. False when out of memory. */
bool side_fill(struct tables *tables, struct finding_side *out, const struct side *side,
               uint32_t item);
/* The hazard's bytes as offsets in its block. False when out of memory. */
bool side_fill_bytes(struct tables *tables, struct finding *finding, const struct hazard *hazard);

#endif
