/* Loads and stores at generic addresses, told apart by their window, and cp.async. */
#include "ptx/mem_lanes.h"

/* The lanes in `mask`, all in one window; those in none are global and fault there. */
static void access_window(struct warp *w, char *r, struct access access, uint64_t window)
{
    if (window < WINDOW_CODE) {
        access.imm -= WINDOW_BASE(window);
    }
    switch (window) {
    case WINDOW_SHARED:
        access_shared(w, r, &access);
        break;
    case WINDOW_LOCAL:
        access_local(w, r, access.op, access.mask, access.address, access.imm, access.writes);
        break;
    case WINDOW_PARAM:
        access_bytes(w, r, &access, w->exec->params,
                     access.writes ? 0 : w->exec->entry->kernel.param_bytes);
        break;
    default:
        access_global(w, r, &access);
    }
}

static void any_generic(char *r, const struct op *op, uint32_t mask, struct warp *w, bool writes)
{
    struct lane_shape room;
    struct access access = access_of(w, r, op, mask, writes, &room);
    const uint64_t *address = access.address;
    const uint64_t lowest = access.shape->lowest + access.imm,
                   highest = access.shape->highest + access.imm;
    if (lowest <= highest && lowest >> WINDOW_SHIFT == highest >> WINDOW_SHIFT) {
        access_window(w, r, access, lowest >> WINDOW_SHIFT);
        return;
    }
    uint32_t in[WINDOW_CODE] = {0};
    EACH_LANE(i, mask)
    {
        const uint64_t window = (address[i] + access.imm) >> WINDOW_SHIFT;
        in[window < WINDOW_CODE ? window : WINDOW_GLOBAL] |= 1u << i;
    }
    uint64_t before[WARP_LANES]; /* a load may overwrite the addresses of lanes still to come */
    memcpy(before, address, sizeof before);
    access.address = before;
    access.shape = &room;
    for (uint64_t window = WINDOW_GLOBAL; window < WINDOW_CODE && !w->stop; window++) {
        if (in[window]) {
            access.mask = in[window];
            w->exec->isa->bounds(before, in[window], &room);
            access_window(w, r, access, window);
        }
    }
}

void exec_load_generic(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    any_generic(r, op, mask, w, false);
}

void exec_store_generic(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    any_generic(r, op, mask, w, true);
}

/* cp.async: reads min(source size, bytes), fills up with zeros. */
void exec_copy(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint64_t *to = slot_64(r, op->b), *from = slot_64(r, op->a);
    const uint32_t *limit = slot_32(r, op->c);
    uint64_t at[WARP_LANES] = {0};
    uint32_t done = 0;
    w->clock_was_last = false;
    EACH_LANE(i, mask)
    {
        unsigned char bytes[16] = {0};
        const uint32_t size = limit[i] < op->width ? limit[i] : op->width;
        at[i] = from[i] + (uint64_t)op->imm;
        const uint64_t end = w->exec->shared_bytes;
        if (to[i] >= end || op->width > end - to[i] || to[i] % op->width) {
            warp_fault(w, PTX_FAULT_ILLEGAL_ADDRESS, op, 1u << i, to[i], op->width, true);
            return;
        }
        const unsigned char *host =
            size ? mem_global_lane(w, op, i, at[i], op->width, false) : NULL;
        if (w->stop) {
            return;
        }
        if (host) {
            memcpy(bytes, host, size);
        }
        memcpy(w->block->shared + to[i], bytes, op->width);
        done |= size ? 1u << i : 0;
    }
    mem_note(w, op, done, at, SSAN_access_READ);
    w->moved = true;
}
