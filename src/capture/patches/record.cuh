/* Records accesses of a warp in the pages of its launch: the code of the patches, and of the tests.
 *
 * Naive model: a set of bytes for each kind of access. Lanes whose accesses are neighbours, or lie in
 * one word of bits, find their leaf in the cache of the record. Bits are set without a look before,
 * by stores and atomics that need no answer, but for a word that all lanes share. Lanes that call together make
 * the same access of one instruction. Nothing here waits but for another lane that is claiming the
 * same page. Warps come from warp.cuh, or from a test's own; include one first. */
#ifndef SSAN_CAPTURE_PATCHES_RECORD_H
#define SSAN_CAPTURE_PATCHES_RECORD_H

#include "capture/patch_abi.h"

#define RECORD_BUSY 0xffffffffu /* a cell whose page is being claimed */

DEVICE uint32_t *record_page(const struct patch_launch *launch, uint32_t page)
{
    return (uint32_t *)(uintptr_t)launch->pages + (uint64_t)page * PATCH_PAGE_WORDS;
}

/* An access of this launch is not recorded. */
DEVICE void record_lost(const struct patch_launch *launch)
{
    store64((uint64_t *)(uintptr_t)launch->lost, 1);
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
    store_pair(place, what, (uint64_t)page << 32 | launch->index);
    return page;
}

/* The page that `cell` names, claimed where there is none yet. */
DEVICE uint32_t find_page(struct patch_launch *launch, uint32_t *cell, uint64_t what, uint32_t none)
{
    uint32_t page = load32(cell);
    for (;;) {
        if (page == PATCH_PAGE_NONE) {
            page = swap_if32(cell, PATCH_PAGE_NONE, RECORD_BUSY);
            if (page == PATCH_PAGE_NONE) {
                page = claim_page(launch, what, none);
                store32(cell, page);
            }
        }
        if (page != RECORD_BUSY) {
            return page;
        }
        warp_pause();
        page = load32(cell);
    }
}

/* The directory of a span, claimed where there is none yet. */
DEVICE uint32_t find_directory(struct patch_launch *launch, uint32_t span, uint32_t kind)
{
    const uint32_t tag = span << 3 | kind;
    uint32_t at = (tag * 0x9e3779b1u) >> 25;
    for (uint32_t i = 0; i < PATCH_SPANS; i++, at = (at + 1) % PATCH_SPANS) {
        uint32_t seen = load32(&launch->spans[at].tag);
        if (seen == 0) {
            seen = swap_if32(&launch->spans[at].tag, 0, tag);
        }
        if (seen == 0 || seen == tag) {
            const uint32_t directory = find_page(launch, &launch->spans[at].directory,
                                                 PATCH_KIND_DIRECTORY, PATCH_PAGE_LOST);
            if (directory == PATCH_PAGE_LOST) {
                record_lost(launch);
            }
            return directory;
        }
    }
    record_lost(launch);
    return PATCH_PAGE_LOST;
}

DEVICE uint32_t entry_home(uint32_t code, uint32_t span)
{
    return ((code >> 3) + (code & 7) * 0x40u + span * 0x61u) % PATCH_ENTRIES;
}

DEVICE uint64_t make_key(uint32_t code, uint32_t number)
{
    return (uint64_t)code << 32 | number;
}

DEVICE struct patch_recent *recent_of(struct patch_launch *launch, uint32_t code, uint32_t leaf)
{
    return &launch->recent[((code >> 3) + leaf * 0x25u) % PATCH_RECENT];
}

/* What struct patch_recent says of a page once the entry has the part of the word. */
DEVICE uint64_t make_recent(const uint32_t *page, uint32_t word)
{
    return (uint64_t)(uintptr_t)page | UINT64_C(0x1000000000000) << PATCH_BLOCK(word);
}

DEVICE uint32_t *leaf_cell(const struct patch_launch *launch, uint32_t directory, uint32_t leaf)
{
    return record_page(launch, directory) + (leaf & (PATCH_PAGE_WORDS - 1));
}

