/* Records accesses of a warp in the pages of its launch: the code of the patches, and of the tests.
 *
 * Naive model: a set of bytes for each kind of access. An access that is known costs one load from
 * the level 1 cache (entry), two from the level 2 cache (directory, bits) and a vote; a new one a
 * store of whole words where the warp's accesses are neighbours, else an atomic of each lane. All
 * lanes of a warp that make the access call together. Nothing here waits but for another lane that
 * is claiming the same page. Warps come from warp.cuh, or from a test's own; include one first. */
#ifndef SSAN_CAPTURE_PATCHES_RECORD_H
#define SSAN_CAPTURE_PATCHES_RECORD_H

#include "capture/patch_abi.h"

#define RECORD_BUSY 0xffffffffu /* a cell whose page is being claimed */

DEVICE uint32_t *record_page(const struct patch_launch *launch, uint32_t page)
{
    return (uint32_t *)(uintptr_t)launch->pages + (uint64_t)page * PATCH_PAGE_WORDS;
}

DEVICE struct patch_progress *record_progress(const struct patch_launch *launch)
{
    return (struct patch_progress *)(uintptr_t)launch->progress;
}

/* An access of this launch is not recorded. */
DEVICE void record_lost(const struct patch_launch *launch)
{
    store64(&record_progress(launch)->counters[warp_processor() % PATCH_COUNTERS].lost, 1);
}

/* A page of the pool for `what`; `none` when there is none left. */
DEVICE uint32_t claim_page(struct patch_launch *launch, uint64_t what, uint32_t none)
{
    struct patch_pool *pool = (struct patch_pool *)(uintptr_t)launch->pool;
    uint64_t head = load64(&pool->head);
    for (;;) {
        if (head >= load64(&pool->tail)) {
            record_lost(launch);
            return none;
        }
        const uint64_t seen = swap_if64(&pool->head, head, head + 1);
        if (seen == head) {
            break;
        }
        head = seen;
    }
    struct patch_place *place =
        (struct patch_place *)(uintptr_t)launch->ring + (head & launch->ring_mask);
    const uint32_t page = load32(&place->page);
    store32(&place->launch, launch->index);
    order_stores();
    store64(&place->what, what);
    return page;
}

/* The page that `cell` names, claimed where there is none yet. */
DEVICE uint32_t page_slow(struct patch_launch *launch, uint32_t *cell, uint64_t what,
                               uint32_t none)
{
    uint32_t page = RECORD_BUSY;
    do {
        const uint32_t seen = swap_if32(cell, PATCH_PAGE_NONE, RECORD_BUSY);
        if (seen == PATCH_PAGE_NONE) {
            page = claim_page(launch, what, none);
            order_stores();
            store32(cell, page);
        } else {
            page = seen;
        }
    } while (page == RECORD_BUSY);
    return page;
}

/* Directory of a span, entered under `key` where there is room; called until the level 1 cache of
 * this processor holds the entry. */
DEVICE uint32_t directory_slow(struct patch_launch *launch, uint64_t key, uint32_t parts,
                                    uint32_t home)
{
    const uint32_t tag = (uint32_t)key;
    uint32_t directory = PATCH_PAGE_LOST;
    uint32_t at = (tag * 0x9e3779b1u) >> 25;
    for (uint32_t i = 0; i < PATCH_SPANS; i++, at = (at + 1) % PATCH_SPANS) {
        struct patch_span *span = &launch->spans[at];
        uint32_t seen = load32(&span->tag);
        if (seen == 0) {
            seen = swap_if32(&span->tag, 0, tag);
        }
        if (seen == 0 || seen == tag) {
            directory = load32(&span->directory);
            if (directory == PATCH_PAGE_NONE || directory == RECORD_BUSY) {
                directory =
                    page_slow(launch, &span->directory, PATCH_KIND_DIRECTORY, PATCH_PAGE_LOST);
            }
            break;
        }
    }
    if (directory == PATCH_PAGE_LOST) {
        record_lost(launch);
    }
    for (uint32_t i = 0; i < PATCH_PROBES; i++) {
        struct patch_entry *entry = &launch->entries[(home + i) % PATCH_ENTRIES];
        uint64_t seen = load64(&entry->key);
        if (seen == 0) {
            seen = swap_if64(&entry->key, 0, key);
        }
        if (seen == 0 || seen == key) {
            store32(&entry->directory, directory);
            or32(&entry->parts, parts);
            return directory;
        }
    }
    store64(&launch->unlisted, 1);
    return directory;
}

/* Where the entry of `key` begins to be looked for. */
DEVICE uint32_t entry_home(uint64_t key)
{
    return ((uint32_t)(key >> 32) + (uint32_t)key * 0x61u) % PATCH_ENTRIES;
}

DEVICE uint64_t entry_key(uint64_t pc, uint64_t at, uint32_t kind)
{
    return (pc >> 4) << 32 | ((uint32_t)(at >> PATCH_SPAN_SHIFT) << 3 | kind);
}

DEVICE uint32_t *leaf_cell(const struct patch_launch *launch, uint32_t directory, uint64_t at)
{
    return record_page(launch, directory) +
           ((uint32_t)(at >> PATCH_LEAF_SHIFT) & (PATCH_PAGE_WORDS - 1));
}

DEVICE uint32_t *leaf_word(const struct patch_launch *launch, uint32_t leaf, uint64_t at)
{
    return record_page(launch, leaf) +
           ((uint32_t)(at >> PATCH_WORD_SHIFT) & (PATCH_PAGE_WORDS - 1));
}

