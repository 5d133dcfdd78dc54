/* Entries to candidate instructions.
 *
 * An instruction that accessed a byte of the group is among the candidates of its site; others may
 * be, as parts are hashed (patch_abi.h). Cost: a pass over the entries for each group. */
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

uint32_t observe_sites_find(void *self, uint32_t kind, uint64_t begin, uint64_t end,
                            const struct observe_parts *parts)
{
    const struct observe_sites *sites = self;
    uint64_t frames[CANDIDATES];
    uint32_t count = 0;
    unsigned shift = PATCH_SPAN_SHIFT + PATCH_LEAF_SHIFT + PATCH_WORD_SHIFT +
                     PATCH_UNIT(PATCH_KIND_IS_SMALL(kind));
    if (!sites->record || sites->record->unlisted || begin >= end) {
        return 0;
    }
    for (uint32_t i = 0; i < PATCH_ENTRIES; i++) {
        const struct patch_entry *entry = &sites->record->entries[i];
        uint32_t span = (uint32_t)entry->key, code = (uint32_t)(entry->key >> 32);
        if (entry->key == 0 || PATCH_CODE_KIND(code) != kind || span < begin >> shift ||
            span > (end - 1) >> shift || !parts_meet(entry->parts, parts)) {
            continue;
        }
        uint64_t frame = observe_kernel_frame(sites->kernel, PATCH_CODE_PLACE(code));
        if (frame) {
            add_frame(frames, &count, frame);
        }
    }
    return count ? stack_intern(frames, count) : 0;
}
