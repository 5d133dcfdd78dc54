/* Control: branches, calls, barriers; and what warps exchange. */
#include "ptx/parse.h"

#include "ptx/exec_ops.h"

#include <string.h>

bool lower_end(struct parser *p, struct op *end)
{
    end->fn = exec_leave;
    end->sub = CTL_ret;
    return true;
}

bool lower_leave(struct parser *p, struct inst *in, int arg)
{
    mod_take(in, "uni");
    if (!operands_are(p, in, 0, 0)) {
        return false;
    }
    struct op *op = emit_fn(p, exec_leave, OP_CONTROL);
    if (op) {
        op->sub = (uint8_t)arg;
    }
    return op != NULL;
}

/* The operand must be a label, here or further down. */
static bool add_ref(struct parser *p, struct inst *in, const struct operand *o)
{
    const bool is_label =
        o->kind == OPERAND_name ||
        (o->kind == OPERAND_symbol && p->symbols.items[o->symbol].kind == SYMBOL_label);
    if (!is_label) {
        return parse_fail(p, SSAN_FORMAT, in->line, "a branch needs a label");
    }
    const struct label_ref ref = {o->text, o->length, (uint32_t)(p->b.code.count - 1), false,
                                  in->line};
    return VEC_PUSH(&p->b.refs, ref) || parse_no_memory(p);
}

bool lower_branch(struct parser *p, struct inst *in, int arg)
{
    mod_take(in, "uni");
    return operands_are(p, in, 1, 1) && emit_fn(p, NULL, OP_BRANCH) &&
           add_ref(p, in, &in->operands[0]);
}

/* brx.idx index, list */
bool lower_jump(struct parser *p, struct inst *in, int arg)
{
    mod_take(in, "uni");
    if (!mod_take(in, "idx") || !operands_are(p, in, 2, 2)) {
        return parse_fail(p, SSAN_UNSUPPORTED, in->line, "this form of opcode brx");
    }
    const struct operand *list = &in->operands[1];
    if (list->kind != OPERAND_symbol || p->symbols.items[list->symbol].kind != SYMBOL_targets) {
        return parse_fail(p, SSAN_FORMAT, in->line, "brx.idx needs a list of targets");
    }
    const struct target_list targets = p->targets.items[p->symbols.items[list->symbol].value];
    const uint32_t a = source(p, in, &in->operands[0], TYPE_u32);
    struct op *op = a ? emit_fn(p, exec_jump, OP_CONTROL) : NULL;
    if (op) {
        op->a = a;
        op->aux = targets.first;
        op->imm = targets.count;
    }
    return op != NULL;
}

/* A .param variable that is an argument or result. */
static bool param_var(struct parser *p, struct inst *in, const struct operand *o,
                      struct param_var *var)
{
    const struct symbol *symbol = o->kind == OPERAND_symbol ? &p->symbols.items[o->symbol] : NULL;
    if (!symbol || symbol->kind != SYMBOL_frame || !symbol->is_param) {
        return parse_fail(p, SSAN_UNSUPPORTED, in->line,
                          "a call with an argument that is not a .param variable");
    }
    *var = (struct param_var){(uint32_t)symbol->value, (uint32_t)symbol->size_bytes};
    return true;
}

static bool keep_args(struct parser *p, struct inst *in, const struct operand *list,
                      struct call_site *site)
{
    struct param_var *args =
        arena_alloc(&p->module->arena, list->count ? list->count * sizeof *args : 1);
    if (!args) {
        return parse_no_memory(p);
    }
    for (uint32_t i = 0; i < list->count; i++) {
        if (!param_var(p, in, &in->elements[list->first + i], &args[i])) {
            return false;
        }
    }
    site->args = args;
    site->arg_count = list->count;
    return true;
}

