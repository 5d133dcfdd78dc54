/* What the trace orders before a point: how far into each stream.
 *
 * The naive model: walk all edges backwards from the point. It serves to say what is missing, not
 * to judge: verdicts and checked fixes come from the engine alone. */
#ifndef SSAN_CORE_EXPLAIN_ORDER_H
#define SSAN_CORE_EXPLAIN_ORDER_H

#include "core/explain_history.h"

/* Sets seen[stream index] (`seen` holds streams.count numbers) to the number of items of that
 * stream that are ordered before `item`; `documented`: by documented edges only. False when out of
 * memory. O(items behind it). */
bool order_before_item(const struct history *history, uint32_t item, bool documented,
                       uint32_t *seen);

/* The same before a call that host thread `thread` makes at `position`. */
bool order_before_host(const struct history *history, uint32_t thread, uint64_t position,
                       bool documented, uint32_t *seen);

/* Whether recorded edges of host threads (start, join, release and acquire) and host waits order
 * what `from` did at `before` ahead of what `to` does at `behind`, each thread a timeline of its
 * own. False also when out of memory. */
bool order_hands_over(const struct history *history, uint32_t from, uint64_t before, uint32_t to,
                      uint64_t behind);

#endif
