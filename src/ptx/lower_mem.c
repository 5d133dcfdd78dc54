/* Loads, stores, atomics, asynchronous copies. */
#include "ptx/parse.h"

#include "ptx/exec_ops.h"

#include <string.h>

/* Where a memory operand points. */
struct place {
    enum ptx_space space; /* frame and param: a fixed offset */
    uint32_t base;        /* slot of the address, 0: none */
    int64_t offset;
};

static bool place_symbol(struct parser *p, struct inst *in, const struct operand *o,
                         struct place *place)
{
    const struct symbol *symbol = &p->symbols.items[o->symbol];
    if (symbol->kind == SYMBOL_frame || symbol->kind == SYMBOL_param) {
        place->space = symbol->kind == SYMBOL_frame ? SPACE_frame : SPACE_param;
        place->offset = (int64_t)(symbol->value + (uint64_t)o->addend);
        return true;
    }
    if (symbol->kind != SYMBOL_global && symbol->kind != SYMBOL_shared) {
        return parse_fail(p, SSAN_FORMAT, in->line, "'%.*s' has no memory", (int)symbol->length,
                          symbol->text);
    }
    struct operand address = *o;
    address.kind = OPERAND_symbol;
    address.addend = 0;
    place->base = source(p, in, &address, TYPE_u64);
    place->offset = o->addend;
    if (place->space == SPACE_generic) {
        place->space = symbol->kind == SYMBOL_global ? SPACE_global : SPACE_shared;
    }
    return place->base != 0;
}

static bool find_place(struct parser *p, struct inst *in, const struct operand *o,
                       enum ptx_space space, struct place *place)
{
    *place = (struct place){.space = space, .offset = o->addend};
    if (o->kind != OPERAND_memory) {
        return parse_fail(p, SSAN_FORMAT, in->line, "%.*s needs an address in brackets",
                          (int)in->opcode_length, in->opcode);
    }
    if (o->has_symbol) {
        return place_symbol(p, in, o, place);
    }
    if (o->has_register) {
        struct operand address = *o;
        address.kind = OPERAND_register;
        address.addend = 0;
        place->base = source(p, in, &address, TYPE_u64);
        /* the address of a parameter is a generic one here */
        place->space = space == SPACE_param ? SPACE_generic : space;
        return place->base != 0;
    }
    place->base = slot_const(p, 0, 8);
    place->space = space == SPACE_param ? SPACE_generic : space;
    return place->base != 0;
}

/* An operation on memory with its address; NULL after a failure. */
static struct op *emit_memory(struct parser *p, ptx_fn *fn, const struct place *place)
{
    struct op *op = emit_fn(p, fn, OP_MEMORY);
    if (op) {
        op->a = place->base;
        op->imm = place->offset;
        op->space = (uint8_t)place->space;
        op->aux = p->b.func->mem_count++;
    }
    return op;
}

static ptx_fn *load_fn(enum ptx_space space)
{
    switch (space) {
    case SPACE_global:
    case SPACE_const:
        return exec_load_global;
    case SPACE_shared:
        return exec_load_shared;
    case SPACE_local:
        return exec_load_local;
    case SPACE_frame:
        return exec_load_frame;
    case SPACE_param:
        return exec_load_param;
    case SPACE_generic:
        break;
    }
    return exec_load_generic;
}

static ptx_fn *store_fn(enum ptx_space space)
{
    switch (space) {
    case SPACE_global:
        return exec_store_global;
    case SPACE_shared:
        return exec_store_shared;
    case SPACE_local:
        return exec_store_local;
    case SPACE_frame:
        return exec_store_frame;
    case SPACE_const:
    case SPACE_param:
        return NULL;
    case SPACE_generic:
        break;
    }
    return exec_store_generic;
}

static uint32_t take_vector(struct inst *in)
{
    return mod_take(in, "v2") ? 2 : mod_take(in, "v4") ? 4 : mod_take(in, "v8") ? 8 : 1;
}

/* The registers of a vector operand, or the one operand. */
static bool vector_parts(struct parser *p, struct inst *in, const struct operand *o, uint32_t count,
                         const struct operand **parts)
{
    *parts = o->kind == OPERAND_vector ? &in->elements[o->first] : o;
    const uint32_t have = o->kind == OPERAND_vector ? o->count : 1;
    return have == count || parse_fail(p, SSAN_FORMAT, in->line, "%.*s of %u elements has %u",
                                       (int)in->opcode_length, in->opcode, count, have);
}

/* The type an element has in its register: 8-bit types fill at least 16 bits. */
static enum ptx_type register_type(enum ptx_type type)
{
    return type_bytes(type) == 1 ? (type_is_signed(type) ? TYPE_s16 : TYPE_u16) : type;
}

/* How a loaded value is extended in a register of 16 or more bits. */
static enum extend extend_of(enum ptx_type type, const struct operand *o)
{
    if (!type_is_signed(type) || type_bytes(type) > 2) {
        return EXTEND_zero;
    }
    return o->kind == OPERAND_register && type_bytes(o->type) == 2 ? EXTEND_sign16 : EXTEND_sign32;
}

