/* What it costs the device patches to find the bits of an address that no site tells: warps run on
 * the CPU (support/warp.h), what they ask of memory is counted. */
#include "support/warp.h"

#include "capture/patches/record.cuh"

#include "base/rng.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define BASE  UINT64_C(0x7f4200000000)
#define LEAF  (UINT64_C(1) << PATCH_LEAF_BYTES(0))
#define BLOCK (UINT64_C(1) << PATCH_BLOCK_BYTES(0))
#define PC    0x7f00001000u

#define WARPS  8u
#define LEAVES 12u
#define PAGES  128u

/* -- a launch, and all that its record names -- */

static struct {
    uint32_t pages[PAGES][PATCH_PAGE_WORDS] __attribute__((aligned(256)));
    struct patch_place ring[PAGES] __attribute__((aligned(256)));
    struct patch_pool pool;
    struct patch_flags flags;
    struct patch_launch launch __attribute__((aligned(256)));
} memory;

static void set_up(void)
{
    memset(&memory, 0, sizeof memory);
    memory.launch.pages = (uintptr_t)memory.pages;
    memory.launch.pool = (uintptr_t)&memory.pool;
    memory.launch.ring = (uintptr_t)memory.ring;
    memory.launch.flags = (uintptr_t)&memory.flags;
    memory.launch.ring_mask = PAGES - 1;
    for (uint32_t i = 0; i < PAGES; i++) {
        memory.ring[i].page = PATCH_PAGE_FIRST + i;
    }
    memory.pool.tail = PAGES - PATCH_PAGE_FIRST;
}

/* A window for each of the first leaves, in a page of its own. */
static void set_windows(void)
{
    for (uint32_t i = 0; i < 4; i++) {
        struct patch_window *window = &memory.launch.windows[i];
        window->first = (uint32_t)(BASE / LEAF) + i;
        window->count = 1;
        window->bases[PATCH_KIND(0, 0) - 1] =
            (((uintptr_t)memory.pages[i] - window->first * (uint64_t)PATCH_PAGE_BYTES) &
             PATCH_ADDRESS) |
            UINT64_C(1) << 48;
    }
    memory.launch.window_count = 4;
}

/* What the library guesses of the instruction: the window. */
static void set_guess(uint32_t try, uint32_t window)
{
    struct patch_site *site =
        &memory.launch.sites[(PATCH_CODE_PLACE(PC ^ PATCH_TRY(try))) % PATCH_SITES];
    site->head = (uint64_t)memory.launch.windows[window].first << 32 |
                 PATCH_CODE(PC, PATCH_KIND(0, 0)) | PATCH_GUESS;
    site->base = memory.launch.windows[window].bases[PATCH_KIND(0, 0) - 1];
}

/* -- what lanes do; the accesses of a pass are one call -- */

static unsigned arrived[WARPS];

static void load(uint64_t pc, uint64_t address)
{
    record_access(&memory.launch, pc, address, 4, 0);
}

/* Neighbours in one block after the other, again and again. */
static void go_through(void *self, unsigned warp, unsigned lane)
{
    const unsigned passes = *(const unsigned *)self;
    for (unsigned pass = 0; pass < passes; pass++) {
        for (unsigned leaf = 0; leaf < LEAVES; leaf++) {
            warp_call(pass);
            load(PC, BASE + leaf * LEAF + warp * BLOCK + lane * 4);
        }
    }
}

static void gather(void *self, unsigned warp, unsigned lane)
{
    (void)self;
    for (unsigned pass = 0; pass < 2; pass++) {
        warp_call(pass);
        load(PC, BASE + lane * LEAF + warp * 4096);
    }
}

/* The first warp claims what the second has an old copy of: it was there when only the first leaf
 * had a page. */
static void come_late(void *self, unsigned warp, unsigned lane)
{
    (void)self;
    warp_call(0);
    if (warp == 1) {
        load(PC, BASE + lane * 4);
        load(PC, BASE + lane * 4);
    } else {
        while (arrived[1] < WARP_LANES) {
            warp_step();
        }
    }
    for (unsigned leaf = 0; leaf < 4 && warp == 0; leaf++) {
        load(PC, BASE + leaf * LEAF + lane * 4);
    }
    arrived[warp]++;
    while (arrived[0] < WARP_LANES) {
        warp_step();
    }
    for (unsigned pass = 1; pass < 3 && warp == 1; pass++) {
        for (unsigned leaf = 0; leaf < 4; leaf++) {
            warp_call(pass);
            load(PC, BASE + leaf * LEAF + lane * 4);
        }
    }
}

