/* Contexts that end while other threads look for them, on the fake driver: a pool stays as long as
 * somebody has acquired it, all that end together wait no longer than one. */
#include "capture/observe_contexts.h"

#include "capture/fake/cuda.h"
#include "capture/sanitizer_abi.h"

#include <pthread.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

enum { ROUNDS = 10, STUCK = 3 };

static struct sanitizer_api api;
static CUcontext context;
static atomic_bool is_over;
static unsigned lost;

static void put(struct ssan_sink *self, const struct ssan_event *event)
{
    lost += event->kind == SSAN_EV_lost;
}

static struct ssan_sink sink = {.put = put};

static void *look(void *found)
{
    while (!atomic_load(&is_over)) {
        struct pool *pool = contexts_acquire(context);
        if (pool) {
            ++*(unsigned *)found;
            (void)pool_is_pressed(pool);
            (void)pool_in_flight(pool);
        }
        contexts_release(pool);
    }
    return NULL;
}

static void ended_meanwhile(void **state)
{
    pthread_t threads[2];
    unsigned found[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, look, &found[i]), 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        assert_true(contexts_add(context));
        contexts_remove(context);
        assert_false(contexts_has(context));
    }
    assert_true(contexts_add(context));
    while (!contexts_has(context)) {
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    contexts_remove(context);
    printf("found %u and %u times\n", found[0], found[1]);
}

/* Launches that never end, in several contexts: the process ends when the time for one is over. */
static void ended_together(void **state)
{
    struct observed_kernel kernel = {0};
    for (uint64_t i = 0; i < STUCK; i++) {
        CUcontext made;
        struct sanitizer_stream *handle;
        uint32_t stream;
        assert_int_equal(cuCtxCreate_v2(&made, 0, 0), 0);
        assert_int_equal(api.get_stream_handle(made, CUDA_STREAM_LEGACY, &handle), SANITIZER_OK);
        assert_true(contexts_add(made));
        struct pool *pool = contexts_acquire(made);
        assert_true(pool_begin(pool, i + 1, &kernel, handle, &stream) != 0);
        contexts_release(pool);
    }
    uint64_t began_ms = pool_now_ms();
    contexts_finish();
    printf("%u ended in %u ms\n", STUCK, (unsigned)(pool_now_ms() - began_ms));
    assert_int_equal(lost, STUCK);
}

static int begin(void **state)
{
    struct ssan_error err;
    if (sanitizer_load(SANITIZER, &api, &err) != SSAN_OK || cuCtxCreate_v2(&context, 0, 0) != 0) {
        return -1;
    }
    contexts_start(&api, &sink, SANITIZER, UINT64_C(4) << 20, false);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ended_meanwhile),
                                       cmocka_unit_test(ended_together)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
