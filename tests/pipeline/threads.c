/* What a program's threads do to a pipeline, and it to them: signals, cancelled threads, a callback
 * that does not return, destroy beside a take, the current device, an error that stands. Calls fail
 * through the seams. */
#include "seams.h"
#include "pipeline/parts.h"
#include "unit/vcuda_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#undef pthread_create
#undef cudaMemcpyAsync
#undef cudaStreamCreateWithFlags
#undef cudaSetDevice
#undef cudaGetDevice
#undef cudaDeviceEnablePeerAccess

#define BYTES 64

static struct ssan_pipe *pipe_;
static struct ssan_pipe_consumer *consumer;
static cudaStream_t stream;
/* The next `failures_left` calls of `failing` fail, once `behind` was called (NULL: at once). */
static _Atomic(const char *) failing, behind;
static atomic_int failures_left;

bool seam_fails(const char *call)
{
    const char *waits = atomic_load(&behind), *fails = atomic_load(&failing);
    if (waits && strcmp(call, waits) == 0) {
        atomic_store(&behind, NULL);
        return false;
    }
    return fails && !waits && strcmp(call, fails) == 0 && atomic_fetch_sub(&failures_left, 1) > 0;
}

void seam_live(int change)
{
}

static void fail_from_now(const char *call, int times)
{
    atomic_store(&failures_left, times);
    atomic_store(&failing, call);
}

#define GOOD(call) CHECK((call) == SSAN_PIPE_OK)

/* One slot. */
static void start(void)
{
    struct ssan_pipe_options options = {
        .size = sizeof options, .slots = 1, .input_bytes = BYTES, .output_bytes = BYTES};
    alarm(60); /* what waits for ever ends the test */
    failing = NULL;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    GOOD(ssan_pipe_create(&options, &pipe_, NULL));
    GOOD(ssan_pipe_consumer_create(pipe_, NULL, &consumer, NULL));
}

static int copy(void *user, struct ssan_pipe_batch *batch, cudaStream_t on)
{
    return (int)cudaMemcpyAsync(batch->device_output, batch->device_input, batch->input_bytes,
                                cudaMemcpyDeviceToDevice, on);
}

static struct ssan_pipe_batch *acquire(void)
{
    struct ssan_pipe_batch *batch;
    GOOD(ssan_pipe_acquire(pipe_, NULL, SSAN_PIPE_FOREVER, &batch, NULL));
    memset(batch->input, (int)batch->number + 1, BYTES);
    return batch;
}

/* A batch goes all the way. */
static void go_round(void)
{
    struct ssan_pipe_batch *batch = acquire();
    int expected = (int)batch->number + 1;
    GOOD(ssan_pipe_submit(pipe_, batch, copy, NULL, stream, NULL));
    GOOD(ssan_pipe_take(consumer, SSAN_PIPE_FOREVER, &batch, NULL));
    CHECK(*(unsigned char *)batch->output == expected);
    GOOD(ssan_pipe_release(consumer, batch, NULL));
}

static struct ssan_pipe_stats stats(void)
{
    struct ssan_pipe_stats got = {.size = sizeof got};
    GOOD(ssan_pipe_stats_get(pipe_, &got));
    return got;
}

/* A signal that only sigwait is to take: with a publisher that took it, the process would end. */
static int signals(void *unused)
{
    sigset_t set;
    int number = 0;
    start();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    go_round();
    CHECK(sigwait(&set, &number) == 0 && number == SIGUSR1);
    GOOD(ssan_pipe_destroy(pipe_, NULL));
    return 0;
}

static void *wait_in(void *call)
{
    struct ssan_pipe_batch *batch;
    switch (*(const char *)call) {
    case 'a':
        (void)ssan_pipe_acquire(pipe_, NULL, SSAN_PIPE_FOREVER, &batch, NULL);
        break;
    case 't':
        (void)ssan_pipe_take(consumer, SSAN_PIPE_FOREVER, &batch, NULL);
        break;
    default:
        (void)ssan_pipe_drain(pipe_, SSAN_PIPE_FOREVER, NULL);
    }
    return NULL;
}

