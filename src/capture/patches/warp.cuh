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

DEVICE uint32_t warp_processor(void)
{
    uint32_t processor;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(processor));
    return processor;
}

DEVICE bool warp_any(uint32_t mask, bool answer) { return __any_sync(mask, answer); }

DEVICE bool warp_all_equal(uint32_t mask, uint64_t value)
{
    int all;
    __match_all_sync(mask, (unsigned long long)value, &all);
    return all;
}

DEVICE uint32_t bits_count(uint32_t bits) { return __popc(bits); }
DEVICE uint32_t bits_first(uint32_t bits) { return __ffs(bits) - 1; }

/* Memory that was written before the launch was submitted, or by this launch: old contents of the
 * latter are possible. */
DEVICE void load_entry(const struct patch_entry *from, struct patch_entry *entry)
{
    const ulonglong2 both = __ldca((const ulonglong2 *)from);
    entry->key = both.x;
    entry->directory = (uint32_t)both.y;
    entry->parts = (uint32_t)(both.y >> 32);
}

/* Past the level 1 cache: it may hold what a page was in its last life. */
DEVICE uint32_t load32(const uint32_t *from) { return __ldcg(from); }
DEVICE uint64_t load64(const uint64_t *from) { return __ldcg((const unsigned long long *)from); }
DEVICE void store32(uint32_t *to, uint32_t value) { __stcg(to, value); }
DEVICE void store64(uint64_t *to, uint64_t value) { __stcg((unsigned long long *)to, value); }

DEVICE uint32_t swap_if32(uint32_t *at, uint32_t expected, uint32_t value)
{
    return atomicCAS(at, expected, value);
}
DEVICE uint64_t swap_if64(uint64_t *at, uint64_t expected, uint64_t value)
{
    return atomicCAS((unsigned long long *)at, expected, value);
}
DEVICE void or32(uint32_t *at, uint32_t bits) { atomicOr(at, bits); }
DEVICE void add64(uint64_t *at, uint64_t value) { atomicAdd((unsigned long long *)at, value); }
DEVICE void order_stores(void) { __threadfence(); }

#endif
