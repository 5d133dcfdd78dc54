/* Arithmetic: integers, floating point, carries.
 *
 * .ftz flushes subnormal sources and results by operations of their own; a rounding mode other than
 * the nearest wraps the operation (exec_rounded). */
#include "ptx/parse.h"

#include "ptx/exec_ops.h"

#include <fenv.h>

/* What the modifiers of a floating-point instruction ask for. */
struct float_mods {
    bool ftz, sat, approx;
    int rounding; /* FE_TONEAREST, ... */
};

static void take_float_mods(struct inst *in, struct float_mods *mods)
{
    *mods = (struct float_mods){.rounding = FE_TONEAREST};
    mods->approx = mod_take(in, "approx") || mod_take(in, "full");
    mod_take(in, "rn");
    mods->rounding = mod_take(in, "rz")   ? FE_TOWARDZERO
                     : mod_take(in, "rm") ? FE_DOWNWARD
                     : mod_take(in, "rp") ? FE_UPWARD
                                          : FE_TONEAREST;
    mods->ftz = mod_take(in, "ftz");
    mods->sat = mod_take(in, "sat");
}

bool emit_rounded(struct parser *p, struct op *op, int rounding)
{
    if (op && rounding != FE_TONEAREST) {
        op->fn = exec_rounded;
        op->sub = rounding == FE_TOWARDZERO ? 1 : rounding == FE_DOWNWARD ? 2 : 3;
    }
    return op != NULL;
}

/* A floating-point source with subnormals flushed if asked for. */
static uint32_t float_source(struct parser *p, struct inst *in, uint32_t index, enum ptx_type type,
                             bool ftz)
{
    const uint32_t slot = source(p, in, &in->operands[index], type);
    if (!slot || !ftz || type != TYPE_f32) {
        return slot;
    }
    const uint32_t temp = slot_temp(p, type);
    return temp && emit(p, LANE_ftz_f32, temp, slot, slot, slot) ? temp : 0;
}

/* Operands 1.. as sources, the operation, then .ftz and .sat of the result. */
static bool emit_float(struct parser *p, struct inst *in, enum lane lane, enum ptx_type type,
                       const struct float_mods *mods)
{
    uint32_t in_slots[3] = {0};
    for (uint32_t i = 1; i < in->operand_count && i <= 3; i++) {
        in_slots[i - 1] = float_source(p, in, i, type, mods->ftz);
        if (!in_slots[i - 1]) {
            return false;
        }
    }
    const uint32_t dst = result(p, in, &in->operands[0], type);
    /* the guard may not change, nor a source be lost: one write to the destination comes last */
    const bool more = mods->sat || (mods->ftz && type == TYPE_f32);
    const uint32_t work = more && dst ? slot_temp(p, type) : dst;
    if (!work) {
        return false;
    }
    const uint32_t b = in_slots[1] ? in_slots[1] : in_slots[0],
                   c = in_slots[2] ? in_slots[2] : in_slots[0];
    if (!emit_rounded(p, emit(p, lane, work, in_slots[0], b, c), mods->rounding)) {
        return false;
    }
    if (mods->ftz && type == TYPE_f32 &&
        !emit(p, LANE_ftz_f32, mods->sat ? work : dst, work, work, work)) {
        return false;
    }
    if (mods->sat &&
        !emit(p, type == TYPE_f64 ? LANE_sat_f64 : LANE_sat_f32, dst, work, work, work)) {
        return false;
    }
    return result_done(p, in, &in->operands[0], type, dst);
}

/* The same for integers: sources of one type, a result of another. */
static bool emit_int(struct parser *p, struct inst *in, enum lane lane, enum ptx_type type,
                     enum ptx_type to)
{
    uint32_t in_slots[3] = {0};
    for (uint32_t i = 1; i < in->operand_count && i <= 3; i++) {
        in_slots[i - 1] = source(p, in, &in->operands[i], i == 3 ? to : type);
        if (!in_slots[i - 1]) {
            return false;
        }
    }
    const uint32_t dst = result(p, in, &in->operands[0], to);
    const uint32_t b = in_slots[1] ? in_slots[1] : in_slots[0],
                   c = in_slots[2] ? in_slots[2] : in_slots[0];
    return dst && emit(p, lane, dst, in_slots[0], b, c) &&
           result_done(p, in, &in->operands[0], to, dst);
}

