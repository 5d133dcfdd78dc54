/* One launch: its blocks, the order of its warps, faults, and the end.
 *
 * Blocks run one after the other, warps of a block in ascending order, each as far as it gets. Only
 * when everything that was started waits for something else is another block started beside it (up
 * to MAX_RESIDENT_BLOCKS, all of a cooperative launch), so that blocks may wait for each other;
 * when that doesn't help either, the launch is stuck. */
#include "ptx/exec.h"

#include "ptx/warp.h"

#include <stdio.h>
#include <string.h>

static const uint64_t never_changes;

struct ptx_exec *ptx_exec_create(const struct ptx_machine *machine, const struct ptx_launch *launch)
{
    struct ptx_exec *exec = mem_zalloc(1, sizeof *exec);
    if (!exec) {
        return NULL;
    }
    exec->machine = *machine;
    exec->launch = *launch;
    exec->entry = launch->kernel->code;
    exec->isa = lane_isa_get();
    exec->region_epoch = machine->region_epoch ? machine->region_epoch : &never_changes;
    exec->threads = launch->block[0] * launch->block[1] * launch->block[2];
    exec->warps = (exec->threads + WARP_LANES - 1) / WARP_LANES;
    exec->block_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    exec->shared_bytes = exec->entry->shared_bytes;
    if (launch->dynamic_shared_bytes || exec->entry->uses_dynamic_shared) {
        exec->shared_bytes = ((exec->shared_bytes + 15u) & ~15u) + launch->dynamic_shared_bytes;
    }
    const uint32_t param_bytes = launch->kernel->param_bytes;
    exec->params = mem_zalloc(1, param_bytes ? param_bytes : 1);
    exec->states = mem_zalloc(launch->module->funcs.count, sizeof *exec->states);
    exec->resident_most = launch->cooperative ? (uint32_t)exec->block_count : MAX_RESIDENT_BLOCKS;
    exec->resident = mem_zalloc(exec->resident_most, sizeof(struct block *));
    if (!exec->params || !exec->states || !exec->resident) {
        ptx_exec_destroy(exec);
        return NULL;
    }
    if (param_bytes) {
        memcpy(exec->params, launch->params, param_bytes);
    }
    exec->launch.params = NULL;
    if (launch->kernel->unresolved) {
        exec->fault.fault = PTX_FAULT_ILLEGAL_INSTRUCTION;
        snprintf(exec->fault.text, sizeof exec->fault.text, "function %.200s is not defined",
                 launch->kernel->unresolved);
    }
    return exec;
}

/* -- faults -- */

static void thread_index(const struct warp *w, uint32_t lane, uint32_t *index)
{
    const uint32_t *block = w->exec->launch.block;
    const uint32_t flat = w->index * WARP_LANES + lane;
    index[0] = flat % block[0];
    index[1] = flat / block[0] % block[1];
    index[2] = flat / block[0] / block[1];
}

void warp_fault(struct warp *w, enum ptx_fault fault, const struct op *op, uint32_t mask,
                uint64_t address, uint32_t size_bytes, bool is_write)
{
    struct ptx_fault_info *info = &w->exec->fault;
    w->stop = true;
    if (info->fault) {
        return;
    }
    *info = (struct ptx_fault_info){
        .fault = fault, .address = address, .size_bytes = size_bytes, .is_write = is_write};
    if (op) {
        info->at = w->exec->launch.module->lines.items[op->line];
    }
    thread_index(w, mask ? (uint32_t)__builtin_ctz(mask) : 0, info->thread);
    memcpy(info->block, w->block->index, sizeof info->block);
}

const struct ptx_fault_info *ptx_exec_fault(const struct ptx_exec *exec)
{
    return &exec->fault;
}

void warp_lacks(struct warp *w, const struct op *op)
{
    struct ptx_exec *exec = w->exec;
    if (!exec->is_lacking) {
        exec->is_lacking = true;
        exec->lacking = exec->launch.module->lines.items[op->line];
    }
}

const struct ptx_line *ptx_exec_lacking(const struct ptx_exec *exec)
{
    return exec->is_lacking ? &exec->lacking : NULL;
}