/* The leaf that holds unit `at`, found or made; the instruction is entered. */
DEVICE_SLOW uint32_t leaf_slow(struct patch_launch *launch, uint64_t key, uint64_t at)
{
    const uint32_t kind = (uint32_t)key & 7;
    const uint32_t parts = PATCH_PART_BITS(at << PATCH_UNIT(PATCH_KIND_IS_SMALL(kind)));
    const uint32_t directory = directory_slow(launch, key, parts, entry_home(key));
    return page_slow(launch, leaf_cell(launch, directory, at),
                     (at >> PATCH_LEAF_SHIFT) << 3 | kind, PATCH_PAGE_SINK);
}

/* One lane alone: whatever the fast path does not find. */
DEVICE_SLOW void record_slow(struct patch_launch *launch, uint64_t key, uint64_t at, uint32_t bits)
{
    or32(leaf_word(launch, leaf_slow(launch, key, at), at), bits);
}

/* All lanes set bits behind one another, `count` each, lane 0 first: lane i sets word i. Those of the
 * first lane begin at `first`; `word` holds unit `at` of the calling lane. */
DEVICE void set_words(uint32_t *word, uint64_t at, uint64_t first, uint32_t count)
{
    const uint32_t lane = warp_lane();
    const uint32_t offset = (uint32_t)first & 31;
    uint32_t bits = 0xffffffffu;
    if (lane == 0) {
        bits <<= offset;
    }
    if (lane == count) {
        bits = ~(bits << offset);
    }
    if (lane > count || bits == 0) {
        return;
    }
    word += lane - (uint32_t)((at >> PATCH_WORD_SHIFT) - (first >> PATCH_WORD_SHIFT));
    if (bits == 0xffffffffu) {
        store32(word, bits);
    } else {
        or32(word, bits);
    }
}

/* The lanes that call have accessed `size` bytes (1, 2, 4, 8, 16) each, aligned to it. `access`: 0
 * read, 1 write, 2 atomic. */
DEVICE void record_access(struct patch_launch *launch, uint64_t pc, uint64_t address, uint32_t size,
                          uint32_t access)
{
    const bool is_small = size < 4;
    const uint32_t unit = PATCH_UNIT(is_small);
    const uint64_t at = address >> unit;
    const uint32_t count = size >> unit;
    const uint32_t bits = ((1u << count) - 1) << ((uint32_t)at & 31);
    const uint64_t key = entry_key(pc, at, PATCH_KIND(access, is_small));
    const uint32_t parts = PATCH_PART_BITS(address);
    const uint32_t home = entry_home(key);
    struct patch_entry entry;
    load_entry(&launch->entries[home], &entry);
    if (entry.key != key) {
        load_entry(&launch->entries[(home + 1) % PATCH_ENTRIES], &entry);
    }
    if (entry.key != key || (entry.parts & parts) != parts || entry.directory == PATCH_PAGE_NONE) {
        record_slow(launch, key, at, bits);
        return;
    }
    const uint32_t leaf = load32(leaf_cell(launch, entry.directory, at));
    if (leaf + 1 <= 1) { /* none, or RECORD_BUSY */
        record_slow(launch, key, at, bits);
        return;
    }
    uint32_t *word = leaf_word(launch, leaf, at);
    const uint32_t missing = bits & ~load32(word);
    if (missing == 0) {
        return;
    }
    if (warp_active() == 0xffffffffu) {
        const uint64_t first = at - warp_lane() * count;
        if (warp_all_equal(0xffffffffu, first) &&
            ((first ^ (first + 32u * count - 1)) >> PATCH_LEAF_SHIFT) == 0) {
            set_words(word, at, first, count);
            return;
        }
    }
    or32(word, missing);
}

/* The lanes that call have all accessed the same `count` (>= 1) times 16 bytes: a bulk copy. */
DEVICE void record_range(struct patch_launch *launch, uint64_t pc, uint64_t address, uint32_t count,
                         uint32_t access)
{
    if (warp_lane() != bits_first(warp_active())) {
        return;
    }
    const uint64_t end = (address >> 2) + 4ull * count;
    for (uint64_t at = address >> 2; at < end;) {
        const uint64_t key = entry_key(pc, at, PATCH_KIND(access, 0u));
        uint32_t *page = record_page(launch, leaf_slow(launch, key, at));
        const uint64_t leaf_end = ((at >> PATCH_LEAF_SHIFT) + 1) << PATCH_LEAF_SHIFT;
        const uint64_t stop = end < leaf_end ? end : leaf_end;
        while (at < stop) {
            const uint32_t offset = (uint32_t)at & 31;
            const uint32_t room = 32 - offset;
            const uint32_t here = stop - at < room ? (uint32_t)(stop - at) : room;
            const uint32_t bits = (0xffffffffu >> (32 - here)) << offset;
            or32(&page[(at >> PATCH_WORD_SHIFT) & (PATCH_PAGE_WORDS - 1)], bits);
            at += here;
        }
    }
}

/* The threads that call have ended. */
DEVICE void record_exit(struct patch_launch *launch)
{
    const uint32_t mask = warp_active();
    if (warp_lane() == bits_first(mask)) {
        add64(&record_progress(launch)->counters[warp_processor() % PATCH_COUNTERS].threads,
              bits_count(mask));
    }
}

#endif