/* call (result), function, (arguments) {, prototype} */
bool lower_call(struct parser *p, struct inst *in, int arg)
{
    mod_take(in, "uni");
    uint32_t at = 0;
    struct call_site site = {.func = UINT32_MAX};
    if (at < in->operand_count && in->operands[at].kind == OPERAND_vector) {
        const struct operand *result_list = &in->operands[at++];
        if (result_list->count > 1) {
            return parse_fail(p, SSAN_UNSUPPORTED, in->line, "a call with more than one result");
        }
        if (result_list->count && in->elements[result_list->first].kind != OPERAND_sink &&
            !param_var(p, in, &in->elements[result_list->first], &site.result)) {
            return false;
        }
    }
    if (at >= in->operand_count) {
        return parse_fail(p, SSAN_FORMAT, in->line, "a call without a function");
    }
    const struct operand *target = &in->operands[at++];
    if (at < in->operand_count && in->operands[at].kind == OPERAND_vector &&
        !keep_args(p, in, &in->operands[at], &site)) {
        return false;
    }
    uint32_t address = 0;
    if (target->kind == OPERAND_symbol && p->symbols.items[target->symbol].kind == SYMBOL_func) {
        site.func = (uint32_t)p->symbols.items[target->symbol].value;
    } else if (target->kind == OPERAND_register) {
        address = source(p, in, target, TYPE_u64);
        if (!address) {
            return false;
        }
    } else {
        return parse_fail(p, SSAN_FORMAT, in->line, "'%.*s' is not a function",
                          shown(target->length), target->text ? target->text : "");
    }
    struct op *op = emit_fn(p, address ? exec_call_indirect : exec_call, OP_CONTROL);
    if (!op) {
        return false;
    }
    op->a = address;
    op->aux = (uint32_t)p->b.calls.count;
    op->b = p->b.func->mem_count; /* memory states of an external function: reads, writes */
    p->b.func->mem_count += 2;
    return VEC_PUSH(&p->b.calls, site) || parse_no_memory(p);
}

/* bar.warp.sync mask */
static bool lower_warp_sync(struct parser *p, struct inst *in)
{
    if (!operands_are(p, in, 1, 1)) {
        return false;
    }
    const uint32_t a = source(p, in, &in->operands[0], TYPE_u32);
    struct op *op = a ? emit_fn(p, exec_warp_sync, OP_CONTROL) : NULL;
    if (op) {
        op->a = a;
    }
    return op != NULL;
}

/* bar.red.op.type d, id {, count}, {!}p */
static bool lower_barrier_red(struct parser *p, struct inst *in)
{
    const enum barrier_form form = mod_take(in, "popc")  ? BARRIER_popc
                                   : mod_take(in, "and") ? BARRIER_and
                                   : mod_take(in, "or")  ? BARRIER_or
                                                         : BARRIER_sync;
    const bool is_pred = mod_take(in, "pred");
    if (!is_pred) {
        mod_take(in, "u32");
    }
    if (form == BARRIER_sync || is_pred != (form != BARRIER_popc) || !operands_are(p, in, 3, 4)) {
        return parse_fail(p, SSAN_FORMAT, in->line, "this form of bar.red");
    }
    const uint32_t last = in->operand_count - 1;
    const uint32_t id = source(p, in, &in->operands[1], TYPE_u32);
    const uint32_t count = last == 3 ? source(p, in, &in->operands[2], TYPE_u32) : 0;
    const uint32_t pred = source(p, in, &in->operands[last], TYPE_pred);
    const uint32_t dst = result(p, in, &in->operands[0], is_pred ? TYPE_pred : TYPE_u32);
    struct op *op =
        id && pred && dst && (count || last == 2) ? emit_fn(p, exec_barrier, OP_CONTROL) : NULL;
    if (op) {
        op->a = id;
        op->b = count;
        op->c = pred;
        op->dst = dst;
        op->sub = (uint8_t)form;
    }
    return op && result_done(p, in, &in->operands[0], is_pred ? TYPE_pred : TYPE_u32, dst);
}

