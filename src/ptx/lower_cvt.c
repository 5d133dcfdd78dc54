/* cvt: any numeric type to any other, as a chain of lane operations through temporaries.
 *
 * - integer to integer: extend to 32 or 64 bits, saturate, cut to the destination.
 * - integer to float: extend, convert with the rounding mode.
 * - float to integer: round to an integral value, convert with clamping (PTX clamps always, NaN is
 *   0), clamp to 8 or 16 bits.
 * - float to float: widen or narrow with the rounding mode, or round to an integral value;
 *   saturate, flush. */
#include "ptx/parse.h"

#include <fenv.h>

struct cvt {
    struct inst *in;
    enum ptx_type to, from;
    bool ftz, sat, relu;
    int rounding;         /* of the result, fenv.h */
    enum family integral; /* rni, rzi, rmi, rpi; FAMILY_unused: none */
};

/* A step of a chain: src to a new slot of `type`. */
static uint32_t step(struct parser *p, enum lane lane, uint32_t src, enum ptx_type type)
{
    const uint32_t dst = src ? slot_temp(p, type) : 0;
    return dst && emit(p, lane, dst, src, src, src) ? dst : 0;
}

/* The integer source, extended to 32 or 64 bits by its type. */
static uint32_t extended(struct parser *p, enum ptx_type from, uint32_t src)
{
    const bool is_signed = type_is_signed(from);
    switch (type_bytes(from)) {
    case 1:
        return step(p, is_signed ? LANE_sext8_32 : LANE_zext8, src, TYPE_s32);
    case 2:
        return step(p, is_signed ? LANE_sext16_32 : LANE_zext16, src, TYPE_s32);
    default:
        return src;
    }
}

/* The same as 64 bits. */
static uint32_t extended_64(struct parser *p, enum ptx_type from, uint32_t src)
{
    const uint32_t value = extended(p, from, src);
    return is_wide(from)
               ? value
               : step(p, type_is_signed(from) ? LANE_sext32_64 : LANE_zext32_64, value, TYPE_s64);
}

/* Moves a value to the destination: the operation that just made it in a temporary writes there
 * instead. */
static bool move_to(struct parser *p, bool wide, uint32_t dst, uint32_t value)
{
    struct op *last = p->b.code.count ? &p->b.code.items[p->b.code.count - 1] : NULL;
    const bool is_temporary = value >= p->b.cvt_temps;
    if (last && is_temporary && last->kind == OP_LANE && last->dst == value) {
        last->dst = dst;
        return true;
    }
    return emit(p, wide ? LANE_mov_64 : LANE_mov_32, dst, value, value, value);
}

/* Writes a 32-bit slot to the destination register as a value of the integer type `to` (up to 32
 * bits). */
static bool finish_narrow(struct parser *p, struct inst *in, enum ptx_type to, uint32_t value)
{
    const struct operand *o = &in->operands[0];
    const bool to_16 = o->kind == OPERAND_register && type_bytes(o->type) == 2;
    const bool is_signed = type_is_signed(to);
    enum lane lane = LANE_mov_32;
    if (type_bytes(to) == 1) {
        lane = !is_signed ? LANE_zext8 : to_16 ? LANE_sext8_16 : LANE_sext8_32;
    } else if (type_bytes(to) == 2) {
        lane = !is_signed || to_16 ? LANE_zext16 : LANE_sext16_32;
    }
    const enum ptx_type type = is_signed ? TYPE_s32 : TYPE_u32;
    const uint32_t dst = result(p, in, o, type);
    return dst && emit(p, lane, dst, value, value, value) && result_done(p, in, o, type, dst);
}

static bool finish_as(struct parser *p, struct inst *in, enum ptx_type to, uint32_t value)
{
    if (!value) {
        return false;
    }
    if (!is_wide(to) && !type_is_float(to)) {
        return finish_narrow(p, in, to, value);
    }
    const uint32_t dst = result(p, in, &in->operands[0], to);
    return dst && move_to(p, is_wide(to), dst, value) &&
           result_done(p, in, &in->operands[0], to, dst);
}

