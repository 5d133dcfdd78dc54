/* Bits, comparison, selection, moves. */
#include "ptx/parse.h"

#include <string.h>

/* Sources of the given types, the operation, the result. */
static struct op *emit_typed(struct parser *p, struct inst *in, enum lane lane, enum ptx_type to,
                             const enum ptx_type *types, uint32_t count)
{
    uint32_t slots[3] = {0};
    for (uint32_t i = 0; i < count; i++) {
        slots[i] = source(p, in, &in->operands[i + 1], types[i]);
        if (!slots[i]) {
            return NULL;
        }
    }
    const uint32_t dst = result(p, in, &in->operands[0], to);
    const uint32_t b = count > 1 ? slots[1] : slots[0], c = count > 2 ? slots[2] : slots[0];
    return dst ? emit(p, lane, dst, slots[0], b, c) : NULL;
}

/* result_done for a result that emit_typed wrote. */
static bool typed_done(struct parser *p, struct inst *in, enum ptx_type to, const struct op *op)
{
    return op && result_done(p, in, &in->operands[0], to, op->dst);
}

bool lower_logic(struct parser *p, struct inst *in, int arg)
{
    const uint32_t count = arg == FAMILY_not ? 1 : 2;
    if (mod_take(in, "pred")) {
        const enum lane lane = arg == FAMILY_and   ? LANE_and_pred
                               : arg == FAMILY_or  ? LANE_or_pred
                               : arg == FAMILY_xor ? LANE_xor_pred
                                                   : LANE_not_pred;
        const enum ptx_type types[] = {TYPE_pred, TYPE_pred};
        return operands_are(p, in, count + 1, count + 1) &&
               emit_typed(p, in, lane, TYPE_pred, types, count);
    }
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, count + 1, count + 1)) {
        return false;
    }
    const enum lane lane = family_lane((enum family)arg, type);
    const enum ptx_type types[] = {type, type};
    return lane == LANE_none ? fail_type(p, in, type)
                             : typed_done(p, in, type, emit_typed(p, in, lane, type, types, count));
}

bool lower_shift(struct parser *p, struct inst *in, int arg)
{
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 3, 3)) {
        return false;
    }
    const enum lane lane = family_lane((enum family)arg, type);
    const enum ptx_type types[] = {type, TYPE_u32};
    return lane == LANE_none ? fail_type(p, in, type)
                             : typed_done(p, in, type, emit_typed(p, in, lane, type, types, 2));
}

bool lower_funnel(struct parser *p, struct inst *in, int arg)
{
    const bool left = mod_take(in, "l"), right = !left && mod_take(in, "r");
    const bool wraps = mod_take(in, "wrap"), clamps = !wraps && mod_take(in, "clamp");
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 4, 4)) {
        return false;
    }
    if (type != TYPE_b32 || (!left && !right) || (!wraps && !clamps)) {
        return fail_type(p, in, type);
    }
    const enum lane lane = left ? (wraps ? LANE_shf_l_wrap : LANE_shf_l_clamp)
                                : (wraps ? LANE_shf_r_wrap : LANE_shf_r_clamp);
    const enum ptx_type types[] = {TYPE_u32, TYPE_u32, TYPE_u32};
    return typed_done(p, in, TYPE_u32, emit_typed(p, in, lane, TYPE_u32, types, 3));
}

bool lower_count(struct parser *p, struct inst *in, int arg)
{
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 2, 2)) {
        return false;
    }
    const enum lane lane = family_lane((enum family)arg, type);
    return lane == LANE_none
               ? fail_type(p, in, type)
               : typed_done(p, in, TYPE_u32, emit_typed(p, in, lane, TYPE_u32, &type, 1));
}

bool lower_bfind(struct parser *p, struct inst *in, int arg)
{
    const bool shift = mod_take(in, "shiftamt");
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 2, 2)) {
        return false;
    }
    const enum lane lane = family_lane((enum family)arg, type);
    if (lane == LANE_none) {
        return fail_type(p, in, type);
    }
    const struct op *op = emit_typed(p, in, lane, TYPE_u32, &type, 1);
    const uint32_t dst = op ? op->dst : 0;
    const enum lane turn = is_wide(type) ? LANE_bfind_shift_64 : LANE_bfind_shift_32;
    return dst && (!shift || emit(p, turn, dst, dst, dst, dst)) &&
           result_done(p, in, &in->operands[0], TYPE_u32, dst);
}

