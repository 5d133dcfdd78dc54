/* Records accesses of a warp in the bits of its launch: the code of the patches, and of the tests.
 *
 * Naive model: a set of bytes for each kind of access. Each lane finds the base of the bits that its
 * address has: by the site of its instruction (one load, the way of nearly all), by the windows of
 * the launch, or in a page that is claimed at first touch. From there on all are the same: lanes
 * whose bits are neighbours set them by whole words, lanes that share a word look at it first, all
 * others set theirs without a look and without an answer. Nothing here waits but for another lane that
 * is claiming the same page.
 *
 * Nothing here is a call: a function that calls saves registers at its entry, at every access. Lanes
 * that call together make the same access of one instruction. Warps come from warp.cuh, or from a
 * test's own; include one first. */
#ifndef SSAN_CAPTURE_PATCHES_RECORD_H
#define SSAN_CAPTURE_PATCHES_RECORD_H

#include "capture/patch_abi.h"

/* What the slow path has to know, in memory: values that wait in registers while it goes on would be
 * saved there at the entry of the patch, by every access. */
struct record_call {
    struct patch_launch *volatile launch;
    volatile uint64_t address;
    volatile uint32_t code, size;
    volatile uint32_t home, parts; /* of a cell: its offset in the record; what it is to hold */
    volatile uint32_t leaf, none;  /* of a page: what stands for it where there is none */
    volatile uint64_t key, base;   /* of what the cell is for; base 0: no window */
    volatile uint64_t cell;        /* where a page is named */
};

/* Where it lies, at an offset that no compiler knows: else it would go to registers. */
struct record_room {
    uint64_t a, b, c, d, e, f, g, h, i;
};
PATCH_ASSERT(sizeof(struct record_call) + 8 <= sizeof(struct record_room), "room");

DEVICE uint32_t site_offset(uint32_t code)
{
    return (uint32_t)offsetof(struct patch_launch, sites) + (code & (16 * PATCH_SITES - 16));
}

DEVICE void *in_record(struct patch_launch *launch, uint32_t offset)
{
    return (char *)launch + offset;
}

/* Whether the site is that of the instruction and its window has the address. An instruction makes
 * accesses of one kind only. */
DEVICE bool site_fits(uint64_t head, uint64_t base, uint32_t pc, uint64_t address)
{
    const uint32_t number = (uint32_t)(address >> PATCH_WINDOW_SHIFT);
    return PATCH_CODE_PC((uint32_t)head) == pc &&
           number - (uint32_t)(head >> 32) < (uint32_t)(base >> 48);
}

DEVICE struct patch_flags *flags_of(const struct record_call *call)
{
    return (struct patch_flags *)(uintptr_t)load_near64(&call->launch->flags);
}

/* The base of an address in a window of the launch; 0: in none. */
DEVICE uint64_t find_window(struct record_call *call)
{
    const uint32_t number = (uint32_t)(call->address >> PATCH_WINDOW_SHIFT);
    struct patch_window *window = call->launch->windows;
    ROLLED
    for (uint32_t left = load_near32(&call->launch->window_count); left > 0; left--, window++) {
        const uint32_t first = load_near32(&window->first);
        if (number - first < load_near32(&window->count)) {
            const uint32_t code = call->code;
            call->key = (uint64_t)first << 32 | code;
            const uint32_t index = (uint32_t)(window - call->launch->windows);
            or32(&flags_of(call)->touched[index], 1u << PATCH_CODE_KIND(code));
            return load_near64(&window->bases[PATCH_CODE_KIND(code) - 1]);
        }
    }
    return 0;
}

/* The cell of the key, one of the sixteen around its home, set where there is none yet; NULL: no
 * room. */
DEVICE uint64_t *find_cell(const struct record_call *call)
{
    ROLLED
    for (uint32_t i = 0; i < 16 * PATCH_TRIES; i += 16) {
        uint64_t *cell = (uint64_t *)in_record(call->launch, call->home ^ i);
        uint64_t seen = load64(cell);
        if (seen == 0) {
            seen = swap_if64(cell, 0, call->key);
        }
        if (seen == 0 || seen == call->key) {
            return cell;
        }
    }
    store64(&call->launch->unlisted, 1);
    return 0;
}

#define RECORD_BUSY 0xffffffffu /* a cell whose page is being claimed */

DEVICE uint64_t page_address(const struct record_call *call, uint32_t page)
{
    return load_near64(&call->launch->pages) + (uint64_t)page * PATCH_PAGE_BYTES;
}

/* A page of the pool for what the key says. */
DEVICE uint32_t claim_page(const struct record_call *call)
{
    struct patch_pool *pool = (struct patch_pool *)(uintptr_t)load_near64(&call->launch->pool);
    uint64_t head = load64(&pool->head), seen;
    ROLLED
    do {
        if (head >= load64(&pool->tail)) {
            return call->none;
        }
        seen = head;
        head = swap_if64(&pool->head, seen, seen + 1);
    } while (head != seen);
    struct patch_place *place = (struct patch_place *)(uintptr_t)load_near64(&call->launch->ring) +
                                ((uint32_t)head & load_near32(&call->launch->ring_mask));
    const uint32_t page = load32(&place->page);
    store_pair(place, call->key, (uint64_t)page << 32 | load_near32(&call->launch->index));
    return page;
}

