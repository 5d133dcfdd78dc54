/* What the patches ask of the hardware: lanes, caches, atomics.
 *
 * This is the one for nvcc. Unit tests have their own (tests/support/warp.h), in which the lanes of
 * a warp are coroutines, so that record.cuh runs on the CPU as it stands. */
#ifndef SSAN_CAPTURE_PATCHES_WARP_H
#define SSAN_CAPTURE_PATCHES_WARP_H

#include "capture/patch_abi.h"

#define DEVICE static __device__ __forceinline__
#define ROLLED _Pragma("unroll 1")

DEVICE uint32_t warp_active(void)
{
    return __activemask();
}

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

DEVICE uint32_t bits_first(uint32_t bits)
{
    return __ffs(bits) - 1;
}

/* The value of the first lane of the mask; all of them call. */
DEVICE uint64_t warp_from_first(uint32_t mask, uint64_t value)
{
    return __shfl_sync(mask, (unsigned long long)value, (int)bits_first(mask));
}

/* Another warp is to do something first. */
DEVICE void warp_pause(void)
{
    __nanosleep(200);
}

/* Sixteen aligned bytes at once. A weak load: old contents are possible, the level 1 cache is not
 * coherent. It holds nothing from before the launch. */
DEVICE void load_pair(const void *from, uint64_t *first, uint64_t *second)
{
    asm volatile("ld.global.v2.u64 {%0, %1}, [%2];" : "=l"(*first), "=l"(*second) : "l"(from));
}

DEVICE uint64_t load_near64(const uint64_t *from)
{
    uint64_t value;
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(value) : "l"(from));
    return value;
}
DEVICE uint32_t load_near32(const uint32_t *from)
{
    uint32_t value;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(from));
    return value;
}

/* This also replaces what the level 1 cache holds. */
DEVICE void store_pair(void *to, uint64_t first, uint64_t second)
{
    asm volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(first), "l"(second) : "memory");
}

/* From the level 2 cache, where all atomics are. By instructions for global memory: those that nvcc
 * makes for pointers of which it knows nothing look for shared memory first. */
DEVICE uint32_t load32(const uint32_t *from)
{
    uint32_t value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}
DEVICE uint64_t load64(const uint64_t *from)
{
    uint64_t value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}
DEVICE void store32(uint32_t *to, uint32_t value)
{
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
DEVICE void store64(uint64_t *to, uint64_t value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
DEVICE uint64_t swap_if64(uint64_t *at, uint64_t expected, uint64_t value)
{
    uint64_t old;
    asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(old)
                 : "l"(at), "l"(expected), "l"(value)
                 : "memory");
    return old;
}
DEVICE uint32_t swap_if32(uint32_t *at, uint32_t expected, uint32_t value)
{
    uint32_t old;
    asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(old)
                 : "l"(at), "r"(expected), "r"(value)
                 : "memory");
    return old;
}
/* The word is to stay in the level 2 cache, where not all does that is accessed. By its address:
 * the same as an option of an atomic takes registers that a patch must not use. */
DEVICE void keep_near(const uint32_t *at)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(at));
#endif
}
/* Without an answer to wait for. */
DEVICE void or32(uint32_t *at, uint32_t bits)
{
    asm volatile("red.relaxed.gpu.global.or.b32 [%0], %1;" ::"l"(at), "r"(bits) : "memory");
}

#endif