/* bfe d, a, start, length;  bfi f, a, b, start, length */
bool lower_field(struct parser *p, struct inst *in, int arg)
{
    const bool inserts = arg == FAMILY_bfi;
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, inserts ? 5 : 4, inserts ? 5 : 4)) {
        return false;
    }
    const enum lane lane = family_lane((enum family)arg, type);
    if (lane == LANE_none) {
        return fail_type(p, in, type);
    }
    if (!inserts) {
        const enum ptx_type types[] = {type, TYPE_u32, TYPE_u32};
        return typed_done(p, in, type, emit_typed(p, in, lane, type, types, 3));
    }
    const uint32_t length = source(p, in, &in->operands[4], TYPE_u32);
    const enum ptx_type types[] = {type, type, TYPE_u32};
    struct op *op = length ? emit_typed(p, in, lane, type, types, 3) : NULL;
    if (op) {
        op->imm = length;
    }
    return typed_done(p, in, type, op);
}

bool lower_mask(struct parser *p, struct inst *in, int arg)
{
    const bool wraps = mod_take(in, "wrap");
    mod_take(in, "clamp");
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, arg ? 4 : 3, arg ? 4 : 3)) {
        return false;
    }
    if (type != TYPE_b32) {
        return fail_type(p, in, type);
    }
    const enum lane lane = arg ? LANE_fns : wraps ? LANE_bmsk_wrap : LANE_bmsk_clamp;
    const enum ptx_type types[] = {TYPE_u32, TYPE_u32, TYPE_s32};
    return typed_done(p, in, TYPE_u32, emit_typed(p, in, lane, TYPE_u32, types, arg ? 3 : 2));
}

bool lower_permute(struct parser *p, struct inst *in, int arg)
{
    static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    const enum ptx_type type = mod_type(p, in);
    int mode = 0;
    for (int i = 0; i < 6; i++) {
        mode = mod_take(in, modes[i]) ? i + 1 : mode;
    }
    if (type == TYPE_none || !operands_are(p, in, 4, 4)) {
        return false;
    }
    if (type != TYPE_b32) {
        return fail_type(p, in, type);
    }
    const enum ptx_type types[] = {TYPE_u32, TYPE_u32, TYPE_u32};
    struct op *op = emit_typed(p, in, LANE_prmt, TYPE_u32, types, 3);
    if (op) {
        op->imm = mode;
    }
    return typed_done(p, in, TYPE_u32, op);
}

bool lower_logic3(struct parser *p, struct inst *in, int arg)
{
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 5, 5)) {
        return false;
    }
    if (type != TYPE_b32 || in->operands[4].kind != OPERAND_int) {
        return fail_type(p, in, type);
    }
    const enum ptx_type types[] = {TYPE_u32, TYPE_u32, TYPE_u32};
    struct op *op = emit_typed(p, in, LANE_lop3, TYPE_u32, types, 3);
    if (op) {
        op->imm = (int64_t)(in->operands[4].bits & 0xff);
    }
    return typed_done(p, in, TYPE_u32, op);
}

/* How a comparison word is done: `family` on (a, b), or on (b, a). */
static const struct comparison {
    const char *name;
    enum family family, float_family;
    bool swaps, is_unsigned;
} comparisons[] = {
    {"eq", FAMILY_eq, FAMILY_eq, false, false},
    {"ne", FAMILY_ne, FAMILY_ne, false, false},
    {"lt", FAMILY_lt, FAMILY_lt, false, false},
    {"le", FAMILY_le, FAMILY_le, false, false},
    {"gt", FAMILY_lt, FAMILY_lt, true, false},
    {"ge", FAMILY_le, FAMILY_le, true, false},
    {"lo", FAMILY_lt, FAMILY_unused, false, true},
    {"ls", FAMILY_le, FAMILY_unused, false, true},
    {"hi", FAMILY_lt, FAMILY_unused, true, true},
    {"hs", FAMILY_le, FAMILY_unused, true, true},
    {"equ", FAMILY_unused, FAMILY_equ, false, false},
    {"neu", FAMILY_unused, FAMILY_neu, false, false},
    {"ltu", FAMILY_unused, FAMILY_ltu, false, false},
    {"leu", FAMILY_unused, FAMILY_leu, false, false},
    {"gtu", FAMILY_unused, FAMILY_ltu, true, false},
    {"geu", FAMILY_unused, FAMILY_leu, true, false},
    {"num", FAMILY_unused, FAMILY_num, false, false},
    {"nan", FAMILY_unused, FAMILY_nan, false, false},
};

