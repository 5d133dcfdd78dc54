/* Sites and entries of a record to candidate instructions.
 *
 * An instruction that accessed a byte of the group is among the candidates of its site; others may
 * be: all of the same kind in a window, and those whose parts of a span are hashed alike
 * (patch_abi.h). Cost: a pass over both tables for each group. */
#include "capture/observe_sites.h"

#include "capture/stack.h"

#include <string.h>

#define CANDIDATES 64u

/* Whether an entry's parts have an address in common with those of a group. */
static bool parts_meet(uint32_t of_entry, const struct observe_parts *parts)
{
    for (unsigned i = 0; i < 16; i++) {
        if (of_entry >> i & 1 && parts->rows[i] & (uint16_t)(of_entry >> 16)) {
            return true;
        }
    }
    return false;
}

static void add_frame(uint64_t *frames, uint32_t *count, uint64_t frame)
{
    uint32_t i = *count;
    while (i > 0 && frames[i - 1] >= frame) {
        if (frames[i - 1] == frame) {
            return;
        }
        i--;
    }
    if (*count < CANDIDATES) {
        memmove(frames + i + 1, frames + i, (*count - i) * sizeof *frames);
        frames[i] = frame;
        ++*count;
    }
}

struct candidates {
    const struct observe_sites *sites;
    uint64_t frames[CANDIDATES];
    uint32_t count;
};

static void add_code(struct candidates *candidates, uint32_t code)
{
    uint64_t frame = observe_kernel_frame(candidates->sites->kernel, PATCH_CODE_PLACE(code));
    if (frame) {
        add_frame(candidates->frames, &candidates->count, frame);
    }
}

/* Instructions that the launch has in its windows: the whole window is one part. */
static void add_windows(struct candidates *candidates, uint32_t kind, uint64_t begin, uint64_t end)
{
    for (uint32_t i = 0; i < PATCH_SITES; i++) {
        const struct patch_site *site = &candidates->sites->record->sites[i];
        uint64_t first = (site->head >> 32) << PATCH_WINDOW_SHIFT;
        uint64_t stop = first + ((site->base >> 48) << PATCH_WINDOW_SHIFT);
        if (site->head && !(site->head & PATCH_GUESS) &&
            PATCH_CODE_KIND((uint32_t)site->head) == kind && first < end && begin < stop) {
            add_code(candidates, (uint32_t)site->head);
        }
    }
}

/* Those in pages. */
static void add_entries(struct candidates *candidates, uint32_t kind, uint64_t begin, uint64_t end,
                        const struct observe_parts *parts)
{
    unsigned shift = PATCH_SPAN_SHIFT + PATCH_LEAF_BYTES(PATCH_KIND_IS_SMALL(kind));
    for (uint32_t i = 0; i < PATCH_ENTRIES; i++) {
        const struct patch_entry *entry = &candidates->sites->record->entries[i];
        uint32_t span = (uint32_t)entry->key, code = (uint32_t)(entry->key >> 32);
        if (entry->key && PATCH_CODE_KIND(code) == kind && span >= begin >> shift &&
            span <= (end - 1) >> shift && parts_meet(entry->parts, parts)) {
            add_code(candidates, code);
        }
    }
}

uint32_t observe_sites_find(void *self, uint32_t kind, uint64_t begin, uint64_t end,
                            const struct observe_parts *parts)
{
    struct candidates candidates = {.sites = self, .count = 0};
    if (!candidates.sites->record || candidates.sites->record->unlisted || begin >= end) {
        return 0;
    }
    add_windows(&candidates, kind, begin, end);
    add_entries(&candidates, kind, begin, end, parts);
    return candidates.count ? stack_intern(candidates.frames, candidates.count) : 0;
}
