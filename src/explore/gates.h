/* Which kernel has to be held up, until which item is done, for the two operations of a finding to
 * happen the other way round on a GPU.
 *
 * Only kernels can be held. What comes before `first` in every schedule holds `first` back with it;
 * so the kernel is `first` itself or the latest before it that `then` need not wait for. Whether an
 * access of the host waits for one is not known here, which a trial tells. One thread. */
#ifndef SSAN_EXPLORE_GATES_H
#define SSAN_EXPLORE_GATES_H

#include "explore/invert.h"

enum gates_answer {
    GATES_FOUND,
    GATES_NO_KERNEL, /* `first` is none, and no kernel comes before it */
    GATES_SHARED     /* kernels do, but `then` waits for each of them too */
};

/* The n-th kernel that may be held (0: the best) for a pair that nothing orders. *held is set where
 * there is one; the answer says why there is not, for any n. Cost: one pass over the items. */
enum gates_answer gates_held(const struct model *model, const struct invert_pair *pair, unsigned n,
                             uint32_t *held);

#endif
