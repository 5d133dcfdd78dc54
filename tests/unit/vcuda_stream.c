/* Streams, events, joins and queries without kernels, under every schedule. */
#include "vcuda_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static const char *const schedules[] = {"eager", "lazy", "random:1", "random:2", "random:3"};

#define EACH_SCHEDULE(body)                                                                        \
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {                            \
        assert_int_equal(device_run(schedules[i], body, NULL, NULL), 0);                           \
    }

#define BYTES 4096

static int copy_round_trip(void *unused)
{
    unsigned char in[BYTES], out[BYTES];
    void *d, *e;
    cudaStream_t s;
    for (int i = 0; i < BYTES; i++) {
        in[i] = (unsigned char)(i * 7);
    }
    OK(cudaStreamCreate(&s));
    OK(cudaMalloc(&d, BYTES));
    OK(cudaMalloc(&e, BYTES));
    OK(cudaMemcpyAsync(d, in, BYTES, cudaMemcpyHostToDevice, s));
    memset(in, 0, BYTES); /* the source is free at return */
    OK(cudaMemcpyAsync(e, d, BYTES, cudaMemcpyDeviceToDevice, s));
    OK(cudaMemcpyAsync(out, e, BYTES, cudaMemcpyDeviceToHost, s)); /* pageable: done at return */
    for (int i = 0; i < BYTES; i++) {
        CHECK(out[i] == (unsigned char)(i * 7));
    }
    OK(cudaFree(d));
    OK(cudaFree(e));
    OK(cudaStreamDestroy(s));
    return 0;
}

static void test_copies_keep_stream_order(void **state)
{
    EACH_SCHEDULE(copy_round_trip)
}

/* A pinned target is not written before a join under lazy, and is under eager. */
static int pinned_target(void *wanted)
{
    unsigned char *h;
    void *d;
    cudaStream_t s;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaMalloc(&d, BYTES));
    OK(cudaMallocHost((void **)&h, BYTES));
    CHECK(h[0] == 0xff && h[BYTES - 1] == 0xff); /* new memory is poisoned */
    OK(cudaMemsetAsync(d, 5, BYTES, s));
    OK(cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, s));
    CHECK(h[0] == *(const unsigned char *)wanted);
    OK(cudaStreamSynchronize(s));
    CHECK(h[0] == 5 && h[BYTES - 1] == 5);
    return 0;
}

static void test_lazy_waits_for_joins(void **state)
{
    unsigned char late = 0xff, early = 5;
    assert_int_equal(device_run("lazy", pinned_target, &late, NULL), 0);
    assert_int_equal(device_run("eager", pinned_target, &early, NULL), 0);
}

/* C1: after a synchronous upload the data may still be on its way for a non-blocking stream. */
static int pageable_trap(void *unused)
{
    unsigned char in[BYTES], *out;
    void *d;
    cudaStream_t n;
    memset(in, 9, BYTES);
    OK(cudaStreamCreateWithFlags(&n, cudaStreamNonBlocking));
    OK(cudaMalloc(&d, BYTES));
    OK(cudaMallocHost((void **)&out, BYTES));
    OK(cudaMemcpy(d, in, BYTES, cudaMemcpyHostToDevice));
    OK(cudaMemcpyAsync(out, d, BYTES, cudaMemcpyDeviceToHost, n));
    OK(cudaStreamSynchronize(n));
    CHECK(out[0] == 0xff);
    OK(cudaStreamSynchronize(0));
    OK(cudaMemcpyAsync(out, d, BYTES, cudaMemcpyDeviceToHost, n));
    OK(cudaStreamSynchronize(n));
    CHECK(out[0] == 9);
    return 0;
}

static void test_upload_is_late_for_non_blocking_streams(void **state)
{
    assert_int_equal(device_run("lazy", pageable_trap, NULL, NULL), 0);
}

static int newest_first(void *unused)
{
    unsigned char *h;
    void *d;
    cudaStream_t a, b;
    cudaEvent_t e;
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaEventCreate(&e));
    OK(cudaMalloc(&d, 1));
    OK(cudaMallocHost((void **)&h, 1));
    OK(cudaMemsetAsync(d, 1, 1, a));
    OK(cudaMemsetAsync(d, 2, 1, b));
    OK(cudaEventRecord(e, a));
    OK(cudaStreamWaitEvent(b, e, 0));
    OK(cudaMemcpyAsync(h, d, 1, cudaMemcpyDeviceToHost, b));
    OK(cudaStreamSynchronize(b));
    CHECK(*h == 1); /* b's memset ran before a's, although it was submitted after it */
    return 0;
}

static void test_lazy_runs_the_newest_first(void **state)
{
    assert_int_equal(device_run("lazy", newest_first, NULL, NULL), 0);
}