/* add.cc and its like: the result, and the carry of each lane in the function's carry predicate. */
static bool emit_carry(struct parser *p, struct inst *in, enum ptx_type type, bool is_sub,
                       bool with_carry, bool sets_carry, uint32_t a, uint32_t b)
{
    const enum ptx_type unsigned_type = is_wide(type) ? TYPE_u64 : TYPE_u32;
    const enum lane op = family_lane(is_sub ? FAMILY_sub : FAMILY_add, unsigned_type);
    const enum lane below = family_lane(FAMILY_lt, unsigned_type);
    if (!p->b.carry && !(p->b.carry = slot_temp(p, TYPE_pred))) {
        return false;
    }
    const uint32_t sum = slot_temp(p, type), first = slot_temp(p, TYPE_pred),
                   second = slot_temp(p, TYPE_pred);
    const uint32_t one = slot_const(p, 1, type_bytes(type)),
                   zero = slot_const(p, 0, type_bytes(type));
    const uint32_t extra = slot_temp(p, type), total = slot_temp(p, type);
    if (!sum || !first || !second || !one || !zero || !extra || !total) {
        return false;
    }
    /* a + b carries when the sum is below a; a - b borrows when a is below b */
    bool ok =
        emit(p, op, sum, a, b, b) && emit(p, below, first, is_sub ? a : sum, is_sub ? b : a, 0);
    if (ok && with_carry) {
        ok = emit(p, is_wide(type) ? LANE_selp_64 : LANE_selp_32, extra, one, zero, p->b.carry) &&
             emit(p, op, total, sum, extra, extra) &&
             emit(p, below, second, is_sub ? sum : total, is_sub ? extra : sum, 0) &&
             emit(p, LANE_or_pred, first, first, second, 0);
    }
    const uint32_t dst = ok ? result(p, in, &in->operands[0], type) : 0;
    const uint32_t from = with_carry ? total : sum;
    if (!dst || (sets_carry && !emit(p, LANE_mov_pred, p->b.carry, first, 0, 0))) {
        return false;
    }
    return emit(p, is_wide(type) ? LANE_mov_64 : LANE_mov_32, dst, from, from, from) != NULL;
}

bool lower_arith(struct parser *p, struct inst *in, int arg)
{
    struct float_mods mods;
    take_float_mods(in, &mods);
    const bool keeps_nan = mod_take(in, "NaN");
    const bool carries = mod_take(in, "cc");
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 3, 3)) {
        return false;
    }
    enum lane lane = family_lane((enum family)arg, type);
    if (carries && (type_bytes(type) == 4 || type_bytes(type) == 8) && !type_is_float(type)) {
        const uint32_t a = source(p, in, &in->operands[1], type),
                       b = source(p, in, &in->operands[2], type);
        return a && b && emit_carry(p, in, type, arg == FAMILY_sub, false, true, a, b);
    }
    if (keeps_nan && type == TYPE_f32) {
        lane = lane == LANE_min_f32   ? LANE_min_nan_f32
               : lane == LANE_max_f32 ? LANE_max_nan_f32
                                      : LANE_none;
    }
    if (mods.sat && type == TYPE_s32) {
        lane = lane == LANE_add_32   ? LANE_addsat_s32
               : lane == LANE_sub_32 ? LANE_subsat_s32
                                     : LANE_none;
    }
    if (lane == LANE_none || carries) {
        return fail_type(p, in, type);
    }
    return type_is_float(type) ? emit_float(p, in, lane, type, &mods)
                               : emit_int(p, in, lane, type, type);
}

bool lower_unary(struct parser *p, struct inst *in, int arg)
{
    struct float_mods mods;
    take_float_mods(in, &mods);
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 2, 2)) {
        return false;
    }
    const enum lane lane = family_lane((enum family)arg, type);
    if (lane == LANE_none) {
        return fail_type(p, in, type);
    }
    return type_is_float(type) ? emit_float(p, in, lane, type, &mods)
                               : emit_int(p, in, lane, type, type);
}

bool lower_ternary(struct parser *p, struct inst *in, int arg)
{
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 4, 4)) {
        return false;
    }
    const enum lane lane = family_lane((enum family)arg, type);
    return lane != LANE_none ? emit_int(p, in, lane, type, type) : fail_type(p, in, type);
}