/* Enters an instruction that touches a word of a leaf. */
DEVICE void enter(struct patch_launch *launch, uint32_t code, uint32_t leaf, uint32_t word,
                  uint32_t directory)
{
    const uint32_t span = leaf >> PATCH_SPAN_SHIFT;
    const uint64_t key = make_key(code, span);
    const uint32_t home = entry_home(code, span);
    for (uint32_t i = 0; i < PATCH_PROBES; i++) {
        struct patch_entry *entry = &launch->entries[(home + i) % PATCH_ENTRIES];
        uint64_t seen = load64(&entry->key);
        if (seen == 0) {
            seen = swap_if64(&entry->key, 0, key);
        }
        if (seen == 0 || seen == key) {
            or32(&entry->parts, PATCH_PARTS(leaf, word));
            store32(&entry->directory, directory);
            return;
        }
    }
    store64(&launch->unlisted, 1);
}

/* One lane alone: whatever the paths below do not find is found or made. */
DEVICE_SLOW void record_slow(struct patch_launch *launch, uint32_t code, uint32_t leaf,
                             uint32_t word, uint32_t bits)
{
    const uint32_t kind = PATCH_CODE_KIND(code);
    const uint32_t directory = find_directory(launch, leaf >> PATCH_SPAN_SHIFT, kind);
    enter(launch, code, leaf, word, directory);
    uint32_t *page =
        record_page(launch, find_page(launch, leaf_cell(launch, directory, leaf),
                                      (uint64_t)leaf << 3 | kind, PATCH_PAGE_SINK));
    store_pair(recent_of(launch, code, leaf), make_key(code, leaf), make_recent(page, word));
    or32(page + word, bits);
}

/* The page of a leaf by the entry of the instruction; NULL: not so. */
DEVICE uint32_t *find_by_entry(struct patch_launch *launch, uint32_t code, uint32_t leaf,
                               uint32_t word)
{
    const uint32_t span = leaf >> PATCH_SPAN_SHIFT;
    const uint64_t key = make_key(code, span);
    const uint32_t parts = PATCH_PARTS(leaf, word);
    struct patch_entry *entry = &launch->entries[entry_home(code, span)];
    uint64_t seen, rest;
    load_pair(entry, &seen, &rest);
    if (seen != key || ((uint32_t)(rest >> 32) & parts) != parts) {
        load_pair_fresh(entry, &seen, &rest);
        if (seen != key || ((uint32_t)(rest >> 32) & parts) != parts || (uint32_t)rest == 0) {
            return 0;
        }
        /* for the level 1 cache; whoever writes it writes the same */
        refresh32(&entry->directory, (uint32_t)rest);
    }
    const uint32_t page = load32(leaf_cell(launch, (uint32_t)rest, leaf));
    return page + 1 <= 1 ? 0 : record_page(launch, page); /* none, or RECORD_BUSY */
}

/* Claims a leaf of a span that the instruction has an entry for, unless somebody has. */
DEVICE_SLOW void claim_ahead(struct patch_launch *launch, uint32_t code, uint32_t leaf)
{
    const uint32_t kind = PATCH_CODE_KIND(code);
    uint32_t *cell =
        leaf_cell(launch, find_directory(launch, leaf >> PATCH_SPAN_SHIFT, kind), leaf);
    if (load32(cell) == PATCH_PAGE_NONE) {
        find_page(launch, cell, (uint64_t)leaf << 3 | kind, PATCH_PAGE_SINK);
    }
}

/* How the words of bits lie that the lanes of a warp set. */
enum record_shape {
    RECORD_RUN,  /* one behind the other, a word for each lane */
    RECORD_WORD, /* all lanes have the same */
    RECORD_FAR   /* each its own */
};

/* Beside the cache, into which the leaf goes where `caches`: `known` are blocks that are in it. A
 * quarter through a leaf the next one is claimed ahead: thousands of lanes that arrive there at once
 * would wait for the one that claims it. */
DEVICE_SLOW void record_by_entry(struct patch_launch *launch, uint32_t code, uint32_t leaf,
                                 uint32_t word, uint32_t bits, uint32_t known, bool caches)
{
    uint32_t *page = find_by_entry(launch, code, leaf, word);
    if (!page) {
        record_slow(launch, code, leaf, word, bits);
        return;
    }
    or32(page + word, bits);
    if (caches) {
        store_pair(recent_of(launch, code, leaf), make_key(code, leaf),
                   (uint64_t)known << 48 | make_recent(page, word));
        if (PATCH_BLOCK(word) == 4 && (leaf + 1) % PATCH_PAGE_WORDS != 0) {
            claim_ahead(launch, code, leaf + 1);
        }
    }
}

