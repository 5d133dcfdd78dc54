/* Addresses of a warp and rows of its lanes in memory, for lanes.c only, which is built once for
 * each kind of processor.
 *
 * Naive model: each lane's address looked at on its own, each value moved on its own, lanes in
 * ascending order. */
#ifndef SSAN_PTX_LANES_ACCESS_H
#define SSAN_PTX_LANES_ACCESS_H

#include "ptx/lane.h"

#include <string.h>

#if defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

#define ALIAS __attribute__((may_alias))

/* What stands in a slot. */
typedef uint32_t ALIAS slot_u16, ALIAS slot_s16, ALIAS slot_u32;
typedef int32_t ALIAS slot_s32;
typedef uint64_t ALIAS slot_u64;
typedef int64_t ALIAS slot_s64;
typedef float ALIAS slot_f32;
typedef double ALIAS slot_f64;

static const uint32_t lane_bit[WARP_LANES] __attribute__((aligned(64))) = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

/* Four lanes' addresses, of any alignment. */
typedef uint64_t address_row __attribute__((vector_size(32), aligned(8), may_alias));

/* Bit i is set where hit[i] is below zero. Sign by sign, for or-ing lane bits in a vector register
 * waits for each step before the next (bench_exec poly, collatz). */
static inline uint32_t sign_bits(const int32_t *hit)
{
    uint32_t bits = 0;
#if defined(__AVX2__)
    for (int i = 0; i < WARP_LANES; i += 8) {
        const __m256i row = _mm256_load_si256((const __m256i *)(const void *)(hit + i));
        bits |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(row)) << i;
    }
#elif defined(__SSE2__)
    for (int i = 0; i < WARP_LANES; i += 4) {
        const __m128i row = _mm_load_si128((const __m128i *)(const void *)(hit + i));
        bits |= (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(row)) << i;
    }
#else
    for (int i = 0; i < WARP_LANES; i++) {
        bits |= hit[i] < 0 ? lane_bit[i] : 0;
    }
#endif
    return bits;
}

static inline void blend_32(uint32_t *dst, const uint32_t *src, uint32_t mask)
{
    for (int i = 0; i < WARP_LANES; i++) {
        const uint32_t fresh = src[i], old = dst[i];
        dst[i] = (mask & lane_bit[i]) ? fresh : old;
    }
}

static inline void bounds(const uint64_t *address, uint32_t mask, struct lane_shape *result)
{
    uint64_t low = UINT64_MAX, high = 0, bits = 0;
    for (int i = 0; i < WARP_LANES; i++) {
        const bool active = mask & lane_bit[i];
        const uint64_t below = active ? address[i] : UINT64_MAX, above = active ? address[i] : 0;
        low = below < low ? below : low;
        high = above > high ? above : high;
        bits |= above;
    }
    result->lowest = low;
    result->highest = high;
    result->bits = bits;
    result->stride = NO_STRIDE;
    result->kind = SHAPE_scatter;
}

static inline uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Differences of neighbours inside groups of eight: two rows of four, which overlap by one. */
static inline void find_shape(const uint64_t *address, struct lane_shape *result)
{
    const uint64_t stride = address[1] - address[0], reach = (GROUP_LANES - 1) * stride;
    const uint64_t b0 = address[0], b1 = address[8], b2 = address[16], b3 = address[24];
    address_row differs = {0};
    for (int g = 0; g < LANE_GROUPS; g++) {
        const uint64_t *at = address + g * GROUP_LANES;
        differs |= (*(const address_row *)(at + 1) - *(const address_row *)at) ^ stride;
        differs |= (*(const address_row *)(at + 4) - *(const address_row *)(at + 3)) ^ stride;
    }
    const uint64_t top = most(most(b0, b1), most(b2, b3));
    if ((differs[0] | differs[1] | differs[2] | differs[3]) != 0 || stride >> 32 != 0 ||
        top + reach < top) {
        bounds(address, FULL_MASK, result);
        return;
    }
    const uint64_t step = GROUP_LANES * stride;
    const bool is_linear =
        ((b1 - b0) ^ step) == 0 && ((b2 - b1) ^ step) == 0 && ((b3 - b2) ^ step) == 0 && b3 >= b0;
    *result = (struct lane_shape){.lowest = least(least(b0, b1), least(b2, b3)),
                                  .highest = top + reach,
                                  .bits = b0 | b1 | b2 | b3 | stride,
                                  .base = {b0, b1, b2, b3},
                                  .stride = stride,
                                  .kind = is_linear ? SHAPE_linear : SHAPE_groups};
}

static inline void gather_32(uint32_t *slot, const uint64_t *address, uint64_t offset,
                             uint32_t mask)
{
    for (int i = 0; mask == FULL_MASK && i < WARP_LANES; i++) {
        slot[i] = *(const slot_u32 *)(uintptr_t)(address[i] + offset);
    }
    for (uint32_t left = mask == FULL_MASK ? 0 : mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        slot[i] = *(const slot_u32 *)(uintptr_t)(address[i] + offset);
    }
}

static inline void scatter_32(const uint32_t *slot, const uint64_t *address, uint64_t offset,
                              uint32_t mask)
{
    for (uint32_t left = mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        *(slot_u32 *)(uintptr_t)(address[i] + offset) = slot[i];
    }
}

#endif
