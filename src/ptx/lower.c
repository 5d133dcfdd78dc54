/* Slots of the register file, operands as slots, and emission of operations: what all lower_*.c
 * share.
 *
 * A slot is made at the first use of a register, immediate or special register, so files hold only
 * what a function uses and stay in the cache. An operand whose register is wider or narrower than
 * the instruction's type goes through a temporary slot (PTX allows that for ld, st and cvt), so
 * lane operations see exact types only. */
#include "ptx/parse.h"

#include "ptx/exec_ops.h"

#include <string.h>

bool is_wide(enum ptx_type type)
{
    return type != TYPE_pred && type_bytes(type) == 8;
}

static uint32_t slot_place(struct parser *p, uint32_t bytes)
{
    struct builder *b = &p->b;
    if (b->file_bytes > MAX_FILE_BYTES) {
        parse_fail(p, SSAN_UNSUPPORTED, p->token.line, "a function with too many registers");
        return 0;
    }
    const uint32_t slot = b->file_bytes;
    b->file_bytes += bytes;
    return slot;
}

uint32_t slot_temp(struct parser *p, enum ptx_type type)
{
    struct builder *b = &p->b;
    if (type != TYPE_pred) {
        return slot_place(p, is_wide(type) ? 8 * WARP_LANES : 4 * WARP_LANES);
    }
    if (b->pred_slot % 64 == 0) { /* sixteen predicates share 64 bytes */
        b->pred_slot = slot_place(p, 64);
        if (!b->pred_slot) {
            return 0;
        }
    }
    const uint32_t slot = b->pred_slot;
    b->pred_slot += 4;
    return slot;
}

uint32_t slot_register(struct parser *p, const struct symbol *symbol, uint32_t number)
{
    const uint64_t key = (uint64_t)symbol->id << 32 | number;
    const uint64_t *known = map_find(&p->b.slots, key);
    if (known) {
        return (uint32_t)*known;
    }
    const uint32_t slot = slot_temp(p, symbol->type);
    if (slot && !map_set(&p->b.slots, key, slot)) {
        parse_no_memory(p);
        return 0;
    }
    return slot;
}

static uint32_t add_const(struct parser *p, struct const_slot want)
{
    struct builder *b = &p->b;
    const uint64_t key = (want.value * UINT64_C(0x9e3779b97f4a7c15)) ^ (uint64_t)want.bytes << 60 ^
                         (uint64_t)want.reloc << 56 ^ (uint64_t)want.index << 20;
    const uint64_t *known = map_find(&b->const_slots, key);
    if (known) {
        const struct const_slot *have = &b->consts.items[*known - 1];
        if (have->value == want.value && have->bytes == want.bytes && have->reloc == want.reloc &&
            have->index == want.index) {
            return have->slot;
        }
    }
    want.slot = slot_temp(p, want.bytes == 8 ? TYPE_b64 : TYPE_b32);
    if (!want.slot) {
        return 0;
    }
    if (!VEC_PUSH(&b->consts, want) || !map_set(&b->const_slots, key, b->consts.count)) {
        parse_no_memory(p);
        return 0;
    }
    return want.slot;
}

uint32_t slot_const(struct parser *p, uint64_t value, uint32_t bytes)
{
    return add_const(
        p, (struct const_slot){.bytes = bytes, .value = bytes == 8 ? value : (uint32_t)value});
}

uint32_t slot_param(struct parser *p, uint32_t offset, uint32_t bytes, bool is_signed)
{
    return add_const(p, (struct const_slot){.bytes = bytes == 8 ? 8 : 4,
                                            .value = offset,
                                            .reloc = is_signed ? RELOC_param_signed : RELOC_param,
                                            .index = bytes});
}

static bool is_constant(const struct parser *p, uint32_t slot)
{
    for (size_t i = p->b.consts.count; i-- > 0;) {
        if (p->b.consts.items[i].slot == slot) {
            return true;
        }
    }
    for (size_t i = 0; i < p->b.specials.count; i++) {
        if (p->b.specials.items[i].slot == slot) {
            return true;
        }
    }
    return false;
}

bool alias_result(struct parser *p, const struct operand *operand, uint32_t slot)
{
    if (operand->kind != OPERAND_register || p->b.guard || operand->slot < p->b.first_fresh) {
        return false;
    }
    const uint64_t *writes = map_find(&p->b.defs, hash_name(operand->text, operand->length));
    if (!writes || *writes != 1 || !is_constant(p, slot)) {
        return false;
    }
    if (!map_set(&p->b.slots, operand->key, slot)) {
        parse_no_memory(p);
        return true;
    }
    struct op *op = emit_fn(p, NULL, OP_NOTHING);
    return op != NULL || p->status != SSAN_OK;
}

