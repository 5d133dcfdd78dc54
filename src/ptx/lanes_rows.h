/* Loads and stores of a full warp in rows, for lanes.c only, which is built once for each kind of
 * processor.
 *
 * Fast path of exec_global.c, exec_shared.c and exec_generic.c: each group of eight lanes reads or
 * writes eight neighbouring values, or reads one, and all of that lies where the operation has been
 * before (allow_rows). So one check and four moves do for 32 lanes, and one observed run. */
#ifndef SSAN_PTX_LANES_ROWS_H
#define SSAN_PTX_LANES_ROWS_H

#include "ptx/lanes_access.h"
#include "ptx/mem_lanes.h"

/* True when all lanes stand where the operation may move rows. */
static inline bool is_in_rows(const struct mem_state *s, const struct lane_shape *shape,
                              uint32_t width)
{
    return (shape->bits & (width - 1)) == 0 && shape->lowest >= s->row_begin &&
           shape->highest < s->row_end;
}

static inline void observe_rows(const struct warp *w, struct mem_state *s,
                                const struct lane_shape *shape, uint64_t imm, uint32_t width)
{
    if (!w->observe) {
        return;
    }
    if (shape->kind == SHAPE_linear) {
        observe_run(&s->observer, shape->lowest + imm, shape->highest + imm + width);
    } else {
        observe_groups(&s->observer, shape, imm, width);
    }
}

/* Eight lanes of 4 bytes, or four of 8, of any alignment. */
typedef uint8_t row __attribute__((vector_size(32), aligned(1), may_alias));
#define ROW_BYTES 32u

static inline void copy_row(char *to, const char *from)
{
    *(row *)to = *(const row *)from;
}

/* `host` is what to add to an address to have it here. */
static inline void load_rows(char *slot, const struct lane_shape *shape, uint64_t host,
                             uint32_t width)
{
    for (uint32_t g = 0; g < LANE_GROUPS; g++, slot += GROUP_LANES * width) {
        const char *from = (const char *)(uintptr_t)(shape->base[g] + host);
        copy_row(slot, from);
        if (width == 8) {
            copy_row(slot + ROW_BYTES, from + ROW_BYTES);
        }
    }
}

static inline void store_rows(const char *slot, const struct lane_shape *shape, uint64_t host,
                              uint32_t width)
{
    for (uint32_t g = 0; g < LANE_GROUPS; g++, slot += GROUP_LANES * width) {
        char *to = (char *)(uintptr_t)(shape->base[g] + host);
        copy_row(to, slot);
        if (width == 8) {
            copy_row(to + ROW_BYTES, slot + ROW_BYTES);
        }
    }
}

/* One value for each group. */
static inline void spread_rows(char *slot, const struct lane_shape *shape, uint64_t host,
                               uint32_t width)
{
    for (uint32_t g = 0; g < LANE_GROUPS; g++, slot += GROUP_LANES * width) {
        const void *from = (const void *)(uintptr_t)(shape->base[g] + host);
        const uint32_t narrow = width == 4 ? *(const slot_u32 *)from : 0;
        const uint64_t wide = width == 8 ? *(const slot_u64 *)from : 0;
        for (int i = 0; width == 4 && i < GROUP_LANES; i++) {
            ((slot_u32 *)(void *)slot)[i] = narrow;
        }
        for (int i = 0; width == 8 && i < GROUP_LANES; i++) {
            ((slot_u64 *)(void *)slot)[i] = wide;
        }
    }
}

static inline bool is_known(const struct warp *w, const struct mem_state *s)
{
    return s->epoch == *w->exec->region_epoch;
}

static inline uint64_t host_delta(const struct warp *w, const struct mem_state *s, bool is_global)
{
    return is_global ? (uint64_t)s->region.delta : (uint64_t)(uintptr_t)w->block->shared;
}

static inline struct lane_shape *shape_at(struct warp *w, const struct op *op)
{
    return &w->shapes[op->shape % WARP_SHAPES];
}

/* Split: nearly all accesses of kernels are rows of a full warp (bench_exec scale, add, matmul);
 * partial warps, warps that run long and are watched, other patterns, other memory than before and
 * whatever faults go to the handler that takes everything. Both calls are in last place, so that
 * the fast path needs no stack. Operations that find the shape of their base have a handler of
 * their own, for the same reason. */
#define ROWS(name, width, writes, is_global, any)                                                  \
    static void name(char *r, const struct op *op, uint32_t mask, struct warp *w)                  \
    {                                                                                              \
        const struct lane_shape *shape = shape_at(w, op);                                          \
        struct mem_state *s = state_of(w, op);                                                     \
        const uint64_t host = (uint64_t)op->imm + host_delta(w, s, is_global);                     \
        if (__builtin_expect(mask != FULL_MASK || w->watch || !is_in_rows(s, shape, width) ||      \
                                 ((is_global) && !is_known(w, s)),                                 \
                             0)) {                                                                 \
            any(r, op, mask, w);                                                                   \
            return;                                                                                \
        }                                                                                          \
        if (shape->stride == (width) && (writes)) {                                                \
            store_rows(r + op->dst, shape, host, width);                                           \
        } else if (shape->stride == (width)) {                                                     \
            load_rows(r + op->dst, shape, host, width);                                            \
        } else if (shape->stride == 0 && !(writes)) {                                              \
            spread_rows(r + op->dst, shape, host, width);                                          \
        } else {                                                                                   \
            any(r, op, mask, w);                                                                   \
            return;                                                                                \
        }                                                                                          \
        w->clock_was_last = false;                                                                 \
        if (is_global) {                                                                           \
            observe_rows(w, s, shape, (uint64_t)op->imm, width);                                   \
        }                                                                                          \
    }                                                                                              \
    static void name##_first(char *r, const struct op *op, uint32_t mask, struct warp *w)          \
    {                                                                                              \
        if (mask == FULL_MASK) {                                                                   \
            find_shape(slot_64(r, op->a), shape_at(w, op));                                        \
        }                                                                                          \
        name(r, op, mask, w);                                                                      \
    }
#define ROWS_HANDLERS                                                                              \
    ROWS(load_global_4, 4, false, true, exec_load_global)                                          \
    ROWS(load_global_8, 8, false, true, exec_load_global)                                          \
    ROWS(store_global_4, 4, true, true, exec_store_global)                                         \
    ROWS(store_global_8, 8, true, true, exec_store_global)                                         \
    ROWS(load_generic_4, 4, false, true, exec_load_generic)                                        \
    ROWS(load_generic_8, 8, false, true, exec_load_generic)                                        \
    ROWS(store_generic_4, 4, true, true, exec_store_generic)                                       \
    ROWS(store_generic_8, 8, true, true, exec_store_generic)                                       \
    ROWS(load_shared_4, 4, false, false, exec_load_shared)                                         \
    ROWS(load_shared_8, 8, false, false, exec_load_shared)                                         \
    ROWS(store_shared_4, 4, true, false, exec_store_shared)                                        \
    ROWS(store_shared_8, 8, true, false, exec_store_shared)
ROWS_HANDLERS
#undef ROWS
#define ROWS(name, width, writes, is_global, any) {name, name##_first, any, width},
static const struct row_handler row_handlers[] = {ROWS_HANDLERS};
#undef ROWS

#endif
