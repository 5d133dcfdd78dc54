/* Drains in parts, over a driver that only answers: what is left for the next one, and when there
 * is nothing left. */
#include "capture/observe_growth.h"
#include "capture/observe_pool.h"
#include "capture/observe_windows.h"

#include "base/mem.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define BLOCK  UINT64_C(0x7f4000000000)
#define LEAF   (UINT64_C(1) << PATCH_WINDOW_SHIFT)
#define SLAB   UINT64_C(0x100000000)
#define GROWN  UINT64_C(0x200000000) /* a second slab */
#define STREAM ((struct sanitizer_stream *)(uintptr_t)8)

static unsigned closed, lost, strayed;
static uint64_t next_slab = SLAB;
static struct pool *claimed; /* a page of it was claimed, for what is next; NULL: none */
static uint64_t claimed_what;

static uint32_t alloc_device(CUcontext context, void **pointer, size_t size)
{
    *pointer = (void *)(uintptr_t)next_slab;
    return SANITIZER_OK;
}

static uint32_t alloc_host(CUcontext context, void **pointer, size_t size)
{
    *pointer = mem_zalloc(1, size);
    return *pointer ? SANITIZER_OK : SANITIZER_OUT_OF_MEMORY;
}

static uint32_t free_device(CUcontext context, void *pointer)
{
    return SANITIZER_OK;
}

static uint32_t free_host(CUcontext context, void *pointer)
{
    mem_free(pointer);
    return SANITIZER_OK;
}

static uint32_t copy_out(void *to, void *from, size_t size, struct sanitizer_stream *stream)
{
    return SANITIZER_OK;
}

