/* Device memory for the windows of launches: runs of pages out of slabs.
 *
 * Addresses only; who allocates slabs on the device, zeroes them and frees them is the caller.
 * Zeroed is empty. One thread at a time. */
#ifndef SSAN_CAPTURE_OBSERVE_SLABS_H
#define SSAN_CAPTURE_OBSERVE_SLABS_H

#include "capture/patch_abi.h"

#include "base/ranges.h"

#include <stdbool.h>
#include <stdint.h>

#define SLABS 32u
/* Pages at both ends of a slab that nobody gets. The driver may put one right behind another; what
 * is copied or zeroed in one go, with few pages of others between, must not reach from one into the
 * next: the driver refuses that. */
#define SLABS_GUARD 32u

struct slabs {
    struct ranges free;
    struct slab {
        uint64_t base, begin, end; /* as allocated; [begin, end) is used, whole pages */
        uint64_t since;            /* launches that had begun before it was added */
    } items[SLABS];                /* the first is not given back */
    uint32_t count;
    uint64_t bytes, used_bytes;
};

/* Adds memory whose pages are zeroed, but for SLABS_GUARD pages at both ends. False: too many
 * slabs, no memory on the host, or no more than those. */
bool slabs_add(struct slabs *slabs, uint64_t base, uint64_t bytes);
/* A run of so many pages (> 0); 0: there is none. */
uint64_t slabs_take(struct slabs *slabs, uint64_t pages);
/* Gives a run back, zeroed. Without memory on the host it is lost. */
void slabs_give(struct slabs *slabs, uint64_t address, uint64_t pages);
/* Takes out a slab of which nothing is in use, never the first: its base, for the caller to free;
 * 0: there is none. */
uint64_t slabs_remove(struct slabs *slabs);
/* Pages that nobody has, in all. */
static inline uint64_t slabs_left(const struct slabs *slabs)
{
    return (slabs->bytes - slabs->used_bytes) / PATCH_PAGE_BYTES;
}
void slabs_finish(struct slabs *slabs);

#endif
