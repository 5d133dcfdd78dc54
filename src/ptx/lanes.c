/* The lane loops of lanes.def.
 *
 * Built once for every processor and once for AVX2 (LANE_ISA names the build). With a full mask a
 * loop writes all lanes, else lanes that rest keep their value; source and destination slots are
 * equal or disjoint, so iterations never depend on each other. Costly or trapping operations visit
 * active lanes only. Built with contraction off: a product and a sum of
 * PTX are rounded each on its own. */
#include "ptx/lanes_access.h"
#include "ptx/lanes_expr.h"
#include "ptx/lanes_rows.h"

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

__extension__ typedef unsigned __int128 wide_u;
__extension__ typedef __int128 wide_s;

/* The value that an expression sees. */
typedef uint16_t value_u16;
typedef int16_t value_s16;
typedef uint32_t value_u32;
typedef int32_t value_s32;
typedef uint64_t value_u64;
typedef int64_t value_s64;
typedef float value_f32;
typedef double value_f64;

#define SLOT_OF(type, offset) ((slot_##type *)__builtin_assume_aligned(r + (offset), 64))

#define PUT_u16(value) ((uint16_t)(value))
#define PUT_s16(value) ((uint16_t)(value))
#define PUT_u32(value) ((uint32_t)(value))
#define PUT_s32(value) ((int32_t)(value))
#define PUT_u64(value) ((uint64_t)(value))
#define PUT_s64(value) ((int64_t)(value))
#define PUT_f32(value) (value)
#define PUT_f64(value) (value)

/* out[i] = value in active lanes; `let` defines what the value is made of. A full warp is most of
 * what runs, so it has a loop of its own without the choice (bench_exec poly); the other loop
 * computes all lanes and keeps the old value of those that rest (bench_exec collatz). */
#define EACH_LANE_PUT(d, let, value)                                                               \
    if (__builtin_expect(mask == FULL_MASK, 1)) {                                                  \
        INDEPENDENT                                                                                \
        for (int i = 0; i < WARP_LANES; i++) {                                                     \
            let out[i] = PUT_##d(value);                                                           \
        }                                                                                          \
    } else {                                                                                       \
        INDEPENDENT                                                                                \
        for (int i = 0; i < WARP_LANES; i++) {                                                     \
            let const slot_##d fresh = PUT_##d(value), old = out[i];                               \
            out[i] = (mask & lane_bit[i]) ? fresh : old;                                           \
        }                                                                                          \
    }

#define UN(name, d, ta, expr)                                                                      \
    static void name(char *r, const struct op *op, uint32_t mask, struct warp *warp)               \
    {                                                                                              \
        slot_##d *out = SLOT_OF(d, op->dst);                                                       \
        const slot_##ta *in_a = SLOT_OF(ta, op->a);                                                \
        EACH_LANE_PUT(d, const value_##ta a = (value_##ta)in_a[i];, expr)                          \
    }
#define BIN(name, d, ta, tb, expr)                                                                 \
    static void name(char *r, const struct op *op, uint32_t mask, struct warp *warp)               \
    {                                                                                              \
        slot_##d *out = SLOT_OF(d, op->dst);                                                       \
        const slot_##ta *in_a = SLOT_OF(ta, op->a);                                                \
        const slot_##tb *in_b = SLOT_OF(tb, op->b);                                                \
        EACH_LANE_PUT(d, const value_##ta a = (value_##ta)in_a[i];                                 \
                      const value_##tb b = (value_##tb)in_b[i];, expr)                             \
    }
#define TER(name, d, ta, tb, tc, expr)                                                             \
    static void name(char *r, const struct op *op, uint32_t mask, struct warp *warp)               \
    {                                                                                              \
        slot_##d *out = SLOT_OF(d, op->dst);                                                       \
        const slot_##ta *in_a = SLOT_OF(ta, op->a);                                                \
        const slot_##tb *in_b = SLOT_OF(tb, op->b);                                                \
        const slot_##tc *in_c = SLOT_OF(tc, op->c);                                                \
        EACH_LANE_PUT(d, const value_##ta a = (value_##ta)in_a[i];                                 \
                      const value_##tb b = (value_##tb)in_b[i];                                    \
                      const value_##tc c = (value_##tc)in_c[i];, expr)                             \
    }
#define CMP(name, t, expr)                                                                         \
    static void name(char *r, const struct op *op, uint32_t mask, struct warp *warp)               \
    {                                                                                              \
        const slot_##t *in_a = SLOT_OF(t, op->a);                                                  \
        const slot_##t *in_b = SLOT_OF(t, op->b);                                                  \
        int32_t hit[WARP_LANES] __attribute__((aligned(64)));                                      \
        for (int i = 0; i < WARP_LANES; i++) {                                                     \
            const value_##t a = (value_##t)in_a[i];                                                \
            const value_##t b = (value_##t)in_b[i];                                                \
            (void)b;                                                                               \
            hit[i] = (expr) ? -1 : 0;                                                              \
        }                                                                                          \
        const uint32_t bits = sign_bits(hit);                                                      \
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
#define SELECT(name, d)                                                                            \
    static void name(char *r, const struct op *op, uint32_t mask, struct warp *warp)               \
    {                                                                                              \
        slot_##d *out = SLOT_OF(d, op->dst);                                                       \
        const slot_##d *a = SLOT_OF(d, op->a), *b = SLOT_OF(d, op->b);                             \
        const uint32_t chosen = *(const slot_u32 *)(const void *)(r + op->c);                      \
        EACH_LANE_PUT(d, const slot_##d yes = a[i]; const slot_##d no = b[i];                      \
                      , (chosen & lane_bit[i]) ? yes : no)                                         \
    }
SELECT(selp_32, u32)
SELECT(selp_64, u64)

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
    .rows = row_handlers,
    .row_count = sizeof row_handlers / sizeof *row_handlers,
    .find_shape = find_shape,
    .bounds = bounds,
    .blend_32 = blend_32,
    .gather_32 = gather_32,
    .scatter_32 = scatter_32,
};
