/* Host functions, host threads, progress without calls, the end of the process. */
#include "vcuda_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const schedules[] = {"eager", "lazy", "random:1", "random:2", "random:3"};

#define EACH_SCHEDULE(body)                                                                        \
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {                            \
        assert_int_equal(device_run(schedules[i], body, NULL, NULL), 0);                           \
    }

static _Atomic int in_function;

static void call_cuda(void *data)
{
    void *d;
    *(cudaError_t *)data = cudaMalloc(&d, 4);
    atomic_fetch_add(&in_function, 1);
}

static void on_callback(cudaStream_t stream, cudaError_t status, void *data)
{
    CHECK(status == cudaSuccess && stream == *(cudaStream_t *)data);
    atomic_fetch_add(&in_function, 1);
}

static int no_cuda_inside(void *unused)
{
    cudaError_t error = cudaSuccess;
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    OK(cudaLaunchHostFunc(s, call_cuda, &error));
    OK(cudaStreamAddCallback(s, on_callback, &s, 0));
    OK(cudaStreamSynchronize(s));
    CHECK(error == cudaErrorNotPermitted);
    CHECK(in_function == 2);
    FAILS(cudaLaunchHostFunc(s, NULL, NULL), cudaErrorInvalidValue);
    return 0;
}

static void test_no_cuda_calls_in_host_functions(void **state)
{
    EACH_SCHEDULE(no_cuda_inside)
}

static sem_t go;

static void block(void *unused)
{
    sem_wait(&go);
}

static void unblock(void *unused)
{
    sem_post(&go);
}

/* One host function waits for another one in another stream: only its own stream may wait. */
static int blocked_function(void *unused)
{
    cudaStream_t a, b;
    sem_init(&go, 0, 0);
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaLaunchHostFunc(a, block, NULL));
    OK(cudaLaunchHostFunc(b, unblock, NULL));
    OK(cudaStreamSynchronize(a));
    return 0;
}

static void test_a_blocked_function_delays_only_its_stream(void **state)
{
    EACH_SCHEDULE(blocked_function)
}

/* The program waits without a CUDA call; the device goes on by itself. */
static int silent_wait(void *unused)
{
    sem_init(&go, 0, 0);
    OK(cudaLaunchHostFunc(0, unblock, NULL));
    sem_wait(&go);
    return 0;
}

static void test_progress_without_calls(void **state)
{
    struct trace trace;
    EACH_SCHEDULE(silent_wait)
    assert_int_equal(device_run("lazy", silent_wait, NULL, &trace), 0);
    assert_int_equal(trace_count(&trace, SSAN_EV_progress_forced), 1);
    assert_true(trace.whole);
    trace_finish(&trace);
    assert_int_equal(device_run("eager", silent_wait, NULL, &trace), 0);
    assert_int_equal(trace_count(&trace, SSAN_EV_progress_forced), 0);
    trace_finish(&trace);
}

#define THREADS 4
#define ROUNDS  50

static void *submit_much(void *data)
{
    unsigned char *h;
    void *d;
    cudaStream_t s;
    cudaEvent_t e;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaEventCreate(&e));
    OK(cudaMalloc(&d, 64));
    OK(cudaMallocHost((void **)&h, 64));
    for (int round = 0; round < ROUNDS; round++) {
        OK(cudaMemsetAsync(d, round, 64, s));
        OK(cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s));
        OK(cudaEventRecord(e, s));
        OK(cudaMemsetAsync(d, 200, 64, cudaStreamPerThread));
        if (round % 3 == 0) {
            OK(cudaEventSynchronize(e));
        } else {
            while (cudaEventQuery(e) == cudaErrorNotReady) {
            }
        }
        CHECK(h[0] == round || h[0] == 200);
        OK(cudaStreamSynchronize(cudaStreamPerThread));
    }
    OK(cudaFree(d));
    return NULL;
}

static int many_threads(void *unused)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, submit_much, NULL) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    OK(cudaDeviceSynchronize());
    return 0;
}

static void test_several_threads_submit(void **state)
{
    struct trace trace;
    EACH_SCHEDULE(many_threads)
    assert_int_equal(device_run("random:9", many_threads, NULL, &trace), 0);
    assert_int_equal(trace_count(&trace, SSAN_EV_thread_start), THREADS);
    assert_int_equal(trace_count(&trace, SSAN_EV_thread_join), THREADS);
    assert_int_equal(trace_at(&trace, SSAN_EV_thread_start, 0)->thread_start.parent, 1);
    trace_finish(&trace);
}

