/* Seeded generator (splitmix64): the same seed gives the same numbers on every machine. Who uses it
 * prints the seed. */
#ifndef SSAN_BASE_RNG_H
#define SSAN_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

__extension__ typedef unsigned __int128 rng_wide; /* only for the product below */

static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t z = (rng->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A number in [0, bound); bound must not be 0. The bias is below bound / 2^64. */
static inline uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    return (uint64_t)(((rng_wide)rng_next(rng) * bound) >> 64);
}

#endif
