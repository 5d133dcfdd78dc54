/* How many linear orders a class has.
 *
 * Exact by dynamic programming over down-sets (how many of each chain are done), one size after the
 * other, as long as their number and memory are within limits; beyond them (and when there is no
 * more memory at all) an estimate by random probes (Knuth): a walk that picks one of the n items
 * that may come next, the product of all n, averaged. Naive model: list them all. Cost:
 * O(down-sets * chains^2); a probe O(items * chains), and chains more for each item that waits for
 * another chain. One thread. */
#ifndef SSAN_EXPLORE_COUNT_H
#define SSAN_EXPLORE_COUNT_H

#include "explore/poset.h"

struct order_count {
    long double count; /* exact below 2^64; infinite where the type can't hold it */
    bool estimated;
};

struct count_limits {
    uint64_t down_sets, bytes; /* bytes: of the two sizes that are held at a time */
    uint32_t probes;
    uint64_t seed; /* of the probes */
};

#define COUNT_DOWN_SETS UINT64_C(2000000)
#define COUNT_BYTES     (UINT64_C(128) << 20)
#define COUNT_PROBES    2000u

/* `need` is `poset->before`, a class of it, or any such rows: 0 where no order has them all. False
 * when out of memory. */
bool count_orders(const struct poset *poset, const uint32_t *need,
                  const struct count_limits *limits, struct order_count *count);
/* The orders that have all of at least one of several needs: the sum of those of each, less those
 * of each two together, and so on. For more than COUNT_UNION their plain sum, as an estimate. */
#define COUNT_UNION 5u
bool count_union(const struct poset *poset, const uint32_t *const *needs, size_t need_count,
                 const struct count_limits *limits, struct order_count *count);

#endif
