/* Drains in parts, over a driver that only answers: what is left for the next one, and when there
 * is nothing left. */
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
#define STREAM ((struct sanitizer_stream *)(uintptr_t)8)

static unsigned closed, lost;

static uint32_t alloc_device(CUcontext context, void **pointer, size_t size)
{
    *pointer = (void *)(uintptr_t)0x100000000;
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
    memset(to, 0, size);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drained_in_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