bool lower_barrier(struct parser *p, struct inst *in, int arg)
{
    mod_take(in, "cta");
    mod_take(in, "aligned");
    if (mod_take(in, "cluster")) {
        return parse_fail(p, SSAN_UNSUPPORTED, in->line, "opcode barrier.cluster");
    }
    if (mod_take(in, "warp")) {
        return mod_take(in, "sync") ? lower_warp_sync(p, in) : mods_done(p, in);
    }
    if (mod_take(in, "red")) {
        return lower_barrier_red(p, in);
    }
    const bool arrives = mod_take(in, "arrive");
    if (!arrives && !mod_take(in, "sync")) {
        return mods_done(p, in) && parse_fail(p, SSAN_FORMAT, in->line, "a barrier without a form");
    }
    if (!operands_are(p, in, arrives ? 2 : 1, 2)) {
        return false;
    }
    const uint32_t id = source(p, in, &in->operands[0], TYPE_u32);
    const uint32_t count = in->operand_count == 2 ? source(p, in, &in->operands[1], TYPE_u32) : 0;
    struct op *op =
        id && (count || in->operand_count == 1) ? emit_fn(p, exec_barrier, OP_CONTROL) : NULL;
    if (op) {
        op->a = id;
        op->b = count;
        op->sub = arrives ? BARRIER_arrive : BARRIER_sync;
    }
    return op != NULL;
}

bool lower_nanosleep(struct parser *p, struct inst *in, int arg)
{
    const enum ptx_type type = mod_type(p, in);
    if (type != TYPE_u32 || !operands_are(p, in, 1, 1)) {
        return false;
    }
    const uint32_t a = source(p, in, &in->operands[0], type);
    struct op *op = a ? emit_fn(p, exec_nanosleep, OP_MEMORY) : NULL;
    if (op) {
        op->a = a;
    }
    return op != NULL;
}

/* shfl.sync.mode.b32 d|p, a, b, c, members */
bool lower_shuffle(struct parser *p, struct inst *in, int arg)
{
    const bool syncs = mod_take(in, "sync");
    const bool up = mod_take(in, "up"), down = mod_take(in, "down"), bfly = mod_take(in, "bfly"),
               idx = mod_take(in, "idx");
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, syncs ? 5 : 4, syncs ? 5 : 4)) {
        return false;
    }
    if (type_bytes(type) != 4 || up + down + bfly + idx != 1) {
        return fail_type(p, in, type);
    }
    const uint32_t a = source(p, in, &in->operands[1], TYPE_b32),
                   b = source(p, in, &in->operands[2], TYPE_u32);
    const uint32_t c = source(p, in, &in->operands[3], TYPE_u32);
    const uint32_t members =
        syncs ? source(p, in, &in->operands[4], TYPE_u32) : slot_const(p, FULL_MASK, 4);
    const uint32_t dst = result(p, in, &in->operands[0], TYPE_b32);
    const uint32_t pair = in->operands[0].pair;
    const uint32_t in_range = pair ? result(p, in, &in->elements[pair - 1], TYPE_pred) : 0;
    struct op *op = a && b && c && members && dst && (in_range || !pair)
                        ? emit_fn(p, exec_shuffle, OP_CONTROL)
                        : NULL;
    if (!op) {
        return false;
    }
    op->a = a;
    op->b = b;
    op->c = c;
    op->dst = dst;
    op->imm = members;
    op->aux = in_range;
    op->sub = up ? SHUFFLE_up : down ? SHUFFLE_down : bfly ? SHUFFLE_bfly : SHUFFLE_idx;
    return result_done(p, in, &in->operands[0], TYPE_b32, dst);
}

/* Warp operations with one value, a member mask and one result of `type`, the first operand. */
static bool emit_warp(struct parser *p, struct inst *in, ptx_fn *fn, uint32_t sub, uint32_t a,
                      uint32_t members, enum ptx_type type, uint32_t extra)
{
    const uint32_t dst = result(p, in, &in->operands[0], type);
    struct op *op = a && members && dst ? emit_fn(p, fn, OP_CONTROL) : NULL;
    if (!op) {
        return false;
    }
    op->a = a;
    op->imm = members;
    op->dst = dst;
    op->sub = (uint8_t)sub;
    op->aux = extra;
    return result_done(p, in, &in->operands[0], type, dst);
}

