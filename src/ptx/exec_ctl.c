/* Leaving, calling, jumping through tables, waiting at barriers.
 *
 * A handler of kind OP_CONTROL gets a group whose lanes are all active (others were split off). It
 * returns with w->stop unset to go on at the next operation, or sets it after it has placed the
 * group itself. */
#include "ptx/externs.h"
#include "ptx/warp.h"

#include <stdio.h>
#include <string.h>

static struct group *running(struct warp *w)
{
    return &w->groups[w->current];
}

/* Copies `size` bytes of local memory of the lanes in `mask`, by words. */
static void copy_words(struct warp *w, uint64_t to, uint64_t from, uint32_t size, uint32_t mask)
{
    const uint32_t words = (size + 3) / 4;
    for (uint32_t i = 0; i < words; i++) {
        uint32_t *dst = w->local + (to / 4 + i) * WARP_LANES;
        const uint32_t *src = w->local + (from / 4 + i) * WARP_LANES;
        EACH_LANE(lane, mask)
        {
            dst[lane] = src[lane];
        }
    }
}

static void leave_warp(struct warp *w, uint32_t mask)
{
    w->live &= ~mask;
    w->block->live_threads -= lanes_in(mask);
    group_leave(w, mask);
    w->stop = true;
    w->moved = true;
    for (uint32_t i = 0; i < w->group_count; i++) { /* they may have waited for these lanes */
        if (w->groups[i].state == GROUP_members) {
            w->groups[i].state = GROUP_ready;
        }
    }
    if (w->block->has_arrivals) {
        barriers_check(w->block);
    }
}

void exec_leave(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    struct frame *frame = running(w)->frame;
    if (op->sub == CTL_trap) {
        warp_fault(w, PTX_FAULT_TRAP, op, mask, 0, 0, false);
        return;
    }
    if (op->sub == CTL_exit || !frame->parent) {
        leave_warp(w, mask);
        return;
    }
    struct frame *parent = frame->parent;
    const struct call_site *site = &parent->func->calls[frame->call];
    if (site->result.size_bytes) {
        copy_words(w, (uint64_t)parent->local_base + site->result.offset,
                   (uint64_t)frame->local_base + frame->func->result.offset,
                   site->result.size_bytes, mask);
    }
    const uint32_t back = frame->return_pc;
    parent->refs++; /* stays while the frame that leaves goes */
    group_leave(w, mask);
    w->current = UINT32_MAX;
    group_add(w, parent, back, mask);
    frame_unref(w, parent);
    w->stop = true;
}

static bool signature_fits(const struct func *func, const struct call_site *site)
{
    bool fits =
        func->param_count == site->arg_count && site->result.size_bytes <= func->result.size_bytes;
    for (uint32_t i = 0; fits && i < site->arg_count; i++) {
        fits = func->params[i].size_bytes == site->args[i].size_bytes;
    }
    return fits;
}

/* Calls a function for all lanes of the running group. */
static void call(struct warp *w, const struct op *op, uint32_t mask, const struct func *func)
{
    struct group *g = running(w);
    struct frame *caller = g->frame;
    const struct call_site *site = &caller->func->calls[op->aux];
    if (!func->is_defined) {
        if (func->external < 0 || !signature_fits(func, site)) {
            warp_fault(w, PTX_FAULT_ILLEGAL_INSTRUCTION, op, mask, 0, 0, false);
        } else {
            extern_call(w, op, mask, func->external, caller, site);
        }
        return;
    }
    if (func->is_entry || !signature_fits(func, site)) {
        warp_fault(w, PTX_FAULT_ILLEGAL_INSTRUCTION, op, mask, 0, 0, false);
        return;
    }
    struct frame *frame = frame_push(w, func, caller);
    if (!frame) {
        warp_fault(w, PTX_FAULT_NO_MEMORY, op, mask, 0, 0, false);
        return;
    }
    frame->return_pc = g->pc + 1;
    frame->call = op->aux;
    frame->refs = 1;
    g->frame = frame;
    g->pc = 0;
    caller->refs--; /* the group's; the frame holds one now */
    w->stop = true;
    if (!warp_local(w, frame->local_end, op)) {
        return;
    }
    for (uint32_t i = 0; i < site->arg_count; i++) {
        copy_words(w, (uint64_t)frame->local_base + func->params[i].offset,
                   (uint64_t)caller->local_base + site->args[i].offset, site->args[i].size_bytes,
                   mask);
    }
}

