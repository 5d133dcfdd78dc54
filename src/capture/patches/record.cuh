/* Records accesses of a warp in the bits of its launch: the code of the patches, and of the tests.
 *
 * Naive model: a set of bytes for each kind of access. Each lane finds the base of the bits that
 * its address has: by the site of its instruction (one load, the way of nearly all), by the windows
 * of the launch, or in a page that is claimed at first touch. From there on all are the same: lanes
 * whose bits are neighbours set them by whole words, lanes that share a word look at it first, all
 * others set theirs without a look and without an answer. Nothing here waits but for another lane
 * that is claiming the same page, and for the one that looks it up for all.
 *
 * What the level 1 cache holds may be old, and stays so until the processor writes there itself. So
 * what is looked up only grows (cells, tags and pages are set once, bits are added, guesses become
 * true): an old copy may lack something, it is never wrong. It never lacks a guess, which was there
 * before the launch. Who finds that it lacks what memory has writes the same
 * there again, and the copy is gone. Atomics are for what memory lacks, else nearly none is made.
 *
 * Nothing here is a call: a function that calls saves registers at its entry, at every access.
 * Lanes that call together make the same access of one instruction. Warps come from warp.cuh, or
 * from a test's own; include one first. */
#ifndef SSAN_CAPTURE_PATCHES_RECORD_H
#define SSAN_CAPTURE_PATCHES_RECORD_H

#include "capture/patch_abi.h"

/* What the slow path has to know, in memory: values that wait in registers while it goes on would
 * be saved there at the entry of the patch, by every access. */
struct record_call {
    struct patch_launch *volatile launch;
    volatile uint64_t address;
    volatile uint32_t code, size;
    volatile uint32_t group;       /* lanes that wait for this one's base; 0: each has its own */
    volatile uint32_t home, parts; /* of a cell: its offset in the table; what it is to hold */
    volatile uint32_t leaf, none;  /* of a page: what stands for it where there is none */
    volatile uint32_t table;       /* of a cell: the offset of its table in the record */
    volatile uint64_t key, base;   /* of what the cell is for; base 0: no window */
    volatile uint64_t cell;        /* where a page is named */
};

/* Where it lies, at an offset that no compiler knows: else it would go to registers. */
struct record_room {
    uint64_t a, b, c, d, e, f, g, h, i, j;
};
PATCH_ASSERT(sizeof(struct record_call) + 8 <= sizeof(struct record_room), "room");

DEVICE uint32_t site_home(uint32_t code)
{
    return code & (16 * PATCH_SITES - 16);
}

/* Whether the window of the site has the address; 0 or 1, for an `&`, which is cheaper than a
 * branch. */
DEVICE uint32_t window_fits(uint64_t head, uint64_t base, uint64_t address)
{
    const uint32_t number = (uint32_t)(address >> PATCH_WINDOW_SHIFT);
    return number - (uint32_t)(head >> 32) < (uint32_t)(base >> 48);
}

/* Whether the site is that of the instruction, too, and no guess. An instruction makes accesses of
 * one kind only. */
DEVICE bool site_fits(uint64_t head, uint64_t base, uint32_t pc, uint64_t address)
{
    return (PATCH_CODE_PC((uint32_t)head) == pc) & window_fits(head, base, address);
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
            uint32_t *touched = &flags_of(call)->touched[index];
            if (!(load_near32(touched) >> PATCH_CODE_KIND(code) & 1)) {
                or32(touched, 1u << PATCH_CODE_KIND(code));
            }
            return load_near64(&window->bases[PATCH_CODE_KIND(code) - 1]);
        }
    }
    return 0;
}

/* The cell of the key, one of sixteen by its home, set where there is none yet; NULL: no room.
 * `known`: what the level 1 cache has of the rest of it. */