/* The first warp touches all parts of the span, when the second has an old copy with one. */
static void find_all_parts(void *self, unsigned warp, unsigned lane)
{
    (void)self;
    warp_call(0);
    for (unsigned i = 0; i < 2 && warp == 1; i++) {
        load(PC, BASE + lane * 4);
    }
    while (warp == 0 && arrived[1] < WARP_LANES) {
        warp_step();
    }
    for (unsigned i = 0; i < 16 && warp == 0; i++) {
        load(PC, BASE + i * (4 * LEAF + BLOCK) + lane * 4);
    }
    arrived[warp]++;
    while (arrived[0] < WARP_LANES) {
        warp_step();
    }
    for (unsigned i = 0; i < 16 && warp == 1; i++) {
        warp_call(i == 0 ? 1 : 2);
        load(PC, BASE + 3 * 4 * LEAF + i * BLOCK + lane * 4);
    }
}

/* Two instructions, one behind the other, each in two windows. */
static void follow_each_other(void *self, unsigned warp, unsigned lane)
{
    (void)self;
    for (unsigned pass = 0; pass < 3; pass++) {
        for (unsigned i = 0; i < 4; i++) {
            warp_call(pass);
            load(PC + 16 * (i / 2), BASE + i % 2 * LEAF + warp * BLOCK + lane * 4);
        }
    }
}

/* One number for all lanes, and one that the first lane of each warp writes. */
static void read_together_write_alone(void *self, unsigned warp, unsigned lane)
{
    (void)self;
    for (unsigned pass = 0; pass < 3; pass++) {
        warp_call(pass);
        if (pass % 2 == 0) {
            load(PC, BASE);
            if (lane == 0) {
                record_access(&memory.launch, PC + 64, BASE, 4, 2);
            }
        } else if (lane == 0) {
            record_access(&memory.launch, PC + 32, BASE + 4 * warp, 4, 1);
        }
    }
}

/* An instruction that is in more windows than it has places near its home. */
static void change_windows(void *self, unsigned warp, unsigned lane)
{
    (void)self;
    for (unsigned pass = 0; pass < 3; pass++) {
        for (unsigned i = 0; i < 4; i++) {
            warp_call(pass);
            load(PC, BASE + i * LEAF + warp * BLOCK + lane * 4);
        }
    }
}

/* In the first window only. */
static void stay_in_window(void *self, unsigned warp, unsigned lane)
{
    (void)self;
    for (unsigned pass = 0; pass < 3; pass++) {
        warp_call(pass);
        load(PC, BASE + warp * BLOCK + lane * 4);
    }
}

/* A block and a half, twice. */
static void copy_in_bulk(void *self, unsigned warp, unsigned lane)
{
    (void)self;
    (void)warp;
    (void)lane;
    warp_call(0);
    record_bulk(&memory.launch, PC, BASE, (uint32_t)(BLOCK * 3 / 2 / 16), 0);
    warp_call(1);
    record_bulk(&memory.launch, PC, BASE, (uint32_t)(BLOCK * 3 / 2 / 16), 0);
}

static void run(unsigned warps, void (*lane)(void *, unsigned, unsigned), void *self)
{
    struct rng rng = {3};
    memset(arrived, 0, sizeof arrived);
    warp_keep_together(true);
    warp_run(&rng, warps, lane, self);
    for (unsigned pass = 0; pass < 3; pass++) {
        printf("pass %u: %u loads, %u stores, %u atomics\n", pass,
               (unsigned)warp_count(pass, WARP_LOAD), (unsigned)warp_count(pass, WARP_STORE),
               (unsigned)warp_count(pass, WARP_ATOMIC));
    }
}

/* -- tests -- */

/* The lanes of a warp look up once; what a warp has found costs it nothing beyond its level 1
 * cache, whatever the others have changed in between. */
