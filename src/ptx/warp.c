/* Groups, frames and the loop that runs a warp. */
#include "ptx/warp.h"

#include <string.h>

#define NO_GROUP          UINT32_MAX
#define FRAME_LEAST_BYTES 32u /* so that endless recursion ends */

/* -- frames -- */

static void splat_32(char *r, uint32_t slot, uint32_t value)
{
    uint32_t *lanes = slot_32(r, slot);
    for (int i = 0; i < WARP_LANES; i++) {
        lanes[i] = value;
    }
}

static void splat_64(char *r, uint32_t slot, uint64_t value)
{
    uint64_t *lanes = slot_64(r, slot);
    for (int i = 0; i < WARP_LANES; i++) {
        lanes[i] = value;
    }
}

/* The value of a parameter of the entry, extended to its slot. */
static uint64_t param_value(const struct ptx_exec *exec, const struct const_slot *c)
{
    uint64_t bits = 0;
    memcpy(&bits, exec->params + c->value, c->index);
    if (c->reloc == RELOC_param_signed && c->index < 8) {
        const uint32_t unused = 64 - 8 * c->index;
        bits = (uint64_t)((int64_t)(bits << unused) >> unused);
    }
    return bits;
}

static void fill_consts(const struct ptx_exec *exec, const struct func *func, char *r)
{
    for (uint32_t i = 0; i < func->const_count; i++) {
        const struct const_slot *c = &func->consts[i];
        uint64_t value = c->value;
        if (c->reloc == RELOC_global) {
            value += exec->launch.module->globals.items[c->index]->pub.address;
        } else if (c->reloc == RELOC_dynamic_shared) {
            value += (exec->entry->shared_bytes + 15u) & ~15u;
        } else if (c->reloc == RELOC_param || c->reloc == RELOC_param_signed) {
            value = param_value(exec, c);
        }
        if (c->bytes == 8) {
            splat_64(r, c->slot, value);
        } else {
            splat_32(r, c->slot, (uint32_t)value);
        }
    }
}

/* Thread indices: axis 0 x, 1 y, 2 z. */
static void fill_tid(const struct warp *w, char *r, uint32_t slot, int axis)
{
    const uint32_t *block = w->exec->launch.block;
    uint32_t *lanes = slot_32(r, slot);
    const uint32_t first = w->index * WARP_LANES;
    if (block[1] == 1 && block[2] == 1) {
        for (uint32_t i = 0; i < WARP_LANES; i++) {
            lanes[i] = axis == 0 ? first + i : 0;
        }
        return;
    }
    uint32_t at[3] = {first % block[0], first / block[0] % block[1], first / block[0] / block[1]};
    for (uint32_t i = 0; i < WARP_LANES; i++) {
        lanes[i] = at[axis];
        if (++at[0] == block[0]) {
            at[0] = 0;
            if (++at[1] == block[1]) {
                at[1] = 0;
                at[2]++;
            }
        }
    }
}

static uint32_t special_value(const struct warp *w, enum ptx_special special)
{
    const struct ptx_exec *exec = w->exec;
    switch (special) {
    case SPECIAL_ntid_x:
    case SPECIAL_ntid_y:
    case SPECIAL_ntid_z:
        return exec->launch.block[special - SPECIAL_ntid_x];
    case SPECIAL_ctaid_x:
    case SPECIAL_ctaid_y:
    case SPECIAL_ctaid_z:
        return w->block->index[special - SPECIAL_ctaid_x];
    case SPECIAL_nctaid_x:
    case SPECIAL_nctaid_y:
    case SPECIAL_nctaid_z:
        return exec->launch.grid[special - SPECIAL_nctaid_x];
    case SPECIAL_warpid:
        return w->index;
    case SPECIAL_nwarpid:
        return exec->warps;
    case SPECIAL_nsmid:
        return 1;
    case SPECIAL_dynamic_smem_size:
        return exec->launch.dynamic_shared_bytes;
    case SPECIAL_total_smem_size:
        return exec->shared_bytes;
    default:
        return 0; /* one multiprocessor, one grid at a time */
    }
}

static void fill_lane_special(char *r, const struct special_slot *s)
{
    uint32_t *lanes = slot_32(r, s->slot);
    for (uint32_t i = 0; i < WARP_LANES; i++) {
        const uint32_t bit = 1u << i;
        lanes[i] = s->special == SPECIAL_laneid        ? i
                   : s->special == SPECIAL_lanemask_eq ? bit
                   : s->special == SPECIAL_lanemask_lt ? bit - 1
                   : s->special == SPECIAL_lanemask_le ? bit | (bit - 1)
                   : s->special == SPECIAL_lanemask_gt ? ~(bit | (bit - 1))
                                                       : ~(bit - 1);
    }
}