/* Clamps a signed 32- or 64-bit value to the range of a type that is narrower. */
static uint32_t clamped(struct parser *p, enum ptx_type to, uint32_t value, bool wide)
{
    const uint32_t bits = 8 * type_bytes(to), bytes = wide ? 8 : 4;
    const bool is_signed = type_is_signed(to);
    const uint64_t high =
        is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : (UINT64_C(1) << (bits - 1)) * 2 - 1;
    const uint64_t low = is_signed ? ~high : 0;
    const uint32_t least = slot_const(p, low, bytes), most = slot_const(p, high, bytes);
    const enum ptx_type type = wide ? TYPE_s64 : TYPE_s32;
    const uint32_t above = least && most ? slot_temp(p, type) : 0, inside = slot_temp(p, type);
    return above && inside &&
                   emit(p, wide ? LANE_max_s64 : LANE_max_s32, above, value, least, least) &&
                   emit(p, wide ? LANE_min_s64 : LANE_min_s32, inside, above, most, most)
               ? inside
               : 0;
}

/* Saturation of an integer: the 64-bit value, clamped. */
static uint32_t saturated(struct parser *p, const struct cvt *c, uint32_t src)
{
    uint32_t value = extended_64(p, c->from, src);
    if (!value) {
        return 0;
    }
    const bool from_u64 = is_wide(c->from) && !type_is_signed(c->from);
    if (from_u64 || (is_wide(c->to) && !type_is_signed(c->to))) {
        /* u64 stays below the largest s64 first; s64 to u64 only has to lose its negative values */
        const uint32_t bound = slot_const(p, from_u64 ? INT64_MAX : 0, 8),
                       next = slot_temp(p, TYPE_s64);
        if (from_u64 && is_wide(c->to) && !type_is_signed(c->to)) {
            return value;
        }
        if (!bound || !next ||
            !emit(p, from_u64 ? LANE_min_u64 : LANE_max_s64, next, value, bound, bound)) {
            return 0;
        }
        value = next;
    }
    return is_wide(c->to) ? value : clamped(p, c->to, value, true);
}

static bool int_to_int(struct parser *p, const struct cvt *c, uint32_t src)
{
    uint32_t value;
    if (c->sat) {
        value = saturated(p, c, src);
        return finish_as(p, c->in, c->to,
                         is_wide(c->to) ? value : step(p, LANE_trunc_64_32, value, TYPE_u32));
    }
    if (is_wide(c->to)) {
        value = extended_64(p, c->from, src);
    } else {
        value = extended(p, c->from, src);
        value = is_wide(c->from) ? step(p, LANE_trunc_64_32, value, TYPE_u32) : value;
    }
    return finish_as(p, c->in, c->to, value);
}

/* A step that rounds. */
static uint32_t rounded_step(struct parser *p, enum lane lane, uint32_t src, enum ptx_type type,
                             int rounding)
{
    const uint32_t dst = src ? slot_temp(p, type) : 0;
    return dst && emit_rounded(p, emit(p, lane, dst, src, src, src), rounding) ? dst : 0;
}

static int half_mode(int rounding)
{
    return rounding == FE_TOWARDZERO ? 1
           : rounding == FE_DOWNWARD ? 2
           : rounding == FE_UPWARD   ? 3
                                     : 0;
}

/* f64 to f16; one rounding only. */
static uint32_t to_half(struct parser *p, uint32_t src, int rounding)
{
    const uint32_t dst = src ? slot_temp(p, TYPE_f16) : 0;
    struct op *op = dst ? emit(p, LANE_f16_f64, dst, src, src, src) : NULL;
    if (!op) {
        return 0;
    }
    op->imm = half_mode(rounding);
    return dst;
}

static bool int_to_float(struct parser *p, const struct cvt *c, uint32_t src)
{
    const bool is_signed = type_is_signed(c->from), wide = is_wide(c->from);
    uint32_t value = extended(p, c->from, src);
    if (c->to == TYPE_f32) {
        const enum lane lane = wide ? (is_signed ? LANE_f32_s64 : LANE_f32_u64)
                                    : (is_signed ? LANE_f32_s32 : LANE_f32_u32);
        value = rounded_step(p, lane, value, TYPE_f32, c->rounding);
    } else {
        const enum lane lane = wide ? (is_signed ? LANE_f64_s64 : LANE_f64_u64)
                                    : (is_signed ? LANE_f64_s32 : LANE_f64_u32);
        value = rounded_step(p, lane, value, TYPE_f64, c->rounding);
        value = c->to == TYPE_f16 ? to_half(p, value, c->rounding) : value;
    }
    if (c->sat && value && c->to != TYPE_f16) {
        value = step(p, c->to == TYPE_f64 ? LANE_sat_f64 : LANE_sat_f32, value, c->to);
    }
    return finish_as(p, c->in, c->to, value);
}

