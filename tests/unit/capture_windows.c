/* Windows of launches: which they get, the memory behind them, and how that grows and shrinks. */
#include "capture/memory.h"
#include "capture/observe_growth.h"
#include "capture/observe_windows.h"

#include "base/mem.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <string.h>

#define LEAF  (UINT64_C(1) << PATCH_WINDOW_SHIFT)
#define BLOCK UINT64_C(0x7f4200000000)
#define GIB   (UINT64_C(1) << 30)
#define MIB   (UINT64_C(1) << 20)

/* -- plans -- */

static const struct observe_parameter pointers[] = {{0, 8},  {8, 8},  {16, 8}, {24, 8}, {32, 8},
                                                    {40, 8}, {48, 8}, {56, 8}, {64, 8}, {72, 8}};

static struct window_plan plan_of(struct observed_kernel *kernel, const uint64_t *words,
                                  uint32_t count, uint64_t threads)
{
    void *arguments[10];
    for (uint32_t i = 0; i < count; i++) {
        arguments[i] = (void *)(uintptr_t)&words[i];
    }
    const struct observe_arguments all = {arguments, NULL, 0};
    kernel->parameters = pointers;
    kernel->parameter_count = count;
    return windows_plan(kernel, &all, threads);
}

static void is_window(const struct window_plan *plan, uint32_t index, uint64_t begin, uint64_t end)
{
    assert_true(index < plan->count);
    assert_true(plan->items[index].first == begin / LEAF);
    assert_true(plan->items[index].end == (end + LEAF - 1) / LEAF);
}

static void add_block(uint64_t address, uint64_t size)
{
    const struct memory_block block = {address, size, 1, SSAN_memory_DEVICE, 1, false, NULL};
    assert_true(memory_add(&block));
}

static void remove_block(uint64_t address)
{
    struct memory_block block;
    assert_true(memory_remove(address, &block));
}

static void plans(void **state)
{
    struct observed_kernel kernel = {.kinds = 1u << PATCH_KIND(0, 0)};
    const uint64_t one[] = {BLOCK + 100, 7, BLOCK + 2 * GIB};
    add_block(BLOCK, GIB);
    add_block(BLOCK + 2 * GIB, 3 * LEAF + 5);
    struct window_plan plan = plan_of(&kernel, one, 3, WINDOWS_THREADS - 1);
    assert_int_equal(plan.count, 0); /* too few threads */
    plan = plan_of(&kernel, one, 3, WINDOWS_THREADS);
    assert_int_equal(plan.count, 2);
    is_window(&plan, 0, BLOCK, BLOCK + 100 + 64 * WINDOWS_THREADS);
    is_window(&plan, 1, BLOCK + 2 * GIB, BLOCK + 2 * GIB + 3 * LEAF + 5);
    plan = plan_of(&kernel, one, 3, UINT64_MAX);
    is_window(&plan, 0, BLOCK, BLOCK + GIB);
    kernel.kinds = 0;
    assert_int_equal(plan_of(&kernel, one, 3, UINT64_MAX).count, 0); /* it accesses nothing */
    kernel.kinds = 2;
    const struct observe_arguments none = {NULL, NULL, 0};
    assert_int_equal(windows_plan(&kernel, &none, UINT64_MAX).count, 0);
    remove_block(BLOCK);
    remove_block(BLOCK + 2 * GIB);
}

/* Operands in one leaf or in leaves that touch have one window; of too many the largest stay. */
static void merged_plans(void **state)
{
    struct observed_kernel kernel = {.kinds = 2};
    const uint64_t near[] = {BLOCK + 40 * MIB, BLOCK, BLOCK + 2 * MIB, BLOCK + 60 * MIB};
    add_block(BLOCK, 64 * MIB);
    struct window_plan plan = plan_of(&kernel, near, 4, WINDOWS_THREADS);
    assert_int_equal(plan.count, 3);
    is_window(&plan, 0, BLOCK, BLOCK + 4 * MIB);
    is_window(&plan, 1, BLOCK + 40 * MIB, BLOCK + 42 * MIB);
    is_window(&plan, 2, BLOCK + 60 * MIB, BLOCK + 62 * MIB);
    assert_true(plan.items[0].operands == (OBSERVE_OPERAND(8) | OBSERVE_OPERAND(16)));
    assert_true(plan.items[1].operands == OBSERVE_OPERAND(0));
    assert_true(plan.items[2].operands == OBSERVE_OPERAND(24));
    remove_block(BLOCK);
    uint64_t many[10];
    for (uint64_t i = 0; i < 10; i++) {
        many[i] = BLOCK + i * GIB;
        add_block(many[i], (i == 3 || i == 5 ? 1 : 8) * LEAF);
    }
    plan = plan_of(&kernel, many, 10, WINDOWS_THREADS);
    assert_int_equal(plan.count, PATCH_WINDOWS);
    for (uint32_t i = 0; i < plan.count; i++) {
        assert_true(plan.items[i].end - plan.items[i].first == 8);
        assert_true(i == 0 || plan.items[i].first > plan.items[i - 1].end);
    }
    for (uint64_t i = 0; i < 10; i++) {
        remove_block(many[i]);
    }
}

