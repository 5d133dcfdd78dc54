/* The lane loops of lanes.def.
 *
 * Built once for every processor and once for AVX2 (LANE_ISA names the build). With a full mask a
 * loop writes to the destination directly, else to a buffer that is blended in; source and
 * destination slots are equal or disjoint, so iterations never depend on each other. Costly or
 * trapping operations visit active lanes only. Built with contraction off: a product and a sum of
 * PTX are rounded each on its own. */
#include "ptx/lane.h"

#include <math.h>
#include <string.h>

#define JOIN2(a, b) a##b
#define JOIN(a, b)  JOIN2(a, b)
#define ISA(name)   JOIN(JOIN(LANE_ISA, _), name)

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif
#define ALIAS __attribute__((may_alias))

__extension__ typedef unsigned __int128 wide_u;
__extension__ typedef __int128 wide_s;

/* What stands in a slot, and the value that an expression sees. */
typedef uint32_t ALIAS slot_u16, ALIAS slot_s16, ALIAS slot_u32;
typedef int32_t ALIAS slot_s32;
typedef uint64_t ALIAS slot_u64;
typedef int64_t ALIAS slot_s64;
typedef float ALIAS slot_f32;
typedef double ALIAS slot_f64;
typedef uint16_t value_u16;
typedef int16_t value_s16;
typedef uint32_t value_u32;
typedef int32_t value_s32;
typedef uint64_t value_u64;
typedef int64_t value_s64;
typedef float value_f32;
typedef double value_f64;

#define SLOT_OF(type, offset) ((slot_##type *)__builtin_assume_aligned(r + (offset), 64))

static const uint32_t lane_bit[WARP_LANES] __attribute__((aligned(64))) = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

static void blend_32(uint32_t *dst, const uint32_t *src, uint32_t mask)
{
    slot_u32 *d = (slot_u32 *)dst;
    const slot_u32 *s = (const slot_u32 *)src;
    INDEPENDENT
    for (int i = 0; i < WARP_LANES; i++) {
        d[i] = (mask & lane_bit[i]) ? s[i] : d[i];
    }
}

static void blend_64(uint64_t *dst, const uint64_t *src, uint32_t mask)
{
    slot_u64 *d = (slot_u64 *)dst;
    const slot_u64 *s = (const slot_u64 *)src;
    INDEPENDENT
    for (int i = 0; i < WARP_LANES; i++) {
        d[i] = (mask & lane_bit[i]) ? s[i] : d[i];
    }
}

static bool is_linear(const uint64_t *address, uint64_t stride)
{
    uint64_t differs = 0;
    for (int i = 0; i < WARP_LANES - 1; i++) {
        differs |= (address[i + 1] - address[i]) ^ stride;
    }
    return differs == 0;
}

static void bounds(const uint64_t *address, uint32_t mask, struct lane_bounds *result)
{
    uint64_t low = UINT64_MAX, high = 0, bits = 0;
    for (int i = 0; i < WARP_LANES; i++) {
        const bool active = mask & lane_bit[i];
        const uint64_t below = active ? address[i] : UINT64_MAX, above = active ? address[i] : 0;
        low = below < low ? below : low;
        high = above > high ? above : high;
        bits |= above;
    }
    *result = (struct lane_bounds){low, high, bits};
}

static void gather_32(uint32_t *slot, const uint64_t *address, uint64_t offset, uint32_t mask)
{
    for (int i = 0; mask == FULL_MASK && i < WARP_LANES; i++) {
        slot[i] = *(const slot_u32 *)(uintptr_t)(address[i] + offset);
    }
    for (uint32_t left = mask == FULL_MASK ? 0 : mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        slot[i] = *(const slot_u32 *)(uintptr_t)(address[i] + offset);
    }
}

static void scatter_32(const uint32_t *slot, const uint64_t *address, uint64_t offset,
                       uint32_t mask)
{
    for (uint32_t left = mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        *(slot_u32 *)(uintptr_t)(address[i] + offset) = slot[i];
    }
}

/* Offsets as indices of words; false when one is outside `limit` bytes or not aligned. */
static bool narrow(uint32_t *index, uint64_t limit, const uint64_t *address, uint64_t offset)
{
    uint64_t bits = 0;
    uint32_t most = 0;
    for (int i = 0; i < WARP_LANES; i++) {
        const uint64_t at = address[i] + offset;
        const uint32_t low = (uint32_t)at;
        bits |= at;
        index[i] = low / 4;
        most = low > most ? low : most;
    }
    return bits >> 32 == 0 && bits % 4 == 0 && limit >= 4 && most <= limit - 4;
}

