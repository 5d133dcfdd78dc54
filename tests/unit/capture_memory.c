/* The map of live blocks against a naive one: a block number for each of a few hundred bytes. */
#include "capture/memory.h"

#include "base/rng.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#define BASE  UINT64_C(0x7f0000000000)
#define BYTES 300u
#define STEPS 20000u

static uint32_t owner[BYTES]; /* by byte: the alloc id, 0 none */

static void forget(uint32_t id)
{
    for (uint32_t i = 0; i < BYTES; i++) {
        owner[i] = owner[i] == id ? 0 : owner[i];
    }
}

static void check_all(void)
{
    for (uint32_t i = 0; i < BYTES; i++) {
        struct memory_block block = {0};
        bool found = memory_find(BASE + i, &block);
        assert_int_equal(found ? block.alloc : 0, owner[i]);
        if (found) {
            assert_true(block.address <= BASE + i && BASE + i < block.address + block.size);
        }
    }
}

static void add(uint32_t at, uint32_t size, uint32_t id)
{
    struct memory_block block = {.address = BASE + at, .size = size, .alloc = id};
    assert_true(memory_add(&block));
    for (uint32_t i = at; i < at + size; i++) {
        forget(owner[i] ? owner[i] : UINT32_MAX); /* all of an older one */
    }
    for (uint32_t i = at; i < at + size; i++) {
        owner[i] = id;
    }
}

static void random_blocks(void **state)
{
    struct rng rng = {5};
    print_message("seed 5\n");

    for (uint32_t step = 1; step <= STEPS; step++) {
        uint32_t at = (uint32_t)rng_below(&rng, BYTES - 1);
        if (rng_below(&rng, 3) > 0) {
            add(at, 1 + (uint32_t)rng_below(&rng, BYTES - at < 40 ? BYTES - at : 40), step);
        } else {
            struct memory_block block = {0};
            uint32_t id = owner[at];
            bool begins = id && (at == 0 || owner[at - 1] != id);
            assert_int_equal(memory_remove(BASE + at, &block), begins);
            if (begins) {
                assert_int_equal(block.alloc, id);
                forget(id);
            }
        }
        if (step % 500 == 0) {
            check_all();
        }
    }
}

static void neighbours_and_limits(void **state)
{
    struct memory_block block = {.address = UINT64_MAX - 3, .size = 8, .alloc = 1};
    assert_false(memory_add(&block)); /* leaves the address space */
    block.size = 0;
    assert_false(memory_add(&block));
    block = (struct memory_block){.address = 0x1000, .size = 0x1000, .alloc = 2};
    assert_true(memory_add(&block));
    block = (struct memory_block){.address = 0x2000, .size = 0x1000, .alloc = 3};
    assert_true(memory_add(&block));
    assert_true(memory_find(0x1fff, &block) && block.alloc == 2);
    assert_true(memory_find(0x2000, &block) && block.alloc == 3);
    assert_false(memory_find(0x3000, &block));
    assert_false(memory_find(0xfff, &block));
    assert_true(memory_next(0, &block) && block.alloc == 2);
    uint64_t epoch = memory_epoch();
    assert_false(memory_remove(0x1800, &block)); /* inside, not at its begin */
    assert_int_equal(memory_epoch(), epoch);
    assert_true(memory_remove(0x1000, &block) && block.alloc == 2);
    assert_true(memory_epoch() > epoch);
    assert_true(memory_next(0, &block) && block.alloc == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_and_limits),
        cmocka_unit_test(random_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