bool lower_fma(struct parser *p, struct inst *in, int arg)
{
    struct float_mods mods;
    take_float_mods(in, &mods);
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 4, 4)) {
        return false;
    }
    const enum lane lane = family_lane((enum family)arg, type);
    return lane != LANE_none ? emit_float(p, in, lane, type, &mods) : fail_type(p, in, type);
}

/* The type with twice the bytes. */
static enum ptx_type wider(enum ptx_type type)
{
    return type == TYPE_u16   ? TYPE_u32
           : type == TYPE_s16 ? TYPE_s32
           : type == TYPE_u32 ? TYPE_u64
           : type == TYPE_s32 ? TYPE_s64
                              : TYPE_none;
}

bool lower_mul(struct parser *p, struct inst *in, int arg)
{
    struct float_mods mods;
    take_float_mods(in, &mods);
    const bool hi = mod_take(in, "hi"), wide = mod_take(in, "wide");
    mod_take(in, "lo");
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 3, 3)) {
        return false;
    }
    const enum family family = hi ? FAMILY_mulhi : wide ? FAMILY_mulwide : (enum family)arg;
    const enum lane lane = family_lane(family, type);
    if (lane == LANE_none) {
        return fail_type(p, in, type);
    }
    return type_is_float(type) ? emit_float(p, in, lane, type, &mods)
                               : emit_int(p, in, lane, type, wide ? wider(type) : type);
}

/* mad.hi: the upper half of the product, then the sum. */
static bool emit_mad_hi(struct parser *p, struct inst *in, enum ptx_type type, bool saturates)
{
    const enum lane product = family_lane(FAMILY_mulhi, type);
    const enum lane sum =
        saturates && type == TYPE_s32 ? LANE_addsat_s32 : family_lane(FAMILY_add, type);
    if (product == LANE_none || (saturates && type != TYPE_s32)) {
        return fail_type(p, in, type);
    }
    const uint32_t a = source(p, in, &in->operands[1], type),
                   b = source(p, in, &in->operands[2], type);
    const uint32_t c = source(p, in, &in->operands[3], type), temp = slot_temp(p, type);
    const uint32_t dst = result(p, in, &in->operands[0], type);
    return a && b && c && temp && dst && emit(p, product, temp, a, b, b) &&
           emit(p, sum, dst, temp, c, c) && result_done(p, in, &in->operands[0], type, dst);
}

/* mad.lo.cc, madc: product in a temporary, then a sum with carry. */
static bool emit_mad_carry(struct parser *p, struct inst *in, enum ptx_type type, bool hi,
                           bool with_carry, bool sets_carry)
{
    const enum lane product = family_lane(hi ? FAMILY_mulhi : FAMILY_mul, type);
    const uint32_t a = source(p, in, &in->operands[1], type),
                   b = source(p, in, &in->operands[2], type);
    const uint32_t c = source(p, in, &in->operands[3], type), temp = slot_temp(p, type);
    return a && b && c && temp && emit(p, product, temp, a, b, b) &&
           emit_carry(p, in, type, false, with_carry, sets_carry, temp, c);
}

bool lower_mad(struct parser *p, struct inst *in, int arg)
{
    struct float_mods mods;
    take_float_mods(in, &mods);
    const bool hi = mod_take(in, "hi"), wide = mod_take(in, "wide"), carries = mod_take(in, "cc");
    mod_take(in, "lo");
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 4, 4)) {
        return false;
    }
    if (type_is_float(type)) {
        const enum lane lane = family_lane((enum family)arg, type);
        return lane != LANE_none ? emit_float(p, in, lane, type, &mods) : fail_type(p, in, type);
    }
    if (carries) {
        return type_bytes(type) >= 4 ? emit_mad_carry(p, in, type, hi, false, true)
                                     : fail_type(p, in, type);
    }
    if (hi) {
        return emit_mad_hi(p, in, type, mods.sat);
    }
    const enum lane lane = family_lane(wide ? FAMILY_madwide : (enum family)arg, type);
    return lane != LANE_none ? emit_int(p, in, lane, type, wide ? wider(type) : type)
                             : fail_type(p, in, type);
}