static bool load_small_32(uint32_t *slot, const unsigned char *bytes, uint64_t limit,
                          const uint64_t *address, uint64_t offset)
{
    uint32_t index[WARP_LANES] __attribute__((aligned(64)));
    const slot_u32 *words = (const slot_u32 *)(const void *)bytes;
    if (!narrow(index, limit, address, offset)) {
        return false;
    }
    for (int i = 0; i < WARP_LANES; i++) {
        slot[i] = words[index[i]];
    }
    return true;
}

static bool store_small_32(const uint32_t *slot, unsigned char *bytes, uint64_t limit,
                           const uint64_t *address, uint64_t offset)
{
    uint32_t index[WARP_LANES] __attribute__((aligned(64)));
    slot_u32 *words = (slot_u32 *)(void *)bytes;
    if (!narrow(index, limit, address, offset)) {
        return false;
    }
    for (int i = 0; i < WARP_LANES; i++) {
        words[index[i]] = slot[i];
    }
    return true;
}

#include "ptx/lanes_expr.h"

/* Blends by the size of the destination's slot. */
#define BLEND(dst, src, mask)                                                                      \
    (sizeof *(dst) == 8                                                                            \
         ? blend_64((uint64_t *)(void *)(dst), (const uint64_t *)(const void *)(src), mask)        \
         : blend_32((uint32_t *)(void *)(dst), (const uint32_t *)(const void *)(src), mask))

#define PUT_u16(value) ((uint16_t)(value))
#define PUT_s16(value) ((uint16_t)(value))
#define PUT_u32(value) ((uint32_t)(value))
#define PUT_s32(value) ((int32_t)(value))
#define PUT_u64(value) ((uint64_t)(value))
#define PUT_s64(value) ((int64_t)(value))
#define PUT_f32(value) (value)
#define PUT_f64(value) (value)

#define LOOP(target, d, body)                                                                      \
    INDEPENDENT                                                                                    \
    for (int i = 0; i < WARP_LANES; i++) {                                                         \
        body                                                                                       \
    }

#define UN(name, d, ta, expr)                                                                      \
    static void name(char *r, const struct op *op, uint32_t mask, struct warp *warp)               \
    {                                                                                              \
        slot_##d *out = SLOT_OF(d, op->dst);                                                       \
        const slot_##ta *in_a = SLOT_OF(ta, op->a);                                                \
        slot_##d kept[WARP_LANES] __attribute__((aligned(64)));                                    \
        slot_##d *to = mask == FULL_MASK ? out : kept;                                             \
        INDEPENDENT                                                                                \
        for (int i = 0; i < WARP_LANES; i++) {                                                     \
            const value_##ta a = (value_##ta)in_a[i];                                              \
            to[i] = PUT_##d(expr);                                                                 \
        }                                                                                          \
        if (mask != FULL_MASK) {                                                                   \
            BLEND(out, kept, mask);                                                                \
        }                                                                                          \
    }
#define BIN(name, d, ta, tb, expr)                                                                 \
    static void name(char *r, const struct op *op, uint32_t mask, struct warp *warp)               \
    {                                                                                              \
        slot_##d *out = SLOT_OF(d, op->dst);                                                       \
        const slot_##ta *in_a = SLOT_OF(ta, op->a);                                                \
        const slot_##tb *in_b = SLOT_OF(tb, op->b);                                                \
        slot_##d kept[WARP_LANES] __attribute__((aligned(64)));                                    \
        slot_##d *to = mask == FULL_MASK ? out : kept;                                             \
        INDEPENDENT                                                                                \
        for (int i = 0; i < WARP_LANES; i++) {                                                     \
            const value_##ta a = (value_##ta)in_a[i];                                              \
            const value_##tb b = (value_##tb)in_b[i];                                              \
            to[i] = PUT_##d(expr);                                                                 \
        }                                                                                          \
        if (mask != FULL_MASK) {                                                                   \
            BLEND(out, kept, mask);                                                                \
        }                                                                                          \
    }