/* Cancelled while it waits, or as soon as it does. */
static int cancelled_threads(void *unused)
{
    static const char calls[] = "atd";
    start();
    struct ssan_pipe_batch *held = acquire();
    for (const char *call = calls; *call; call++) {
        pthread_t thread;
        void *result;
        CHECK(pthread_create(&thread, NULL, wait_in, (void *)call) == 0);
        CHECK(pthread_cancel(thread) == 0);
        CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
    ssan_pipe_abandon(pipe_, held);
    go_round();
    GOOD(ssan_pipe_destroy(pipe_, NULL));
    return 0;
}

static int end_thread(void *user, struct ssan_pipe_batch *batch, cudaStream_t on)
{
    OK((cudaError_t)copy(user, batch, on));
    pthread_exit(user);
}

static void *submit_and_end(void *batch)
{
    (void)ssan_pipe_submit(pipe_, batch, end_thread, batch, stream, NULL);
    return NULL;
}

/* The thread ends in compute, which leaves it as an exception does: the batch is gone. */
static int left_compute(void *unused)
{
    pthread_t thread;
    void *result;
    start();
    struct ssan_pipe_batch *batch = acquire();
    CHECK(pthread_create(&thread, NULL, submit_and_end, batch) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == batch);
    CHECK(stats().failed == 1 && stats().submitted == 0);
    ssan_pipe_abandon(pipe_, batch); /* nobody's by now: nothing happens */
    CHECK(stats().abandoned == 0);
    go_round();
    GOOD(ssan_pipe_destroy(pipe_, NULL));
    return 0;
}

/* Whose batch it is while compute runs is no question: the pipeline's. */
static int abandon_in_compute(void *user, struct ssan_pipe_batch *batch, cudaStream_t on)
{
    ssan_pipe_abandon(pipe_, batch);
    CHECK(ssan_pipe_submit(pipe_, batch, copy, NULL, on, NULL) == SSAN_PIPE_INVALID);
    return copy(user, batch, on);
}

static int submitting(void *unused)
{
    struct ssan_pipe_batch *batch;
    start();
    GOOD(ssan_pipe_submit(pipe_, acquire(), abandon_in_compute, NULL, stream, NULL));
    GOOD(ssan_pipe_take(consumer, SSAN_PIPE_FOREVER, &batch, NULL));
    CHECK(*(unsigned char *)batch->output == 1 && stats().abandoned == 0);
    GOOD(ssan_pipe_release(consumer, batch, NULL));
    GOOD(ssan_pipe_destroy(pipe_, NULL));
    return 0;
}

static void wait_for_taker(void)
{
    unsigned takers = 0;
    while (takers == 0) { /* a call may not begin once destroy has */
        sched_yield();
        pthread_mutex_lock(&pipe_->lock);
        takers = pipe_->takers;
        pthread_mutex_unlock(&pipe_->lock);
    }
}

static void *take_one(void *unused)
{
    struct ssan_pipe_error err;
    struct ssan_pipe_batch *batch;
    enum ssan_pipe_status status = ssan_pipe_take(consumer, SSAN_PIPE_FOREVER, &batch, &err);
    CHECK(status == SSAN_PIPE_FAILED || status == SSAN_PIPE_CANCELLED);
    CHECK(err.status == status && err.text[0]);
    return NULL;
}

/* The wait for a batch fails for good, yet its end can be asked for: it fails, and nothing breaks.
 * Destroy finds the take at any point of its way out, and nobody ever holds a batch. */
static int destroyed_beside_take(void *unused)
{
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        start();
        fail_from_now("cudaEventSynchronize", 1 << 20);
        CHECK(pthread_create(&thread, NULL, take_one, NULL) == 0);
        wait_for_taker();
        GOOD(ssan_pipe_submit(pipe_, acquire(), copy, NULL, stream, NULL));
        CHECK(ssan_pipe_flush(pipe_, SSAN_PIPE_FOREVER, NULL) == SSAN_PIPE_FAILED);
        GOOD(ssan_pipe_flush(pipe_, 0, NULL)); /* told, and nothing is broken */
        GOOD(ssan_pipe_destroy(pipe_, NULL));
        pthread_join(thread, NULL);
        OK(cudaStreamDestroy(stream));
    }
    return 0;
}