void exec_call(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const struct frame *caller = running(w)->frame;
    const uint32_t func = caller->func->calls[op->aux].func;
    call(w, op, mask, w->exec->launch.module->funcs.items[func]);
}

/* Lanes that call another function than the lowest lane stay and call it afterwards. */
void exec_call_indirect(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint64_t *target = slot_64(r, op->a);
    const uint64_t address = target[__builtin_ctz(mask)];
    uint32_t same = 0;
    EACH_LANE(i, mask)
    {
        same |= target[i] == address ? 1u << i : 0;
    }
    const uint64_t index = (address - WINDOW_BASE(WINDOW_CODE)) / 16 - 1;
    if (address >> WINDOW_SHIFT != WINDOW_CODE || address % 16 ||
        index >= w->exec->launch.module->funcs.count) {
        warp_fault(w, PTX_FAULT_ILLEGAL_INSTRUCTION, op, mask, address, 0, false);
        return;
    }
    struct group *g = running(w);
    if (same != mask) {
        const uint32_t rest = mask & ~same, pc = g->pc;
        struct frame *frame = g->frame;
        g->mask = same;
        group_add(w, frame, pc, rest);
    }
    call(w, op, same, w->exec->launch.module->funcs.items[index]);
    if (same != mask && !w->stop) { /* an external function returned at once */
        running(w)->pc++;
        w->stop = true;
    }
}

/* brx.idx: one group for each target. */
void exec_jump(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint32_t *index = slot_32(r, op->a);
    struct frame *frame = running(w)->frame;
    uint32_t left = mask;
    w->stop = true;
    while (left) {
        const uint32_t chosen = index[__builtin_ctz(left)];
        uint32_t same = 0;
        EACH_LANE(i, left)
        {
            same |= index[i] == chosen ? 1u << i : 0;
        }
        if (chosen >= (uint64_t)op->imm) {
            warp_fault(w, PTX_FAULT_ILLEGAL_INSTRUCTION, op, same, 0, 0, false);
            return;
        }
        const uint32_t target = frame->func->pool[op->aux + chosen];
        left &= ~same;
        if (left) {
            group_add(w, frame, target, same);
            running(w)->mask &= ~same;
        } else {
            running(w)->pc = target;
        }
    }
}

/* -- barriers -- */

/* Hands a finished reduction to a group that waited for it; the operation is the one before its pc.
 */
static void deliver(struct warp *w, struct group *g, const struct barrier *barrier)
{
    const struct op *op = &g->frame->func->code[g->pc - 1];
    char *r = g->frame->r;
    if (op->sub == BARRIER_popc) {
        uint32_t *dst = slot_32(r, op->dst);
        EACH_LANE(i, g->mask)
        {
            dst[i] = barrier->yes;
        }
    } else if (op->sub == BARRIER_and || op->sub == BARRIER_or) {
        const bool holds =
            op->sub == BARRIER_and ? barrier->yes == barrier->votes : barrier->yes != 0;
        uint32_t *dst = slot_32(r, op->dst);
        *dst = holds ? *dst | g->mask : *dst & ~g->mask;
    }
}

static void release_barrier(struct block *block, uint32_t id)
{
    struct barrier *barrier = &block->barriers[id];
    for (uint32_t i = 0; i < block->started; i++) {
        struct warp *w = block->warps[i];
        for (uint32_t k = 0; w && k < w->group_count; k++) {
            struct group *g = &w->groups[k];
            if (g->state == GROUP_barrier && g->barrier == id) {
                g->state = GROUP_ready;
                deliver(w, g, barrier);
            }
        }
    }
    *barrier = (struct barrier){0};
}

/* Wakes the groups at one barrier if it is complete. */
static void barrier_check(struct block *block, uint32_t id)
{
    const struct barrier *barrier = &block->barriers[id];
    const uint32_t expected = barrier->expected ? barrier->expected : block->live_threads;
    if (barrier->arrived && barrier->arrived >= expected) {
        release_barrier(block, id);
    }
}

/* Every block is at the grid's barrier: all go on. */
static void release_grid(struct ptx_exec *exec)
{
    exec->grid_arrived = 0;
    for (uint32_t b = 0; b < exec->resident_count; b++) {
        struct block *block = exec->resident[b];
        block->is_at_grid_barrier = false;
        block->barriers[GRID_BARRIER] = (struct barrier){0};
        for (uint32_t i = 0; i < block->started; i++) {
            struct warp *w = block->warps[i];
            for (uint32_t k = 0; w && k < w->group_count; k++) {
                if (w->groups[k].state == GROUP_barrier && w->groups[k].barrier == GRID_BARRIER) {
                    w->groups[k].state = GROUP_ready;
                }
            }
        }
    }
}

