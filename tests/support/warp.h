/* Warps on the CPU: the lanes of simulated warps are coroutines, so that the code of the device
 * patches (src/capture/patches/record.cuh) runs as it stands.
 *
 * A lane may be set aside at every access to memory and at every question to its warp; which lane
 * goes on is drawn from a seeded generator, and so is which of the lanes that ask at one place are
 * together. Include this, then record.cuh, in one file of a test. */
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
bool warp_any_at(int place, uint32_t mask, bool answer);
bool warp_all_equal_at(int place, uint32_t mask, uint64_t value);
uint32_t warp_lane(void);
uint32_t warp_processor(void);
/* The lane is in this call from here on: lanes in different ones are never together, as those that
 * call a patch from different instructions aren't. */
void warp_call(unsigned call);
/* Another lane may go on here. */
void warp_step(void);

#define warp_active()               warp_active_at(__COUNTER__)
#define warp_any(mask, answer)      warp_any_at(__COUNTER__, mask, answer)
#define warp_all_equal(mask, value) warp_all_equal_at(__COUNTER__, mask, value)

#define DEVICE      static inline
#define DEVICE_SLOW static inline

static inline uint32_t bits_count(uint32_t bits)
{
    return (uint32_t)__builtin_popcount(bits);
}

static inline uint32_t bits_first(uint32_t bits)
{
    return (uint32_t)__builtin_ctz(bits);
}

static inline void load_pair_fresh(const void *from, uint64_t *first, uint64_t *second)
{
    const uint64_t *words = from;
    warp_step();
    *first = words[0];
    *second = words[1];
}

static inline void load_pair(const void *from, uint64_t *first, uint64_t *second)
{
    load_pair_fresh(from, first, second);
}

static inline void store_pair(void *to, uint64_t first, uint64_t second)
{
    uint64_t *words = to;
    warp_step();
    words[0] = first;
    words[1] = second;
}

static inline void refresh32(uint32_t *at, uint32_t value)
{
    warp_step();
    *at = value;
}

static inline void warp_pause(void)
{
    warp_step();
}

static inline uint32_t load32(const uint32_t *from)
{
    warp_step();
    return *from;
}

static inline uint64_t load64(const uint64_t *from)
{
    warp_step();
    return *from;
}

static inline void store32(uint32_t *to, uint32_t value)
{
    warp_step();
    *to = value;
}

static inline void store64(uint64_t *to, uint64_t value)
{
    warp_step();
    *to = value;
}

static inline uint32_t swap_if32(uint32_t *at, uint32_t expected, uint32_t value)
{
    warp_step();
    uint32_t seen = *at;
    if (seen == expected) {
        *at = value;
    }
    return seen;
}

static inline uint64_t swap_if64(uint64_t *at, uint64_t expected, uint64_t value)
{
    warp_step();
    uint64_t seen = *at;
    if (seen == expected) {
        *at = value;
    }
    return seen;
}

static inline void or32(uint32_t *at, uint32_t bits)
{
    warp_step();
    *at |= bits;
}

static inline void add64(uint64_t *at, uint64_t value)
{
    warp_step();
    *at += value;
}

#endif