static int current_device(void)
{
    int device = -1;
    OK(cudaGetDevice(&device));
    return device;
}

/* The way back to the caller's device fails once, which is tried again, or twice, which is told. */
static int way_back(void *unused)
{
    struct ssan_pipe_consumer_options wants = {
        .size = sizeof wants, .on_device = true, .device = 1};
    struct ssan_pipe_consumer *made;
    struct ssan_pipe_error err;
    start();
    go_round(); /* the publisher has set its own */
    fail_from_now("cudaSetDevice", 1);
    CHECK(ssan_pipe_consumer_create(pipe_, &wants, &made, &err) == SSAN_PIPE_CUDA); /* there */
    CHECK(strstr(err.text, "cudaSetDevice(1) failed") && current_device() == 0);
    wants.device = 0;
    OK(cudaSetDevice(1));
    for (int times = 1; times <= 2; times++) {
        fail_from_now("cudaSetDevice", times);
        behind = "cudaStreamCreateWithFlags"; /* the consumer's device is current there */
        enum ssan_pipe_status status = ssan_pipe_consumer_create(pipe_, &wants, &made, &err);
        CHECK(status == (times == 1 ? SSAN_PIPE_OK : SSAN_PIPE_CUDA));
        CHECK(current_device() == (times == 1 ? 1 : 0));
        CHECK(times == 1 || strstr(err.text, "cudaSetDevice(1) failed"));
        OK(cudaSetDevice(1));
    }
    failing = NULL;
    GOOD(ssan_pipe_destroy(pipe_, NULL));
    return 0;
}

static int on_other_device(void *ends, struct ssan_pipe_batch *batch, cudaStream_t on)
{
    OK((cudaError_t)copy(NULL, batch, on));
    OK(cudaSetDevice(1));
    if (*(const char *)ends == 'x') {
        pthread_exit(NULL);
    }
    return *(const char *)ends;
}

static void tell_device(void *device)
{
    *(char *)device = (char)current_device();
}

/* Submits from the device that the second character of `how` says; the third says which one is
 * current then. */
static void *submit_elsewhere(void *how)
{
    char *words = how;
    OK(cudaSetDevice(words[1]));
    pthread_cleanup_push(tell_device, words + 2);
    enum ssan_pipe_status status =
        ssan_pipe_submit(pipe_, acquire(), on_other_device, how, stream, NULL);
    CHECK(status == (words[0] ? SSAN_PIPE_FAILED : SSAN_PIPE_OK));
    pthread_cleanup_pop(1);
    return NULL;
}

/* Compute leaves another device current, however it ends: the caller's is current behind submit. */
static int moved_by_compute(void *unused)
{
    static char ends[][3] = {{0, 0, 9}, {0, 1, 9}, {5, 0, 9}, {5, 1, 9}, {'x', 0, 9}, {'x', 1, 9}};
    start();
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct ssan_pipe_batch *batch;
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, submit_elsewhere, ends[i]) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK(ends[i][2] == ends[i][1]);
        if (!ends[i][0]) {
            GOOD(ssan_pipe_take(consumer, SSAN_PIPE_FOREVER, &batch, NULL));
            GOOD(ssan_pipe_release(consumer, batch, NULL));
        }
    }
    GOOD(ssan_pipe_destroy(pipe_, NULL));
    return 0;
}

/* Peer access is on already, by an earlier consumer or by the program: the program's error stays.
 */