static const uint32_t special_bytes[] = {
#define SPECIAL(name, id, bytes) [SPECIAL_##id] = bytes,
#define CLOCKS
#include "ptx/specials.def"
#undef SPECIAL
#undef CLOCKS
};

/* Type of a special register. */
static enum ptx_type special_type(enum ptx_special special)
{
    return special_bytes[special] == 8 ? TYPE_u64 : TYPE_u32;
}

uint32_t slot_special(struct parser *p, enum ptx_special special)
{
    if (special > SPECIAL_fixed_count) { /* a clock: read now */
        const uint32_t slot = slot_temp(p, special_type(special));
        struct op *op = slot ? emit_fn(p, exec_clock, OP_MEMORY) : NULL;
        if (!op) {
            return 0;
        }
        op->dst = slot;
        op->sub = (uint8_t)special;
        return slot;
    }
    for (size_t i = 0; i < p->b.specials.count; i++) {
        if (p->b.specials.items[i].special == special) {
            return p->b.specials.items[i].slot;
        }
    }
    const struct special_slot made = {slot_temp(p, special_type(special)), special};
    if (made.slot && !VEC_PUSH(&p->b.specials, made)) {
        parse_no_memory(p);
        return 0;
    }
    return made.slot;
}

static struct op *emit_op(struct parser *p, struct op op)
{
    op.guard = p->b.guard;
    op.line = p->b.line;
    if (p->b.code.count >= UINT32_MAX / 2 || !VEC_PUSH(&p->b.code, op)) {
        parse_no_memory(p);
        return NULL;
    }
    return &p->b.code.items[p->b.code.count - 1];
}

struct op *emit(struct parser *p, enum lane lane, uint32_t dst, uint32_t a, uint32_t b, uint32_t c)
{
    return emit_op(p, (struct op){.fn = p->isa->table[lane],
                                  .lane = (uint16_t)lane,
                                  .kind = OP_LANE,
                                  .dst = dst,
                                  .a = a,
                                  .b = b,
                                  .c = c});
}

struct op *emit_fn(struct parser *p, ptx_fn *fn, enum op_kind kind)
{
    return emit_op(p, (struct op){.fn = fn, .kind = (uint8_t)kind});
}

/* The slot of a register as another width. */
static uint32_t convert(struct parser *p, uint32_t slot, enum ptx_type from, enum ptx_type to)
{
    if (is_wide(from) == is_wide(to)) {
        return slot;
    }
    const uint32_t temp = slot_temp(p, to);
    const enum lane lane = is_wide(to) ? (type_is_signed(to) ? LANE_sext32_64 : LANE_zext32_64)
                           : type_bytes(to) == 2 ? LANE_trunc_64_16
                                                 : LANE_trunc_64_32;
    return temp && emit(p, lane, temp, slot, slot, slot) ? temp : 0;
}

/* An immediate's bits as a value of `type`. */
static uint64_t immediate(const struct operand *operand, enum ptx_type type)
{
    const uint32_t bytes = type_bytes(type);
    uint64_t bits = operand->bits;
    if (operand->kind == OPERAND_float && operand->float_bytes != bytes &&
        (bytes == 4 || bytes == 8)) {
        float narrow;
        double wide;
        if (bytes == 4) {
            memcpy(&wide, &bits, sizeof wide);
            narrow = (float)wide;
            bits = 0;
            memcpy(&bits, &narrow, sizeof narrow);
        } else {
            memcpy(&narrow, &bits, sizeof narrow);
            wide = narrow;
            memcpy(&bits, &wide, sizeof wide);
        }
    } else if (operand->kind == OPERAND_int && type_is_float(type) && bytes >= 4) {
        const double wide = (double)(int64_t)bits;
        const float narrow = (float)wide;
        memcpy(&bits, bytes == 8 ? (const void *)&wide : (const void *)&narrow, bytes);
    }
    return bytes == 2 ? bits & 0xffff : bytes == 1 ? bits & 0xff : bits;
}

