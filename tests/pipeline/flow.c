/* What the pipeline answers: limits, deadlines, order, ends, wrong use, figures. */
#include "streamsan/pipeline.h"
#include "unit/vcuda_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BYTES 64
#define MS    1000000u

static struct ssan_pipe *pipe_;
static struct ssan_pipe_consumer *consumer;
static _Thread_local struct ssan_pipe_error err;
static cudaStream_t stream;

#define IS(call, wanted)                                                                           \
    do {                                                                                           \
        enum ssan_pipe_status status_ = (call);                                                    \
        if (status_ != (wanted)) {                                                                 \
            fprintf(stderr, "%s:%d: %s is %s: %s\n", __FILE__, __LINE__, #call,                    \
                    ssan_pipe_status_name(status_), err.text);                                     \
            CHECK(false);                                                                          \
        }                                                                                          \
    } while (0)
#define GOOD(call) IS(call, SSAN_PIPE_OK)

static struct ssan_pipe_options with_slots(unsigned slots)
{
    return (struct ssan_pipe_options){.size = sizeof(struct ssan_pipe_options),
                                      .slots = slots,
                                      .input_bytes = BYTES,
                                      .output_bytes = BYTES};
}

static void start(struct ssan_pipe_options options)
{
    alarm(60); /* what waits for ever ends the test */
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    GOOD(ssan_pipe_create(&options, &pipe_, &err));
    if (!options.no_copy_out) {
        GOOD(ssan_pipe_consumer_create(pipe_, NULL, &consumer, &err));
    }
}

static void end(void)
{
    GOOD(ssan_pipe_destroy(pipe_, &err));
    OK(cudaStreamDestroy(stream));
}

static int copy(void *user, struct ssan_pipe_batch *batch, cudaStream_t on)
{
    return (int)cudaMemcpyAsync(batch->device_output, batch->device_input, batch->input_bytes,
                                cudaMemcpyDeviceToDevice, on);
}

static struct ssan_pipe_batch *acquire(void)
{
    struct ssan_pipe_batch *batch;
    GOOD(ssan_pipe_acquire(pipe_, NULL, SSAN_PIPE_FOREVER, &batch, &err));
    return batch;
}

static void submit(struct ssan_pipe_batch *batch)
{
    memset(batch->input, (int)batch->number + 1, batch->input_bytes);
    GOOD(ssan_pipe_submit(pipe_, batch, copy, NULL, stream, &err));
}

static struct ssan_pipe_batch *take(uint64_t number)
{
    struct ssan_pipe_batch *batch;
    GOOD(ssan_pipe_take(consumer, SSAN_PIPE_FOREVER, &batch, &err));
    CHECK(batch->number == number);
    for (size_t i = 0; i < batch->output_bytes; i++) {
        CHECK(((unsigned char *)batch->output)[i] == number + 1);
    }
    return batch;
}

static void release(struct ssan_pipe_batch *batch)
{
    GOOD(ssan_pipe_release(consumer, batch, &err));
}

static enum ssan_pipe_status try_acquire(size_t bytes, uint64_t timeout_ns)
{
    struct ssan_pipe_request request = {.input_bytes = bytes};
    struct ssan_pipe_batch *batch = NULL;
    return ssan_pipe_acquire(pipe_, &request, timeout_ns, &batch, &err);
}

static enum ssan_pipe_status try_take(uint64_t timeout_ns)
{
    struct ssan_pipe_batch *batch = NULL;
    return ssan_pipe_take(consumer, timeout_ns, &batch, &err);
}

static struct ssan_pipe_stats stats(void)
{
    struct ssan_pipe_stats got = {.size = sizeof got};
    GOOD(ssan_pipe_stats_get(pipe_, &got));
    return got;
}