static int forked_child(void *unused)
{
    void *d;
    int status;
    pid_t child;
    OK(cudaMalloc(&d, 4));
    child = fork();
    if (child == 0) {
        _exit(cudaMalloc(&d, 4) == cudaErrorInitializationError ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(cudaMalloc(&d, 4));
    return 5;
}

static void test_a_forked_child_has_no_device(void **state)
{
    struct trace trace;
    assert_int_equal(device_run("lazy", forked_child, NULL, &trace), 5);
    assert_true(trace.whole);
    assert_int_equal(trace_count(&trace, SSAN_EV_exit), 1);
    assert_int_equal(trace_at(&trace, SSAN_EV_exit, 0)->exit.code, 5);
    assert_int_equal(trace_count(&trace, SSAN_EV_alloc), 2);
    trace_finish(&trace);
}

static unsigned char stale[64];

static int pending_at_exit(void *how)
{
    void *d;
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    OK(cudaMalloc(&d, 64));
    OK(cudaMemsetAsync(d, 1, 64, s));
    OK(cudaLaunchHostFunc(s, unblock,
                          NULL)); /* not called at exit: the semaphore is not even there */
    OK(cudaHostRegister(stale, sizeof stale, 0));
    OK(cudaMemcpyAsync(stale, d, 64, cudaMemcpyDeviceToHost, s));
    switch (*(const char *)how) {
    case '_':
        _exit(3);
    case 'q':
        quick_exit(3);
    default:
        exit(3);
    }
}

static void test_what_pends_is_observed_at_exit(void **state)
{
    for (const char *how = "e_q"; *how; how++) {
        struct trace trace;
        char word[2] = {*how};
        assert_int_equal(device_run("lazy", pending_at_exit, word, &trace), 3);
        assert_true(trace.whole);
        assert_int_equal(trace_at(&trace, SSAN_EV_exit, 0)->exit.code, 3);
        assert_int_equal(trace_count(&trace, SSAN_EV_op), 3);
        assert_int_equal(trace_count(&trace, SSAN_EV_op_closed), 3);
        assert_int_equal(trace_count(&trace, SSAN_EV_set), 3);
        assert_int_equal(trace_count(&trace, SSAN_EV_callback_begin), 0);
        trace_finish(&trace);
    }
}

static pthread_barrier_t all_there;

static void *leave(void *how)
{
    pthread_barrier_wait(&all_there);
    if (*(const char *)how == '_') {
        _exit(3);
    }
    exit(3);
}

/* What pends takes longer than it takes the other threads to get through the C library's exit. */
static int left_by_all(void *hows)
{
    pthread_t thread;
    void *d;
    OK(cudaMalloc(&d, 1 << 20));
    for (int i = 0; i < 200; i++) {
        OK(cudaMemsetAsync(d, i, 1 << 20, 0));
    }
    CHECK(pthread_barrier_init(&all_there, NULL, (unsigned)strlen(hows)) == 0);
    for (const char *how = (const char *)hows + 1; *how; how++) {
        CHECK(pthread_create(&thread, NULL, leave, (void *)how) == 0);
    }
    leave(hows);
    return 1;
}

static void test_threads_that_all_end_the_process(void **state)
{
    /* With so many exit handlers as the sanitizer has, two threads in exit() free a block of the C
     * library's twice (glibc before 2.41). */
#if defined __SANITIZE_ADDRESS__
    static char *const hows[] = {"e_", "_____e", "__", "e_____"};
#else
    static char *const hows[] = {"ee", "eeeeee", "__", "e_e_e_"};
#endif
    for (size_t i = 0; i < 5 * sizeof hows / sizeof *hows; i++) {
        struct trace trace;
        assert_int_equal(device_run("lazy", left_by_all, hows[i % 4], &trace), 3);
        assert_true(trace.whole);
        assert_int_equal(trace_count(&trace, SSAN_EV_exit), 1);
        assert_int_equal(trace_count(&trace, SSAN_EV_op_closed), 200);
        trace_finish(&trace);
    }
}

static _Atomic int rounds;

static void *go_on(void *unused)
{
    cudaStream_t s;
    void *d;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaMalloc(&d, 64));
    for (;; rounds++) { /* behind the end of the trace nobody asks what they answer */
        void *more;
        (void)cudaMemsetAsync(d, 1, 64, s);
        (void)cudaMalloc(&more, 64);
        (void)cudaFree(more);
        (void)cudaStreamSynchronize(s);
    }
    return NULL;
}

static int left_by_one(void *how)
{
    pthread_t thread;
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&thread, NULL, go_on, NULL) == 0);
    }
    while (rounds < 50) {
        sched_yield();
    }
    if (*(const char *)how == '_') {
        _exit(3);
    }
    return 3;
}

/* What other threads submit while the process ends is either told to its end or not at all. */
static void test_threads_that_go_on_at_exit(void **state)
{
    for (int i = 0; i < 30; i++) {
        struct trace trace;
        assert_int_equal(
            device_run(i % 2 ? "lazy" : "eager", left_by_one, i % 3 ? "r" : "_", &trace), 3);
        assert_true(trace.whole);
        assert_int_equal(trace_count(&trace, SSAN_EV_op_closed), trace_count(&trace, SSAN_EV_op));
        trace_finish(&trace);
    }
}

static int touch_device_memory(void *unused)
{
    volatile char *d;
    OK(cudaMalloc((void **)&d, 64));
    return d[3];
}

static void test_host_access_to_device_memory(void **state)
{
    struct trace trace;
    assert_int_equal(device_run("lazy", touch_device_memory, NULL, &trace), 128 + 11);
    assert_false(trace.whole);
    const struct ssan_event *fault = trace_at(&trace, SSAN_EV_fault, 0);
    assert_int_equal(fault->fault.op, 0);
    assert_true(fault->fault.site > 0);
    assert_non_null(strstr(fault->fault.text.ptr, "byte 3 of a block of 64 bytes"));
    trace_finish(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_cuda_calls_in_host_functions),
        cmocka_unit_test(test_a_blocked_function_delays_only_its_stream),
        cmocka_unit_test(test_progress_without_calls),
        cmocka_unit_test(test_several_threads_submit),
        cmocka_unit_test(test_a_forked_child_has_no_device),
        cmocka_unit_test(test_what_pends_is_observed_at_exit),
        cmocka_unit_test(test_threads_that_all_end_the_process),
        cmocka_unit_test(test_threads_that_go_on_at_exit),
        cmocka_unit_test(test_host_access_to_device_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
