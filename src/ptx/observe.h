/* Which bytes the executor touched: exact sets, cheap to add to.
 *
 * One observer for each memory operation. A run that goes on where the last one ended extends it; a
 * run that doesn't closes the last one, which goes to whole pages as ranges and to bitmap leaves of
 * SSAN_LEAF_BYTES for the rest. Naive model: a bit for each byte. Memory: at most 520 bytes for
 * each such page that was touched, plus the ranges. */
#ifndef SSAN_PTX_OBSERVE_H
#define SSAN_PTX_OBSERVE_H

#include "base/map.h"
#include "base/ranges.h"
#include "base/vec.h"
#include "ptx/exec.h"
#include "ptx/lane.h"

#define OBSERVE_CACHE 4

struct observer {
    uint64_t begin, end; /* the open run; empty when begin == end */
    /* the open stride: `count` pieces of `length` from `address` */
    uint64_t address, length, stride, count;
    struct ranges whole; /* closed runs, whole pages only */
    struct map leaf_of;  /* page -> index + 1 in leaves */
    VEC(struct ptx_leaf) leaves;
    VEC(struct ssan_run) strides; /* closed ones */
    uint64_t cached_page[OBSERVE_CACHE];
    uint32_t cached_leaf[OBSERVE_CACHE]; /* index + 1 */
    bool lost;                           /* memory ran out */
};

void observe_run_slow(struct observer *o, uint64_t begin, uint64_t end);
/* Adds [begin, end). The fast path extends the open run. */
static inline void observe_run(struct observer *o, uint64_t begin, uint64_t end)
{
    if (__builtin_expect(begin == o->end, 1)) {
        o->end = end;
    } else if (begin < o->begin || end > o->end) {
        observe_run_slow(o, begin, end);
    }
}
/* Adds `count` pieces of `length` bytes, `stride` > length apart. */
void observe_stride(struct observer *o, uint64_t address, uint64_t length, uint64_t stride,
                    uint32_t count);
/* Adds `width` bytes at address + offset of each lane whose bit is set. */
void observe_lanes(struct observer *o, const uint64_t *address, uint32_t mask, uint32_t width,
                   uint64_t offset);
/* Adds `width` bytes at address + offset of every lane of a shape that isn't SHAPE_scatter, its
 * stride 0 or `width`. */
void observe_groups(struct observer *o, const struct lane_shape *shape, uint64_t offset,
                    uint32_t width);
void observe_finish(struct observer *o);

/* Adds what `from` holds to `to`. */
void observe_merge(struct observer *to, struct observer *from);
/* The set as runs and leaves: a leaf whose runs are smaller becomes runs, neighbours are joined.
 * `runs` is appended to; leaves that stay are packed to the front of o->leaves. False when out of
 * memory. */
struct observed_runs {
    struct ssan_run *items;
    size_t count, room;
};
bool observe_close(struct observer *o, struct observed_runs *runs);

#endif
