/* Loads and stores of a warp: what the files exec_global.c, exec_shared.c, exec_local.c and
 * exec_generic.c share.
 *
 * An access goes the first of three ways that fits. Rows: a full warp, one element of 4 or 8 bytes
 * a lane, eight neighbouring lanes each time side by side or at one place; one check, four moves
 * (lanes_rows.h). Lanes in one piece of memory: one check, each value moved on its own. Lanes one
 * by one, each checked, which also finds the lane that faults. Naive model: the last way, always.
 */
#ifndef SSAN_PTX_MEM_LANES_H
#define SSAN_PTX_MEM_LANES_H

#include "ptx/warp.h"

#include <string.h>

/* One access of a warp; `address` is without `imm`. */
struct access {
    const struct op *op;
    const uint64_t *address;
    const struct lane_shape *shape; /* of the lanes in `mask` */
    uint64_t imm;
    uint32_t mask;
    bool writes;
};

static inline struct mem_state *state_of(struct warp *w, const struct op *op)
{
    return &w->mem[op->aux];
}

/* Bytes of one lane. */
static inline uint32_t lane_bytes(const struct op *op)
{
    return (uint32_t)op->width * op->count;
}

/* Slot of element `e` of a load or store. */
static inline uint32_t element_slot(const struct warp *w, const struct op *op, uint32_t e)
{
    return op->count == 1 ? op->dst : w->groups[w->current].frame->func->pool[op->dst + e];
}

/* How the addresses of a full warp lie; computed, unless an operation before this one has it. */
static inline const struct lane_shape *warp_shape(struct warp *w, const uint64_t *address,
                                                  const struct op *op)
{
    struct lane_shape *shape = &w->shapes[op->shape % WARP_SHAPES];
    if (!(op->shape & SHAPE_KNOWN)) {
        w->exec->isa->find_shape(address, shape);
    }
    return shape;
}

/* The same for any mask; `room` is used where it isn't full. */
static inline const struct lane_shape *access_shape(struct warp *w, const struct op *op,
                                                    uint32_t mask, const uint64_t *address,
                                                    struct lane_shape *room)
{
    if (mask == FULL_MASK) {
        return warp_shape(w, address, op);
    }
    w->exec->isa->bounds(address, mask, room);
    return room;
}

/* What a load or store asks for; `room` as above, and as long as the access. */
static inline struct access access_of(struct warp *w, char *r, const struct op *op, uint32_t mask,
                                      bool writes, struct lane_shape *room)
{
    const uint64_t *address = slot_64(r, op->a);
    return (struct access){.op = op,
                           .address = address,
                           .shape = access_shape(w, op, mask, address, room),
                           .imm = (uint64_t)op->imm,
                           .mask = mask,
                           .writes = writes};
}

/* Lets the operation move rows in [begin, end), where its lanes just were. */
static inline void allow_rows(struct mem_state *s, const struct op *op, uint64_t begin,
                              uint64_t end)
{
    const int64_t most = INT64_C(1) << (WINDOW_SHIFT - 1); /* so that nothing wraps */
    if (!op->in_rows || op->imm <= -most || op->imm >= most || end >= (uint64_t)most) {
        return;
    }
    const int64_t first = (int64_t)begin - op->imm, last = (int64_t)end - op->imm - op->width;
    if (last >= 0) {
        s->row_begin = first > 0 ? (uint64_t)first : 0;
        s->row_end = (uint64_t)last + 1;
    }
}

/* True when all lanes, `size` bytes each, lie in [begin, end) and are aligned to their size. */
static inline bool is_inside(const struct lane_shape *shape, uint64_t imm, uint32_t size,
                             uint64_t begin, uint64_t end)
{
    const uint64_t first = shape->lowest + imm, last = shape->highest + imm;
    return ((shape->bits | imm) & (size - 1)) == 0 && first <= last && first >= begin &&
           last < end && size <= end - last;
}

/* mem_lanes.c: one element of one lane, from memory to its slot and back. */
void lane_in(char *r, uint32_t slot, uint32_t lane, const struct op *op, const unsigned char *from);
void lane_out(char *r, uint32_t slot, uint32_t lane, const struct op *op, unsigned char *to);
/* All elements of one lane. */
void lane_move(const struct warp *w, char *r, const struct op *op, uint32_t lane, unsigned char *at,
               bool writes);
/* All lanes of the access in any order in memory; `host` is what to add to its addresses. */
void move_lanes(struct warp *w, char *r, const struct access *access, uint64_t host);
/* In a warp that runs long: did this access see or make anything new? */
void watch_access(struct warp *w, char *r, const struct access *access);

/* exec_global.c, exec_shared.c, exec_local.c */
void access_global(struct warp *w, char *r, const struct access *access);
void access_shared(struct warp *w, char *r, const struct access *access);
/* One array of bytes that ends at `limit`. */
void access_bytes(struct warp *w, char *r, const struct access *access, unsigned char *bytes,
                  uint64_t limit);
void access_local(struct warp *w, char *r, const struct op *op, uint32_t mask,
                  const uint64_t *address, uint64_t imm, bool writes);

#endif
