/* Warps on the CPU: the lanes of simulated warps are coroutines, so that the code of the device
 * patches (src/capture/patches/record.cuh) runs as it stands.
 *
 * A lane may be set aside at every access to memory and at every question to its warp; which lane
 * goes on is drawn from a seeded generator, and so is which of the lanes that ask at one place are
 * together. Each warp has a level 1 cache of its own, which holds what it read until it writes
 * there itself. Include this, then record.cuh, in one file of a test. */
#ifndef SSAN_TESTS_SUPPORT_WARP_H
#define SSAN_TESTS_SUPPORT_WARP_H

#include "capture/patch_abi.h"

#include <stdbool.h>
#include <stdint.h>

struct rng;

#define WARP_LANES 32u

/* Runs `warps` warps of 32 lanes at once; lane(self, warp, lane) is what each does. */
void warp_run(struct rng *rng, unsigned warps,
              void (*lane)(void *self, unsigned warp, unsigned lane), void *self);

/* The questions; `place` tells where in the code they stand. */
uint32_t warp_active_at(int place);
bool warp_all_equal_at(int place, uint32_t mask, uint64_t value);
uint64_t warp_from_first_at(int place, uint32_t mask, uint64_t value);
uint32_t warp_lane(void);
/* The lane is in this call from here on: lanes in different ones are never together, as those that
 * call a patch from different instructions aren't. */
void warp_call(unsigned call);
/* Another lane may go on here. */
void warp_step(void);
/* Whether all lanes that ask at one place are together, always; else only most of the time. */
void warp_keep_together(bool is_kept);

#define warp_active()                warp_active_at(__COUNTER__)
#define warp_all_equal(mask, value)  warp_all_equal_at(__COUNTER__, mask, value)
#define warp_from_first(mask, value) warp_from_first_at(__COUNTER__, mask, value)

#include "support/warp_memory.h"

/* How often lanes did so since warp_run began, while they were in the call (< WARP_CALLS). */
#define WARP_CALLS 16u
uint64_t warp_count(unsigned call, enum warp_access access);

#endif