DEVICE uint64_t *find_cell(const struct record_call *call, uint64_t *known)
{
    ROLLED
    for (uint32_t i = 0; i < PATCH_TRIES; i++) {
        uint64_t *cell =
            (uint64_t *)((char *)call->launch + call->table + (call->home ^ PATCH_TRY(i)));
        uint64_t seen;
        load_pair(cell, &seen, known);
        if (seen == 0) {
            seen = load64(cell);
            if (seen == 0) {
                seen = swap_if64(cell, 0, call->key);
            } else {
                store64(cell, seen);
            }
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
    uint64_t head = load64(&pool->head), seen, left;
    ROLLED
    do {
        left = head < load64(&pool->tail);
        seen = head;
        head = swap_if64(&pool->head, seen, seen + left);
    } while (head != seen);
    if (!left) {
        return call->none;
    }
    struct patch_place *place = (struct patch_place *)(uintptr_t)load_near64(&call->launch->ring) +
                                ((uint32_t)head & load_near32(&call->launch->ring_mask));
    const uint32_t page = load32(&place->page);
    store_pair(place, call->key, (uint64_t)page << 32 | load_near32(&call->launch->index));
    return page;
}

DEVICE bool is_page(uint32_t page)
{
    return page + 1 > 1; /* neither none nor RECORD_BUSY */
}

/* The page that the cell names, claimed where there is none yet. Waits for another lane that claims
 * it; who claims waits for nobody. A page stays, so that all may write it again. */
DEVICE uint32_t page_in_cell(const struct record_call *call)
{
    uint32_t page = load32((const uint32_t *)(uintptr_t)call->cell);
    if (page == PATCH_PAGE_NONE) {
        page = swap_if32((uint32_t *)(uintptr_t)call->cell, PATCH_PAGE_NONE, RECORD_BUSY);
        if (page == PATCH_PAGE_NONE) {
            page = claim_page(call);
            store32((uint32_t *)(uintptr_t)call->cell, page);
        }
    }
    ROLLED
    while (page == RECORD_BUSY) {
        warp_pause();
        page = load32((const uint32_t *)(uintptr_t)call->cell);
    }
    store32((uint32_t *)(uintptr_t)call->cell, page);
    return page;
}

DEVICE uint32_t span_tag(uint32_t leaf, uint32_t code)
{
    return (leaf >> PATCH_SPAN_SHIFT) << 3 | PATCH_CODE_KIND(code);
}

/* The first place of a span in the record. */
DEVICE uint32_t span_home(uint32_t tag)
{
    return (tag * 0x9e3779b1u) >> 25;
}

/* The span of the leaf in the record, set where there is none yet; 0: no room. `known`: what the
 * level 1 cache has of it. */
DEVICE uint32_t *find_span(const struct record_call *call, uint32_t tag, uint64_t *known)
{
    uint32_t at = span_home(tag);
    ROLLED
    for (uint32_t left = PATCH_SPANS; left > 0; left--, at = (at + 1) % PATCH_SPANS) {
        uint32_t *span = &call->launch->spans[at].tag;
        *known = load_near64((const uint64_t *)span);
        uint32_t seen = (uint32_t)*known;
        if (seen == 0) {
            seen = load32(span);
            if (seen == 0) {
                seen = swap_if32(span, 0, tag);
            } else {
                store32(span, seen);
            }
        }
        if (seen == 0 || seen == tag) {
            return span;
        }
    }
    return 0;
}

/* The directory of the leaf, claimed where the launch has none; PATCH_PAGE_LOST: no room. */
DEVICE uint32_t find_directory(struct record_call *call)
{
    const uint32_t tag = span_tag(call->leaf, call->code);
    uint64_t known;
    uint32_t *span = find_span(call, tag, &known);
    if (!span) {
        return PATCH_PAGE_LOST;
    }
    if ((uint32_t)known == tag && is_page((uint32_t)(known >> 32))) {
        return (uint32_t)(known >> 32);
    }
    call->cell = (uint64_t)(uintptr_t)(span + 1);
    call->key = PATCH_KIND_DIRECTORY;
    call->none = PATCH_PAGE_LOST;
    const uint32_t page = page_in_cell(call);
    store32((uint32_t *)(uintptr_t)call->cell - 1, span_tag(call->leaf, call->code));
    return page;
}

/* The page of the leaf, by its directory; both claimed where the launch has none. */
DEVICE uint64_t find_page(struct record_call *call)
{
    const uint64_t cell =
        page_address(call, find_directory(call)) + 4 * (call->leaf % PATCH_PAGE_WORDS);
    uint32_t page = load_near32((const uint32_t *)(uintptr_t)cell);
    if (!is_page(page)) {
        call->cell = cell;
        call->key = (uint64_t)call->leaf << 3 | PATCH_CODE_KIND(call->code);
        call->none = PATCH_PAGE_SINK;
        page = page_in_cell(call);
    }
    if (page == PATCH_PAGE_SINK) {
        store64(&flags_of(call)->lost, 1);
    }
    return page_address(call, page);
}

/* The word of bits of an access, as numbered through memory. */
DEVICE uint64_t word_number(const struct record_call *call)
{
    return call->address >> (PATCH_WORD_SHIFT + PATCH_UNIT(call->size < 4));
}

DEVICE uint32_t entry_home(uint32_t code, uint32_t span)
{
    return ((code >> 4) + (code & 7) * 0x40u + span * 0x61u) % PATCH_ENTRIES * 16;
}

/* Adds parts that an old copy lacks. Where memory has all, a store loses none, and is one for all
 * lanes; where it has some, the atomic is also what makes the copy go. */
DEVICE void add_parts(uint32_t *known, uint32_t parts)
{
    if (load32(known) == PATCH_PARTS_ALL) {
        store32(known, PATCH_PARTS_ALL);
    } else {
        or32(known, parts);
    }
}

/* Enters the instruction, for the report, and for those that come after it. */
DEVICE void enter(struct record_call *call)
{
    if (call->base) {
        call->table = (uint32_t)offsetof(struct patch_launch, sites);
        call->home = site_home(call->code);
    } else {
        const uint32_t span = call->leaf >> PATCH_SPAN_SHIFT;
        call->table = (uint32_t)offsetof(struct patch_launch, entries);
        call->home = entry_home(call->code, span);
        call->key = (uint64_t)call->code << 32 | span;
    }
    uint64_t known;
    uint64_t *cell = find_cell(call, &known);
    if (cell && call->base) {
        if (known != call->base) {
            store_pair(cell, call->key, call->base);
        }
    } else if (cell && (call->parts & ~(uint32_t)known)) {
        add_parts((uint32_t *)(cell + 1), call->parts);
    }
}

/* Whether a cell of the instruction's site tells the base. A guess that fits is one no more. */
DEVICE bool find_site(struct record_call *call, uint32_t away, uint64_t *base)
{
    uint64_t head;
    call->home = site_home(call->code) ^ away;
    load_pair((char *)call->launch->sites + call->home, &head, base);
    const bool fits = (((uint32_t)head | PATCH_GUESS) == (call->code | PATCH_GUESS)) &
                      window_fits(head, *base, call->address);
    if (fits && ((uint32_t)head & PATCH_GUESS)) {
        store32((uint32_t *)((char *)call->launch->sites + call->home),
                (uint32_t)head ^ PATCH_GUESS);
    }
    return fits;
}

/* Whether the level 1 cache tells the base, of a page that the launch has claimed, and that the
 * instruction is entered there. Such pages are in no window. Sets leaf and parts, always. */
DEVICE bool find_known(struct record_call *call, uint64_t *base)
{
    const uint64_t word = word_number(call);
    const uint32_t leaf = (uint32_t)(word >> PATCH_LEAF_SHIFT);
    call->leaf = leaf;
    call->parts = PATCH_PARTS(leaf, (uint32_t)word % PATCH_PAGE_WORDS);
    const uint32_t tag = span_tag(leaf, call->code);
    uint64_t key, known;
    load_pair((char *)call->launch->entries + entry_home(call->code, tag >> 3), &key, &known);
    if (key != ((uint64_t)call->code << 32 | tag >> 3) || (call->parts & ~(uint32_t)known)) {
        return false;
    }
    const uint64_t span = load_near64((const uint64_t *)&call->launch->spans[span_home(tag)]);
    if ((uint32_t)span != tag || !is_page((uint32_t)(span >> 32))) {
        return false;
    }
    const uint64_t cell =
        page_address(call, (uint32_t)(span >> 32)) + 4 * (call->leaf % PATCH_PAGE_WORDS);
    const uint32_t page = load_near32((const uint32_t *)(uintptr_t)cell);
    *base = page_address(call, page) - (uint64_t)call->leaf * PATCH_PAGE_BYTES;
    return is_page(page) && page != PATCH_PAGE_SINK;
}

/* The base of an address where neither does; find_known has been asked. */
DEVICE uint64_t find_base(struct record_call *call)
{
    call->base = find_window(call);
    enter(call);
    if (call->base) {
        return call->base;
    }
    return find_page(call) - (uint64_t)call->leaf * PATCH_PAGE_BYTES;
}

/* The same for all lanes that call. Those in one block, what an entry tells apart, have one base,
 * which the first of them finds. */
DEVICE uint64_t find_together(struct record_call *call)
{
    const uint32_t mask = warp_active();
    call->group = 0;
    if (warp_all_equal(mask, call->address >> PATCH_BLOCK_BYTES(call->size < 4))) {
        call->group = mask;
    }
    uint64_t base = 0;
    if (call->group == 0 || warp_lane() == bits_first(call->group)) {
        base = find_base(call);
    }
    const uint32_t group = call->group;
    return group ? warp_from_first(group, base) : base;
}

DEVICE uint64_t word_address(uint64_t base, uint64_t address, bool is_small)
{
    return (base + (address >> (is_small ? 5 : 7) << 2)) & PATCH_ADDRESS;
}

/* Sets the bits of an access. Of bits that lie one behind the other, whatever windows and pages
 * they are of, lane i sets those of word i of them all: a whole word needs no atomic, as a store of
 * all bits loses none. A word that all have in common is looked at first: where thousands of warps
 * read one number, each atomic would wait for the one before. Not so by a lane that `stores` alone,
 * what its block or row has come to: that bit is new as a rule, those of all blocks lie in one
 * line, and looks at it would hold up the atomics of the others. Words that lie apart are far more
 * than a kernel's other accesses leave room for in the level 2 cache: one access in 32 has its line
 * of words kept there. */
DEVICE void set_bits(uint64_t base, uint64_t address, uint32_t size, bool stores)
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
    } else if (stores && (mask & (mask - 1)) == 0) {
        or32(word, bits);
        return;
    }
    if (warp_all_equal(mask, at)) {
        bits &= ~load_near32(word);
        if (bits != 0) {
            bits &= ~load32(word);
        }
        if (bits == 0) {
            return;
        }
    } else if (((uint32_t)(at >> 7) & 31) == warp_lane()) {
        keep_near(word);
    }
    or32(word, bits);
}