/* The comparison of operands 1 and 2 into a new predicate; 0 after a failure. `join` is and, or,
 * xor with operand 3. */
static uint32_t emit_comparison(struct parser *p, struct inst *in, const struct comparison *how,
                                enum ptx_type type, bool ftz, uint32_t *joined, enum lane join)
{
    const enum family family = type_is_float(type) ? how->float_family : how->family;
    const enum ptx_type unsigned_type = type_bytes(type) == 8   ? TYPE_u64
                                        : type_bytes(type) == 4 ? TYPE_u32
                                                                : TYPE_u16;
    const enum ptx_type lane_type = how->is_unsigned && !type_is_float(type) ? unsigned_type : type;
    const enum lane lane = family ? family_lane(family, lane_type) : LANE_none;
    if (lane == LANE_none) {
        fail_type(p, in, type);
        return 0;
    }
    uint32_t a = source(p, in, &in->operands[1], type), b = source(p, in, &in->operands[2], type);
    if (a && b && ftz && type == TYPE_f32) {
        const uint32_t flushed_a = slot_temp(p, type), flushed_b = slot_temp(p, type);
        if (!flushed_a || !flushed_b || !emit(p, LANE_ftz_f32, flushed_a, a, a, a) ||
            !emit(p, LANE_ftz_f32, flushed_b, b, b, b)) {
            return 0;
        }
        a = flushed_a;
        b = flushed_b;
    }
    const uint32_t bits = a && b ? slot_temp(p, TYPE_pred) : 0;
    if (!bits || !emit(p, lane, bits, how->swaps ? b : a, how->swaps ? a : b, a)) {
        return 0;
    }
    *joined = 0;
    if (join != LANE_none) {
        *joined = source(p, in, &in->operands[3], TYPE_pred);
        if (!*joined || !emit(p, join, bits, bits, *joined, 0)) {
            return 0;
        }
    }
    return bits;
}

static const struct comparison *take_comparison(struct parser *p, struct inst *in)
{
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        if (mod_take(in, comparisons[i].name)) {
            return &comparisons[i];
        }
    }
    if (mods_done(p, in)) {
        parse_fail(p, SSAN_FORMAT, in->line, "%.*s without a comparison", (int)in->opcode_length,
                   in->opcode);
    }
    return NULL;
}

static enum lane take_join(struct inst *in)
{
    return mod_take(in, "and")   ? LANE_and_pred
           : mod_take(in, "or")  ? LANE_or_pred
           : mod_take(in, "xor") ? LANE_xor_pred
                                 : LANE_none;
}

/* q of p|q: the complement of the comparison, joined with the same predicate. */
static bool emit_complement(struct parser *p, struct inst *in, uint32_t compared, uint32_t joined,
                            enum lane join)
{
    const struct operand *q = &in->elements[in->operands[0].pair - 1];
    const uint32_t temp = slot_temp(p, TYPE_pred), dst = result(p, in, q, TYPE_pred);
    return temp && dst && emit(p, LANE_not_pred, temp, compared, 0, 0) &&
           (join == LANE_none || emit(p, join, temp, temp, joined, 0)) &&
           emit(p, LANE_mov_pred, dst, temp, 0, 0);
}