/* A parameter of an entry never changes: its value is a constant of the launch. */
static bool load_parameter(struct parser *p, struct inst *in, const struct operand *to,
                           enum ptx_type type, uint32_t dst, uint64_t offset)
{
    const uint32_t bytes = type_bytes(type);
    if (offset > p->b.func->kernel.param_bytes || bytes > p->b.func->kernel.param_bytes - offset) {
        return parse_fail(p, SSAN_FORMAT, in->line, "a load outside the parameters");
    }
    const uint32_t from = slot_param(p, (uint32_t)offset, bytes, type_is_signed(type));
    if (!from) {
        return false;
    }
    const bool is_narrow = to->kind == OPERAND_register && type_bytes(to->type) == 2;
    if (is_wide(to->type) == is_wide(type) && !(is_narrow && type_is_signed(type)) &&
        alias_result(p, to, from)) {
        return p->status == SSAN_OK;
    }
    const enum lane lane = is_wide(type) ? LANE_mov_64 : is_narrow ? LANE_zext16 : LANE_mov_32;
    return emit(p, lane, dst, from, from, from) &&
           (to->kind != OPERAND_register || is_wide(to->type) == is_wide(type) ||
            emit(p, type_is_signed(type) ? LANE_sext32_64 : LANE_zext32_64, to->slot, dst, dst,
                 dst));
}

bool lower_load(struct parser *p, struct inst *in, int arg)
{
    mod_order(in);
    const enum ptx_space space = mod_space(in);
    const uint32_t count = take_vector(in);
    const enum ptx_type type = mod_type(p, in);
    struct place place;
    const struct operand *parts;
    if (type == TYPE_none || !operands_are(p, in, 2, 2) ||
        !find_place(p, in, &in->operands[1], space, &place) ||
        !vector_parts(p, in, &in->operands[0], count, &parts)) {
        return false;
    }
    uint32_t slots[8];
    for (uint32_t i = 0; i < count; i++) {
        slots[i] = result(p, in, &parts[i], register_type(type));
        if (!slots[i]) {
            return false;
        }
    }
    if (place.space == SPACE_param && count == 1) {
        return load_parameter(p, in, &parts[0], type, slots[0], (uint64_t)place.offset);
    }
    struct op *op = emit_memory(p, load_fn(place.space), &place);
    if (!op) {
        return false;
    }
    op->width = (uint8_t)type_bytes(type);
    op->count = (uint8_t)count;
    op->extend = (uint8_t)extend_of(type, &parts[0]);
    op->dst = count == 1 ? slots[0] : (uint32_t)p->b.pool.count;
    for (uint32_t i = 0; count > 1 && i < count; i++) {
        if (!VEC_PUSH(&p->b.pool, slots[i])) {
            return parse_no_memory(p);
        }
    }
    for (uint32_t i = 0; i < count; i++) { /* registers of 64 bits for narrower values */
        if (parts[i].kind == OPERAND_register && is_wide(parts[i].type) && !is_wide(type) &&
            !emit(p, type_is_signed(type) ? LANE_sext32_64 : LANE_zext32_64, parts[i].slot,
                  slots[i], slots[i], slots[i])) {
            return false;
        }
    }
    return true;
}

bool lower_store(struct parser *p, struct inst *in, int arg)
{
    if (mod_take(in, "async") || mod_take(in, "bulk")) {
        return parse_fail(p, SSAN_UNSUPPORTED, in->line, "opcode st.async");
    }
    mod_order(in);
    const enum ptx_space space = mod_space(in);
    const uint32_t count = take_vector(in);
    const enum ptx_type type = mod_type(p, in);
    struct place place;
    const struct operand *parts;
    if (type == TYPE_none || !operands_are(p, in, 2, 2) ||
        !find_place(p, in, &in->operands[0], space, &place) ||
        !vector_parts(p, in, &in->operands[1], count, &parts)) {
        return false;
    }
    ptx_fn *fn = store_fn(place.space);
    if (!fn) {
        return parse_fail(p, SSAN_FORMAT, in->line, "a store to constant memory");
    }
    uint32_t slots[8];
    for (uint32_t i = 0; i < count; i++) {
        slots[i] = source(p, in, &parts[i], type);
        if (!slots[i]) {
            return false;
        }
    }
    struct op *op = emit_memory(p, fn, &place);
    if (!op) {
        return false;
    }
    op->width = (uint8_t)type_bytes(type);
    op->count = (uint8_t)count;
    op->dst = count == 1 ? slots[0] : (uint32_t)p->b.pool.count;
    for (uint32_t i = 0; count > 1 && i < count; i++) {
        if (!VEC_PUSH(&p->b.pool, slots[i])) {
            return parse_no_memory(p);
        }
    }
    return true;
}