bool lower_carry(struct parser *p, struct inst *in, int arg)
{
    const bool sets = mod_take(in, "cc"), hi = mod_take(in, "hi");
    mod_take(in, "lo");
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, arg == 2 ? 4 : 3, arg == 2 ? 4 : 3)) {
        return false;
    }
    if (type_is_float(type) || type_bytes(type) < 4) {
        return fail_type(p, in, type);
    }
    if (arg == 2) {
        return emit_mad_carry(p, in, type, hi, true, sets);
    }
    const uint32_t a = source(p, in, &in->operands[1], type),
                   b = source(p, in, &in->operands[2], type);
    return a && b && emit_carry(p, in, type, arg == 1, true, sets, a, b);
}

bool lower_mul24(struct parser *p, struct inst *in, int arg)
{
    const bool hi = mod_take(in, "hi");
    mod_take(in, "lo");
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, arg ? 4 : 3, arg ? 4 : 3)) {
        return false;
    }
    const enum lane product = family_lane(hi ? FAMILY_mul24hi : FAMILY_mul24lo, type);
    if (product == LANE_none) {
        return fail_type(p, in, type);
    }
    if (!arg) {
        return emit_int(p, in, product, type, type);
    }
    const uint32_t a = source(p, in, &in->operands[1], type),
                   b = source(p, in, &in->operands[2], type);
    const uint32_t c = source(p, in, &in->operands[3], type), temp = slot_temp(p, type);
    const uint32_t dst = result(p, in, &in->operands[0], type);
    return a && b && c && temp && dst && emit(p, product, temp, a, b, b) &&
           emit(p, LANE_add_32, dst, temp, c, c) && result_done(p, in, &in->operands[0], type, dst);
}

bool lower_testp(struct parser *p, struct inst *in, int arg)
{
    static const struct {
        const char *name;
        enum lane narrow, wide;
    } tests[] = {{"finite", LANE_finite_32, LANE_finite_64},
                 {"infinite", LANE_infinite_32, LANE_infinite_64},
                 {"number", LANE_number_32, LANE_number_64},
                 {"notanumber", LANE_notanumber_32, LANE_notanumber_64},
                 {"normal", LANE_normal_32, LANE_normal_64},
                 {"subnormal", LANE_subnormal_32, LANE_subnormal_64}};
    size_t found = 0;
    while (found < 6 && !mod_take(in, tests[found].name)) {
        found++;
    }
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 2, 2)) {
        return false;
    }
    if (found == 6 || (type != TYPE_f32 && type != TYPE_f64)) {
        return fail_type(p, in, type);
    }
    const uint32_t a = source(p, in, &in->operands[1], type),
                   dst = result(p, in, &in->operands[0], TYPE_pred);
    return a && dst &&
           emit(p, type == TYPE_f64 ? tests[found].wide : tests[found].narrow, dst, a, a, a);
}

bool lower_dot(struct parser *p, struct inst *in, int arg)
{
    const bool hi = mod_take(in, "hi");
    mod_take(in, "lo");
    const enum ptx_type a_type = mod_type(p, in), b_type = a_type ? mod_type(p, in) : TYPE_none;
    if (b_type == TYPE_none || !operands_are(p, in, 4, 4)) {
        return false;
    }
    if (type_bytes(a_type) != 4 || type_bytes(b_type) != 4 || type_is_float(a_type) ||
        type_is_float(b_type)) {
        return fail_type(p, in, type_bytes(a_type) != 4 || type_is_float(a_type) ? a_type : b_type);
    }
    const uint32_t a = source(p, in, &in->operands[1], a_type),
                   b = source(p, in, &in->operands[2], b_type);
    const uint32_t c = source(p, in, &in->operands[3], TYPE_u32),
                   dst = result(p, in, &in->operands[0], TYPE_u32);
    struct op *op =
        a && b && c && dst ? emit(p, arg == 4 ? LANE_dp4a : LANE_dp2a, dst, a, b, c) : NULL;
    if (!op) {
        return false;
    }
    op->imm = (type_is_signed(a_type) ? 1 : 0) | (type_is_signed(b_type) ? 2 : 0) |
              (arg == 2 ? 4 : 0) | (hi ? 8 : 0);
    return result_done(p, in, &in->operands[0], TYPE_u32, dst);
}