bool lower_setp(struct parser *p, struct inst *in, int arg)
{
    const bool ftz = mod_take(in, "ftz");
    const struct comparison *how = take_comparison(p, in);
    if (!how) {
        return false;
    }
    const enum lane join = take_join(in);
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, join ? 4 : 3, join ? 4 : 3)) {
        return false;
    }
    const bool has_q = in->operands[0].pair != 0;
    uint32_t joined;
    if (!has_q && join == LANE_none && !ftz) { /* straight into the destination */
        const uint32_t bits = emit_comparison(p, in, how, type, false, &joined, join);
        const uint32_t dst = bits ? result(p, in, &in->operands[0], TYPE_pred) : 0;
        if (dst) {
            p->b.code.items[p->b.code.count - 1].dst = dst;
        }
        return dst != 0;
    }
    const uint32_t compared = emit_comparison(p, in, how, type, ftz, &joined, LANE_none);
    if (!compared) {
        return false;
    }
    if (join != LANE_none && !(joined = source(p, in, &in->operands[3], TYPE_pred))) {
        return false;
    }
    const uint32_t both = slot_temp(p, TYPE_pred), dst = result(p, in, &in->operands[0], TYPE_pred);
    if (!both || !dst ||
        !emit(p, join ? join : LANE_mov_pred, both, compared, join ? joined : compared, 0)) {
        return false;
    }
    /* q first: the guard may be p, never q as well */
    return (!has_q || emit_complement(p, in, compared, joined, join)) &&
           emit(p, LANE_mov_pred, dst, both, 0, 0);
}

/* set.cmp.dtype.stype: all ones (or 1.0) where the comparison holds. */
bool lower_set(struct parser *p, struct inst *in, int arg)
{
    const bool ftz = mod_take(in, "ftz");
    const struct comparison *how = take_comparison(p, in);
    const enum lane join = how ? take_join(in) : LANE_none;
    const enum ptx_type to = how ? mod_type(p, in) : TYPE_none;
    const enum ptx_type type = to != TYPE_none ? mod_type(p, in) : TYPE_none;
    if (type == TYPE_none || !operands_are(p, in, join ? 4 : 3, join ? 4 : 3)) {
        return false;
    }
    if (type_bytes(to) != 4) {
        return fail_type(p, in, to);
    }
    uint32_t joined;
    const uint32_t bits = emit_comparison(p, in, how, type, ftz, &joined, join);
    const uint32_t yes = slot_const(p, to == TYPE_f32 ? 0x3f800000u : UINT32_MAX, 4),
                   no = slot_const(p, 0, 4);
    const uint32_t dst = bits ? result(p, in, &in->operands[0], to) : 0;
    return bits && yes && no && dst && emit(p, LANE_selp_32, dst, yes, no, bits) &&
           result_done(p, in, &in->operands[0], to, dst);
}

bool lower_selp(struct parser *p, struct inst *in, int arg)
{
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 4, 4)) {
        return false;
    }
    if (type_bytes(type) < 2) {
        return fail_type(p, in, type);
    }
    const enum ptx_type types[] = {type, type, TYPE_pred};
    return typed_done(
        p, in, type,
        emit_typed(p, in, is_wide(type) ? LANE_selp_64 : LANE_selp_32, type, types, 3));
}

bool lower_slct(struct parser *p, struct inst *in, int arg)
{
    const bool ftz = mod_take(in, "ftz");
    const enum ptx_type type = mod_type(p, in), by = type ? mod_type(p, in) : TYPE_none;
    if (by == TYPE_none || !operands_are(p, in, 4, 4)) {
        return false;
    }
    if ((by != TYPE_s32 && by != TYPE_f32) || type_bytes(type) < 2) {
        return fail_type(p, in, by);
    }
    (void)ftz; /* a flushed subnormal is a zero of its sign: -0 >= 0 holds, so flush before the test
                */
    uint32_t c = source(p, in, &in->operands[3], by);
    if (c && ftz) {
        const uint32_t temp = slot_temp(p, by);
        c = temp && emit(p, LANE_ftz_f32, temp, c, c, c) ? temp : 0;
    }
    const uint32_t a = source(p, in, &in->operands[1], type),
                   b = source(p, in, &in->operands[2], type);
    const uint32_t dst = result(p, in, &in->operands[0], type);
    const enum lane lane = is_wide(type) ? (by == TYPE_s32 ? LANE_slct_64_s32 : LANE_slct_64_f32)
                                         : (by == TYPE_s32 ? LANE_slct_32_s32 : LANE_slct_32_f32);
    return a && b && c && dst && emit(p, lane, dst, a, b, c) &&
           result_done(p, in, &in->operands[0], type, dst);
}

