/* How many pages launches in flight are going to claim (patch_abi.h), so that the next one is held
 * back before they run out: what a claim finds no page for is lost.
 *
 * A kernel's launches are thought to claim what earlier ones did: beside their windows, which are
 * none where they have few threads, or, where there was no memory for these, in all. One of a
 * kernel of which none has ended yet may claim all that its operands' blocks have, but no more than
 * an eighth of the pages: a few may run at once, and a kernel that claims far less than that is
 * known after one drain. Naive model: a look at what is left, behind each launch. Cost of a launch:
 * two additions; one of an unknown kernel takes a lock and looks its parameters up. */
#ifndef SSAN_CAPTURE_OBSERVE_CLAIMS_H
#define SSAN_CAPTURE_OBSERVE_CLAIMS_H

#include "capture/observe_footprint.h"
#include "capture/observe_pool.h"

/* Whether a launch of the kernel has ended. */
bool claims_are_known(const struct observed_kernel *kernel);

/* Promises pages to a launch, in place of those that it was promised before, until
 * claims_give_back: as many as its kernel's launches have claimed, with all windows that it was to
 * have or without; none where that is not known. The pool is locked. */
void claims_promise(struct pool *pool, struct pool_launch *launch);

/* It has ended, or did not happen. The pool is locked. */
void claims_give_back(struct pool *pool, struct pool_launch *launch);

/* The same of a launch of `threads` threads of an unknown kernel: what its parameters allow. The
 * pool is not locked. Between windows_give and the launch itself. */
void claims_promise_unknown(struct pool *pool, uint64_t user,
                            const struct observe_arguments *arguments, uint64_t threads);

/* A launch has ended, and its pages are listed. `is_lost`: there were too few of them. */
void claims_learn(const struct pool *pool, const struct pool_launch *launch, bool is_lost);

#endif
