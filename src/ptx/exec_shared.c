/* Loads and stores of memory that is one array of bytes here: shared memory, and the parameters of
 * an entry. Nothing of it is observed. */
#include "ptx/mem_lanes.h"

/* Lanes one by one, each checked. */
static void byte_lanes(struct warp *w, char *r, const struct access *access, unsigned char *bytes,
                       uint64_t limit)
{
    const uint32_t total = lane_bytes(access->op);
    EACH_LANE(i, access->mask)
    {
        const uint64_t at = access->address[i] + access->imm;
        const bool is_outside = at >= limit || total > limit - at;
        if (is_outside || (at & (total - 1))) {
            warp_fault(w, is_outside ? PTX_FAULT_ILLEGAL_ADDRESS : PTX_FAULT_MISALIGNED, access->op,
                       1u << i, at, total, access->writes);
            return;
        }
        lane_move(w, r, access->op, i, bytes + at, access->writes);
    }
}

void access_bytes(struct warp *w, char *r, const struct access *access, unsigned char *bytes,
                  uint64_t limit)
{
    w->clock_was_last = false;
    if (is_inside(access->shape, access->imm, lane_bytes(access->op), 0, limit)) {
        move_lanes(w, r, access, access->imm + (uint64_t)(uintptr_t)bytes);
    } else {
        byte_lanes(w, r, access, bytes, limit);
    }
}

void access_shared(struct warp *w, char *r, const struct access *access)
{
    access_bytes(w, r, access, w->block->shared, w->exec->shared_bytes);
    if (w->watch && !w->stop) {
        watch_access(w, r, access);
    }
}

static void any_shared(char *r, const struct op *op, uint32_t mask, struct warp *w, bool writes)
{
    struct lane_shape room;
    uint64_t low[WARP_LANES];
    struct access access = access_of(w, r, op, mask, writes, &room);
    allow_rows(state_of(w, op), op, 0, w->exec->shared_bytes);
    if (!is_inside(access.shape, access.imm, lane_bytes(op), 0, w->exec->shared_bytes)) {
        /* Addresses of shared memory have 32 bits: of a wider register the others don't count
         * (PTX ISA, "Addresses as Operands"). */
        EACH_LANE(i, mask)
        {
            low[i] = (uint32_t)(access.address[i] + access.imm) - access.imm;
        }
        access.address = low;
    }
    access_shared(w, r, &access);
}

void exec_load_shared(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    any_shared(r, op, mask, w, false);
}

void exec_store_shared(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    any_shared(r, op, mask, w, true);
}

void exec_load_param(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint64_t at = (uint64_t)op->imm, limit = w->exec->entry->kernel.param_bytes;
    const uint32_t total = lane_bytes(op);
    if (at >= limit || total > limit - at) {
        warp_fault(w, PTX_FAULT_ILLEGAL_ADDRESS, op, mask, at, total, false);
        return;
    }
    EACH_LANE(i, mask)
    {
        lane_move(w, r, op, i, w->exec->params + at, false);
    }
}