/* A launch that went beyond its windows, in the same block, makes those of later ones larger. */
static void learnt(void **state)
{
    struct observed_kernel kernel = {.kinds = 2};
    struct pool_page pages[64];
    struct pool_launch launch = {.kernel = &kernel, .window_count = 1};
    launch.windows[0].first = (uint32_t)(BLOCK / LEAF);
    launch.windows[0].count = 4;
    launch.pages.items = pages;
    launch.pages.count = 64;
    add_block(BLOCK, GIB);
    for (uint32_t i = 0; i < 64; i++) { /* of another block */
        pages[i] = (struct pool_page){(BLOCK / LEAF + 4096 + i) << 3 | 1, i};
    }
    windows_learn(&launch);
    assert_int_equal(kernel.reach, 0);
    for (uint32_t i = 0; i < 64; i++) {
        pages[i].what = (BLOCK / LEAF + 4 + i) << 3 | 1;
    }
    windows_learn(&launch);
    assert_int_equal(kernel.reach, 512);
    for (unsigned i = 0; i < 10; i++) {
        windows_learn(&launch);
    }
    assert_int_equal(kernel.reach, 64 << 12); /* and no further */
    remove_block(BLOCK);
}

/* A launch of few threads that accessed more than a little: later ones of its kernel get windows.
 */
static void learnt_of_few(void **state)
{
    struct observed_kernel kernel = {.kinds = 2};
    struct pool_page pages[] = {{PATCH_KIND_DIRECTORY, 1},
                                {(BLOCK / LEAF) << 3 | 1, 2},
                                {(BLOCK / LEAF + 1) << 3 | 1, 3},
                                {(BLOCK / LEAF + 9) << 3 | 1, 4}};
    struct pool_launch launch = {.kernel = &kernel};
    const uint64_t one[] = {BLOCK};
    launch.pages.items = pages;
    launch.pages.count = 3;
    add_block(BLOCK, GIB);
    windows_learn(&launch);
    assert_int_equal(plan_of(&kernel, one, 1, 128).count, 0);
    launch.pages.count = 4;
    windows_learn(&launch);
    windows_learn(&launch); /* nothing more is known by that */
    struct window_plan plan = plan_of(&kernel, one, 1, 128);
    assert_int_equal(plan.count, 1);
    is_window(&plan, 0, BLOCK, BLOCK + MIB);
    remove_block(BLOCK);
}

/* A kernel that stays far below its windows gets smaller ones, unless it was beyond them again and
 * again. */