/* The address of a variable or function as a value. */
static uint32_t symbol_value(struct parser *p, struct inst *in, const struct operand *operand,
                             enum ptx_type type)
{
    const struct symbol *symbol = &p->symbols.items[operand->symbol];
    struct const_slot want = {.bytes = is_wide(type) ? 8 : 4, .value = (uint64_t)operand->addend};
    switch (symbol->kind) {
    case SYMBOL_global:
        want.reloc = RELOC_global;
        want.index = (uint32_t)symbol->value;
        return add_const(p, want);
    case SYMBOL_shared:
        want.reloc = RELOC_shared;
        want.index = (uint32_t)symbol->value;
        return add_const(p, want);
    case SYMBOL_param:
        want.value += WINDOW_BASE(WINDOW_PARAM) + symbol->value;
        return add_const(p, want);
    case SYMBOL_func:
        want.value = WINDOW_BASE(WINDOW_CODE) + (symbol->value + 1) * 16;
        return add_const(p, want);
    case SYMBOL_frame: {
        const uint32_t slot = slot_temp(p, type);
        struct op *op = slot ? emit_fn(p, exec_frame_address, OP_LANE) : NULL;
        if (!op) {
            return 0;
        }
        op->dst = slot;
        op->width = is_wide(type) ? 8 : 4;
        op->imm = (int64_t)(symbol->value + (uint64_t)operand->addend +
                            (symbol->is_param ? WINDOW_BASE(WINDOW_LOCAL) : 0));
        return slot;
    }
    default:
        parse_fail(p, SSAN_FORMAT, in->line, "'%.*s' is not a value", (int)symbol->length,
                   symbol->text);
        return 0;
    }
}

uint32_t source(struct parser *p, struct inst *in, const struct operand *operand,
                enum ptx_type type)
{
    const bool want_pred = type == TYPE_pred;
    if (operand->negated && !want_pred) {
        parse_fail(p, SSAN_FORMAT, in->line, "'!' before an operand that is no predicate");
        return 0;
    }
    switch (operand->kind) {
    case OPERAND_register:
        if ((operand->type == TYPE_pred) != want_pred) {
            parse_fail(p, SSAN_FORMAT, in->line, "'%.*s' has the wrong type", (int)operand->length,
                       operand->text);
            return 0;
        }
        if (want_pred && operand->negated) {
            const uint32_t slot = slot_temp(p, TYPE_pred);
            return slot && emit(p, LANE_not_pred, slot, operand->slot, 0, 0) ? slot : 0;
        }
        return want_pred ? operand->slot : convert(p, operand->slot, operand->type, type);
    case OPERAND_int:
    case OPERAND_float:
        if (want_pred) {
            const uint32_t slot = slot_temp(p, TYPE_pred);
            struct op *op = slot ? emit(p, LANE_set_pred, slot, 0, 0, 0) : NULL;
            if (!op) {
                return 0;
            }
            op->imm = (operand->bits != 0) != operand->negated ? FULL_MASK : 0;
            return slot;
        }
        return slot_const(p, immediate(operand, type), is_wide(type) ? 8 : 4);
    case OPERAND_special: {
        const uint32_t slot = want_pred ? 0 : slot_special(p, operand->special);
        return slot ? convert(p, slot, special_type(operand->special), type) : 0;
    }
    case OPERAND_symbol:
        if (!want_pred) {
            return symbol_value(p, in, operand, type);
        }
        break;
    case OPERAND_sink: {
        return slot_temp(p, type);
    }
    case OPERAND_none:
    case OPERAND_vector:
    case OPERAND_memory:
    case OPERAND_name:
        break;
    }
    parse_fail(p, SSAN_FORMAT, in->line, "bad operand '%.*s' of %.*s", shown(operand->length),
               operand->text ? operand->text : "", (int)in->opcode_length, in->opcode);
    return 0;
}

uint32_t result(struct parser *p, struct inst *in, const struct operand *operand,
                enum ptx_type type)
{
    if (operand->kind == OPERAND_sink) {
        return slot_temp(p, type);
    }
    if (operand->kind != OPERAND_register || operand->negated ||
        (operand->type == TYPE_pred) != (type == TYPE_pred)) {
        parse_fail(p, SSAN_FORMAT, in->line, "bad destination '%.*s' of %.*s",
                   shown(operand->length), operand->text ? operand->text : "",
                   (int)in->opcode_length, in->opcode);
        return 0;
    }
    if (type != TYPE_pred && is_wide(operand->type) != is_wide(type)) {
        if (is_wide(type)) {
            parse_fail(p, SSAN_FORMAT, in->line, "'%.*s' is too narrow", (int)operand->length,
                       operand->text);
            return 0;
        }
        return slot_temp(p, type);
    }
    return operand->slot;
}

