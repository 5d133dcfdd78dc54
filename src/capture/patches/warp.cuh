/* What the patches ask of the hardware: lanes, caches, atomics.
 *
 * This is the one for nvcc. Unit tests have their own (tests/support/warp.h), in which the lanes of a
 * warp are coroutines, so that record.cuh runs on the CPU as it stands. */
#ifndef SSAN_CAPTURE_PATCHES_WARP_H
#define SSAN_CAPTURE_PATCHES_WARP_H

#include "capture/patch_abi.h"

#define DEVICE      static __device__ __forceinline__
#define DEVICE_SLOW static __device__ __noinline__

DEVICE uint32_t warp_active(void) { return __activemask(); }

DEVICE uint32_t warp_lane(void)
{
    uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

DEVICE bool warp_all_equal(uint32_t mask, uint64_t value)
{
    int all;
    __match_all_sync(mask, (unsigned long long)value, &all);
    return all;
}

DEVICE uint32_t bits_first(uint32_t bits) { return __ffs(bits) - 1; }

/* Sixteen aligned bytes at once. A weak load: old contents are possible, the level 1 cache is not
 * coherent. */
DEVICE void load_pair(const void *from, uint64_t *first, uint64_t *second)
{
    asm volatile("ld.global.v2.u64 {%0, %1}, [%2];" : "=l"(*first), "=l"(*second) : "l"(from));
}

/* The same from the level 2 cache. */
DEVICE void load_pair_fresh(const void *from, uint64_t *first, uint64_t *second)
{
    const ulonglong2 both = __ldcg((const ulonglong2 *)from);
    *first = both.x;
    *second = both.y;
}

/* These also replace what the level 1 cache holds. */
DEVICE void store_pair(void *to, uint64_t first, uint64_t second)
{
    asm volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(first), "l"(second) : "memory");
}
DEVICE void refresh32(uint32_t *at, uint32_t value)
{
    asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

/* From the level 2 cache, where all atomics are. */
DEVICE uint32_t load32(const uint32_t *from) { return __ldcg(from); }
DEVICE uint64_t load64(const uint64_t *from) { return __ldcg((const unsigned long long *)from); }
DEVICE void store32(uint32_t *to, uint32_t value) { __stcg(to, value); }
DEVICE void store64(uint64_t *to, uint64_t value) { __stcg((unsigned long long *)to, value); }

/* Another warp is to do something first. */
DEVICE void warp_pause(void) { __nanosleep(200); }

DEVICE uint32_t swap_if32(uint32_t *at, uint32_t expected, uint32_t value)
{
    return atomicCAS(at, expected, value);
}
DEVICE uint64_t swap_if64(uint64_t *at, uint64_t expected, uint64_t value)
{
    return atomicCAS((unsigned long long *)at, expected, value);
}
/* Without an answer to wait for. */
DEVICE void or32(uint32_t *at, uint32_t bits)
{
    asm volatile("red.relaxed.gpu.global.or.b32 [%0], %1;" ::"l"(at), "r"(bits) : "memory");
}

#endif
