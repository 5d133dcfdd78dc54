/* Loads and stores of global memory.
 *
 * An access lies inside one live region or faults; the region is cached for each operation until
 * the machine's epoch changes. What is accessed is observed: one run for lanes side by side, one
 * stride for evenly spaced ones, else lane by lane. */
#include "ptx/mem_lanes.h"

static void note_use(struct mem_state *s, const struct op *op, enum ssan_access access)
{
    s->is_used = true;
    s->access = (uint8_t)access;
    s->width = (uint8_t)lane_bytes(op);
    s->line = op->line;
}

/* True when [at, at + size) lies in the live region that the operation knows, or that the machine
 * finds. */
static bool find_region(struct warp *w, struct mem_state *s, uint64_t at, uint64_t size,
                        bool writes)
{
    const struct ptx_machine *machine = &w->exec->machine;
    const uint64_t epoch = *w->exec->region_epoch;
    if (!s->has_region || s->epoch != epoch || at < s->region.begin || at >= s->region.end) {
        s->has_region =
            at >> WINDOW_SHIFT == 0 && machine->find_region(machine->self, at, &s->region);
        s->epoch = epoch;
        s->row_end = 0;
    }
    return s->has_region && at >= s->region.begin && at < s->region.end &&
           size <= s->region.end - at && (!writes || s->region.writable);
}

static unsigned char *host_of(const struct mem_state *s, uint64_t at)
{
    return (unsigned char *)(uintptr_t)(at + (uint64_t)s->region.delta);
}

/* Observes `total` bytes at each lane's address. */
static void observe_access(struct observer *o, const struct access *access, uint32_t total)
{
    const struct lane_shape *shape = access->shape;
    const uint64_t first = shape->lowest + access->imm;
    if (shape->kind == SHAPE_linear && shape->stride <= total) {
        observe_run(o, first, shape->highest + access->imm + total);
    } else if (shape->kind == SHAPE_linear) {
        observe_stride(o, first, total, shape->stride, WARP_LANES);
    } else {
        observe_lanes(o, access->address, access->mask, total, access->imm);
    }
}

/* All lanes in one live region: one check. False when they aren't. */
static bool global_scatter(struct warp *w, char *r, const struct access *access)
{
    const struct op *op = access->op;
    const struct lane_shape *shape = access->shape;
    struct mem_state *s = state_of(w, op);
    const uint32_t total = lane_bytes(op);
    if (!find_region(w, s, shape->lowest + access->imm, total, access->writes) ||
        !is_inside(shape, access->imm, total, s->region.begin, s->region.end)) {
        return false;
    }
    if (w->observe) { /* first: a load may overwrite its addresses */
        note_use(s, op, access->writes ? SSAN_access_WRITE : SSAN_access_READ);
        observe_access(&s->observer, access, total);
    }
    allow_rows(s, op, s->region.begin, s->region.end);
    move_lanes(w, r, access, access->imm + (uint64_t)s->region.delta);
    return true;
}

/* Lanes one by one, each checked. */
static void global_lanes(struct warp *w, char *r, const struct access *access)
{
    const struct op *op = access->op;
    struct mem_state *s = state_of(w, op);
    const uint32_t total = lane_bytes(op);
    uint64_t at[WARP_LANES];
    EACH_LANE(i, access->mask)
    {
        at[i] = access->address[i] + access->imm;
        if (at[i] & (total - 1)) {
            warp_fault(w, PTX_FAULT_MISALIGNED, op, 1u << i, at[i], total, access->writes);
            return;
        }
        if (find_region(w, s, at[i], total, access->writes)) {
            lane_move(w, r, op, i, host_of(s, at[i]), access->writes);
        } else if (!w->exec->launch.dry) { /* which observes only */
            warp_fault(w, PTX_FAULT_ILLEGAL_ADDRESS, op, 1u << i, at[i], total, access->writes);
            return;
        }
    }
    if (w->observe) {
        note_use(s, op, access->writes ? SSAN_access_WRITE : SSAN_access_READ);
        observe_lanes(&s->observer, at, access->mask, total, 0);
    }
}

void access_global(struct warp *w, char *r, const struct access *access)
{
    w->clock_was_last = false;
    if (!global_scatter(w, r, access)) {
        global_lanes(w, r, access);
    }
    if (w->watch && !w->stop) {
        watch_access(w, r, access);
    }
}

static void any_global(char *r, const struct op *op, uint32_t mask, struct warp *w, bool writes)
{
    struct lane_shape room;
    const struct access access = access_of(w, r, op, mask, writes, &room);
    access_global(w, r, &access);
}

void exec_load_global(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    any_global(r, op, mask, w, false);
}

void exec_store_global(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    any_global(r, op, mask, w, true);
}

unsigned char *mem_global_lane(struct warp *w, const struct op *op, uint32_t lane, uint64_t address,
                               uint32_t size, bool writes)
{
    struct mem_state *s = state_of(w, op);
    if (address & (size - 1)) {
        warp_fault(w, PTX_FAULT_MISALIGNED, op, 1u << lane, address, size, writes);
        return NULL;
    }
    if (!find_region(w, s, address, size, writes)) {
        if (!w->exec->launch.dry) {
            warp_fault(w, PTX_FAULT_ILLEGAL_ADDRESS, op, 1u << lane, address, size, writes);
        }
        return NULL;
    }
    return host_of(s, address);
}

void mem_note(struct warp *w, const struct op *op, uint32_t mask, const uint64_t *address,
              enum ssan_access access)
{
    struct mem_state *s = state_of(w, op);
    if (w->observe && mask) {
        note_use(s, op, access);
        observe_lanes(&s->observer, address, mask, lane_bytes(op), 0);
    }
}