uint64_t ptx_exec_instructions(const struct ptx_exec *exec)
{
    return exec->instructions;
}

/* -- blocks -- */

static void block_free(struct block *block)
{
    mem_free(block->shared);
    mem_free(block->warps);
    mem_free(block);
}

static struct block *block_create(struct ptx_exec *exec)
{
    struct block *block = mem_zalloc(1, sizeof *block);
    if (!block) {
        return NULL;
    }
    block->shared = mem_alloc(exec->shared_bytes ? exec->shared_bytes : 1);
    block->warps = mem_zalloc(exec->warps, sizeof *block->warps);
    block->exec = exec;
    if (!block->shared || !block->warps) {
        block_free(block);
        return NULL;
    }
    return block;
}

/* Makes the next block of the grid resident; false when out of memory. */
static bool block_start(struct ptx_exec *exec)
{
    struct block *block = exec->free_blocks;
    if (block) {
        exec->free_blocks = block->next_free;
    } else {
        block = block_create(exec);
        if (!block) {
            exec->fault.fault = PTX_FAULT_NO_MEMORY;
            return false;
        }
    }
    const uint64_t flat = exec->next_block++;
    const uint32_t *grid = exec->launch.grid;
    block->index[0] = (uint32_t)(flat % grid[0]);
    block->index[1] = (uint32_t)(flat / grid[0] % grid[1]);
    block->index[2] = (uint32_t)(flat / grid[0] / grid[1]);
    block->serial = flat + 1;
    block->started = block->ended = 0;
    block->has_arrivals = block->is_at_grid_barrier = false;
    block->live_threads = exec->threads;
    memset(block->barriers, 0, sizeof block->barriers);
    memset(block->warps, 0, exec->warps * sizeof(struct warp *));
    memset(block->shared, 0xff, exec->shared_bytes); /* poison: nothing may rely on what is there */
    exec->resident[exec->resident_count++] = block;
    return true;
}

static void block_end(struct ptx_exec *exec, uint32_t index)
{
    struct block *block = exec->resident[index];
    block->next_free = exec->free_blocks;
    exec->free_blocks = block;
    exec->resident_count--;
    memmove(&exec->resident[index], &exec->resident[index + 1],
            (exec->resident_count - index) * sizeof *exec->resident);
}

static void warp_end(struct block *block, struct warp *w)
{
    struct ptx_exec *exec = w->exec;
    block->warps[w->index] = NULL;
    block->ended++;
    w->next_free = exec->free_warps;
    exec->free_warps = w;
    exec->progress++;
}

/* After a slice: did the warp get anywhere? The first slices are not looked at. */
static bool warp_progressed(struct warp *w)
{
    const bool progressed = !w->watch || w->moved || !w->polled;
    w->watch = true;
    w->moved = w->polled = false;
    if (progressed) {
        w->idle = 0;
        w->exec->progress++;
    } else {
        w->idle += w->slice;
    }
    return progressed;
}

enum block_result {
    BLOCK_ENDED,
    BLOCK_MOVED, /* something ran and got somewhere */
    BLOCK_IDLE,  /* all its warps wait or spin, none long enough to be stuck */
    BLOCK_STUCK,
    BLOCK_STOPPED
};

/* Runs a warp until it ends, parks, or makes no progress; true when it got anywhere. */
static bool warp_advance(struct warp *w, enum warp_result *how)
{
    bool moved = false;
    do {
        *how = warp_run(w);
        if (*how == WARP_YIELDED) {
            if (!warp_progressed(w)) {
                return moved;
            }
        }
        moved = true;
    } while (*how == WARP_YIELDED);
    return moved;
}

static bool has_ready_group(const struct warp *w)
{
    for (uint32_t i = 0; i < w->group_count; i++) {
        if (w->groups[i].state != GROUP_barrier) {
            return true;
        }
    }
    return false;
}