static void one_look_for_all_lanes(void **state)
{
    (void)state;
    unsigned passes = 3;
    set_up();
    run(WARPS, go_through, &passes);
    assert_int_equal(memory.pool.head, LEAVES + 1);
    assert_in_range(warp_count(0, WARP_ATOMIC), LEAVES + 1, 4 * WARPS * LEAVES);
    assert_in_range(warp_count(0, WARP_LOAD), 1, 10 * WARPS * LEAVES);
    for (unsigned pass = 1; pass < passes; pass++) {
        assert_int_equal(warp_count(pass, WARP_ATOMIC), 0);
        assert_int_equal(warp_count(pass, WARP_LOAD), 0);
        assert_int_equal(warp_count(pass, WARP_STORE), WARPS * LEAVES); /* the bits */
    }
}

/* Lanes that lie apart look up each on its own; of pages that are known, without atomics but for
 * the bits. */
static void known_pages_of_a_gather(void **state)
{
    (void)state;
    set_up();
    run(4, gather, NULL);
    assert_in_range(warp_count(1, WARP_NEAR), 1, 4 * WARP_LANES * 8);
    assert_int_equal(warp_count(1, WARP_ATOMIC), 4 * WARP_LANES);
    assert_int_equal(warp_count(1, WARP_LOAD), 0);
    assert_int_equal(warp_count(1, WARP_STORE), 0);
}

/* An old copy costs a load, once, and no atomic. */
static void old_copies_are_replaced(void **state)
{
    (void)state;
    set_up();
    run(2, come_late, NULL);
    assert_int_equal(warp_count(1, WARP_ATOMIC), 0);
    assert_in_range(warp_count(1, WARP_LOAD), 1, 3);
    assert_int_equal(warp_count(2, WARP_ATOMIC), 0);
    assert_int_equal(warp_count(2, WARP_LOAD), 0);
    assert_int_equal(warp_count(2, WARP_STORE), 4); /* the bits */
}

/* An entry that is full is known after a store. */
static void full_entries_are_stored(void **state)
{
    (void)state;
    set_up();
    run(2, find_all_parts, NULL);
    for (unsigned pass = 1; pass < 3; pass++) {
        assert_int_equal(warp_count(pass, WARP_ATOMIC), 0);
    }
    assert_int_equal(warp_count(1, WARP_LOAD), 1);
    assert_int_equal(warp_count(2, WARP_LOAD), 0);
    assert_int_equal(warp_count(2, WARP_STORE), 15); /* the bits */
}

static void known_windows(void **state)
{
    (void)state;
    set_up();
    set_windows();
    run(2, change_windows, NULL);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(memory.flags.touched[i], 1u << PATCH_KIND(0, 0));
    }
    assert_int_equal(memory.pool.head, 0);
    assert_int_equal(warp_count(1, WARP_ATOMIC), 0);
    assert_int_equal(warp_count(1, WARP_LOAD), 0);
    assert_int_equal(warp_count(1, WARP_STORE), 2 * 4); /* the bits */
}

/* A number that all read costs no atomic once it is known, nor one that a lane of each warp counts
 * in; what a lane writes alone costs one, and no look. */
static void alone_and_together(void **state)
{
    (void)state;
    set_up();
    set_windows();
    memory.launch.windows[0].bases[PATCH_KIND(1, 0) - 1] =
        memory.launch.windows[1].bases[PATCH_KIND(0, 0) - 1] + PATCH_PAGE_BYTES;
    struct patch_site *site = &memory.launch.sites[PATCH_CODE_PLACE(PC + 32) % PATCH_SITES];
    site->head = (BASE / LEAF) << 32 | PATCH_CODE(PC + 32, PATCH_KIND(1, 0));
    site->base = memory.launch.windows[0].bases[PATCH_KIND(1, 0) - 1];
    run(WARPS, read_together_write_alone, NULL);
    assert_int_equal(warp_count(1, WARP_NEAR), WARPS); /* the site */
    assert_int_equal(warp_count(1, WARP_LOAD), 0);
    assert_int_equal(warp_count(1, WARP_ATOMIC), WARPS);
    assert_int_equal(memory.pages[1][0], (1u << WARPS) - 1);
    assert_int_equal(warp_count(2, WARP_ATOMIC), 0);
}