/* The lanes that call have accessed `size` bytes (1, 2, 4, 8, 16, 32) each, aligned to it. False:
 * the instruction's site does not tell where, nothing is recorded. `stores`: it is neither a read
 * nor an atomic. */
DEVICE bool record_by_site(struct patch_launch *launch, uint64_t pc, uint64_t address,
                           uint32_t size, bool stores)
{
    uint64_t head, base;
    load_pair((char *)launch->sites + site_home((uint32_t)pc), &head, &base);
    const bool fits = site_fits(head, base, (uint32_t)pc, address);
    if (fits) {
        set_bits(base, address, size, stores);
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
    call->size = size;
    call->address = address;
    call->code = PATCH_CODE(pc, PATCH_KIND(access, size < 4));
    uint64_t base;
    /* The first place has no more than a guess. */
    if (!find_site(call, PATCH_TRY(1), &base) && !find_site(call, 0, &base) &&
        !find_known(call, &base)) {
        base = find_together(call);
    }
    set_bits(base, call->address, call->size, PATCH_KIND_ACCESS(PATCH_CODE_KIND(call->code)) == 1);
}

DEVICE void record_access(struct patch_launch *launch, uint64_t pc, uint64_t address, uint32_t size,
                          uint32_t access)
{
    if (!record_by_site(launch, pc, address, size, access == 1)) {
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
    call->address = ~address; /* of no block here */
    const uint64_t end = address + 16ull * count;
    ROLLED
    while (address < end) {
        if ((call->address ^ address) >> PATCH_BLOCK_BYTES(0)) {
            uint64_t base;
            call->address = address;
            if (!find_site(call, 0, &base) && !find_site(call, PATCH_TRY(1), &base) &&
                !find_known(call, &base)) {
                base = find_base(call);
            }
            call->base = base;
        }
        const uint32_t offset = (uint32_t)(address >> 2) & 31;
        const uint32_t rest = 32 - offset;
        const uint64_t left = (end - address) >> 2;
        const uint32_t here = left < rest ? (uint32_t)left : rest;
        or32((uint32_t *)(uintptr_t)word_address(call->base, address, false),
             (0xffffffffu >> (32 - here)) << offset);
        address += 4ull * here;
    }
}

#endif