static int slots_bound(void *unused)
{
    start(with_slots(2));
    struct ssan_pipe_batch *first = acquire(), *second = acquire();
    IS(try_acquire(1, 0), SSAN_PIPE_TIMEOUT);
    IS(try_acquire(1, 2 * MS), SSAN_PIPE_TIMEOUT);
    CHECK(stats().slot_waits == 1 && stats().slot_wait_ns >= 2 * MS);
    ssan_pipe_abandon(pipe_, first);
    submit(second);
    struct ssan_pipe_batch *third = acquire();
    CHECK(third->number == 2);
    struct ssan_pipe_batch *got = take(1); /* number 0 is gone and holds nothing up */
    IS(try_acquire(1, 0), SSAN_PIPE_TIMEOUT);
    release(got);
    GOOD(try_acquire(1, 0));
    IS(ssan_pipe_destroy(pipe_, &err), SSAN_PIPE_BUSY);
    CHECK(strstr(err.text, "2 batches"));
    ssan_pipe_abandon(pipe_, third);
    IS(ssan_pipe_destroy(pipe_, &err), SSAN_PIPE_BUSY);
    /* the last is the slot that has neither been `third` nor is it free */
    ssan_pipe_abandon(pipe_, third == first ? second : first);
    end();
    return 0;
}

static int bytes_bound(void *unused)
{
    struct ssan_pipe_options options = with_slots(8);
    options.max_bytes = 100;
    start(options);
    struct ssan_pipe_request half = {.input_bytes = 25, .output_bytes = 25};
    struct ssan_pipe_batch *a, *b;
    GOOD(ssan_pipe_acquire(pipe_, &half, 0, &a, &err));
    GOOD(ssan_pipe_acquire(pipe_, &half, 0, &b, &err));
    IS(try_acquire(1, 0), SSAN_PIPE_TIMEOUT);
    IS(try_acquire(1, MS), SSAN_PIPE_TIMEOUT);
    CHECK(stats().limit_waits == 1 && stats().slot_waits == 0);
    GOOD(try_acquire(0, 0)); /* a batch without bytes fits */
    struct ssan_pipe_request whole = {.input_bytes = 64, .output_bytes = 64};
    IS(ssan_pipe_acquire(pipe_, &whole, 0, &a, &err), SSAN_PIPE_INVALID);
    CHECK(strstr(err.text, "max_bytes"));
    ssan_pipe_abandon(pipe_, b);
    GOOD(try_acquire(50, 0));
    _exit(0); /* with batches held, as a program may end */
}

static int depth_bound(void *unused)
{
    struct ssan_pipe_options options = with_slots(4);
    options.depth = 1;
    start(options);
    submit(acquire());
    IS(try_acquire(1, 0), SSAN_PIPE_TIMEOUT);
    struct ssan_pipe_batch *held = take(0);
    submit(acquire()); /* held by the consumer: not ahead of it */
    IS(try_acquire(1, 0), SSAN_PIPE_TIMEOUT);
    release(held);
    IS(try_acquire(1, 0), SSAN_PIPE_TIMEOUT);
    release(take(1));
    end();
    return 0;
}

static int ends(void *unused)
{
    start(with_slots(3));
    struct ssan_pipe_batch *late = acquire();
    submit(acquire());
    IS(try_take(MS), SSAN_PIPE_TIMEOUT); /* number 0 is not submitted yet */
    ssan_pipe_close(pipe_);
    IS(try_acquire(1, SSAN_PIPE_FOREVER), SSAN_PIPE_CLOSED);
    submit(late);
    GOOD(ssan_pipe_flush(pipe_, SSAN_PIPE_FOREVER, &err));
    CHECK(stats().published == 2);
    IS(ssan_pipe_drain(pipe_, 0, &err), SSAN_PIPE_TIMEOUT);
    release(take(0));
    release(take(1));
    IS(try_take(SSAN_PIPE_FOREVER), SSAN_PIPE_CLOSED);
    GOOD(ssan_pipe_drain(pipe_, 0, &err));
    end();
    return 0;
}

static void *wait_in(void *call)
{
    switch (*(const char *)call) {
    case 'a':
        IS(try_acquire(1, SSAN_PIPE_FOREVER), SSAN_PIPE_CANCELLED);
        break;
    case 't':
        IS(try_take(SSAN_PIPE_FOREVER), SSAN_PIPE_CANCELLED);
        break;
    default:
        GOOD(ssan_pipe_drain(pipe_, SSAN_PIPE_FOREVER, NULL));
    }
    return NULL;
}

/* Destroy while others wait; errors go to their own, so `err` is used by none of them when all goes
 * well. */
