/* Groups of lanes and the loop that runs a warp. */
#include "ptx/warp.h"

#define NO_GROUP UINT32_MAX

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
    if (index != --w->group_count) {
        w->groups[index] = w->groups[w->group_count];
    }
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

/* The group that ran joins one that stands where it stands now; if both wait for other lanes, they
 * look again together. */
static void group_settle(struct warp *w)
{
    if (w->current == NO_GROUP) {
        return;
    }
    const struct group *g = &w->groups[w->current];
    if (g->state == GROUP_barrier) {
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

/* Of the groups in a state the one in the deepest frame, with the lowest pc; or, when `fair`, the
 * one that ran longest ago. */
static uint32_t group_choose(const struct warp *w, enum group_state state, bool fair)
{
    if (w->group_count == 1) {
        return w->groups[0].state == state ? 0 : NO_GROUP;
    }
    uint32_t best = NO_GROUP;
    for (uint32_t i = 0; i < w->group_count; i++) {
        const struct group *g = &w->groups[i];
        if (g->state != state) {
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

/* Nothing is ready: of the groups that wait for other lanes the one that is furthest behind goes on
 * with those that are there. The others may still get theirs. */
static bool release_members(struct warp *w)
{
    const uint32_t i = group_choose(w, GROUP_members, false);
    if (i == NO_GROUP) {
        return false;
    }
    w->groups[i].state = GROUP_ready;
    w->groups[i].forced = true;
    return true;
}

/* Where the running group may meet another: the nearest pc behind its own. */
static uint32_t meeting_point(const struct warp *w)
{
    if (w->group_count == 1) {
        return UINT32_MAX;
    }
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

/* Instructions executed: by the warp, and by its lanes. */
struct executed {
    uint64_t warp, lanes;
};

/* Lanes of the running group whose guard lets them execute `op`. */
static inline uint32_t guarded(char *r, const struct op *op, uint32_t mask)
{
    if (!op->guard) {
        return mask;
    }
    const uint32_t bits = *slot_32(r, op->guard & ~GUARD_NOT);
    return mask & (op->guard & GUARD_NOT ? ~bits : bits);
}

/* Lanes part at a branch: those in `active` take it. The group goes on behind it. */
static void diverge(struct warp *w, const struct op *op, uint32_t active)
{
    struct group *g = &w->groups[w->current];
    g->pc++;
    g->mask &= ~active;
    group_add(w, g->frame, op->aux, active);
}

/* An operation that may end, park or move the group, or part it from lanes that are not in
 * `active`. True when the same lanes go on behind it. */
static bool control(struct warp *w, const struct op *op, uint32_t active)
{
    const struct group *g = &w->groups[w->current];
    const bool splits = active != g->mask;
    if (splits) {
        split_group(w, active);
    }
    op->fn(g->frame->r, op, active, w);
    if (w->stop) {
        return false;
    }
    w->groups[w->current].pc++;
    return !splits;
}

/* Runs the current group until it meets another, parks, ends, faults, or `budget` operations are
 * over at a backward branch; the hot loop of the executor. Straight code, which has no guards, has
 * a loop of its own (bench_exec poly, matmul). */
static struct executed run_group(struct warp *w, uint64_t budget)
{
    struct group *const g = &w->groups[w->current];
    const struct op *const code = g->frame->func->code;
    char *const r = g->frame->r;
    const uint32_t mask = g->mask, stop_pc = meeting_point(w);
    const uint32_t lanes = lanes_in(mask);
    uint64_t skipped = 0; /* lane instructions that guards held back */
    uint64_t executed = 0;
    uint32_t pc = g->pc;
    w->mem = g->frame->mem;
    w->stop = false;
    while (pc < stop_pc) {
        const struct op *op = &code[pc];
        if (op->straight) {
            const uint32_t room = stop_pc - pc, count = op->straight < room ? op->straight : room;
            const struct op *const end = op + count;
            const uint32_t cost = op->cost;
            do {
                op->fn(r, op, mask, w);
            } while (++op < end && !w->stop);
            executed += cost - op->cost;
            pc += count;
            if (pc >= stop_pc || w->stop) {
                break;
            }
        }
        const uint32_t active = guarded(r, op, mask);
        executed += op->weight;
        if (active != mask) {
            skipped += op->weight * (uint64_t)(active ? lanes_in(mask & ~active) : lanes);
        }
        if (op->kind == OP_BRANCH && active == mask) {
            const bool back = op->aux <= pc;
            pc = op->aux;
            if (back && executed >= budget) {
                break;
            }
        } else if (!active) {
            pc++;
        } else if (op->kind == OP_MEMORY || op->kind == OP_LANE) {
            w->executed = executed;
            op->fn(r, op, active, w);
            if (w->stop) {
                break;
            }
            pc++;
        } else {
            w->executed = executed;
            g->pc = pc;
            if (op->kind == OP_BRANCH) {
                diverge(w, op, active);
                goto left;
            }
            if (!control(w, op, active)) {
                goto left;
            }
            pc++;
        }
    }
    g->pc = pc;
left:
    return (struct executed){executed, executed * lanes - skipped};
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
        uint32_t pick = group_choose(w, GROUP_ready, fair);
        if (pick == NO_GROUP) {
            if (release_members(w)) {
                continue;
            }
            return WARP_PARKED;
        }
        fair = false;
        w->current = pick;
        w->groups[pick].turn = ++w->turn;
        const struct executed executed = run_group(w, SLICE_INSTRUCTIONS);
        w->slice += executed.warp;
        w->executed = 0;
        w->exec->instructions += executed.lanes;
        if (w->exec->machine.clock) {
            *w->exec->machine.clock += executed.warp;
        }
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
    struct frame *frame = frame_entry(w);
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