#define TER(name, d, ta, tb, tc, expr)                                                             \
    static void name(char *r, const struct op *op, uint32_t mask, struct warp *warp)               \
    {                                                                                              \
        slot_##d *out = SLOT_OF(d, op->dst);                                                       \
        const slot_##ta *in_a = SLOT_OF(ta, op->a);                                                \
        const slot_##tb *in_b = SLOT_OF(tb, op->b);                                                \
        const slot_##tc *in_c = SLOT_OF(tc, op->c);                                                \
        slot_##d kept[WARP_LANES] __attribute__((aligned(64)));                                    \
        slot_##d *to = mask == FULL_MASK ? out : kept;                                             \
        INDEPENDENT                                                                                \
        for (int i = 0; i < WARP_LANES; i++) {                                                     \
            const value_##ta a = (value_##ta)in_a[i];                                              \
            const value_##tb b = (value_##tb)in_b[i];                                              \
            const value_##tc c = (value_##tc)in_c[i];                                              \
            to[i] = PUT_##d(expr);                                                                 \
        }                                                                                          \
        if (mask != FULL_MASK) {                                                                   \
            BLEND(out, kept, mask);                                                                \
        }                                                                                          \
    }
#define CMP(name, t, expr)                                                                         \
    static void name(char *r, const struct op *op, uint32_t mask, struct warp *warp)               \
    {                                                                                              \
        const slot_##t *in_a = SLOT_OF(t, op->a);                                                  \
        const slot_##t *in_b = SLOT_OF(t, op->b);                                                  \
        uint32_t bits = 0;                                                                         \
        for (int i = 0; i < WARP_LANES; i++) {                                                     \
            const value_##t a = (value_##t)in_a[i];                                                \
            const value_##t b = (value_##t)in_b[i];                                                \
            (void)b;                                                                               \
            bits |= (expr) ? lane_bit[i] : 0;                                                      \
        }                                                                                          \
        slot_u32 *out = (slot_u32 *)(void *)(r + op->dst);                                         \
        *out = (*out & ~mask) | (bits & mask);                                                     \
    }
#define EACH_ACTIVE(i)                                                                             \
    for (uint32_t left = mask, i; left && (i = (uint32_t)__builtin_ctz(left), true);               \
         left &= left - 1)
#define SLOW1(name, d, ta, expr)                                                                   \
    static void name(char *r, const struct op *op, uint32_t mask, struct warp *warp)               \
    {                                                                                              \
        slot_##d *out = SLOT_OF(d, op->dst);                                                       \
        const slot_##ta *in_a = SLOT_OF(ta, op->a);                                                \
        EACH_ACTIVE(i)                                                                             \
        {                                                                                          \
            const value_##ta a = (value_##ta)in_a[i];                                              \
            out[i] = PUT_##d(expr);                                                                \
        }                                                                                          \
    }
#define SLOW2(name, d, ta, tb, expr)                                                               \
    static void name(char *r, const struct op *op, uint32_t mask, struct warp *warp)               \
    {                                                                                              \
        slot_##d *out = SLOT_OF(d, op->dst);                                                       \
        const slot_##ta *in_a = SLOT_OF(ta, op->a);                                                \
        const slot_##tb *in_b = SLOT_OF(tb, op->b);                                                \
        EACH_ACTIVE(i)                                                                             \
        {                                                                                          \
            const value_##ta a = (value_##ta)in_a[i];                                              \
            const value_##tb b = (value_##tb)in_b[i];                                              \
            out[i] = PUT_##d(expr);                                                                \
        }                                                                                          \
    }
#define SLOW3(name, d, ta, tb, tc, expr)                                                           \
    static void name(char *r, const struct op *op, uint32_t mask, struct warp *warp)               \
    {                                                                                              \
        slot_##d *out = SLOT_OF(d, op->dst);                                                       \
        const slot_##ta *in_a = SLOT_OF(ta, op->a);                                                \
        const slot_##tb *in_b = SLOT_OF(tb, op->b);                                                \
        const slot_##tc *in_c = SLOT_OF(tc, op->c);                                                \
        EACH_ACTIVE(i)                                                                             \
        {                                                                                          \
            const value_##ta a = (value_##ta)in_a[i];                                              \
            const value_##tb b = (value_##tb)in_b[i];                                              \
            const value_##tc c = (value_##tc)in_c[i];                                              \
            out[i] = PUT_##d(expr);                                                                \
        }                                                                                          \
    }
#define OWN(name)
#include "ptx/lanes.def"

/* Bit field insert: a into b, from bit c, imm holds the slot of the length. */
static void bfi_32(char *r, const struct op *op, uint32_t mask, struct warp *warp)
{
    slot_u32 *out = SLOT_OF(u32, op->dst);
    const slot_u32 *a = SLOT_OF(u32, op->a), *b = SLOT_OF(u32, op->b), *c = SLOT_OF(u32, op->c);
    const slot_u32 *d = SLOT_OF(u32, op->imm);
    EACH_ACTIVE(i)
    {
        out[i] = (uint32_t)insert(a[i], b[i], 32, c[i], d[i]);
    }
}

