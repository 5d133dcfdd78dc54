/* First fit over a sorted list of free intervals. Runs are few: some for each launch in flight. */
#include "capture/observe_slabs.h"

bool slabs_add(struct slabs *slabs, uint64_t base, uint64_t bytes)
{
    const uint64_t guard = SLABS_GUARD * (uint64_t)PATCH_PAGE_BYTES;
    uint64_t begin = (base + PATCH_PAGE_BYTES - 1) / PATCH_PAGE_BYTES * PATCH_PAGE_BYTES + guard;
    uint64_t end = (base + bytes) / PATCH_PAGE_BYTES * PATCH_PAGE_BYTES;
    if (slabs->count == SLABS || end < guard || begin >= end - guard) {
        return false;
    }
    end -= guard;
    if (!ranges_add(&slabs->free, begin, end)) {
        return false;
    }
    slabs->items[slabs->count++] = (struct slab){.base = base, .begin = begin, .end = end};
    slabs->bytes += end - begin;
    return true;
}

uint64_t slabs_take(struct slabs *slabs, uint64_t pages)
{
    uint64_t bytes = pages * PATCH_PAGE_BYTES;
    for (size_t i = 0; i < slabs->free.count; i++) {
        struct range range = slabs->free.items[i];
        if (range.end - range.begin >= bytes) {
            if (!ranges_remove(&slabs->free, range.begin, range.begin + bytes)) {
                return 0;
            }
            slabs->used_bytes += bytes;
            return range.begin;
        }
    }
    return 0;
}

void slabs_give(struct slabs *slabs, uint64_t address, uint64_t pages)
{
    uint64_t bytes = pages * PATCH_PAGE_BYTES;
    if (ranges_add(&slabs->free, address, address + bytes)) {
        slabs->used_bytes -= bytes;
    }
}

uint64_t slabs_remove(struct slabs *slabs)
{
    for (uint32_t i = 1; i < slabs->count; i++) {
        struct slab slab = slabs->items[i];
        if (ranges_contains(&slabs->free, slab.begin, slab.end) &&
            ranges_remove(&slabs->free, slab.begin, slab.end)) {
            slabs->items[i] = slabs->items[--slabs->count];
            slabs->bytes -= slab.end - slab.begin;
            return slab.base;
        }
    }
    return 0;
}

void slabs_finish(struct slabs *slabs)
{
    ranges_finish(&slabs->free);
}