/* Special registers of a frame that its warp has not used since it started. What didn't change
 * stays. */
static void fill_specials(struct warp *w, struct frame *frame)
{
    const struct func *func = frame->func;
    for (uint32_t i = 0; i < func->special_count; i++) {
        const struct special_slot *s = &func->specials[i];
        switch (s->special) {
        case SPECIAL_tid_x:
        case SPECIAL_tid_y:
        case SPECIAL_tid_z:
            if (frame->warp_index != w->index) {
                fill_tid(w, frame->r, s->slot, (int)(s->special - SPECIAL_tid_x));
            }
            break;
        case SPECIAL_laneid:
        case SPECIAL_lanemask_eq:
        case SPECIAL_lanemask_lt:
        case SPECIAL_lanemask_le:
        case SPECIAL_lanemask_gt:
        case SPECIAL_lanemask_ge:
            if (frame->block_serial == 0) {
                fill_lane_special(frame->r, s);
            }
            break;
        case SPECIAL_gridid:
            splat_64(frame->r, s->slot, 0);
            break;
        case SPECIAL_warpid:
            splat_32(frame->r, s->slot, w->index);
            break;
        default:
            if (frame->block_serial != w->block->serial) {
                splat_32(frame->r, s->slot, special_value(w, s->special));
            }
            break;
        }
    }
    frame->warp_index = w->index;
    frame->block_serial = w->block->serial;
}

static struct mem_state *states_of(struct ptx_exec *exec, const struct func *func)
{
    struct func_state *state = &exec->states[func->index];
    if (!state->mem) {
        state->mem = mem_zalloc(func->mem_count ? func->mem_count : 1, sizeof *state->mem);
    }
    return state->mem;
}

static struct frame *frame_create(struct warp *w, const struct func *func)
{
    char *memory = mem_zalloc(1, sizeof(struct frame) + func->file_bytes + 64);
    if (!memory) {
        return NULL;
    }
    struct frame *frame = (struct frame *)(void *)memory;
    frame->func = func;
    frame->r = memory + (((uintptr_t)memory + sizeof *frame + 63) / 64 * 64 - (uintptr_t)memory);
    frame->mem = states_of(w->exec, func);
    frame->warp_index = UINT32_MAX;
    frame->all = w->frames;
    if (!frame->mem) {
        mem_free(memory);
        return NULL;
    }
    w->frames = frame;
    fill_consts(w->exec, func, frame->r);
    return frame;
}

struct frame *frame_push(struct warp *w, const struct func *func, struct frame *parent)
{
    struct frame **at = &w->free_frames;
    while (*at && (*at)->func != func) {
        at = &(*at)->parent;
    }
    struct frame *frame = *at;
    if (frame) {
        *at = frame->parent;
    } else {
        frame = frame_create(w, func);
        if (!frame) {
            return NULL;
        }
    }
    frame->parent = parent;
    frame->depth = parent ? parent->depth + 1 : 0;
    frame->refs = 0;
    frame->local_base = parent ? parent->local_end : 0;
    const uint32_t bytes =
        parent && func->local_bytes < FRAME_LEAST_BYTES ? FRAME_LEAST_BYTES : func->local_bytes;
    frame->local_end = frame->local_base + ((bytes + 15u) & ~15u);
    if (frame->warp_index != w->index || frame->block_serial != w->block->serial) {
        fill_specials(w, frame);
    }
    if (parent) {
        parent->refs++;
    }
    return frame;
}

void frame_unref(struct warp *w, struct frame *frame)
{
    while (frame && --frame->refs == 0) {
        struct frame *parent = frame->parent;
        frame->parent = w->free_frames;
        w->free_frames = frame;
        frame = parent;
    }
}