bool result_done(struct parser *p, struct inst *in, const struct operand *operand,
                 enum ptx_type type, uint32_t slot)
{
    if (operand->kind == OPERAND_sink || type == TYPE_pred) {
        return true;
    }
    const bool is_narrow = type_bytes(type) == 2;
    if (is_wide(operand->type) && !is_wide(type)) {
        if (is_narrow && type_is_signed(type) && !emit(p, LANE_sext16_32, slot, slot, slot, slot)) {
            return false;
        }
        return emit(p, type_is_signed(type) ? LANE_sext32_64 : LANE_zext32_64, operand->slot, slot,
                    slot, slot);
    }
    if (is_narrow && type_is_signed(type) && type_bytes(operand->type) == 4) {
        return emit(p, LANE_sext16_32, slot, slot, slot, slot);
    }
    return true;
}

bool mod_take(struct inst *in, const char *text)
{
    for (uint32_t i = 0; i < in->mod_count; i++) {
        struct mod *mod = &in->mods[i];
        if (!mod->is_used && strlen(text) == mod->length &&
            memcmp(text, mod->text, mod->length) == 0) {
            mod->is_used = true;
            return true;
        }
    }
    return false;
}

enum ptx_type mod_type(struct parser *p, struct inst *in)
{
    for (uint32_t i = 0; i < in->mod_count; i++) {
        struct mod *mod = &in->mods[i];
        const enum ptx_type type = mod->is_used ? TYPE_none : type_find(mod->text, mod->length);
        if (type != TYPE_none) {
            mod->is_used = true;
            return type;
        }
    }
    if (!mods_done(p, in)) { /* an unknown modifier may be a type that isn't known */
        return TYPE_none;
    }
    parse_fail(p, SSAN_FORMAT, in->line, "%.*s has no type", (int)in->opcode_length, in->opcode);
    return TYPE_none;
}

bool mods_done(struct parser *p, struct inst *in)
{
    for (uint32_t i = 0; i < in->mod_count; i++) {
        if (!in->mods[i].is_used) {
            return parse_fail(p, SSAN_UNSUPPORTED, in->line, "modifier .%.*s of opcode %.*s",
                              shown(in->mods[i].length), in->mods[i].text, (int)in->opcode_length,
                              in->opcode);
        }
    }
    return true;
}

bool operands_are(struct parser *p, struct inst *in, uint32_t least, uint32_t most)
{
    return (in->operand_count >= least && in->operand_count <= most) ||
           parse_fail(p, SSAN_FORMAT, in->line, "%.*s has %u operands", (int)in->opcode_length,
                      in->opcode, in->operand_count);
}

enum lane family_lane(enum family family, enum ptx_type type)
{
    static const uint16_t table[][8] = {
#define FAMILY(name, u16, s16, u32, s32, u64, s64, f32, f64)                                       \
    [FAMILY_##name] = {LANE_##u16, LANE_##s16, LANE_##u32, LANE_##s32,                             \
                       LANE_##u64, LANE_##s64, LANE_##f32, LANE_##f64},
#include "ptx/families.def"
#undef FAMILY
    };
    static const int8_t column[] = {
        [TYPE_u16] = 1, [TYPE_b16] = 1, [TYPE_s16] = 2, [TYPE_u32] = 3,
        [TYPE_b32] = 3, [TYPE_s32] = 4, [TYPE_u64] = 5, [TYPE_b64] = 5,
        [TYPE_s64] = 6, [TYPE_f32] = 7, [TYPE_f64] = 8, [TYPE_pred] = 0};
    return column[type] ? (enum lane)table[family][column[type] - 1] : LANE_none;
}

bool fail_type(struct parser *p, const struct inst *in, enum ptx_type type)
{
    static const char *const names[] = {"none",
#define TYPE(name, bytes, cls) #name,
#include "ptx/types.def"
#undef TYPE
                                        "pred"};
    return parse_fail(p, SSAN_UNSUPPORTED, in->line, "type .%s of opcode %.*s", names[type],
                      (int)in->opcode_length, in->opcode);
}

bool lower_instruction(struct parser *p, struct inst *in)
{
    static const struct {
        const char *name;
        lower_fn *lower;
        int arg;
    } opcodes[] = {
#define OPCODE(name, how, arg) {#name, lower_##how, arg},
#include "ptx/opcodes.def"
#undef OPCODE
    };
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        if (strlen(opcodes[i].name) == in->opcode_length &&
            memcmp(opcodes[i].name, in->opcode, in->opcode_length) == 0) {
            return opcodes[i].lower(p, in, opcodes[i].arg) && mods_done(p, in);
        }
    }
    return parse_fail(p, SSAN_UNSUPPORTED, in->line, "opcode %.*s", shown(in->opcode_length),
                      in->opcode);
}