/* mov.b64 {lo, hi}, a */
static bool emit_unpack(struct parser *p, struct inst *in, enum ptx_type type)
{
    const struct operand *to = &in->operands[0];
    const struct operand *parts = &in->elements[to->first];
    uint32_t from = source(p, in, &in->operands[1], type);
    if (!from) {
        return false;
    }
    if (type_bytes(type) == 8 && to->count == 2) {
        const uint32_t low = result(p, in, &parts[0], TYPE_u32),
                       high = result(p, in, &parts[1], TYPE_u32);
        return low && high && emit(p, LANE_trunc_64_32, low, from, from, from) &&
               emit(p, LANE_high_64_32, high, from, from, from);
    }
    if (to->count != type_bytes(type) / 2) {
        return parse_fail(p, SSAN_UNSUPPORTED, in->line, "mov into %u parts", to->count);
    }
    for (uint32_t i = 0; i < to->count; i++) {
        uint32_t word = from;
        if (is_wide(type)) {
            word = slot_temp(p, TYPE_u32);
            if (!word ||
                !emit(p, i < 2 ? LANE_trunc_64_32 : LANE_high_64_32, word, from, from, from)) {
                return false;
            }
        }
        const uint32_t dst = result(p, in, &parts[i], TYPE_u16);
        if (!dst || !emit(p, i % 2 ? LANE_high_32_16 : LANE_zext16, dst, word, word, word)) {
            return false;
        }
    }
    return true;
}

/* Two 16-bit parts as one 32-bit slot. */
static uint32_t emit_pack_32(struct parser *p, struct inst *in, const struct operand *parts)
{
    const uint32_t low = source(p, in, &parts[0], TYPE_u16),
                   high = source(p, in, &parts[1], TYPE_u16);
    const uint32_t dst = slot_temp(p, TYPE_u32);
    return low && high && dst && emit(p, LANE_pack_32, dst, low, high, high) ? dst : 0;
}

/* mov.b64 a, {lo, hi} */
static bool emit_pack(struct parser *p, struct inst *in, enum ptx_type type)
{
    const struct operand *from = &in->operands[1];
    const struct operand *parts = &in->elements[from->first];
    const uint32_t dst = result(p, in, &in->operands[0], type);
    uint32_t low = 0, high = 0;
    if (!dst) {
        return false;
    }
    if (type_bytes(type) == 4 && from->count == 2) {
        low = emit_pack_32(p, in, parts);
        return low && emit(p, LANE_mov_32, dst, low, low, low);
    }
    if (type_bytes(type) == 8 && from->count == 2) {
        low = source(p, in, &parts[0], TYPE_u32);
        high = source(p, in, &parts[1], TYPE_u32);
    } else if (type_bytes(type) == 8 && from->count == 4) {
        low = emit_pack_32(p, in, parts);
        high = emit_pack_32(p, in, parts + 2);
    } else {
        return parse_fail(p, SSAN_UNSUPPORTED, in->line, "mov of %u parts", from->count);
    }
    return low && high && emit(p, LANE_pack_64, dst, low, high, high);
}

bool lower_mov(struct parser *p, struct inst *in, int arg)
{
    const bool is_pred = mod_take(in, "pred");
    const enum ptx_type type = is_pred ? TYPE_pred : mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 2, 2)) {
        return false;
    }
    if (!is_pred && type_bytes(type) < 2) {
        return fail_type(p, in, type);
    }
    if (in->operands[0].kind == OPERAND_vector) {
        return emit_unpack(p, in, type);
    }
    if (in->operands[1].kind == OPERAND_vector) {
        return emit_pack(p, in, type);
    }
    const enum lane lane = is_pred ? LANE_mov_pred : is_wide(type) ? LANE_mov_64 : LANE_mov_32;
    if (!is_pred && in->operands[0].kind == OPERAND_register &&
        is_wide(in->operands[0].type) == is_wide(type)) {
        const uint32_t from = source(p, in, &in->operands[1], type);
        const uint32_t dst = from ? result(p, in, &in->operands[0], type) : 0;
        return dst && (alias_result(p, &in->operands[0], from)
                           ? p->status == SSAN_OK
                           : emit(p, lane, dst, from, from, from) &&
                                 result_done(p, in, &in->operands[0], type, dst));
    }
    return typed_done(p, in, type, emit_typed(p, in, lane, type, &type, 1));
}