static uint32_t copy_back(void *to, void *from, size_t size, struct sanitizer_stream *stream)
{
    const uint64_t at = (uintptr_t)from;
    memset(to, 0, size);
    if (claimed && at == claimed->flags) {
        ((struct pool_marks *)((char *)to + size - sizeof(struct pool_marks)))->control.head = 1;
    } else if (claimed && at == claimed->ring) {
        *(struct patch_place *)to = (struct patch_place){claimed_what, 0, PATCH_PAGE_FIRST};
    } else if (claimed && at == claimed->pages + PATCH_PAGE_FIRST * PATCH_PAGE_BYTES) {
        *(uint32_t *)to = 1;
    }
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

static uint32_t find_handle(CUcontext context, CUstream stream, struct sanitizer_stream **handle)
{
    *handle = STREAM;
    return SANITIZER_OK;
}

static const struct sanitizer_api api = {.alloc_device = alloc_device,
                                         .free_device = free_device,
                                         .alloc_host = alloc_host,
                                         .free_host = free_host,
                                         .copy_to_device_async = copy_out,
                                         .copy_to_host = copy_back,
                                         .set_device = set,
                                         .stream_synchronize = synchronize,
                                         .get_stream_handle = find_handle};

static void put(struct ssan_sink *self, const struct ssan_event *event)
{
    closed += event->kind == SSAN_EV_op_closed;
    lost += event->kind == SSAN_EV_lost;
    strayed += event->kind == SSAN_EV_unsupported;
}

static struct ssan_sink sink = {.put = put};

static struct observed_kernel kernel = {.kinds = 1u << PATCH_KIND(1, 0)};

/* A launch with a window of so many pages, which has ended. */
static void run(struct pool *pool, uint64_t pages)
{
    const struct window_plan plan = {.items = {{BLOCK / LEAF, BLOCK / LEAF + pages}}, .count = 1};
    uint32_t stream;
    uint64_t user = pool_begin(pool, 1, &kernel, STREAM, &stream);
    assert_true(user != 0);
    windows_give(pool, user, &plan, WINDOWS_THREADS, STREAM);
    assert_true(windows_pages_of(&pool->launches[pool_record(pool, user)]) == pages);
    pool_taken(pool, user);
    pool_joined(pool, STREAM, pool_count(pool));
}

/* What is left is launches that have ended; a drain that took the last ones leaves nothing, however
 * much they had. */
static void drained_in_parts(void **state)
{
    struct pool *pool = pool_create(&api, NULL, 0);
    assert_non_null(pool);
    atomic_store(&pool->stream, STREAM);
    run(pool, 16000);
    run(pool, 400);
    run(pool, 10);
    assert_int_equal(pool_drain(pool, &sink), 2);
    assert_true(atomic_load(&pool->has_more));
    assert_int_equal(pool_in_flight(pool), 1);
    assert_int_equal(pool_drain(pool, &sink), 1);
    assert_false(atomic_load(&pool->has_more));
    run(pool, 16400);
    assert_int_equal(pool_drain(pool, &sink), 1);
    assert_false(atomic_load(&pool->has_more));
    assert_int_equal(pool_drain(pool, &sink), 0);
    assert_int_equal(pool_in_flight(pool), 0);
    assert_int_equal(closed, 4);
    assert_int_equal(lost, 0);
    assert_true(pool->slabs.used_bytes == 0);
    pool_destroy(pool);
}

static int memory_info(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = *total_bytes = (size_t)64 << 30;
    return CUDA_OK;
}

static void grow(struct pool *pool)
{
    pool->wanted_pages = 1;
    next_slab = GROWN;
    growth_run(pool, memory_info);
    next_slab = SLAB;
    assert_int_equal(pool->slabs.count, 2);
}

/* Launches `times` times a kernel that writes to the leaf of an address; how often it is told that
 * this is no memory of the program's. */
static unsigned told_of(uint64_t address, int times)
{
    struct observed_kernel wild = {.name = "wild", .kinds = 1u << PATCH_KIND(1, 0)};
    strayed = 0;
    for (int i = 0; i < times; i++) {
        uint32_t stream;
        struct pool *pool = pool_create(&api, NULL, 0);
        assert_non_null(pool);
        atomic_store(&pool->stream, STREAM);
        claimed = pool;
        claimed_what = address / LEAF << 3 | PATCH_KIND(1, 0);
        pool_taken(pool, pool_begin(pool, 1, &wild, STREAM, &stream));
        pool_joined(pool, STREAM, pool_count(pool));
        assert_int_equal(pool_drain(pool, &sink), 1);
        claimed = NULL;
        pool_destroy(pool);
    }
    return strayed;
}

static void strays(void **state)
{
    const uint64_t slab = SLAB;
    assert_int_equal(told_of(BLOCK, 1), 0);
    assert_int_equal(told_of(slab - 1, 1), 0);
    assert_int_equal(told_of(slab, 1), 1);
    assert_int_equal(told_of(slab + POOL_BYTES - 1, 2), 1);
    assert_int_equal(told_of(slab + POOL_BYTES, 1), 0);
}

/* Where the pool has grown, and the launch has written: memory of ours only if it began behind
 * that. Else it was a block of the program's, which is freed. */
static unsigned told_of_grown(bool is_behind)
{
    struct observed_kernel wild = {.name = "wild", .kinds = 1u << PATCH_KIND(1, 0)};
    struct pool *pool = pool_create(&api, NULL, 0);
    uint32_t stream;
    assert_non_null(pool);
    atomic_store(&pool->stream, STREAM);
    strayed = 0;
    if (is_behind) {
        grow(pool);
    }
    claimed = pool;
    claimed_what = (GROWN + LEAF) / LEAF << 3 | PATCH_KIND(1, 0);
    pool_taken(pool, pool_begin(pool, 1, &wild, STREAM, &stream));
    pool_joined(pool, STREAM, pool_count(pool));
    if (!is_behind) {
        grow(pool);
    }
    assert_int_equal(pool_drain(pool, &sink), 1);
    claimed = NULL;
    pool_destroy(pool);
    return strayed;
}

static void strays_where_it_grew(void **state)
{
    assert_int_equal(told_of_grown(true), 1);
    assert_int_equal(told_of_grown(false), 0);
}

/* Pages that launches were promised are given back, whichever way these end. */
static void promises_end(void **state)
{
    struct observed_kernel known = {.kinds = 1u << PATCH_KIND(1, 0), .claims = 70, .touched = 71};
    struct pool *pool = pool_create(&api, NULL, 0);
    uint32_t stream;
    assert_non_null(pool);
    atomic_store(&pool->stream, STREAM);
    pool_taken(pool, pool_begin(pool, 1, &known, STREAM, &stream));
    pool_joined(pool, STREAM, pool_count(pool));
    uint64_t user = pool_begin(pool, 2, &known, STREAM, &stream);
    assert_int_equal(pool->promised, 140);
    pool_cancel(pool, user);
    assert_int_equal(pool->promised, 70);
    assert_int_equal(pool_drain(pool, &sink), 1);
    assert_int_equal(pool->promised, 0);
    pool_taken(pool, pool_begin(pool, 3, &known, STREAM, &stream));
    assert_true(pool->promised > 0);
    pool_give_up(pool, &sink);
    assert_int_equal(pool->promised, 0);
    pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drained_in_parts),
        cmocka_unit_test(strays),
        cmocka_unit_test(strays_where_it_grew),
        cmocka_unit_test(promises_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