bool lower_vote(struct parser *p, struct inst *in, int arg)
{
    const bool syncs = mod_take(in, "sync");
    const enum vote_form form = mod_take(in, "all")   ? VOTE_all
                                : mod_take(in, "any") ? VOTE_any
                                : mod_take(in, "uni") ? VOTE_uni
                                                      : VOTE_ballot;
    mod_take(in, form == VOTE_ballot ? "ballot" : "pred");
    const enum ptx_type type = form == VOTE_ballot ? mod_type(p, in) : TYPE_pred;
    if (type == TYPE_none || !operands_are(p, in, syncs ? 3 : 2, syncs ? 3 : 2)) {
        return false;
    }
    const uint32_t a = source(p, in, &in->operands[1], TYPE_pred);
    const uint32_t members =
        syncs ? source(p, in, &in->operands[2], TYPE_u32) : slot_const(p, FULL_MASK, 4);
    return emit_warp(p, in, exec_vote, form, a, members, type, 0);
}

/* match.any.sync.b32 d, a, members;  match.all.sync.b32 d|p, a, members */
bool lower_match(struct parser *p, struct inst *in, int arg)
{
    const bool all = mod_take(in, "all");
    mod_take(in, "any");
    mod_take(in, "sync");
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 3, 3)) {
        return false;
    }
    if (type_bytes(type) < 4) {
        return fail_type(p, in, type);
    }
    const uint32_t pair = in->operands[0].pair;
    const uint32_t holds = pair ? result(p, in, &in->elements[pair - 1], TYPE_pred) : 0;
    const uint32_t a = source(p, in, &in->operands[1], type),
                   members = source(p, in, &in->operands[2], TYPE_u32);
    return (holds || !pair) &&
           emit_warp(p, in, exec_match, (all ? 1u : 0u) | (is_wide(type) ? 2u : 0u), a, members,
                     TYPE_b32, holds);
}

bool lower_redux(struct parser *p, struct inst *in, int arg)
{
    mod_take(in, "sync");
    const bool add = mod_take(in, "add"), low = mod_take(in, "min"), high = mod_take(in, "max"),
               both = mod_take(in, "and"), either = mod_take(in, "or");
    mod_take(in, "xor");
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 3, 3)) {
        return false;
    }
    if (type_bytes(type) != 4 || type_is_float(type)) {
        return fail_type(p, in, type);
    }
    const enum atomic which = add      ? ATOMIC_add
                              : low    ? ATOMIC_min
                              : high   ? ATOMIC_max
                              : both   ? ATOMIC_and
                              : either ? ATOMIC_or
                                       : ATOMIC_xor;
    const uint32_t a = source(p, in, &in->operands[1], type),
                   members = source(p, in, &in->operands[2], TYPE_u32);
    return emit_warp(p, in, exec_redux, which, a, members, type, type_is_signed(type) ? 1 : 0);
}

bool lower_activemask(struct parser *p, struct inst *in, int arg)
{
    const enum ptx_type type = mod_type(p, in);
    if (type == TYPE_none || !operands_are(p, in, 1, 1)) {
        return false;
    }
    const uint32_t dst = result(p, in, &in->operands[0], TYPE_b32);
    struct op *op = dst ? emit_fn(p, exec_activemask, OP_LANE) : NULL;
    if (op) {
        op->dst = dst;
    }
    return op && result_done(p, in, &in->operands[0], TYPE_b32, dst);
}

/* elect.sync d|p, members: the lowest member is elected */
bool lower_elect(struct parser *p, struct inst *in, int arg)
{
    mod_take(in, "sync");
    if (!operands_are(p, in, 2, 2) || !in->operands[0].pair) {
        return parse_fail(p, SSAN_FORMAT, in->line, "this form of elect");
    }
    const uint32_t members = source(p, in, &in->operands[1], TYPE_u32);
    const uint32_t chosen = result(p, in, &in->elements[in->operands[0].pair - 1], TYPE_pred);
    return chosen && emit_warp(p, in, exec_elect, 0, members, members, TYPE_b32, chosen);
}