static int cancelled(void *calls)
{
    pthread_t threads[3];
    start(with_slots(1));
    struct ssan_pipe_batch *held = acquire();
    int count = 0;
    for (const char *call = calls; *call; call++) {
        CHECK(pthread_create(&threads[count++], NULL, wait_in, (void *)call) == 0);
    }
    ssan_pipe_cancel(pipe_);
    IS(ssan_pipe_submit(pipe_, held, copy, NULL, stream, NULL), SSAN_PIPE_CANCELLED);
    CHECK(stats().dropped == 1);
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    end();
    return 0;
}

/* What is ready and what is under way when it is cancelled comes to nobody. */
static int dropped(void *unused)
{
    start(with_slots(3));
    submit(acquire());
    submit(acquire());
    GOOD(ssan_pipe_flush(pipe_, SSAN_PIPE_FOREVER, &err));
    submit(acquire());
    ssan_pipe_cancel(pipe_);
    IS(try_take(0), SSAN_PIPE_CANCELLED);
    GOOD(ssan_pipe_drain(pipe_, SSAN_PIPE_FOREVER, &err));
    CHECK(stats().dropped == 3);
    end();
    return 0;
}

/* Two producers' streams, a copy stream each: the second batch is done first, and comes first. */
static int completed_first(void *unused)
{
    struct ssan_pipe_options options = with_slots(2);
    options.order = SSAN_PIPE_COMPLETED;
    options.copy_streams = 2;
    start(options);
    struct ssan_pipe_batch *first = acquire();
    submit(acquire());
    release(take(1));
    submit(first);
    release(take(0));
    end();
    return 0;
}

static int shared_out(void *unused)
{
    struct ssan_pipe_options options = with_slots(4);
    struct ssan_pipe_consumer_options second = {.size = sizeof second, .share_index = 1};
    struct ssan_pipe_consumer *other, *own;
    options.share = 2;
    start(options);
    own = consumer;
    GOOD(ssan_pipe_consumer_create(pipe_, &second, &other, &err));
    for (int i = 0; i < 4; i++) {
        submit(acquire());
    }
    ssan_pipe_close(pipe_);
    consumer = other;
    struct ssan_pipe_batch *taken = take(1);
    IS(ssan_pipe_release(own, taken, &err), SSAN_PIPE_INVALID);
    release(taken);
    release(take(3));
    IS(try_take(SSAN_PIPE_FOREVER), SSAN_PIPE_CLOSED);
    consumer = own;
    release(take(0));
    release(take(2));
    second.share_index = 2;
    IS(ssan_pipe_consumer_create(pipe_, &second, &other, &err), SSAN_PIPE_INVALID);
    end();
    return 0;
}

static int grow(void *user, struct ssan_pipe_batch *batch, cudaStream_t on)
{
    batch->output_bytes = *(size_t *)user;
    return copy(NULL, batch, on);
}

static int sizes(void *unused)
{
    start(with_slots(1));
    for (size_t bytes = 0; bytes <= BYTES; bytes += 16) {
        struct ssan_pipe_batch *batch = acquire();
        batch->input_bytes = bytes;
        memset(batch->input, (int)batch->number + 1, bytes);
        size_t out = bytes / 2; /* known once compute runs */
        GOOD(ssan_pipe_submit(pipe_, batch, grow, &out, stream, &err));
        batch = take(bytes / 16);
        CHECK(batch->output_bytes == out);
        release(batch);
    }
    size_t out = BYTES + 1;
    struct ssan_pipe_batch *batch = acquire();
    memset(batch->input, 0, BYTES);
    IS(ssan_pipe_submit(pipe_, batch, grow, &out, stream, &err), SSAN_PIPE_INVALID);
    CHECK(err.batch == BYTES / 16 + 1);
    CHECK(strstr(err.text, "output_bytes is 65, but acquire gave 64"));
    batch->output_bytes = 0;
    batch->input_bytes = BYTES + 2;
    IS(ssan_pipe_submit(pipe_, batch, copy, NULL, stream, &err), SSAN_PIPE_INVALID);
    CHECK(strstr(err.text, "input_bytes is 66, but acquire gave 64"));
    IS(ssan_pipe_destroy(pipe_, &err), SSAN_PIPE_BUSY); /* the caller's all the time */
    CHECK(strstr(err.text, "1 batch is still held"));
    ssan_pipe_abandon(pipe_, batch);
    CHECK(stats().failed == 0 && stats().abandoned == 1);
    GOOD(ssan_pipe_drain(pipe_, 0, &err));
    end();
    return 0;
}

