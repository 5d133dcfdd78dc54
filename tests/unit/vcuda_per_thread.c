/* A translation unit whose default stream is the per-thread one: stream 0 and calls without a
 * stream. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "vcuda_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

static void *other_thread(void *d)
{
    OK(cudaMemsetAsync(d, 2, 64, 0));
    OK(cudaStreamSynchronize(0));
    return NULL;
}

static int program(void *unused)
{
    void *d;
    pthread_t thread;
    OK(cudaMalloc(&d, 64));
    OK(cudaMemset(d, 1, 64));
    OK(cudaMemsetAsync(d, 1, 64, cudaStreamPerThread));
    CHECK(pthread_create(&thread, NULL, other_thread, d) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    OK(cudaMemsetAsync(d, 3, 64, cudaStreamLegacy));
    FAILS(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal), cudaErrorNotSupported);
    return 0;
}

static void test_stream_0_is_the_threads_own(void **state)
{
    struct trace trace;
    assert_int_equal(device_run("lazy", program, NULL, &trace), 0);
    assert_int_equal(trace_count(&trace, SSAN_EV_stream_create), 3);
    for (size_t i = 0; i < 2; i++) {
        const struct ssan_event *made = trace_at(&trace, SSAN_EV_stream_create, i);
        assert_int_equal(made->stream_create.flavour, SSAN_stream_flavour_PER_THREAD);
        assert_int_equal(made->stream_create.owner, i + 1);
    }
    assert_int_equal(trace_at(&trace, SSAN_EV_op, 0)->op.stream, 1);
    assert_int_equal(trace_at(&trace, SSAN_EV_op, 1)->op.stream, 1);
    assert_int_equal(trace_at(&trace, SSAN_EV_op, 2)->op.stream, 2);
    assert_int_equal(trace_at(&trace, SSAN_EV_op, 3)->op.stream, 3);
    assert_true(str_is(trace_at(&trace, SSAN_EV_op, 0)->op.call, "cudaMemset"));
    assert_true(str_is(trace_at(&trace, SSAN_EV_unsupported, 0)->unsupported.call,
                       "cudaStreamBeginCapture"));
    trace_finish(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stream_0_is_the_threads_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