/* One round over the warps of a block. */
static enum block_result block_round(struct ptx_exec *exec, struct block *block)
{
    bool moved = false, all_stuck = true;
    for (uint32_t i = 0; i < exec->warps; i++) {
        struct warp *w = block->warps[i];
        if (!w) {
            if (i < block->started) {
                continue; /* ended */
            }
            w = warp_start(exec, block, i);
            if (!w) {
                exec->fault.fault = exec->fault.fault ? exec->fault.fault : PTX_FAULT_NO_MEMORY;
                return BLOCK_STOPPED;
            }
            block->warps[i] = w;
            block->started++;
        }
        if (!has_ready_group(w)) {
            continue;
        }
        if (w->seen_progress != exec->progress) { /* somebody did something: look again */
            w->idle = 0;
        }
        enum warp_result how;
        const bool went = warp_advance(w, &how);
        w->seen_progress = exec->progress;
        moved |= went;
        if (how == WARP_STOPPED) {
            return BLOCK_STOPPED;
        }
        if (how == WARP_ENDED) {
            warp_end(block, w);
        } else if (how == WARP_PARKED) {
            exec->progress++;
        } else {
            all_stuck &= w->idle >= STUCK_INSTRUCTIONS;
        }
    }
    if (block->ended == exec->warps) {
        return BLOCK_ENDED;
    }
    return moved ? BLOCK_MOVED : all_stuck ? BLOCK_STUCK : BLOCK_IDLE;
}

/* Says which word a stuck warp reads, or where one waits at a barrier. */
static void describe_stuck(struct ptx_exec *exec)
{
    struct ptx_fault_info *info = &exec->fault;
    *info = (struct ptx_fault_info){0};
    for (uint32_t b = 0; b < exec->resident_count; b++) {
        struct block *block = exec->resident[b];
        for (uint32_t i = 0; i < block->started; i++) {
            struct warp *w = block->warps[i];
            if (!w) {
                continue;
            }
            w->idle = 0; /* if it is called again it gets as long again */
            if (info->address || (info->at.line && has_ready_group(w) == false)) {
                continue;
            }
            const struct group *g = &w->groups[0];
            const bool spins = has_ready_group(w);
            const uint32_t line =
                spins ? w->poll_line : g->frame->func->code[g->pc ? g->pc - 1 : 0].line;
            info->at = exec->launch.module->lines.items[line];
            info->address = spins ? w->poll_address : 0;
            thread_index(w, (uint32_t)__builtin_ctz(g->mask), info->thread);
            memcpy(info->block, block->index, sizeof info->block);
        }
    }
}

enum ptx_state ptx_exec_run(struct ptx_exec *exec, uint64_t blocks)
{
    uint64_t ended = 0;
    while (!exec->fault.fault) {
        if (exec->resident_count == 0) {
            if (exec->next_block == exec->block_count) {
                return PTX_DONE;
            }
            if (blocks && ended >= blocks) {
                return PTX_RUNNING;
            }
            if (!block_start(exec)) {
                break;
            }
        }
        bool moved = false, all_stuck = true;
        for (uint32_t b = 0; b < exec->resident_count && !exec->fault.fault;) {
            const enum block_result result = block_round(exec, exec->resident[b]);
            moved |= result == BLOCK_ENDED || result == BLOCK_MOVED;
            all_stuck &= result == BLOCK_STUCK;
            if (result == BLOCK_ENDED) {
                block_end(exec, b);
                ended++;
            } else {
                b++;
            }
        }
        if (exec->fault.fault) {
            break;
        }
        if (exec->resident_count && !moved && all_stuck) {
            if (exec->next_block < exec->block_count &&
                exec->resident_count < exec->resident_most) {
                block_start(exec);
                continue;
            }
            describe_stuck(exec);
            return PTX_STUCK;
        }
    }
    return PTX_FAULTED;
}

/* -- the end -- */

static void sets_clear(struct ptx_exec *exec)
{
    for (size_t i = 0; i < exec->merged.count; i++) {
        observe_finish(exec->merged.items[i]);
        mem_free(exec->merged.items[i]);
    }
    for (size_t i = 0; i < exec->runs.count; i++) {
        VEC_FREE(&exec->runs.items[i]);
    }
    exec->merged.count = exec->runs.count = exec->sets.count = 0;
}

