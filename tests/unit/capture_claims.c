/* Launches in flight are promised the pages that they may claim, and the next one is held back
 * before those of the pool could run out. */
#include "capture/memory.h"
#include "capture/observe_claims.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#define LEAF  (UINT64_C(1) << PATCH_WINDOW_SHIFT)
#define BLOCK UINT64_C(0x7f4200000000)
#define PAGES 32000u

static const struct observe_parameter pointers[] = {{0, 8}, {8, 8}, {16, 8}};

/* A pool of few records, as far as promises go. */
static struct pool_launch launches[4];
static uint32_t free_records[4];
static struct pool pool = {.page_count = PAGES,
                           .pages_left = PAGES,
                           .record_count = 4,
                           .launches = launches,
                           .free_records = free_records,
                           .free_tail = 4,
                           .lock = PTHREAD_MUTEX_INITIALIZER};

/* What the first of its launches is promised: one of `threads` threads, with these parameters. */
static uint32_t expected(struct observed_kernel *kernel, const uint64_t *words, uint64_t threads)
{
    void *arguments[3];
    for (uint32_t i = 0; i < 3; i++) {
        arguments[i] = (void *)(uintptr_t)&words[i];
    }
    const struct observe_arguments all = {words ? arguments : NULL, NULL, 0};
    kernel->parameters = pointers;
    kernel->parameter_count = 3;
    launches[0].kernel = kernel;
    if (claims_are_known(kernel)) {
        claims_promise(&pool, &launches[0]);
    } else {
        claims_promise_unknown(&pool, pool_user(&pool, 0), &all, threads);
    }
    assert_int_equal(pool.promised, launches[0].promised);
    return launches[0].promised;
}

static void unknown_kernels(void **state)
{
    const struct memory_block block = {BLOCK, 100 * LEAF, 1, SSAN_memory_DEVICE, 1, false, NULL};
    const struct memory_block large = {
        BLOCK + 1000 * LEAF, 9000 * LEAF, 2, SSAN_memory_DEVICE, 1, false, NULL};
    const uint64_t one[] = {BLOCK + 20 * LEAF, 7, BLOCK + 30 * LEAF};
    const uint64_t both[] = {BLOCK, BLOCK + 1000 * LEAF, 7};
    struct observed_kernel words = {.kinds = 1u << PATCH_KIND(0, 0)};
    struct observed_kernel bytes = {.kinds = 1u << PATCH_KIND(0, 1) | 1u << PATCH_KIND(1, 0)};
    struct observed_kernel none = {.kinds = 0};
    struct memory_block gone;
    assert_true(memory_add(&block) && memory_add(&large));
    assert_false(claims_are_known(&words));
    assert_in_range(expected(&words, one, 6656), 80, 82); /* the rest of a block, once */
    assert_in_range(expected(&bytes, one, 6656), 5 * 80, 5 * 82);
    assert_int_equal(expected(&words, one, 32), 32);              /* one for each thread */
    assert_int_equal(expected(&words, both, 1 << 20), PAGES / 8); /* an eighth at most */
    assert_int_equal(expected(&none, both, 1 << 20), 0);          /* it accesses nothing */
    assert_int_equal(expected(&words, NULL, 1 << 20), PAGES / 8); /* its parameters are unknown */
    launches[0].windows[0].count = 30;                            /* which take some of it */
    launches[0].windows[0].pages[0] = 4096;
    launches[0].window_count = 1;
    assert_in_range(expected(&words, one, 6656), 50, 52);
    launches[0].windows[0].count = 100;
    assert_int_equal(expected(&words, one, 6656), 0);
    launches[0].window_count = 0;
    assert_true(memory_remove(BLOCK, &gone) && memory_remove(BLOCK + 1000 * LEAF, &gone));
}

static void known_kernels(void **state)
{
    const uint64_t any[] = {0, 0, 0};
    struct pool_page *pages = calloc(PAGES, sizeof *pages);
    struct observed_kernel kernel = {.kinds = 2};
    struct pool_launch ended = {.kernel = &kernel};
    assert_non_null(pages);
    ended.pages.items = pages;
    claims_learn(&pool, &ended, false);
    assert_true(claims_are_known(&kernel));
    assert_int_equal(expected(&kernel, any, 1 << 20), 0);
    ended.pages.count = 300; /* more at once, less by and by */
    claims_learn(&pool, &ended, false);
    assert_int_equal(expected(&kernel, any, 1 << 20), 300);
    ended.pages.count = 20;
    claims_learn(&pool, &ended, false);
    assert_in_range(expected(&kernel, any, 1 << 20), 270, 299);
    for (int i = 0; i < 500; i++) {
        claims_learn(&pool, &ended, false);
    }
    assert_int_equal(expected(&kernel, any, 1 << 20), 20);
    claims_learn(&pool, &ended, true); /* it would have claimed more */
    assert_int_equal(expected(&kernel, any, 1 << 20), PAGES / 8);
    free(pages);
}

/* Where there is no memory for the windows that its launches had, all is claimed. One of few
 * threads is to have none, and claims what others like it did. */
static void without_windows(void **state)
{
    const uint64_t any[] = {0, 0, 0};
    struct pool_page pages[20] = {{0}};
    struct observed_kernel kernel = {.kinds = 2};
    struct pool_launch ended = {.kernel = &kernel, .touched = 500};
    ended.pages.items = pages;
    ended.pages.count = 20;
    claims_learn(&pool, &ended, false);
    assert_int_equal(expected(&kernel, any, 32), 20);
    launches[0].lacks_windows = true;
    assert_int_equal(expected(&kernel, any, 1 << 20), 500);
    launches[0].lacks_windows = false;
}

/* Promises `pages` to a launch. */
static void promise(uint32_t index, uint32_t pages)
{
    struct observed_kernel kernel = {.claims = pages, .touched = pages + 1};
    launches[index].kernel = &kernel;
    launches[index].is_running = true;
    pool.running++;
    claims_promise(&pool, &launches[index]);
}

static void held_back(void **state)
{
    promise(0, PAGES / 2);
    promise(1, PAGES / 4);
    assert_false(pool_is_pressed(&pool));
    promise(2, 1);
    assert_true(pool_is_pressed(&pool));
    pool_cancel(&pool, pool_user(&pool, 2));
    assert_false(pool_is_pressed(&pool));
    assert_int_equal(pool.promised, PAGES / 2 + PAGES / 4);
    promise(2, 1);
    assert_true(pool_is_pressed(&pool));
    pool_give_up_waiting(&pool); /* kernels may wait for what comes: for a while nobody waits */
    pool.drains++;
    assert_false(pool_is_pressed(&pool));
    pool.impatient_until_ms = 0;
    assert_true(pool_is_pressed(&pool));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_kernels),
        cmocka_unit_test(known_kernels),
        cmocka_unit_test(without_windows),
        cmocka_unit_test(held_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
