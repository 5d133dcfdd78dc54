/* Which windows a launch gets (patch_abi.h), and the memory behind them.
 *
 * Windows are a matter of speed only: an address that is in none is recorded in a page. So they may
 * be too few, too small, or not there. */
#ifndef SSAN_CAPTURE_OBSERVE_WINDOWS_H
#define SSAN_CAPTURE_OBSERVE_WINDOWS_H

#include "capture/observe_footprint.h"
#include "capture/observe_pool.h"

/* A launch of fewer threads gets none, the copy of its windows to the device would cost more; but
 * for a kernel that was seen to access more than a little. */
#define WINDOWS_THREADS UINT64_C(32768)

/* What a launch is thought to access: a window's worth of leaves each, sorted, apart. */
struct window_plan {
    struct planned_window {
        uint64_t first, end; /* leaves of 256 KiB */
        uint64_t operands;   /* OBSERVE_OPERAND of those in it */
    } items[PATCH_WINDOWS];
    uint32_t count;
    uint64_t reach; /* bytes behind an operand */
};

/* Whether a launch of `threads` threads may get windows. */
bool windows_are_worth(const struct observed_kernel *kernel, uint64_t threads);

/* The plan of a launch of `threads` threads. Empty where it is not worth it, or nothing is known.
 */
struct window_plan windows_plan(const struct observed_kernel *kernel,
                                const struct observe_arguments *arguments, uint64_t threads);

/* Sets memory aside for the plan, for the kinds of accesses that the kernel can make, and copies
 * the windows and what is guessed of them into the record, in the stream of the launch. Between
 * pool_begin and the launch itself. What there is no memory for the launch does without, and the
 * pool is to grow. */
void windows_give(struct pool *pool, uint64_t user, const struct window_plan *plan,
                  uint64_t threads, struct sanitizer_stream *handle);

/* Pages of a kind in a window of so many leaves of 256 KiB. */
static inline uint64_t windows_pages(uint64_t leaves, uint32_t kind)
{
    return leaves << (PATCH_LEAF_BYTES(0) - PATCH_LEAF_BYTES(PATCH_KIND_IS_SMALL(kind)));
}

/* Gives the memory of a launch back, which is zeroed. The pool is locked. */
void windows_free(struct pool *pool, struct pool_launch *launch);

/* Pages of all its windows. */
uint64_t windows_pages_of(const struct pool_launch *launch);

/* A page of it that holds a bit, of a window or not: its leaf << 3 | kind. */
void windows_note(struct pool_launch *launch, uint64_t what);

/* A launch has ended, and all its pages were noted: its kernel's later ones get larger windows
 * where it went beyond its own, smaller ones where it used little of them. */
void windows_learn(const struct pool_launch *launch);

#endif
