/* The edges of a report: order between the operations that it shows.
 *
 * Cost: one pass over the operations shown, for each stream; nothing of what is not shown. */
#ifndef SSAN_CORE_EXPLAIN_EDGES_H
#define SSAN_CORE_EXPLAIN_EDGES_H

#include "core/explain_tables.h"

/* Order among the operations shown: the stream's, from records to waits and syncs, and the legacy
 * barrier's. */
bool edges_fill(struct tables *tables);

#endif