static int landed(void *unused)
{
    struct ssan_pipe_options options = with_slots(2);
    struct ssan_pipe_consumer_options wants = {
        .size = sizeof wants, .on_device = true, .landings = 1};
    unsigned char bytes[BYTES];
    options.no_copy_out = true;
    start(options);
    IS(ssan_pipe_consumer_create(pipe_, NULL, &consumer, &err), SSAN_PIPE_INVALID);
    wants.stream = stream;
    GOOD(ssan_pipe_consumer_create(pipe_, &wants, &consumer, &err));
    CHECK(stats().pinned_bytes == 2 * BYTES && stats().device_bytes == 5 * BYTES);
    submit(acquire());
    submit(acquire());
    struct ssan_pipe_batch *batch;
    GOOD(ssan_pipe_take(consumer, SSAN_PIPE_FOREVER, &batch, &err));
    CHECK(batch->landed && !batch->output && !batch->device_output);
    OK(cudaMemcpyAsync(bytes, batch->landed, BYTES, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(bytes[0] == 1 && bytes[BYTES - 1] == 1);
    IS(try_take(0), SSAN_PIPE_BUSY); /* one landing */
    IS(ssan_pipe_destroy(pipe_, &err), SSAN_PIPE_BUSY);
    release(batch);
    IS(ssan_pipe_release(consumer, batch, &err), SSAN_PIPE_INVALID);
    IS(try_take(0), SSAN_PIPE_CANCELLED); /* by the destroy that did not come to pass */
    end();
    return 0;
}

static int wrong_use(void *unused)
{
    struct ssan_pipe_options options = with_slots(1);
    struct ssan_pipe_stats small = {.size = 1};
    struct ssan_pipe_batch fake = {0}, *batch;
    struct ssan_pipe *none;
    options.size = 0;
    IS(ssan_pipe_create(&options, &none, &err), SSAN_PIPE_INVALID);
    CHECK(strstr(err.text, "options.size is 0, and has to be sizeof options"));
    options.size = sizeof options + 8;
    IS(ssan_pipe_create(&options, &none, &err), SSAN_PIPE_INVALID);
    CHECK(strstr(err.text, "newer header"));
    options = with_slots(1);
    options.size = offsetof(struct ssan_pipe_options, order); /* what lies behind is not read */
    options.order = (enum ssan_pipe_order)7;
    GOOD(ssan_pipe_create(&options, &none, &err));
    GOOD(ssan_pipe_destroy(none, &err));
    options = with_slots(5000);
    IS(ssan_pipe_create(&options, &none, NULL), SSAN_PIPE_INVALID);
    options = with_slots(1);
    options.device_count = 1;
    options.devices = (int[]){99};
    IS(ssan_pipe_create(&options, &none, &err), SSAN_PIPE_INVALID);
    CHECK(err.code == cudaErrorInvalidDevice && strcmp(err.call, "cudaSetDevice") == 0);
    CHECK(strstr(err.text, "cudaSetDevice(99) failed: cudaErrorInvalidDevice"));
    CHECK(cudaGetLastError() == cudaSuccess);
    options.device_count = 2;
    options.devices = (int[]){0, 0};
    IS(ssan_pipe_create(&options, &none, &err), SSAN_PIPE_INVALID);
    CHECK(strstr(err.text, "twice"));
    GOOD(ssan_pipe_destroy(NULL, NULL));

    start(with_slots(1));
    struct ssan_pipe_consumer_options wants = {.size = sizeof wants, .from_device = true};
    struct ssan_pipe_consumer *not_made;
    struct ssan_pipe_consumer_options sizeless = {.size = 0};
    IS(ssan_pipe_consumer_create(pipe_, &sizeless, &not_made, &err), SSAN_PIPE_INVALID);
    CHECK(strstr(err.text, "consumer: options.size is 0"));
    IS(ssan_pipe_consumer_create(pipe_, &wants, &not_made, &err), SSAN_PIPE_INVALID);
    wants.on_device = true;
    wants.device = 77;
    IS(ssan_pipe_consumer_create(pipe_, &wants, &not_made, &err), SSAN_PIPE_INVALID);
    CHECK(strstr(err.text, "cudaSetDevice(77)"));
    IS(ssan_pipe_stats_get(pipe_, &small), SSAN_PIPE_INVALID);
    IS(try_acquire(BYTES + 1, 0), SSAN_PIPE_INVALID);
    struct ssan_pipe_request far_away = {.device_index = 1};
    IS(ssan_pipe_acquire(pipe_, &far_away, 0, &batch, &err), SSAN_PIPE_INVALID);
    IS(ssan_pipe_submit(pipe_, &fake, copy, NULL, stream, &err), SSAN_PIPE_INVALID);
    IS(ssan_pipe_release(consumer, &fake, &err), SSAN_PIPE_INVALID);
    ssan_pipe_abandon(pipe_, &fake);
    batch = acquire();
    IS(ssan_pipe_submit(pipe_, batch, NULL, NULL, stream, &err), SSAN_PIPE_INVALID);
    IS(ssan_pipe_release(consumer, batch, &err), SSAN_PIPE_INVALID);
    submit(batch);
    IS(ssan_pipe_submit(pipe_, batch, copy, NULL, stream, &err), SSAN_PIPE_INVALID);
    ssan_pipe_abandon(pipe_, batch);
    release(take(0));
    end();
    return 0;
}

static int figures(void *unused)
{
    struct ssan_pipe_options options = with_slots(2);
    options.timing = true;
    start(options);
    for (unsigned i = 0; i < 10; i++) {
        submit(acquire());
        release(take(i));
    }
    struct ssan_pipe_stats s = stats();
    CHECK(s.submitted == 10 && s.published == 10 && s.released == 10 && s.failed == 0);
    CHECK(s.input_bytes == 10 * BYTES && s.output_bytes == 10 * BYTES);
    CHECK(s.busy_ns > 0 && s.batches_per_s > 0 && s.bytes_per_s > s.batches_per_s);
    CHECK(s.in_flight > 0.99 && s.in_flight < 1.01); /* one after the other */
    CHECK(s.overlap >= 0);
    CHECK(s.device.p50_ns > 0 && s.device.p50_ns <= s.device.p90_ns);
    CHECK(s.device.p90_ns <= s.device.p99_ns && s.device.p99_ns <= s.device.max_ns);
    CHECK(s.pinned_bytes == 4 * BYTES && s.device_bytes == 4 * BYTES);
    CHECK(s.machine_bytes > 0 && s.pinned_share < 0.25 && !s.pinned_advice);
    end();
    return 0;
}

static void each_schedule(int (*body)(void *), void *data)
{
    static const char *const schedules[] = {"eager", "lazy", "random:1"};
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        assert_int_equal(device_run(schedules[i], body, data, NULL), 0);
    }
}

#define TEST(body)                                                                                 \
    static void test_##body(void **state)                                                          \
    {                                                                                              \
        each_schedule(body, NULL);                                                                 \
    }
TEST(slots_bound)
TEST(bytes_bound)
TEST(depth_bound)
TEST(ends)
TEST(dropped)
TEST(completed_first)
TEST(shared_out)
TEST(sizes)
TEST(landed)
TEST(wrong_use)
TEST(figures)

static void test_cancelled(void **state)
{
    static char sets[][4] = {"a", "t", "at", "d", "atd"};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        each_schedule(cancelled, sets[i]);
    }
}

static void test_statuses(void **state)
{
    assert_string_equal(ssan_pipe_status_name(SSAN_PIPE_OK), "SSAN_PIPE_OK");
    assert_string_equal(ssan_pipe_status_name(SSAN_PIPE_CUDA), "SSAN_PIPE_CUDA");
    assert_string_equal(ssan_pipe_status_text(SSAN_PIPE_TIMEOUT), "the time is over");
    assert_string_equal(ssan_pipe_status_text(SSAN_PIPE_STATUS_COUNT), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots_bound),     cmocka_unit_test(test_bytes_bound),
        cmocka_unit_test(test_depth_bound),     cmocka_unit_test(test_ends),
        cmocka_unit_test(test_cancelled),       cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_completed_first), cmocka_unit_test(test_shared_out),
        cmocka_unit_test(test_sizes),           cmocka_unit_test(test_landed),
        cmocka_unit_test(test_wrong_use),       cmocka_unit_test(test_figures),
        cmocka_unit_test(test_statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