/* Neighbours do not take each other's places: whatever they look for is found at the second. */
static void neighbours(void **state)
{
    (void)state;
    set_up();
    set_windows();
    run(2, follow_each_other, NULL);
    assert_in_range(warp_count(1, WARP_NEAR), 1, 2 * WARP_LANES * (2 * 1 + 2 * 3));
    assert_int_equal(warp_count(1, WARP_LOAD) + warp_count(1, WARP_ATOMIC), 0);
    assert_int_equal(warp_count(1, WARP_STORE), 2 * 4); /* the bits */
}

/* A guess is taken over by a store, without a look at anything that has to come from the level 2
 * cache, and then is as good as what was found. */
static void right_guess(void **state)
{
    (void)state;
    for (uint32_t try = 0; try < 2; try++) {
        set_up();
        set_windows();
        set_guess(try, 0);
        run(WARPS, stay_in_window, NULL);
        assert_int_equal(warp_count(0, WARP_LOAD), 0);
        assert_int_equal(warp_count(0, WARP_ATOMIC), 0);
        /* The bits, and the site as long as it is seen as a guess. */
        assert_in_range(warp_count(0, WARP_STORE), WARPS + 1, 2 * WARPS);
        assert_int_equal(warp_count(1, WARP_STORE), WARPS);
        assert_int_equal(warp_count(1, WARP_LOAD) + warp_count(1, WARP_ATOMIC), 0);
        assert_int_equal(
            memory.launch.sites[(PATCH_CODE_PLACE(PC ^ PATCH_TRY(try))) % PATCH_SITES].head,
            (BASE / LEAF) << 32 | PATCH_CODE(PC, PATCH_KIND(0, 0)));
    }
}

/* One of another window stays a guess, and the instruction finds its own beside it. */
static void wrong_guess(void **state)
{
    (void)state;
    set_up();
    set_windows();
    set_guess(0, 3);
    const struct patch_site guess = memory.launch.sites[PATCH_CODE_PLACE(PC) % PATCH_SITES];
    run(WARPS, stay_in_window, NULL);
    assert_memory_equal(&memory.launch.sites[PATCH_CODE_PLACE(PC) % PATCH_SITES], &guess,
                        sizeof guess);
    assert_int_equal(memory.flags.touched[0], 1u << PATCH_KIND(0, 0));
    assert_int_equal(memory.flags.touched[3], 0);
    assert_int_equal(warp_count(1, WARP_LOAD) + warp_count(1, WARP_ATOMIC), 0);
    assert_int_equal(warp_count(1, WARP_STORE), WARPS); /* the bits */
}

/* A bulk copy looks up once for each block. */
static void one_look_for_a_block(void **state)
{
    (void)state;
    const uint64_t words = BLOCK * 3 / 2 / 128;
    set_up();
    run(1, copy_in_bulk, NULL);
    assert_in_range(warp_count(0, WARP_ATOMIC), words, words + 10);
    assert_in_range(warp_count(0, WARP_LOAD), 1, 12);
    assert_in_range(warp_count(0, WARP_NEAR), 1, 60);
    const uint32_t *bits = memory.pages[memory.ring[1].page];
    for (unsigned i = 0; i < PATCH_PAGE_WORDS; i++) {
        assert_int_equal(bits[i], i < words ? 0xffffffff : 0);
    }
}

/* In a window, by the site, guessed or not. */
static void known_window_of_a_block(void **state)
{
    (void)state;
    set_up();
    set_windows();
    set_guess(0, 0);
    run(1, copy_in_bulk, NULL);
    assert_int_equal(warp_count(0, WARP_LOAD), 0);
    assert_int_equal(warp_count(0, WARP_STORE), 1);
    assert_int_equal(warp_count(1, WARP_NEAR), 2);
    set_up();
    set_windows();
    run(1, copy_in_bulk, NULL);
    assert_int_equal(warp_count(1, WARP_NEAR), 2);
    assert_int_equal(warp_count(1, WARP_LOAD), 0);
    assert_int_equal(warp_count(1, WARP_STORE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_look_for_all_lanes),
        cmocka_unit_test(known_pages_of_a_gather),
        cmocka_unit_test(old_copies_are_replaced),
        cmocka_unit_test(full_entries_are_stored),
        cmocka_unit_test(known_windows),
        cmocka_unit_test(alone_and_together),
        cmocka_unit_test(neighbours),
        cmocka_unit_test(right_guess),
        cmocka_unit_test(wrong_guess),
        cmocka_unit_test(one_look_for_a_block),
        cmocka_unit_test(known_window_of_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