/* Sets bits of a word. Of runs and common words it is likely that the cache has their leaf; common
 * words are looked at first, as many lanes setting one would wait for each other. Whole words need no
 * atomic: a store of all bits loses none. What the cache does not have is out of line: this is on
 * the way of every access, and a register more here is one more to be saved for each. */
DEVICE void record_bits(struct patch_launch *launch, uint32_t code, uint32_t leaf, uint32_t word,
                        uint32_t bits, enum record_shape shape)
{
    uint32_t known = 0;
    if (shape != RECORD_FAR) {
        uint64_t seen, rest;
        load_pair(recent_of(launch, code, leaf), &seen, &rest);
        if (seen == make_key(code, leaf)) {
            known = (uint32_t)(rest >> 48);
            if (known >> PATCH_BLOCK(word) & 1) {
                uint32_t *at = (uint32_t *)(uintptr_t)(rest & PATCH_PAGE_ADDRESS) + word;
                if (shape == RECORD_WORD) {
                    bits &= ~load32(at);
                }
                if (bits == 0xffffffffu) {
                    store32(at, bits);
                } else if (bits) {
                    or32(at, bits);
                }
                return;
            }
        }
    }
    record_by_entry(launch, code, leaf, word, bits, known, shape != RECORD_FAR);
}

/* The lanes that call have accessed `size` bytes (1, 2, 4, 8, 16) each, aligned to it. `access`: 0
 * read, 1 write, 2 atomic. Of neighbours in order, lane i sets the bits of word i of them all. */
DEVICE void record_access(struct patch_launch *launch, uint64_t pc, uint64_t address, uint32_t size,
                          uint32_t access)
{
    const bool is_small = size < 4;
    const uint32_t unit = PATCH_UNIT(is_small);
    const uint32_t count = size >> unit;
    const uint32_t code = PATCH_CODE(pc, PATCH_KIND(access, is_small));
    const uint32_t mask = warp_active();
    uint64_t at = address >> unit;
    uint32_t bits = ((1u << count) - 1) << ((uint32_t)at & 31);
    enum record_shape shape = RECORD_FAR;
    if (mask == 0xffffffffu) {
        const uint32_t lane = warp_lane();
        const uint64_t first = at - lane * count;
        if (warp_all_equal(mask, first)) {
            const uint32_t offset = (uint32_t)first & 31;
            bits = lane == 0 ? 0xffffffffu << offset : 0xffffffffu;
            bits = lane == count ? ~(bits << offset) : bits;
            if (lane > count || bits == 0) {
                return;
            }
            at = first + 32 * lane;
            shape = RECORD_RUN;
        }
    }
    if (shape == RECORD_FAR && warp_all_equal(mask, at >> PATCH_WORD_SHIFT)) {
        shape = RECORD_WORD;
    }
    record_bits(launch, code, (uint32_t)(at >> (PATCH_LEAF_SHIFT + PATCH_WORD_SHIFT)),
                (uint32_t)(at >> PATCH_WORD_SHIFT) & (PATCH_PAGE_WORDS - 1), bits, shape);
}

/* The lanes that call have all accessed the same `count` (>= 1) times 16 bytes: a bulk copy. */
DEVICE void record_range(struct patch_launch *launch, uint64_t pc, uint64_t address, uint32_t count,
                         uint32_t access)
{
    if (warp_lane() != bits_first(warp_active())) {
        return;
    }
    const uint32_t code = PATCH_CODE(pc, PATCH_KIND(access, 0u));
    const uint64_t end = (address >> 2) + 4ull * count;
    for (uint64_t at = address >> 2; at < end;) {
        const uint32_t offset = (uint32_t)at & 31;
        const uint32_t room = 32 - offset;
        const uint32_t here = end - at < room ? (uint32_t)(end - at) : room;
        record_bits(launch, code, (uint32_t)(at >> (PATCH_LEAF_SHIFT + PATCH_WORD_SHIFT)),
                    (uint32_t)(at >> PATCH_WORD_SHIFT) & (PATCH_PAGE_WORDS - 1),
                    (0xffffffffu >> (32 - here)) << offset, RECORD_RUN);
        at += here;
    }
}

#endif