void ptx_exec_destroy(struct ptx_exec *exec)
{
    if (!exec) {
        return;
    }
    sets_clear(exec);
    VEC_FREE(&exec->merged);
    VEC_FREE(&exec->runs);
    VEC_FREE(&exec->sets);
    for (uint32_t b = 0; b < exec->resident_count; b++) {
        struct block *block = exec->resident[b];
        for (uint32_t i = 0; i < exec->warps; i++) {
            if (block->warps[i]) {
                warp_free(block->warps[i]);
            }
        }
        block_free(block);
    }
    while (exec->free_blocks) {
        struct block *next = exec->free_blocks->next_free;
        block_free(exec->free_blocks);
        exec->free_blocks = next;
    }
    while (exec->free_warps) {
        struct warp *next = exec->free_warps->next_free;
        warp_free(exec->free_warps);
        exec->free_warps = next;
    }
    for (size_t f = 0; exec->states && f < exec->launch.module->funcs.count; f++) {
        struct mem_state *mem = exec->states[f].mem;
        for (uint32_t i = 0; mem && i < exec->launch.module->funcs.items[f]->mem_count; i++) {
            observe_finish(&mem[i].observer);
        }
        mem_free(mem);
    }
    mem_free(exec->resident);
    mem_free(exec->states);
    mem_free(exec->params);
    mem_free(exec);
}

/* -- what was observed -- */

/* The merged observer of (line, access, width); made when it is the first. */
static struct observer *merged_of(struct ptx_exec *exec, struct map *index,
                                  const struct mem_state *s)
{
    const uint64_t key = (uint64_t)s->line << 16 | (uint64_t)s->access << 8 | s->width;
    const uint64_t *known = map_find(index, key);
    if (known) {
        return exec->merged.items[*known];
    }
    struct observer *made = mem_zalloc(1, sizeof *made);
    const struct ptx_access set = {.access = (enum ssan_access)s->access,
                                   .width = s->width,
                                   .at = exec->launch.module->lines.items[s->line]};
    const struct observed_runs none = {0};
    /* the three arrays grow together or not at all */
    if (!made || !VEC_RESERVE(&exec->merged, exec->merged.count + 1) ||
        !VEC_RESERVE(&exec->sets, exec->sets.count + 1) ||
        !VEC_RESERVE(&exec->runs, exec->runs.count + 1) ||
        !map_set(index, key, exec->merged.count)) {
        mem_free(made);
        return NULL;
    }
    (void)VEC_PUSH(&exec->sets, set);
    (void)VEC_PUSH(&exec->runs, none);
    (void)VEC_PUSH(&exec->merged, made);
    return made;
}

static bool merge_states(struct ptx_exec *exec)
{
    struct map index = {0};
    bool ok = true;
    for (size_t f = 0; f < exec->launch.module->funcs.count; f++) {
        struct mem_state *mem = exec->states[f].mem;
        for (uint32_t i = 0; mem && i < exec->launch.module->funcs.items[f]->mem_count; i++) {
            struct observer *to = mem[i].is_used ? merged_of(exec, &index, &mem[i]) : NULL;
            if (to) {
                observe_merge(to, &mem[i].observer);
            } else {
                ok &= !mem[i].is_used;
            }
        }
    }
    map_finish(&index);
    return ok;
}

bool ptx_exec_observed(struct ptx_exec *exec, const struct ptx_access **sets, size_t *count)
{
    sets_clear(exec);
    bool ok = merge_states(exec);
    for (size_t i = 0; i < exec->sets.count; i++) {
        struct observed_runs *runs = &exec->runs.items[i];
        struct observer *o = exec->merged.items[i];
        ok &= observe_close(o, runs);
        exec->sets.items[i].runs = (struct ssan_runs){runs->items, (uint32_t)runs->count};
        exec->sets.items[i].leaves = o->leaves.items;
        exec->sets.items[i].leaf_count = o->leaves.count;
    }
    *sets = exec->sets.items;
    *count = exec->sets.count;
    return ok;
}
