/* What the device patches (src/capture/patches/record.cuh) do to memory, on the CPU: every step one
 * atomic of the host's, as another thread may read or clear the same words at the same time.
 *
 * Who includes this has warp_step(), the questions to a warp and the level 1 cache (warp_near,
 * warp_far) before it: warp.h, where lanes take turns at each step and caches hold old contents, or
 * the fake driver, whose warps have one lane and no cache. */
#ifndef SSAN_TESTS_SUPPORT_WARP_MEMORY_H
#define SSAN_TESTS_SUPPORT_WARP_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#ifndef warp_step
void warp_step(void);
#endif

enum warp_access { WARP_NEAR, WARP_LOAD, WARP_STORE, WARP_ATOMIC };
#ifndef warp_near
/* What the level 1 cache of the lane's warp has for `at`: a copy of the 16 bytes around it. */
const void *warp_near(const void *at);
/* The lane goes to memory itself. A write makes its warp's copy go away. */
void warp_far(const void *at, enum warp_access access);
#endif

#define DEVICE static inline
#define ROLLED

static inline uint32_t bits_first(uint32_t bits)
{
    return (uint32_t)__builtin_ctz(bits);
}

static inline void warp_pause(void)
{
    warp_step();
}

static inline uint32_t load32(const uint32_t *from)
{
    warp_step();
    warp_far(from, WARP_LOAD);
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}

static inline uint64_t load64(const uint64_t *from)
{
    warp_step();
    warp_far(from, WARP_LOAD);
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}

static inline void store32(uint32_t *to, uint32_t value)
{
    warp_step();
    warp_far(to, WARP_STORE);
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
}

static inline void store64(uint64_t *to, uint64_t value)
{
    warp_step();
    warp_far(to, WARP_STORE);
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
}

/* What stays in the level 2 cache changes no result. */
static inline void keep_near(const uint32_t *at)
{
    (void)at;
    warp_step();
}

static inline uint32_t load_near32(const uint32_t *from)
{
    warp_step();
    return __atomic_load_n((const uint32_t *)warp_near(from), __ATOMIC_RELAXED);
}

static inline uint64_t load_near64(const uint64_t *from)
{
    warp_step();
    return __atomic_load_n((const uint64_t *)warp_near(from), __ATOMIC_RELAXED);
}

/* Sixteen bytes: who finds the first word finds the second that was stored with it. */
static inline void load_pair(const void *from, uint64_t *first, uint64_t *second)
{
    warp_step();
    const uint64_t *words = warp_near(from);
    *first = __atomic_load_n(&words[0], __ATOMIC_ACQUIRE);
    *second = __atomic_load_n(&words[1], __ATOMIC_RELAXED);
}

static inline void store_pair(void *to, uint64_t first, uint64_t second)
{
    uint64_t *words = to;
    warp_step();
    warp_far(to, WARP_STORE);
    __atomic_store_n(&words[1], second, __ATOMIC_RELAXED);
    __atomic_store_n(&words[0], first, __ATOMIC_RELEASE);
}

static inline uint64_t swap_if64(uint64_t *at, uint64_t expected, uint64_t value)
{
    warp_step();
    warp_far(at, WARP_ATOMIC);
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

static inline uint32_t swap_if32(uint32_t *at, uint32_t expected, uint32_t value)
{
    warp_step();
    warp_far(at, WARP_ATOMIC);
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

static inline void or32(uint32_t *at, uint32_t bits)
{
    warp_step();
    warp_far(at, WARP_ATOMIC);
    __atomic_fetch_or(at, bits, __ATOMIC_RELAXED);
}

#endif