static int queries(void *unused)
{
    void *d;
    cudaStream_t s;
    cudaEvent_t e, never;
    OK(cudaStreamCreate(&s));
    OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    OK(cudaEventCreate(&never));
    OK(cudaMalloc(&d, BYTES));
    OK(cudaStreamQuery(s));
    OK(cudaEventQuery(never));
    OK(cudaMemsetAsync(d, 0, BYTES, s));
    OK(cudaMemsetAsync(d, 1, BYTES, s));
    OK(cudaEventRecord(e, s));
    FAILS(cudaEventQuery(e), cudaErrorNotReady); /* once for nothing */
    FAILS(cudaEventQuery(e), cudaErrorNotReady); /* runs the first memset */
    FAILS(cudaEventQuery(e), cudaErrorNotReady);
    OK(cudaEventQuery(e)); /* the record itself */
    OK(cudaStreamQuery(s));
    OK(cudaGetLastError()); /* NotReady is not stored */
    return 0;
}

static void test_each_query_runs_one_operation(void **state)
{
    assert_int_equal(device_run("lazy", queries, NULL, NULL), 0);
}

static int times(void *unused)
{
    float ms = -1;
    void *d;
    cudaEvent_t a, b, off, never;
    OK(cudaEventCreate(&a));
    OK(cudaEventCreate(&b));
    OK(cudaEventCreate(&never));
    OK(cudaEventCreateWithFlags(&off, cudaEventDisableTiming));
    OK(cudaMalloc(&d, BYTES));
    OK(cudaEventRecord(a, 0));
    OK(cudaMemsetAsync(d, 0, BYTES, 0));
    OK(cudaEventRecord(b, 0));
    OK(cudaEventRecord(off, 0));
    OK(cudaEventSynchronize(b));
    OK(cudaEventElapsedTime(&ms, a, b));
    CHECK(ms > 0 && ms < 1000);
    FAILS(cudaEventElapsedTime(&ms, a, off), cudaErrorInvalidResourceHandle);
    FAILS(cudaEventElapsedTime(&ms, a, never), cudaErrorInvalidResourceHandle);
    return 0;
}

static void test_event_times(void **state)
{
    EACH_SCHEDULE(times)
}

static int handles(void *unused)
{
    cudaStream_t s, wild = (cudaStream_t)(uintptr_t)0x1234567;
    cudaEvent_t e;
    unsigned flags;
    int priority, least, greatest;
    unsigned long long id, other;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaEventCreate(&e));
    OK(cudaStreamGetFlags(s, &flags));
    CHECK(flags == cudaStreamNonBlocking);
    OK(cudaStreamGetId(s, &id));
    OK(cudaStreamGetId(cudaStreamPerThread, &other));
    CHECK(id != other);
    OK(cudaStreamDestroy(s));
    OK(cudaEventDestroy(e));
    FAILS(cudaStreamDestroy(s), cudaErrorInvalidResourceHandle);
    FAILS(cudaStreamSynchronize(s), cudaErrorInvalidResourceHandle);
    FAILS(cudaStreamSynchronize(wild), cudaErrorInvalidResourceHandle);
    FAILS(cudaEventRecord(e, 0), cudaErrorInvalidResourceHandle);
    FAILS(cudaEventRecord((cudaEvent_t)wild, 0), cudaErrorInvalidResourceHandle);
    FAILS(cudaStreamDestroy(cudaStreamLegacy), cudaErrorInvalidResourceHandle);
    FAILS(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    OK(cudaGetLastError());
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    OK(cudaStreamCreateWithPriority(&s, cudaStreamDefault, greatest - 7));
    OK(cudaStreamGetPriority(s, &priority));
    CHECK(priority == greatest && least == 0);
    FAILS(cudaStreamCreateWithFlags(&s, 77), cudaErrorInvalidValue);
    FAILS(cudaEventCreateWithFlags(&e, cudaEventInterprocess), cudaErrorInvalidValue);
    return 0;
}

static void test_handles(void **state)
{
    EACH_SCHEDULE(handles)
}

/* The legacy stream is a barrier for blocking streams, destroyed ones included. */
static int legacy_barrier(void *unused)
{
    unsigned char *h;
    void *d;
    cudaStream_t a, b;
    OK(cudaMalloc(&d, 2));
    OK(cudaMallocHost((void **)&h, 2));
    OK(cudaStreamCreate(&a));
    OK(cudaMemsetAsync(d, 1, 1, a));
    OK(cudaStreamDestroy(a));
    OK(cudaMemset((char *)d + 1, 2, 1));
    OK(cudaStreamCreate(&b));
    OK(cudaMemcpyAsync(h, d, 2, cudaMemcpyDeviceToHost, b));
    OK(cudaStreamSynchronize(b));
    CHECK(h[0] == 1 && h[1] == 2);
    return 0;
}

static void test_legacy_barrier(void **state)
{
    EACH_SCHEDULE(legacy_barrier)
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_keep_stream_order),
        cmocka_unit_test(test_lazy_waits_for_joins),
        cmocka_unit_test(test_upload_is_late_for_non_blocking_streams),
        cmocka_unit_test(test_lazy_runs_the_newest_first),
        cmocka_unit_test(test_each_query_runs_one_operation),
        cmocka_unit_test(test_event_times),
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_legacy_barrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