static void learnt_to_shrink(void **state)
{
    struct observed_kernel kernel = {.kinds = 2};
    struct pool_page far[] = {{(BLOCK / LEAF + 4096) << 3 | 1, 1},
                              {(BLOCK / LEAF + 4097) << 3 | 1, 2},
                              {(BLOCK / LEAF + 4098) << 3 | 1, 3}};
    struct pool_launch launch = {.kernel = &kernel, .window_count = 2, .threads = 1 << 20};
    add_block(BLOCK, 2 * GIB);
    launch.windows[0] = (struct pool_window){.first = (uint32_t)(BLOCK / LEAF), .count = 256};
    launch.windows[1] =
        (struct pool_window){.first = (uint32_t)(BLOCK / LEAF + 1000), .count = 256, .pages = {1}};
    assert_int_equal(windows_pages_of(&launch), 256);
    windows_learn(&launch);
    assert_int_equal(kernel.reach, 0); /* nothing was used: nothing is known */
    windows_note(&launch, (BLOCK / LEAF + 1000 + 2) << 3 | PATCH_KIND(0, 0));
    windows_note(&launch, (BLOCK / LEAF) << 3 | PATCH_KIND(1, 0));
    windows_note(&launch, (BLOCK / LEAF + 5) << 5 << 3 | PATCH_KIND(0, 1)); /* of none */
    assert_true(launch.windows[0].used == 1 && launch.windows[1].used == 3);
    windows_learn(&launch);
    assert_int_equal(kernel.reach, 1); /* 3 leaves for a million threads */
    assert_true(windows_are_worth(&kernel, WINDOWS_THREADS));
    assert_false(windows_are_worth(&kernel, WINDOWS_THREADS - 1)); /* that is little */
    launch.windows[1].used = 0;
    windows_note(&launch, ((BLOCK / LEAF + 1000 + 128) * 4 + 3) << 3 | PATCH_KIND(0, 1));
    assert_int_equal(launch.windows[1].used, 129);
    kernel.reach = 64;
    windows_learn(&launch);
    assert_int_equal(kernel.reach, 64); /* 32.25 MiB: not below what it was */
    for (unsigned i = 0; i < 3; i++) {  /* beyond, and below again */
        launch.pages.items = far;
        launch.pages.count = 3;
        launch.windows[1].used = 3;
        uint32_t before = kernel.reach;
        windows_learn(&launch);
        assert_int_equal(kernel.reach, 8 * before);
        launch.pages.count = 0;
        windows_learn(&launch);
        assert_int_equal(kernel.reach, i < 2 ? 1 : 8 * before);
    }
    remove_block(BLOCK);
}

/* -- memory -- */

static void runs(void **state)
{
    const uint64_t guard = SLABS_GUARD * (uint64_t)PATCH_PAGE_BYTES;
    struct slabs slabs = {.count = 0};
    assert_true(slabs_take(&slabs, 1) == 0);
    assert_false(slabs_add(&slabs, 1, PATCH_PAGE_BYTES)); /* no whole page */
    assert_false(slabs_add(&slabs, MIB, 2 * guard));
    assert_true(slabs_add(&slabs, MIB - 8, 4 * PATCH_PAGE_BYTES + 2 * guard + 8));
    assert_true(slabs_add(&slabs, 3 * MIB, 4 * PATCH_PAGE_BYTES + 2 * guard));
    assert_true(slabs.bytes == 8 * PATCH_PAGE_BYTES);
    uint64_t first = slabs_take(&slabs, 3), second = slabs_take(&slabs, 3);
    assert_true(first == MIB + guard && second == 3 * MIB + guard);
    assert_true(slabs_take(&slabs, 2) == 0);
    assert_true(slabs_remove(&slabs) == 0); /* in use */
    slabs_give(&slabs, second, 3);
    assert_true(slabs_take(&slabs, 4) == second);
    slabs_give(&slabs, second, 4);
    assert_true(slabs_remove(&slabs) == 3 * MIB);
    assert_true(slabs_remove(&slabs) == 0); /* the first stays */
    slabs_give(&slabs, first, 3);
    assert_true(slabs.used_bytes == 0 && slabs.bytes == 4 * PATCH_PAGE_BYTES);
    assert_true(slabs_take(&slabs, 4) == first);
    slabs_finish(&slabs);
}

/* The driver may put a slab right behind another: no run of pages lies in both, and what is copied
 * or zeroed along with neighbours does not either. */
static void neighbours(void **state)
{
    struct slabs slabs = {.count = 0};
    uint64_t last[2] = {0, 0};
    assert_true(slabs_add(&slabs, 4 * MIB, 2 * MIB));
    assert_true(slabs_add(&slabs, 6 * MIB, 2 * MIB));
    for (uint64_t page; (page = slabs_take(&slabs, 1)) != 0;) {
        last[page >= 6 * MIB] = page;
        assert_true(page < 6 * MIB || page - last[0] > SLABS_GUARD * PATCH_PAGE_BYTES);
    }
    assert_true(last[0] && last[1]);
    slabs_finish(&slabs);
}

static struct {
    size_t free_bytes;
    uint64_t held_bytes;
    unsigned asked, given;
} device;