static bool take_atomic(struct inst *in, enum atomic *which)
{
    static const struct {
        const char *name;
        enum atomic which;
    } names[] = {{"add", ATOMIC_add},  {"and", ATOMIC_and}, {"or", ATOMIC_or},
                 {"xor", ATOMIC_xor},  {"min", ATOMIC_min}, {"max", ATOMIC_max},
                 {"inc", ATOMIC_inc},  {"dec", ATOMIC_dec}, {"cas", ATOMIC_cas},
                 {"exch", ATOMIC_exch}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (mod_take(in, names[i].name)) {
            *which = names[i].which;
            return true;
        }
    }
    return false;
}

static bool atomic_type_ok(enum atomic which, enum ptx_type type)
{
    if (type_is_float(type)) {
        return which == ATOMIC_add && type != TYPE_f16;
    }
    return type_bytes(type) >= 4 || (which == ATOMIC_cas && type_bytes(type) == 2);
}

bool lower_atomic(struct parser *p, struct inst *in, int arg)
{
    const bool returns = arg != 0;
    mod_order(in);
    mod_take(in, "noftz");
    const enum ptx_space space = mod_space(in);
    enum atomic which;
    if (!take_atomic(in, &which)) {
        return !mods_done(p, in) ? false
                                 : parse_fail(p, SSAN_FORMAT, in->line, "%.*s without an operation",
                                              (int)in->opcode_length, in->opcode);
    }
    const enum ptx_type type = mod_type(p, in);
    const uint32_t at = returns ? 1 : 0, count = at + 2 + (which == ATOMIC_cas ? 1 : 0);
    struct place place;
    if (type == TYPE_none || !operands_are(p, in, count, count)) {
        return false;
    }
    if (!atomic_type_ok(which, type)) {
        return fail_type(p, in, type);
    }
    if (!find_place(p, in, &in->operands[at], space, &place)) {
        return false;
    }
    if (place.space != SPACE_global && place.space != SPACE_shared &&
        place.space != SPACE_generic) {
        return parse_fail(p, SSAN_FORMAT, in->line,
                          "an atomic operation outside global and shared memory");
    }
    const uint32_t b = source(p, in, &in->operands[at + 1], type);
    const uint32_t c = which == ATOMIC_cas ? source(p, in, &in->operands[at + 2], type) : b;
    const uint32_t dst = returns ? result(p, in, &in->operands[0], type) : 0;
    struct op *op = b && c && (dst || !returns) ? emit_memory(p, exec_atomic, &place) : NULL;
    if (!op) {
        return false;
    }
    op->dst = dst;
    op->b = b;
    op->c = c;
    op->width = (uint8_t)type_bytes(type);
    op->count = 1;
    op->sub = (uint8_t)which;
    op->extend = (uint8_t)(type_is_float(type)    ? ATOMIC_float
                           : type_is_signed(type) ? ATOMIC_signed
                                                  : ATOMIC_unsigned);
    return !returns || result_done(p, in, &in->operands[0], type, dst);
}

/* cp.async.ca.shared.global [dst], [src], bytes {, source bytes}; copies at once, so groups have
 * nothing to wait for. */
bool lower_copy(struct parser *p, struct inst *in, int arg)
{
    if (!mod_take(in, "async") || mod_take(in, "bulk") || mod_take(in, "mbarrier")) {
        return parse_fail(p, SSAN_UNSUPPORTED, in->line, "this form of opcode cp");
    }
    if (mod_take(in, "commit_group") || mod_take(in, "wait_group") || mod_take(in, "wait_all")) {
        return operands_are(p, in, 0, 1);
    }
    mod_order(in);
    const bool spaces =
        (mod_take(in, "shared") || mod_take(in, "shared::cta")) && mod_take(in, "global");
    struct place to, from;
    if (!spaces || !operands_are(p, in, 3, 4) ||
        !find_place(p, in, &in->operands[0], SPACE_shared, &to) ||
        !find_place(p, in, &in->operands[1], SPACE_global, &from)) {
        return spaces ? false
                      : mods_done(p, in) &&
                            parse_fail(p, SSAN_UNSUPPORTED, in->line, "this form of opcode cp");
    }
    const struct operand *size = &in->operands[2];
    if (size->kind != OPERAND_int || (size->bits != 4 && size->bits != 8 && size->bits != 16)) {
        return parse_fail(p, SSAN_FORMAT, in->line, "cp.async copies 4, 8 or 16 bytes");
    }
    const uint32_t bytes = (uint32_t)size->bits;
    const uint32_t limit = in->operand_count == 4 ? source(p, in, &in->operands[3], TYPE_u32)
                                                  : slot_const(p, bytes, 4);
    const uint32_t offset = to.offset ? slot_const(p, (uint64_t)to.offset, 8) : 0;
    if (!limit || (to.offset && !offset)) {
        return false;
    }
    if (offset) {
        const uint32_t sum = slot_temp(p, TYPE_u64);
        if (!sum || !emit(p, LANE_add_64, sum, to.base, offset, offset)) {
            return false;
        }
        to.base = sum;
    }
    struct op *op = emit_memory(p, exec_copy, &from);
    if (!op) {
        return false;
    }
    op->b = to.base;
    op->c = limit;
    op->width = (uint8_t)bytes;
    op->count = 1;
    return true;
}
