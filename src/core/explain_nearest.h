/* What nearly ordered the two sides of a hazard (the table in docs/report.md). */
#ifndef SSAN_CORE_EXPLAIN_NEAREST_H
#define SSAN_CORE_EXPLAIN_NEAREST_H

#include "core/explain_history.h"

/* The two sides in terms of the history; items and hosts are HISTORY_NONE where they don't apply. A
 * host function is an item, also when its host access is the side. */
struct pair {
    const struct hazard *hazard;
    uint32_t first_item, then_item, first_host, then_host;
    bool documented; /* judged by documented edges only */
};

/* The nearest miss; items, syncs and events are indices, HISTORY_NONE: none. */
struct miss {
    bool known; /* an order is missing: the hazard is about two places of the order */
    enum nearest_kind kind;
    uint32_t seen_seq, needed_seq;
    uint32_t event, other_event;
    uint32_t record, wait, other_record; /* items */
    bool elsewhere;                      /* NEAREST_RECORDED_NOT_WAITED: somebody else waits */
    bool reversed; /* NEAREST_NONE: `wait` is one of first's stream for then's */
    uint32_t sync; /* the host's wait, in place of `wait` */
};

struct pair pair_of(const struct history *history, const struct hazard *hazard, bool documented);

/* False when out of memory. O(items + joins). */
bool nearest_find(const struct history *history, const struct pair *pair, struct miss *miss);

#endif
