/* Instructions about address spaces and their order: cvta, isspacep, hints, fences. */
#include "ptx/parse.h"

#include "ptx/exec_ops.h"

/* Takes the state space; `generic` when none is named. */
enum ptx_space mod_space(struct inst *in)
{
    static const struct {
        const char *name;
        enum ptx_space space;
    } spaces[] = {{"global", SPACE_global},      {"shared", SPACE_shared},
                  {"shared::cta", SPACE_shared}, {"local", SPACE_local},
                  {"param", SPACE_param},        {"const", SPACE_const},
                  {"param::entry", SPACE_param}, {"param::func", SPACE_param}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (mod_take(in, spaces[i].name)) {
            return spaces[i].space;
        }
    }
    return SPACE_generic;
}

/* Order, scope and cache hints: memory here is always coherent, so they only have to be known. */
void mod_order(struct inst *in)
{
    static const char *const words[] = {"weak",
                                        "volatile",
                                        "relaxed",
                                        "acquire",
                                        "release",
                                        "acq_rel",
                                        "seq_cst",
                                        "mmio",
                                        "cta",
                                        "cluster",
                                        "gpu",
                                        "sys",
                                        "nc",
                                        "ca",
                                        "cg",
                                        "cs",
                                        "lu",
                                        "cv",
                                        "wb",
                                        "wt",
                                        "gl",
                                        "L1::evict_normal",
                                        "L1::evict_unchanged",
                                        "L1::evict_first",
                                        "L1::evict_last",
                                        "L1::no_allocate",
                                        "L2::64B",
                                        "L2::128B",
                                        "L2::256B"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        mod_take(in, words[i]);
    }
}

static uint64_t window_of(enum ptx_space space)
{
    return space == SPACE_shared  ? WINDOW_BASE(WINDOW_SHARED)
           : space == SPACE_local ? WINDOW_BASE(WINDOW_LOCAL)
                                  : 0;
}

/* Shared and local addresses are offsets in their windows; global, constant and parameter addresses
 * are generic. */
bool lower_cvta(struct parser *p, struct inst *in, int arg)
{
    const bool to = mod_take(in, "to");
    const enum ptx_space space = mod_space(in);
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 2, 2)) {
        return false;
    }
    if (type != TYPE_u64 || space == SPACE_generic) {
        return fail_type(p, in, type);
    }
    struct operand from = in->operands[1];
    const bool is_param = from.kind == OPERAND_symbol &&
                          p->symbols.items[from.symbol].kind == SYMBOL_frame &&
                          p->symbols.items[from.symbol].is_param;
    const uint32_t a = source(p, in, &from, TYPE_u64),
                   dst = result(p, in, &in->operands[0], TYPE_u64);
    const uint64_t window = is_param ? 0 : window_of(space);
    if (!a || !dst) {
        return false;
    }
    if (!window) {
        return alias_result(p, &in->operands[0], a) ? p->status == SSAN_OK
                                                    : emit(p, LANE_mov_64, dst, a, a, a) != NULL;
    }
    const uint32_t base = slot_const(p, window, 8);
    return base && emit(p, to ? LANE_sub_64 : LANE_add_64, dst, a, base, base);
}

bool lower_isspacep(struct parser *p, struct inst *in, int arg)
{
    const enum ptx_space space = mod_space(in);
    if (!operands_are(p, in, 2, 2)) {
        return false;
    }
    if (space == SPACE_generic) {
        return parse_fail(p, SSAN_UNSUPPORTED, in->line, "isspacep of an unknown space");
    }
    const uint32_t a = source(p, in, &in->operands[1], TYPE_u64);
    const uint32_t dst = result(p, in, &in->operands[0], TYPE_pred);
    struct op *op = a && dst ? emit_fn(p, exec_isspacep, OP_LANE) : NULL;
    if (!op) {
        return false;
    }
    op->a = a;
    op->dst = dst;
    op->sub = (uint8_t)(space == SPACE_shared  ? WINDOW_SHARED
                        : space == SPACE_local ? WINDOW_LOCAL
                        : space == SPACE_param ? WINDOW_PARAM
                                               : WINDOW_GLOBAL);
    return true;
}

/* Hints that change no value. */
bool lower_nothing(struct parser *p, struct inst *in, int arg)
{
    if (mod_take(in, "tensormap")) {
        return parse_fail(p, SSAN_UNSUPPORTED, in->line, "opcode prefetch.tensormap");
    }
    mod_space(in);
    mod_take(in, "L1");
    mod_take(in, "L2");
    mod_take(in, "L2::evict_normal");
    mod_take(in, "L2::evict_last");
    return true;
}

/* One thread runs all warps in turn and sees its own writes: only the compiler and other threads
 * have to be told. */
bool lower_fence(struct parser *p, struct inst *in, int arg)
{
    mod_order(in);
    mod_take(in, "sc");
    if (!mods_done(p, in)) {
        return false;
    }
    return operands_are(p, in, 0, 0) && emit_fn(p, exec_fence, OP_MEMORY);
}