/* The page that the cell names, claimed where there is none yet. Waits for another lane that claims
 * it. */
DEVICE uint32_t page_in_cell(const struct record_call *call)
{
    uint32_t page;
    ROLLED
    while ((page = swap_if32((uint32_t *)(uintptr_t)call->cell, PATCH_PAGE_NONE, RECORD_BUSY)) ==
           RECORD_BUSY) {
        warp_pause();
    }
    if (page == PATCH_PAGE_NONE) {
        page = claim_page(call);
        store32((uint32_t *)(uintptr_t)call->cell, page);
    }
    return page;
}

DEVICE bool is_page(uint32_t page)
{
    return page + 1 > 1; /* neither none nor RECORD_BUSY */
}

DEVICE uint32_t span_tag(const struct record_call *call)
{
    return (call->leaf >> PATCH_SPAN_SHIFT) << 3 | PATCH_CODE_KIND(call->code);
}

/* The first place of a span in the record. */
DEVICE uint32_t span_home(uint32_t tag) { return (tag * 0x9e3779b1u) >> 25; }

/* The span of the leaf in the record, set where there is none yet; 0: no room. */
DEVICE uint64_t *find_span(const struct record_call *call)
{
    const uint32_t tag = span_tag(call);
    uint32_t at = span_home(tag);
    ROLLED
    for (uint32_t left = PATCH_SPANS; left > 0; left--, at = (at + 1) % PATCH_SPANS) {
        struct patch_span *span = &call->launch->spans[at];
        uint32_t seen = load32(&span->tag);
        if (seen == 0) {
            seen = swap_if32(&span->tag, 0, tag);
        }
        if (seen == 0 || seen == tag) {
            return (uint64_t *)span;
        }
    }
    return 0;
}

/* The page of the leaf in its directory, both claimed where the launch has none. */
DEVICE uint64_t claim_leaf(struct record_call *call)
{
    uint64_t *span = find_span(call);
    if (!span) {
        store64(&flags_of(call)->lost, 1);
        return page_address(call, PATCH_PAGE_SINK);
    }
    call->cell = (uint64_t)(uintptr_t)span + 4;
    call->key = PATCH_KIND_DIRECTORY;
    call->none = PATCH_PAGE_LOST;
    uint32_t page = page_in_cell(call);
    if (page == PATCH_PAGE_LOST) {
        store64(&flags_of(call)->lost, 1);
    }
    call->cell = page_address(call, page) + 4 * (call->leaf % PATCH_PAGE_WORDS);
    call->key = (uint64_t)call->leaf << 3 | PATCH_CODE_KIND(call->code);
    call->none = PATCH_PAGE_SINK;
    page = page_in_cell(call);
    if (page == PATCH_PAGE_SINK) {
        store64(&flags_of(call)->lost, 1);
    }
    return page_address(call, page);
}

/* The same; nearly always by what the level 1 cache holds of the first place of the span. */
DEVICE uint64_t find_page(struct record_call *call)
{
    const uint32_t tag = span_tag(call);
    const uint64_t span = load_near64((const uint64_t *)&call->launch->spans[span_home(tag)]);
    if ((uint32_t)span == tag && is_page((uint32_t)(span >> 32))) {
        const uint64_t directory = page_address(call, (uint32_t)(span >> 32));
        const uint32_t page = load_near32((const uint32_t *)(uintptr_t)(
            directory + 4 * (call->leaf % PATCH_PAGE_WORDS)));
        if (is_page(page) && page != PATCH_PAGE_SINK) {
            return page_address(call, page);
        }
    }
    return claim_leaf(call);
}

/* Enters the instruction, for the report, and for those that come after it. */
DEVICE void enter(struct record_call *call)
{
    if (call->base) {
        call->home = site_offset(call->code);
    } else {
        const uint64_t word = call->address >> (PATCH_WORD_SHIFT + PATCH_UNIT(call->size < 4));
        const uint32_t leaf = (uint32_t)(word >> PATCH_LEAF_SHIFT);
        const uint32_t code = call->code, span = leaf >> PATCH_SPAN_SHIFT;
        const uint32_t home = ((code >> 4) + (code & 7) * 0x40u + span * 0x61u) % PATCH_ENTRIES;
        call->home = (uint32_t)offsetof(struct patch_launch, entries) + 16 * home;
        call->key = (uint64_t)code << 32 | span;
        call->leaf = leaf;
        call->parts = PATCH_PARTS(leaf, (uint32_t)word % PATCH_PAGE_WORDS);
        uint64_t seen, known;
        load_pair(in_record(call->launch, call->home), &seen, &known);
        if (seen == call->key && ((uint32_t)known & call->parts) == call->parts) {
            return;
        }
    }
    uint64_t *cell = find_cell(call);
    if (cell && call->base) {
        store_pair(cell, call->key, call->base);
    } else if (cell) {
        or32((uint32_t *)(cell + 1), call->parts);
    }
}