static void grid_barrier_check(struct block *block)
{
    const uint32_t arrived = block->barriers[GRID_BARRIER].arrived;
    if (arrived == 0 || arrived < block->live_threads || block->is_at_grid_barrier) {
        return;
    }
    block->is_at_grid_barrier = true;
    if (++block->exec->grid_arrived == block->exec->block_count) {
        release_grid(block->exec);
    }
}

void barriers_check(struct block *block)
{
    for (uint32_t id = 0; id < BARRIERS; id++) {
        barrier_check(block, id);
    }
    grid_barrier_check(block);
}

void grid_barrier(struct warp *w, const struct op *op, uint32_t mask)
{
    struct group *g = running(w);
    if (!w->exec->launch.cooperative) {
        warp_fault(w, PTX_FAULT_TRAP, op, mask, 0, 0, false);
        snprintf(w->exec->fault.text, sizeof w->exec->fault.text,
                 "a barrier of the grid needs cudaLaunchCooperativeKernel");
        return;
    }
    w->block->has_arrivals = true;
    w->block->barriers[GRID_BARRIER].arrived += lanes_in(mask);
    w->moved = true;
    w->clock_was_last = false;
    g->state = GROUP_barrier;
    g->barrier = GRID_BARRIER;
    g->pc++;
    w->stop = true;
    grid_barrier_check(w->block);
}

void exec_barrier(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint32_t first = (uint32_t)__builtin_ctz(mask);
    const uint32_t id = slot_32(r, op->a)[first], expected = op->b ? slot_32(r, op->b)[first] : 0;
    if (id >= BARRIERS || expected % WARP_LANES) {
        warp_fault(w, PTX_FAULT_ILLEGAL_INSTRUCTION, op, mask, id, 0, false);
        return;
    }
    struct barrier *barrier = &w->block->barriers[id];
    const uint32_t count = lanes_in(mask);
    w->block->has_arrivals = true;
    if (expected && expected != w->exec->warps * WARP_LANES) {
        /* counts warps: the first lanes of one that come stand for all of it */
        barrier->expected = expected;
        barrier->arrived += barrier->warps & 1u << w->index ? 0 : WARP_LANES;
        barrier->warps |= 1u << w->index;
    } else {
        barrier->arrived += count;
    }
    if (op->sub >= BARRIER_popc) {
        barrier->votes += count;
        barrier->yes += (uint32_t)__builtin_popcount(*slot_32(r, op->c) & mask);
    }
    w->moved = true;
    w->clock_was_last = false;
    if (op->sub != BARRIER_arrive) {
        struct group *g = running(w);
        g->state = GROUP_barrier;
        g->barrier = id;
        g->pc++;
        w->stop = true;
    }
    barrier_check(w->block, id);
}

static bool is_at_warp_sync(const struct group *g)
{
    return g->state == GROUP_members && g->frame->func->code[g->pc].fn == exec_warp_sync;
}

/* Of a group at such an operation, the lanes all of whose members are in `there`. */
static uint32_t lanes_in_sync(const struct warp *w, const struct group *g, uint32_t there)
{
    const uint32_t *members = slot_32(g->frame->r, g->frame->func->code[g->pc].a);
    uint32_t complete = 0;
    EACH_LANE(i, g->mask)
    {
        complete |= members[i] & w->live & ~there ? 0 : 1u << i;
    }
    return complete;
}

/* Waits until all members are at such an operation, wherever that is. Each lane names its own: of a
 * group some may go on while others wait. */
void exec_warp_sync(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    struct group *const g = running(w);
    uint32_t there = mask;
    for (uint32_t i = 0; i < w->group_count; i++) {
        there |= is_at_warp_sync(&w->groups[i]) ? w->groups[i].mask : 0;
    }
    w->clock_was_last = false;
    w->stop = true;
    if (g->forced) {
        g->forced = false;
        warp_lacks(w, op);
        g->pc++;
        return;
    }
    g->state = GROUP_members;
    for (uint32_t i = 0, count = w->group_count; i < count; i++) {
        struct group *at = &w->groups[i];
        const uint32_t complete = is_at_warp_sync(at) ? lanes_in_sync(w, at, there) : 0;
        if (complete && complete == at->mask) {
            at->state = GROUP_ready;
            at->pc++;
        } else if (complete) {
            at->mask &= ~complete;
            group_add(w, at->frame, at->pc + 1, complete);
        }
    }
}