static uint32_t alloc_memory(CUcontext context, void **pointer, size_t size)
{
    device.asked++;
    if (size > device.free_bytes) {
        return SANITIZER_OUT_OF_MEMORY;
    }
    device.free_bytes -= size;
    device.held_bytes += size;
    device.given++;
    *pointer = (void *)(uintptr_t)(device.given * UINT64_C(0x100000000));
    return SANITIZER_OK;
}

static uint32_t free_memory(CUcontext context, void *pointer)
{
    device.held_bytes = 0; /* one at a time */
    return SANITIZER_OK;
}

static uint32_t copy_out(void *to, void *from, size_t size, struct sanitizer_stream *stream)
{
    return SANITIZER_OK;
}

static uint32_t set(void *pointer, int value, size_t size, struct sanitizer_stream *stream)
{
    return SANITIZER_OK;
}

static uint32_t synchronize(struct sanitizer_stream *stream)
{
    return SANITIZER_OK;
}

static int memory_info(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = *total_bytes = device.free_bytes;
    return CUDA_OK;
}

static const struct sanitizer_api api = {.alloc_device = alloc_memory,
                                         .free_device = free_memory,
                                         .copy_to_device_async = copy_out,
                                         .set_device = set,
                                         .stream_synchronize = synchronize};

static struct pool *open_pool(uint64_t free_bytes, uint64_t most_bytes)
{
    struct pool *pool = mem_zalloc(1, sizeof *pool);
    memset(&device, 0, sizeof device);
    device.free_bytes = free_bytes;
    pool->api = &api;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->freed, NULL);
    pool->slab_bytes = POOL_BYTES;
    pool->most_bytes = most_bytes;
    assert_true(slabs_add(&pool->slabs, MIB, 16 * MIB));
    pool->first_bytes = pool->slabs.bytes;
    return pool;
}

static void close_pool(struct pool *pool)
{
    slabs_finish(&pool->slabs);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->freed);
    mem_free(pool);
}

static bool grow(struct pool *pool, uint64_t pages)
{
    uint64_t drains = pool->drains;
    pool->wanted_pages = pages;
    assert_true(growth_is_wanted(pool));
    growth_run(pool, memory_info);
    assert_false(growth_is_wanted(pool));
    assert_true(pool->drains == drains + 1); /* whoever waits is told */
    return pool->calm_until_ms == 0;
}

/* At most a 16th of what is free, and 4 GiB; behind a refusal nothing for a while. */
static void growth(void **state)
{
    struct pool *pool = open_pool(64 * GIB, 0);
    assert_true(grow(pool, 1));
    assert_true(device.held_bytes == 256 * MIB);
    assert_true(grow(pool, 3 * GIB / PATCH_PAGE_BYTES));
    assert_true(device.held_bytes <= 4 * GIB && device.held_bytes > 3 * GIB);
    assert_false(grow(pool, 3 * GIB / PATCH_PAGE_BYTES) && device.held_bytes > 4 * GIB);
    pool->wanted_pages = 5;
    assert_true(growth_is_wanted(pool) == (pool->calm_until_ms == 0));
    close_pool(pool);
    pool = open_pool(GIB, 0);
    assert_true(grow(pool, 1000000));
    assert_true(device.held_bytes == 64 * MIB);
    close_pool(pool);
    pool = open_pool(512 * MIB, 0); /* little is left: the program's */
    assert_false(grow(pool, 1));
    assert_true(device.asked == 0);
    close_pool(pool);
    pool = open_pool(64 * GIB, POOL_BYTES + 100 * MIB); /* as the user says */
    assert_true(grow(pool, 1000000));
    assert_true(device.held_bytes == 100 * MIB);
    assert_false(grow(pool, 1000000));
    close_pool(pool);
    pool = open_pool(100 * MIB, 2 * POOL_BYTES); /* which is more than there is */
    assert_false(grow(pool, 1000000));
    assert_true(device.held_bytes == 0 && pool->slabs.count == 1);
    close_pool(pool);
}

/* A launch that leaves room for one like it asks for more, and the next one need not wait; one that
 * does not has the next one wait, for memory or for launches that end. */