/* The base of an address where the first cell of the instruction's site does not tell. */
DEVICE uint64_t find_base(struct record_call *call)
{
    uint64_t head, base;
    load_pair(in_record(call->launch, site_offset(call->code) ^ 16), &head, &base);
    if (site_fits(head, base, PATCH_CODE_PC(call->code), call->address)) {
        return base;
    }
    call->base = find_window(call);
    enter(call);
    if (call->base) {
        return call->base;
    }
    return find_page(call) - (uint64_t)call->leaf * PATCH_PAGE_BYTES;
}

DEVICE uint64_t word_address(uint64_t base, uint64_t address, bool is_small)
{
    return (base + (address >> (is_small ? 5 : 7) << 2)) & PATCH_ADDRESS;
}

/* Sets the bits of an access. Of bits that lie one behind the other, whatever windows and pages they
 * are of, lane i sets those of word i of them all: a whole word needs no atomic, as a store of all
 * bits loses none. A word that all have in common is looked at first: where thousands of warps read
 * one number, each atomic would wait for the one before. */
DEVICE void set_bits(uint64_t base, uint64_t address, uint32_t size)
{
    const uint32_t unit = PATCH_UNIT(size < 4);
    const uint32_t count = size >> unit;
    const uint64_t at = word_address(base, address, size < 4);
    uint32_t *word = (uint32_t *)(uintptr_t)at;
    uint32_t bits = ((1u << count) - 1) << ((uint32_t)(address >> unit) & 31);
    const uint32_t mask = warp_active();
    if (mask == 0xffffffffu) {
        const uint32_t lane = warp_lane();
        const uint64_t first = (at << 3 | ((address >> unit) & 31)) - lane * count;
        if (warp_all_equal(mask, first)) {
            const uint32_t offset = (uint32_t)first & 31;
            bits = lane == 0 ? 0xffffffffu << offset : 0xffffffffu;
            bits = lane == count ? ~(bits << offset) : bits;
            if (lane > count || bits == 0) {
                return;
            }
            word = (uint32_t *)(uintptr_t)(first >> 5 << 2) + lane;
            if (bits == 0xffffffffu) {
                store32(word, bits);
            } else {
                or32(word, bits);
            }
            return;
        }
    }
    if (warp_all_equal(mask, at)) {
        bits &= ~load_near32(word);
        if (bits != 0) {
            bits &= ~load32(word);
        }
        if (bits == 0) {
            return;
        }
    }
    or32(word, bits);
}

/* The lanes that call have accessed `size` bytes (1, 2, 4, 8, 16, 32) each, aligned to it. False: the
 * instruction's site does not tell where, nothing is recorded. */
DEVICE bool record_by_site(struct patch_launch *launch, uint64_t pc, uint64_t address, uint32_t size)
{
    uint64_t head, base;
    load_pair(in_record(launch, site_offset((uint32_t)pc)), &head, &base);
    const bool fits = site_fits(head, base, (uint32_t)pc, address);
    if (fits) {
        set_bits(base, address, size);
    }
    return fits;
}

/* The same by all other ways. `access`: 0 read, 1 write, 2 atomic. */
DEVICE void record_elsewhere(struct patch_launch *launch, uint64_t pc, uint64_t address,
                             uint32_t size, uint32_t access)
{
    struct record_room room;
    struct record_call *call = (struct record_call *)((char *)&room + (pc & 8));
    call->launch = launch;
    call->address = address;
    call->code = PATCH_CODE(pc, PATCH_KIND(access, size < 4));
    call->size = size;
    const uint64_t base = find_base(call);
    set_bits(base, call->address, call->size);
}

DEVICE void record_access(struct patch_launch *launch, uint64_t pc, uint64_t address, uint32_t size,
                          uint32_t access)
{
    if (!record_by_site(launch, pc, address, size)) {
        record_elsewhere(launch, pc, address, size, access);
    }
}

/* One lane of those that call has accessed `count` (>= 1) times 16 bytes: a bulk copy. */
DEVICE void record_bulk(struct patch_launch *launch, uint64_t pc, uint64_t address, uint32_t count,
                        uint32_t access)
{
    if (warp_lane() != bits_first(warp_active())) {
        return;
    }
    struct record_room room;
    struct record_call *call = (struct record_call *)((char *)&room + (pc & 8));
    call->launch = launch;
    call->code = PATCH_CODE(pc, PATCH_KIND(access, 0u));
    call->size = 16;
    const uint64_t end = address + 16ull * count;
    ROLLED
    while (address < end) {
        const uint32_t offset = (uint32_t)(address >> 2) & 31;
        const uint32_t rest = 32 - offset;
        const uint64_t left = (end - address) >> 2;
        const uint32_t here = left < rest ? (uint32_t)left : rest;
        call->address = address;
        const uint64_t base = find_base(call);
        or32((uint32_t *)(uintptr_t)word_address(base, address, false),
             (0xffffffffu >> (32 - here)) << offset);
        address += 4ull * here;
    }
}

#endif