bool warp_local(struct warp *w, uint64_t bytes, const struct op *op)
{
    const uint64_t words = (bytes + 3) / 4;
    if (words <= w->local_words) {
        return true;
    }
    if (bytes > (512u << 10)) { /* CUDA's limit: the stack overflows */
        warp_fault(w, PTX_FAULT_ILLEGAL_ADDRESS, op, w->live, bytes, 4, true);
        return false;
    }
    uint64_t room = w->local_words ? w->local_words : 64;
    while (room < words) {
        room *= 2;
    }
    uint32_t *grown = mem_resize(w->local, room * WARP_LANES, sizeof *grown);
    if (!grown) {
        warp_fault(w, PTX_FAULT_NO_MEMORY, op, w->live, 0, 0, false);
        return false;
    }
    memset(grown + (size_t)w->local_words * WARP_LANES, 0xff,
           (room - w->local_words) * WARP_LANES * sizeof *grown);
    w->local = grown;
    w->local_words = (uint32_t)room;
    return true;
}

/* -- groups -- */

struct group *group_add(struct warp *w, struct frame *frame, uint32_t pc, uint32_t mask)
{
    for (uint32_t i = 0; i < w->group_count; i++) {
        struct group *g = &w->groups[i];
        if (g->pc == pc && g->frame == frame && g->state != GROUP_barrier && i != w->current) {
            g->mask |= mask;
            g->state = GROUP_ready;
            return g;
        }
    }
    struct group *g = &w->groups[w->group_count++];
    *g = (struct group){.frame = frame, .pc = pc, .mask = mask};
    frame->refs++;
    return g;
}

static void group_remove(struct warp *w, uint32_t index)
{
    struct frame *frame = w->groups[index].frame;
    w->groups[index] = w->groups[--w->group_count];
    frame_unref(w, frame);
}

bool group_leave(struct warp *w, uint32_t mask)
{
    struct group *g = &w->groups[w->current];
    g->mask &= ~mask;
    if (g->mask) {
        return false;
    }
    group_remove(w, w->current);
    w->current = NO_GROUP;
    return true;
}

/* The group that ran joins one that waits where it stands now. */
static void group_settle(struct warp *w)
{
    if (w->current == NO_GROUP) {
        return;
    }
    const struct group *g = &w->groups[w->current];
    if (g->state != GROUP_ready) {
        return;
    }
    for (uint32_t i = 0; i < w->group_count; i++) {
        struct group *other = &w->groups[i];
        if (i != w->current && other->pc == g->pc && other->frame == g->frame &&
            other->state != GROUP_barrier) {
            other->mask |= g->mask;
            other->state = GROUP_ready;
            group_remove(w, w->current);
            return;
        }
    }
}

/* Deepest frame, lowest pc; or, when `fair`, the one that ran longest ago. */
static uint32_t group_choose(const struct warp *w, bool fair)
{
    uint32_t best = NO_GROUP;
    for (uint32_t i = 0; i < w->group_count; i++) {
        const struct group *g = &w->groups[i];
        if (g->state != GROUP_ready) {
            continue;
        }
        if (best == NO_GROUP) {
            best = i;
            continue;
        }
        const struct group *b = &w->groups[best];
        const bool first = fair ? g->turn < b->turn
                                : g->frame->depth > b->frame->depth ||
                                      (g->frame->depth == b->frame->depth && g->pc < b->pc);
        best = first ? i : best;
    }
    return best;
}

/* Nothing is ready: groups that wait for other lanes go on with those that are there. */
static bool release_members(struct warp *w)
{
    bool any = false;
    for (uint32_t i = 0; i < w->group_count; i++) {
        if (w->groups[i].state == GROUP_members) {
            w->groups[i].state = GROUP_ready;
            w->groups[i].forced = true;
            any = true;
        }
    }
    return any;
}

/* Where the running group may meet another: the nearest pc behind its own. */
static uint32_t meeting_point(const struct warp *w)
{
    const struct group *g = &w->groups[w->current];
    uint32_t nearest = UINT32_MAX;
    for (uint32_t i = 0; i < w->group_count; i++) {
        const struct group *other = &w->groups[i];
        if (other->frame == g->frame && other->pc > g->pc && other->pc < nearest &&
            other->state != GROUP_barrier) {
            nearest = other->pc;
        }
    }
    return nearest;
}

/* -- the loop -- */

/* Lanes outside `active` stay behind the operation at g->pc; the group keeps the others. */
static void split_group(struct warp *w, uint32_t active)
{
    struct group *g = &w->groups[w->current];
    const uint32_t rest = g->mask & ~active;
    g->mask = active;
    group_add(w, g->frame, g->pc + 1, rest);
}

/* Runs the current group until it meets another, parks, ends, faults, or `budget` operations are
 * over at a backward branch. Stores the number of lane instructions; the hot loop of the executor.
 */