/* The float source as f32 or f64; f16 becomes f32. *type is what it is now. */
static uint32_t float_value(struct parser *p, const struct cvt *c, uint32_t src,
                            enum ptx_type *type)
{
    *type = c->from;
    if (c->from == TYPE_f16) {
        *type = TYPE_f32;
        return step(p, LANE_f32_f16, src, TYPE_f32);
    }
    return c->ftz && c->from == TYPE_f32 ? step(p, LANE_ftz_f32, src, TYPE_f32) : src;
}

static bool float_to_int(struct parser *p, const struct cvt *c, uint32_t src)
{
    enum ptx_type type;
    uint32_t value = float_value(p, c, src, &type);
    const enum lane integral = family_lane(c->integral ? c->integral : FAMILY_trunc, type);
    value = value ? step(p, integral, value, type) : 0;
    const bool is_signed = type_is_signed(c->to), f64 = type == TYPE_f64;
    enum lane lane;
    if (is_wide(c->to)) {
        lane =
            is_signed ? (f64 ? LANE_s64_f64 : LANE_s64_f32) : (f64 ? LANE_u64_f64 : LANE_u64_f32);
    } else if (type_bytes(c->to) == 4 && !is_signed) {
        lane = f64 ? LANE_u32_f64 : LANE_u32_f32;
    } else {
        lane = f64 ? LANE_s32_f64 : LANE_s32_f32;
    }
    value = value ? step(p, lane, value, is_wide(c->to) ? TYPE_s64 : TYPE_s32) : 0;
    if (value && type_bytes(c->to) < 4) {
        value = clamped(p, c->to, value, false);
    }
    return finish_as(p, c->in, c->to, value);
}

static bool float_to_float(struct parser *p, const struct cvt *c, uint32_t src)
{
    enum ptx_type type;
    uint32_t value = float_value(p, c, src, &type);
    if (value && c->integral) {
        value = step(p, family_lane(c->integral, type), value, type);
    }
    if (value && c->to == TYPE_f64 && type == TYPE_f32) {
        value = step(p, LANE_f64_f32, value, TYPE_f64);
    } else if (value && c->to == TYPE_f32 && type == TYPE_f64) {
        value = rounded_step(p, LANE_f32_f64, value, TYPE_f32, c->rounding);
    } else if (value && c->to == TYPE_f16) {
        value = type == TYPE_f32 ? step(p, LANE_f64_f32, value, TYPE_f64) : value;
        value = c->sat && value ? step(p, LANE_sat_f64, value, TYPE_f64) : value;
        value = to_half(p, value, c->rounding);
        return finish_as(p, c->in, c->to, value);
    }
    if (value && c->sat) {
        value = step(p, c->to == TYPE_f64 ? LANE_sat_f64 : LANE_sat_f32, value, c->to);
    }
    if (value && c->ftz && c->to == TYPE_f32) {
        value = step(p, LANE_ftz_f32, value, TYPE_f32);
    }
    return finish_as(p, c->in, c->to, value);
}

bool lower_cvt(struct parser *p, struct inst *in, int arg)
{
    struct cvt c = {.in = in, .rounding = FE_TONEAREST};
    mod_take(in, "rn");
    c.rounding = mod_take(in, "rz")   ? FE_TOWARDZERO
                 : mod_take(in, "rm") ? FE_DOWNWARD
                 : mod_take(in, "rp") ? FE_UPWARD
                                      : FE_TONEAREST;
    c.integral = mod_take(in, "rni")   ? FAMILY_rint
                 : mod_take(in, "rzi") ? FAMILY_trunc
                 : mod_take(in, "rmi") ? FAMILY_floor
                 : mod_take(in, "rpi") ? FAMILY_ceil
                                       : FAMILY_unused;
    c.ftz = mod_take(in, "ftz");
    c.sat = mod_take(in, "sat");
    c.to = mod_type(p, in);
    c.from = c.to != TYPE_none ? mod_type(p, in) : TYPE_none;
    if (c.from == TYPE_none || !operands_are(p, in, 2, 2)) {
        return false;
    }
    p->b.cvt_temps = p->b.file_bytes;
    const uint32_t src = source(p, in, &in->operands[1], c.from);
    if (!src) {
        return false;
    }
    if (type_is_float(c.from)) {
        return type_is_float(c.to) ? float_to_float(p, &c, src) : float_to_int(p, &c, src);
    }
    return type_is_float(c.to) ? int_to_float(p, &c, src) : int_to_int(p, &c, src);
}
