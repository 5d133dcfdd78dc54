/* Which operand each instruction of a kernel was seen to access, for the sites of later launches.
 *
 * A launch whose sites are empty looks each of its windows up, on every processor and for every
 * instruction, by as many warps as run at once: in a short kernel that is most of its accesses. A
 * site that the library has filled as a guess is taken over by one store (patch_abi.h). A guess is
 * a matter of speed only: an address that is in another window is found as without it, and only
 * what an instruction took over is reported of it. */
#ifndef SSAN_CAPTURE_OBSERVE_HINTS_H
#define SSAN_CAPTURE_OBSERVE_HINTS_H

#include "capture/observe_pool.h"

/* Fills sites of `record` for the windows that the launch has; answers the bytes of the record up
 * to the last of them, 0: none. Sets `guessed` of the windows, and whether the launch is to be
 * learnt from. Before the launch, by its thread. */
size_t hints_give(struct pool_launch *launch, struct patch_launch *record);

/* The launch has ended, `record` is a copy of its own. Any thread. */
void hints_learn(const struct pool_launch *launch, const struct patch_launch *record);

#endif