static int error_that_stands(void *by_program)
{
    struct ssan_pipe_consumer_options wants = {
        .size = sizeof wants, .on_device = true, .from_device = true, .device = 1};
    struct ssan_pipe_consumer *made;
    start();
    if (*(const bool *)by_program) {
        OK(cudaSetDevice(1));
        OK(cudaDeviceEnablePeerAccess(0, 0));
        OK(cudaSetDevice(0));
    } else {
        GOOD(ssan_pipe_consumer_create(pipe_, &wants, &made, NULL));
    }
    CHECK(cudaGetLastError() == cudaSuccess);
    FAILS(cudaMemcpyAsync(NULL, NULL, 1, (enum cudaMemcpyKind)9, stream),
          cudaErrorInvalidMemcpyDirection);
    GOOD(ssan_pipe_consumer_create(pipe_, &wants, &made, NULL));
    CHECK(cudaGetLastError() == cudaErrorInvalidMemcpyDirection);
    GOOD(ssan_pipe_consumer_create(pipe_, &wants, &made, NULL));
    CHECK(cudaGetLastError() == cudaSuccess); /* and none of ours */
    GOOD(ssan_pipe_destroy(pipe_, NULL));
    return 0;
}

/* Leaves an error behind; the library's next call fails. */
static int leave_error(void *unused, struct ssan_pipe_batch *batch, cudaStream_t compute)
{
    FAILS(cudaMemcpyAsync(NULL, NULL, 1, (enum cudaMemcpyKind)9, compute),
          cudaErrorInvalidMemcpyDirection);
    fail_from_now("cudaGetDevice", 1);
    return 0;
}

/* A call of the library fails: nothing is left of it, but where an error of the program's stood,
 * one has to stand still. */
static int error_over_another(void *unused)
{
    struct ssan_pipe_consumer_options wants = {
        .size = sizeof wants, .on_device = true, .device = 77};
    struct ssan_pipe_consumer *made;
    struct ssan_pipe_batch *batch;
    start();
    CHECK(ssan_pipe_consumer_create(pipe_, &wants, &made, NULL) == SSAN_PIPE_INVALID);
    CHECK(cudaGetLastError() == cudaSuccess);
    FAILS(cudaMemcpyAsync(NULL, NULL, 1, (enum cudaMemcpyKind)9, stream),
          cudaErrorInvalidMemcpyDirection);
    go_round();
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidMemcpyDirection);
    CHECK(ssan_pipe_consumer_create(pipe_, &wants, &made, NULL) == SSAN_PIPE_INVALID);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaSuccess);
    GOOD(ssan_pipe_acquire(pipe_, NULL, SSAN_PIPE_FOREVER, &batch, NULL));
    CHECK(ssan_pipe_submit(pipe_, batch, leave_error, NULL, stream, NULL) == SSAN_PIPE_FAILED);
    CHECK(cudaGetLastError() == cudaErrorInvalidMemcpyDirection);
    GOOD(ssan_pipe_destroy(pipe_, NULL));
    return 0;
}

static void on_two_devices(int (*body)(void *), void *data)
{
    setenv("STREAMSAN_DEVICES", "2", 1);
    assert_int_equal(device_run("eager", body, data, NULL), 0);
    unsetenv("STREAMSAN_DEVICES");
}

#define TEST(body)                                                                                 \
    static void test_##body(void **state)                                                          \
    {                                                                                              \
        assert_int_equal(device_run("eager", body, NULL, NULL), 0);                                \
        assert_int_equal(device_run("lazy", body, NULL, NULL), 0);                                 \
    }
TEST(signals)
TEST(cancelled_threads)
TEST(left_compute)
TEST(submitting)
TEST(destroyed_beside_take)
TEST(error_over_another)

static void test_way_back(void **state)
{
    on_two_devices(way_back, NULL);
    on_two_devices(moved_by_compute, NULL);
}

static void test_error_that_stands(void **state)
{
    for (int i = 0; i < 2; i++) {
        bool by_program = i;
        on_two_devices(error_that_stands, &by_program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_cancelled_threads),
        cmocka_unit_test(test_left_compute),
        cmocka_unit_test(test_submitting),
        cmocka_unit_test(test_destroyed_beside_take),
        cmocka_unit_test(test_error_over_another),
        cmocka_unit_test(test_way_back),
        cmocka_unit_test(test_error_that_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