static void asked_ahead(void **state)
{
    const uint64_t pages = 100, count = pages << (PATCH_WINDOW_SHIFT - PATCH_LEAF_BYTES(0));
    struct pool *pool = open_pool(64 * GIB, 0);
    struct observed_kernel kernel = {.kinds = 1u << PATCH_KIND(1, 0)};
    const struct window_plan plan = {.items = {{BLOCK / LEAF, BLOCK / LEAF + count}}, .count = 1};
    const uint64_t room = pool->slabs.bytes / PATCH_PAGE_BYTES;
    struct pool_launch launches[32] = {{0}};
    struct patch_launch *templates = mem_zalloc(32, sizeof *templates);
    uint32_t given = 0;
    assert_true(room > 4 * pages && templates);
    pool->launches = launches;
    pool->templates = templates;
    pool->record_count = 32;
    pool->free_tail = 32;
    pool->pages_left = pool->page_count = 8;
    pool->running = 1;
    for (; !growth_is_wanted(pool); given++) {
        launches[given].kernel = &kernel;
        windows_give(pool, pool_user(pool, given), &plan, WINDOWS_THREADS, NULL);
        assert_true(launches[given].windows[0].pages[PATCH_KIND(1, 0) - 1] != 0);
    }
    assert_true(room - given * pages >= pages && room - given * pages < 2 * pages);
    assert_false(growth_is_urgent(pool));
    assert_false(pool_is_pressed(pool));
    launches[given].kernel = &kernel;
    windows_give(pool, pool_user(pool, given), &plan, WINDOWS_THREADS, NULL);
    assert_true(launches[given].windows[0].pages[PATCH_KIND(1, 0) - 1] != 0);
    assert_true(growth_is_urgent(pool) && pool_is_pressed(pool));
    pool_give_up_waiting(pool); /* for a while, whatever is drained */
    pool->drains++;
    assert_false(pool_is_pressed(pool));
    pool->impatient_until_ms = 0;
    assert_true(pool_is_pressed(pool));
    growth_run(pool, memory_info);
    assert_false(growth_is_urgent(pool) || pool_is_pressed(pool));
    pool->running = 0;
    for (uint32_t i = 0; i <= given; i++) {
        windows_free(pool, &launches[i]);
    }
    assert_true(pool->slabs.used_bytes == 0);
    mem_free(templates);
    close_pool(pool);
}

/* Before the program takes more than half of what it was left, or counts it, it gets it back; not
 * while a launch may use it. */
static void shrinking(void **state)
{
    struct pool *pool = open_pool(16 * GIB, 0);
    assert_false(growth_before_alloc(pool, UINT64_MAX)); /* there is nothing to give */
    assert_true(grow(pool, 1));
    assert_false(growth_before_alloc(pool, 4 * GIB));
    assert_false(growth_before_alloc(pool, 3 * GIB));
    assert_true(growth_before_alloc(pool, GIB));
    pool->running = 1;
    growth_run(pool, memory_info);
    assert_true(growth_has_to_shrink(pool) && device.held_bytes > 0);
    pool->running = 0;
    growth_run(pool, memory_info);
    assert_true(!growth_has_to_shrink(pool) && device.held_bytes == 0 && pool->slabs.count == 1);
    pool->wanted_pages = 1;
    assert_false(growth_is_wanted(pool)); /* for a while */
    pool->calm_until_ms = 0;
    assert_true(grow(pool, 1));
    assert_true(growth_before_alloc(pool, UINT64_MAX));
    pool->running = 1;
    growth_run(pool, NULL);
    growth_give_up(pool);
    assert_false(growth_has_to_shrink(pool));
    pool->wanted_pages = 1;
    assert_true(growth_is_wanted(pool));
    growth_give_up(pool); /* the thread is held up: not asked again at each launch */
    pool->wanted_pages = 1;
    assert_false(growth_is_wanted(pool));
    atomic_store(&pool->has_failed, true);
    assert_false(growth_before_alloc(pool, UINT64_MAX)); /* what is not drained can't be given */
    close_pool(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans),
        cmocka_unit_test(merged_plans),
        cmocka_unit_test(learnt),
        cmocka_unit_test(learnt_of_few),
        cmocka_unit_test(learnt_to_shrink),
        cmocka_unit_test(runs),
        cmocka_unit_test(neighbours),
        cmocka_unit_test(growth),
        cmocka_unit_test(asked_ahead),
        cmocka_unit_test(shrinking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