static void bfi_64(char *r, const struct op *op, uint32_t mask, struct warp *warp)
{
    slot_u64 *out = SLOT_OF(u64, op->dst);
    const slot_u64 *a = SLOT_OF(u64, op->a), *b = SLOT_OF(u64, op->b);
    const slot_u32 *c = SLOT_OF(u32, op->c), *d = SLOT_OF(u32, op->imm);
    EACH_ACTIVE(i)
    {
        out[i] = insert(a[i], b[i], 64, c[i], d[i]);
    }
}

/* c is the slot of a predicate. */
static void selp_32(char *r, const struct op *op, uint32_t mask, struct warp *warp)
{
    slot_u32 *out = SLOT_OF(u32, op->dst);
    const slot_u32 *a = SLOT_OF(u32, op->a), *b = SLOT_OF(u32, op->b);
    const uint32_t chosen = *(const slot_u32 *)(const void *)(r + op->c);
    slot_u32 kept[WARP_LANES] __attribute__((aligned(64)));
    slot_u32 *to = mask == FULL_MASK ? out : kept;
    INDEPENDENT
    for (int i = 0; i < WARP_LANES; i++) {
        to[i] = (chosen & lane_bit[i]) ? a[i] : b[i];
    }
    if (mask != FULL_MASK) {
        BLEND(out, kept, mask);
    }
}

static void selp_64(char *r, const struct op *op, uint32_t mask, struct warp *warp)
{
    slot_u64 *out = SLOT_OF(u64, op->dst);
    const slot_u64 *a = SLOT_OF(u64, op->a), *b = SLOT_OF(u64, op->b);
    const uint32_t chosen = *(const slot_u32 *)(const void *)(r + op->c);
    slot_u64 kept[WARP_LANES] __attribute__((aligned(64)));
    slot_u64 *to = mask == FULL_MASK ? out : kept;
    INDEPENDENT
    for (int i = 0; i < WARP_LANES; i++) {
        to[i] = (chosen & lane_bit[i]) ? a[i] : b[i];
    }
    if (mask != FULL_MASK) {
        BLEND(out, kept, mask);
    }
}

#define PRED(offset) (*(slot_u32 *)(void *)(r + (offset)))
#define PREDICATE(name, expr)                                                                      \
    static void name(char *r, const struct op *op, uint32_t mask, struct warp *warp)               \
    {                                                                                              \
        const uint32_t bits = (expr);                                                              \
        PRED(op->dst) = (PRED(op->dst) & ~mask) | (bits & mask);                                   \
    }
PREDICATE(and_pred, PRED(op->a) & PRED(op->b))
PREDICATE(or_pred, PRED(op->a) | PRED(op->b))
PREDICATE(xor_pred, PRED(op->a) ^ PRED(op->b))
PREDICATE(not_pred, ~PRED(op->a))
PREDICATE(mov_pred, PRED(op->a))
PREDICATE(set_pred, (uint32_t)op->imm)

static ptx_fn *const table[LANE_count] = {
#undef UN
#undef BIN
#undef TER
#undef CMP
#undef SLOW1
#undef SLOW2
#undef SLOW3
#undef OWN
#define UN(name, d, a, expr)          [LANE_##name] = name,
#define BIN(name, d, a, b, expr)      [LANE_##name] = name,
#define TER(name, d, a, b, c, expr)   [LANE_##name] = name,
#define CMP(name, a, expr)            [LANE_##name] = name,
#define SLOW1(name, d, a, expr)       [LANE_##name] = name,
#define SLOW2(name, d, a, b, expr)    [LANE_##name] = name,
#define SLOW3(name, d, a, b, c, expr) [LANE_##name] = name,
#define OWN(name)                     [LANE_##name] = name,
#include "ptx/lanes.def"
};

#define STRING2(text) #text
#define STRING(text)  STRING2(text)

extern const struct lane_isa ISA(lanes);
const struct lane_isa ISA(lanes) = {
    .name = STRING(LANE_ISA),
    .table = table,
    .is_linear = is_linear,
    .blend_32 = blend_32,
    .blend_64 = blend_64,
    .bounds = bounds,
    .gather_32 = gather_32,
    .scatter_32 = scatter_32,
    .load_small_32 = load_small_32,
    .store_small_32 = store_small_32,
};
