/* Frames: register files with their constants and special registers, and local memory.
 *
 * A warp keeps the frames it is done with, and a block's next warp takes the one before's; then
 * only what differs is written. Naive model: a fresh register file each time. */
#include "ptx/warp.h"

#include <string.h>

#define FRAME_LEAST_BYTES 32u /* so that endless recursion ends */

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

static uint32_t lane_value(enum ptx_special special, uint32_t lane)
{
    const uint32_t bit = 1u << lane;
    switch (special) {
    case SPECIAL_lanemask_eq:
        return bit;
    case SPECIAL_lanemask_lt:
        return bit - 1;
    case SPECIAL_lanemask_le:
        return bit | (bit - 1);
    case SPECIAL_lanemask_gt:
        return ~(bit | (bit - 1));
    case SPECIAL_lanemask_ge:
        return ~(bit - 1);
    default:
        return lane;
    }
}

static void fill_special(const struct warp *w, char *r, const struct special_slot *s)
{
    switch (s->special) {
    case SPECIAL_tid_x:
    case SPECIAL_tid_y:
    case SPECIAL_tid_z:
        fill_tid(w, r, s->slot, (int)(s->special - SPECIAL_tid_x));
        break;
    case SPECIAL_laneid:
    case SPECIAL_lanemask_eq:
    case SPECIAL_lanemask_lt:
    case SPECIAL_lanemask_le:
    case SPECIAL_lanemask_gt:
    case SPECIAL_lanemask_ge:
        for (uint32_t i = 0; i < WARP_LANES; i++) {
            slot_32(r, s->slot)[i] = lane_value(s->special, i);
        }
        break;
    case SPECIAL_gridid:
        splat_64(r, s->slot, 0);
        break;
    default:
        splat_32(r, s->slot, special_value(w, s->special));
        break;
    }
}

/* Special registers [first, end) of a frame. */
static void fill_specials(const struct warp *w, struct frame *frame, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        fill_special(w, frame->r, &frame->func->specials[i]);
    }
}

/* What changed since the frame was used before. */
static void renew_specials(const struct warp *w, struct frame *frame)
{
    const uint32_t *end = frame->func->special_end;
    if (frame->warp_index != w->index) {
        fill_specials(w, frame, 0, end[SCOPE_warp]);
        frame->warp_index = w->index;
    }
    if (frame->block_serial != w->block->serial) {
        fill_specials(w, frame, end[SCOPE_warp], end[SCOPE_block]);
        frame->block_serial = w->block->serial;
    }
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
    fill_specials(w, frame, func->special_end[SCOPE_block], func->special_end[SCOPE_launch]);
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
    renew_specials(w, frame);
    if (parent) {
        parent->refs++;
    }
    return frame;
}

struct frame *frame_entry(struct warp *w)
{
    if (!w->entry) {
        w->entry = frame_push(w, w->exec->entry, NULL);
        if (!w->entry) {
            return NULL;
        }
        w->entry->refs = 1; /* the warp's */
    }
    renew_specials(w, w->entry);
    return w->entry;
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