static void run_group(struct warp *w, uint64_t budget)
{
    struct group *const g = &w->groups[w->current];
    const struct op *const code = g->frame->func->code;
    char *const r = g->frame->r;
    const uint32_t mask = g->mask, stop_pc = meeting_point(w);
    const uint32_t lanes = mask == FULL_MASK ? WARP_LANES : (uint32_t)__builtin_popcount(mask);
    uint64_t executed = 0, lane_count = 0;
    uint32_t pc = g->pc;
    w->mem = g->frame->mem;
    w->stop = false;
    while (pc < stop_pc) {
        const struct op *op = &code[pc];
        uint32_t active = mask;
        if (op->guard) {
            const uint32_t bits = *slot_32(r, op->guard & ~GUARD_NOT);
            active &= op->guard & GUARD_NOT ? ~bits : bits;
        }
        executed++;
        if (!active) {
            pc++;
            continue;
        }
        lane_count += active == mask ? lanes : (uint32_t)__builtin_popcount(active);
        if (op->kind == OP_NOTHING) {
            pc++;
        } else if (op->kind == OP_LANE) {
            op->fn(r, op, active, w);
            pc++;
        } else if (op->kind == OP_MEMORY) {
            w->executed = executed;
            op->fn(r, op, active, w);
            if (w->stop) {
                break;
            }
            pc++;
        } else if (op->kind == OP_BRANCH) {
            if (active != mask) {
                g->pc = pc + 1;
                g->mask = mask & ~active;
                group_add(w, g->frame, op->aux, active);
                goto done;
            }
            const bool back = op->aux <= pc;
            pc = op->aux;
            if (back && executed >= budget) {
                break;
            }
        } else {
            const bool splits = active != mask;
            w->executed = executed;
            g->pc = pc;
            if (splits) {
                split_group(w, active);
            }
            op->fn(r, op, active, w);
            if (w->stop) {
                goto done;
            }
            pc++;
            if (splits) {
                break;
            }
        }
    }
    g->pc = pc;
done:
    w->slice += executed;
    w->exec->instructions += lane_count;
    if (w->exec->machine.clock) {
        *w->exec->machine.clock += executed;
    }
    w->executed = 0;
}

enum warp_result warp_run(struct warp *w)
{
    w->slice = 0;
    bool fair = w->was_cut;
    w->was_cut = false;
    for (;;) {
        if (w->group_count == 0) {
            return WARP_ENDED;
        }
        uint32_t pick = group_choose(w, fair);
        if (pick == NO_GROUP) {
            if (release_members(w)) {
                continue;
            }
            return WARP_PARKED;
        }
        fair = false;
        w->current = pick;
        w->groups[pick].turn = ++w->turn;
        run_group(w, SLICE_INSTRUCTIONS);
        if (w->exec->fault.fault) {
            return WARP_STOPPED;
        }
        group_settle(w);
        if (w->slice >= SLICE_INSTRUCTIONS) {
            /* another group goes first the next time, so that lanes which spin on a lock let its
             * holder run */
            w->was_cut = !w->was_fair;
            w->was_fair = w->was_cut;
            return WARP_YIELDED;
        }
    }
}

/* -- life -- */

struct warp *warp_start(struct ptx_exec *exec, struct block *block, uint32_t index)
{
    struct warp *w = exec->free_warps;
    if (w) {
        exec->free_warps = w->next_free;
    } else {
        w = mem_zalloc(1, sizeof *w);
        if (!w) {
            return NULL;
        }
    }
    w->exec = exec;
    w->block = block;
    w->index = index;
    const uint32_t first = index * WARP_LANES, left = exec->threads - first;
    w->live = left >= WARP_LANES ? FULL_MASK : (1u << left) - 1;
    w->group_count = 0;
    w->current = NO_GROUP;
    w->watch = w->polled = w->moved = w->was_cut = w->was_fair = false;
    w->idle = 0;
    w->clock_step = 1;
    w->clock_was_last = false;
    w->observe = exec->launch.observe;
    struct frame *frame = frame_push(w, exec->entry, NULL);
    if (!frame || (frame->local_end && !warp_local(w, frame->local_end, NULL))) {
        warp_free(w);
        return NULL;
    }
    group_add(w, frame, 0, w->live);
    return w;
}

void warp_free(struct warp *w)
{
    while (w->frames) {
        struct frame *next = w->frames->all;
        mem_free(w->frames);
        w->frames = next;
    }
    mem_free(w->local);
    mem_free(w);
}
