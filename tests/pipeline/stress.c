/* Random pipelines with random threads: shapes, sizes, abandoned and failing batches, ends (close,
 * cancel, destroy while threads wait) are drawn from a printed seed. What must hold in each: every
 * batch is counted once, in the right order, with its own bytes; all threads come home. For the
 * thread sanitizer most of all. */
#include "pipeline/parts.h"
#include "base/rng.h"
#include "unit/vcuda_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM        512
#define MAX_THREADS 4
#define JOBS        24

enum ending { END_CLOSE, END_CANCEL, END_DESTROY, ENDINGS };

struct round {
    uint64_t seed;
    unsigned producers, consumers;
    enum ending ending;
    bool on_device, in_order;
    struct ssan_pipe *pipe;
    struct ssan_pipe_consumer *handles[MAX_THREADS];
    cudaStream_t streams[MAX_THREADS], uses[MAX_THREADS];
    atomic_int jobs, submitted, failed, abandoned, taken;
};

struct hand {
    struct round *round;
    unsigned index;
    struct rng rng;
};

static int copy_or_fail(void *user, struct ssan_pipe_batch *batch, cudaStream_t stream)
{
    int error = (int)cudaMemcpyAsync(batch->device_output, batch->device_input, batch->input_bytes,
                                     cudaMemcpyDeviceToDevice, stream);
    return *(const bool *)user ? 1 : error;
}

static bool is_end(enum ssan_pipe_status status)
{
    return status == SSAN_PIPE_CANCELLED || status == SSAN_PIPE_CLOSED;
}

/* One job; false at the pipeline's end. */
static bool produce(struct hand *self)
{
    struct round *r = self->round;
    struct ssan_pipe_request request = {0, (size_t)rng_below(&self->rng, ROOM + 1), 0};
    struct ssan_pipe_batch *batch;
    bool fails = rng_below(&self->rng, 8) == 0;
    request.output_bytes = request.input_bytes;
    uint64_t timeout = rng_below(&self->rng, 3) ? SSAN_PIPE_FOREVER : 1000;
    enum ssan_pipe_status status = ssan_pipe_acquire(r->pipe, &request, timeout, &batch, NULL);
    if (status == SSAN_PIPE_TIMEOUT) {
        return true;
    }
    if (status != SSAN_PIPE_OK) {
        CHECK(is_end(status));
        return false;
    }
    memset(batch->input, (int)(batch->number % 251) + 1, batch->input_bytes);
    if (rng_below(&self->rng, 8) == 0) {
        ssan_pipe_abandon(r->pipe, batch);
        atomic_fetch_add(&r->abandoned, 1);
        return true;
    }
    status = ssan_pipe_submit(r->pipe, batch, copy_or_fail, &fails, r->streams[self->index], NULL);
    CHECK(status == SSAN_PIPE_OK || status == SSAN_PIPE_CANCELLED ||
          (status == SSAN_PIPE_FAILED && fails));
    atomic_fetch_add(status == SSAN_PIPE_OK ? &r->submitted : &r->failed, 1);
    return true;
}

static void *produce_all(void *data)
{
    struct hand *self = data;
    while (atomic_fetch_add(&self->round->jobs, 1) < JOBS && produce(self)) {
    }
    return NULL;
}

static void check_bytes(const struct round *r, unsigned index, const struct ssan_pipe_batch *batch)
{
    unsigned char landed[ROOM];
    const unsigned char *bytes = batch->output;
    if (r->on_device && batch->output_bytes) {
        OK(cudaMemcpyAsync(landed, batch->landed, batch->output_bytes, cudaMemcpyDeviceToHost,
                           r->uses[index]));
        OK(cudaStreamSynchronize(r->uses[index]));
        bytes = landed;
    }
    for (size_t i = 0; i < batch->output_bytes; i++) {
        CHECK(bytes[i] == batch->number % 251 + 1);
    }
}

static void *consume_all(void *data)
{
    struct hand *self = data;
    struct round *r = self->round;
    uint64_t next = 0;
    for (;;) {
        struct ssan_pipe_batch *batch;
        uint64_t timeout =
            rng_below(&self->rng, 3) || r->ending == END_DESTROY ? SSAN_PIPE_FOREVER : 1000;
        enum ssan_pipe_status status =
            ssan_pipe_take(r->handles[self->index], timeout, &batch, NULL);
        if (status == SSAN_PIPE_TIMEOUT) {
            continue;
        }
        if (status != SSAN_PIPE_OK) {
            CHECK(is_end(status));
            return NULL;
        }
        CHECK(!r->in_order || batch->number >= next);
        next = batch->number + 1;
        check_bytes(r, self->index, batch);
        CHECK(ssan_pipe_release(r->handles[self->index], batch, NULL) == SSAN_PIPE_OK);
        atomic_fetch_add(&r->taken, 1);
    }
}

static void draw(struct round *r, struct rng *rng)
{
    struct ssan_pipe_options options = {.size = sizeof options,
                                        .slots = 1 + (unsigned)rng_below(rng, 4),
                                        .copy_streams = 1 + (unsigned)rng_below(rng, 2),
                                        .depth = (unsigned)rng_below(rng, 3),
                                        .input_bytes = ROOM,
                                        .output_bytes = ROOM,
                                        .timing = rng_below(rng, 4) == 0};
    struct ssan_pipe_consumer_options wants = {.size = sizeof wants, .landings = 1};
    r->producers = 1 + (unsigned)rng_below(rng, MAX_THREADS);
    r->consumers = 1 + (unsigned)rng_below(rng, MAX_THREADS);
    r->ending = (enum ending)rng_below(rng, ENDINGS);
    r->on_device = rng_below(rng, 2);
    r->in_order = rng_below(rng, 2);
    options.order = r->in_order ? SSAN_PIPE_IN_ORDER : SSAN_PIPE_COMPLETED;
    options.max_bytes = rng_below(rng, 2) ? 0 : 2 * ROOM;
    options.no_copy_out = r->on_device && rng_below(rng, 2);
    options.share = rng_below(rng, 2) ? r->consumers : 0;
    CHECK(ssan_pipe_create(&options, &r->pipe, NULL) == SSAN_PIPE_OK);
    for (unsigned i = 0; i < MAX_THREADS; i++) {
        OK(cudaStreamCreateWithFlags(&r->streams[i], cudaStreamNonBlocking));
        OK(cudaStreamCreateWithFlags(&r->uses[i], cudaStreamNonBlocking));
    }
    for (unsigned i = 0; i < r->consumers; i++) {
        wants.share_index = options.share ? i : 0;
        wants.on_device = r->on_device;
        wants.from_device = rng_below(rng, 2) && r->on_device;
        wants.stream = r->uses[i];
        CHECK(ssan_pipe_consumer_create(r->pipe, &wants, &r->handles[i], NULL) == SSAN_PIPE_OK);
    }
}

/* Until all consumers wait: a call may not begin once destroy has. */
static void wait_for_takers(struct round *r)
{
    unsigned takers;
    do {
        sched_yield();
        pthread_mutex_lock(&r->pipe->lock);
        takers = r->pipe->live || r->pipe->landings_held ? 0 : r->pipe->takers;
        pthread_mutex_unlock(&r->pipe->lock);
    } while (takers < r->consumers);
}

static void check_counts(const struct round *r)
{
    struct ssan_pipe_stats stats = {.size = sizeof stats};
    CHECK(ssan_pipe_stats_get(r->pipe, &stats) == SSAN_PIPE_OK);
    CHECK(stats.submitted == (uint64_t)r->submitted);
    CHECK(stats.abandoned == (uint64_t)r->abandoned);
    CHECK(stats.released == (uint64_t)r->taken);
    CHECK(stats.failed + stats.dropped == (uint64_t)r->failed + stats.submitted - stats.released);
    CHECK(r->ending == END_CANCEL || (stats.released == stats.submitted && stats.dropped == 0));
}

static void play(uint64_t seed)
{
    struct round r = {.seed = seed};
    struct hand makers[MAX_THREADS], takers[MAX_THREADS];
    pthread_t maker_threads[MAX_THREADS], taker_threads[MAX_THREADS];
    struct rng rng;
    rng.state = seed;
    draw(&r, &rng);
    for (unsigned i = 0; i < r.producers; i++) {
        makers[i] = (struct hand){.round = &r, .index = i};
        makers[i].rng.state = seed * 100 + i;
        CHECK(pthread_create(&maker_threads[i], NULL, produce_all, &makers[i]) == 0);
    }
    for (unsigned i = 0; i < r.consumers; i++) {
        takers[i] = (struct hand){.round = &r, .index = i};
        takers[i].rng.state = seed * 100 + 50 + i;
        CHECK(pthread_create(&taker_threads[i], NULL, consume_all, &takers[i]) == 0);
    }
    if (r.ending == END_CANCEL) {
        while (atomic_load(&r.submitted) + atomic_load(&r.failed) < JOBS / 8 &&
               atomic_load(&r.jobs) < JOBS) {
            sched_yield();
        }
        ssan_pipe_cancel(r.pipe);
    }
    for (unsigned i = 0; i < r.producers; i++) {
        pthread_join(maker_threads[i], NULL);
    }
    if (r.ending == END_DESTROY) {
        wait_for_takers(&r);
        check_counts(&r);
        CHECK(ssan_pipe_destroy(r.pipe, NULL) == SSAN_PIPE_OK);
    } else {
        ssan_pipe_close(r.pipe);
    }
    for (unsigned i = 0; i < r.consumers; i++) {
        pthread_join(taker_threads[i], NULL);
    }
    if (r.ending != END_DESTROY) {
        CHECK(ssan_pipe_drain(r.pipe, SSAN_PIPE_FOREVER, NULL) == SSAN_PIPE_OK);
        check_counts(&r);
        CHECK(ssan_pipe_destroy(r.pipe, NULL) == SSAN_PIPE_OK);
    }
    for (unsigned i = 0; i < MAX_THREADS; i++) {
        OK(cudaStreamDestroy(r.streams[i]));
        OK(cudaStreamDestroy(r.uses[i]));
    }
}

static uint64_t now_playing; /* a seed; 0: done */

static void tell_seed(void)
{
    if (now_playing) {
        fprintf(stderr, "pipeline_stress: STREAMSAN_SEED=%llu\n", (unsigned long long)now_playing);
    }
}

static void on_alarm(int number)
{
    tell_seed();
    _exit(98);
}

static int play_all(void *data)
{
    uint64_t first = *(const uint64_t *)data;
    unsigned rounds = getenv("STREAMSAN_TEST_ALL") ? 1500 : 60;
    atexit(tell_seed);
    signal(SIGALRM, on_alarm);
    alarm(60 + rounds);
    for (unsigned i = 0; i < rounds; i++) {
        now_playing = first + i;
        play(now_playing);
    }
    now_playing = 0;
    printf("%u rounds from seed %llu\n", rounds, (unsigned long long)first);
    return 0;
}

static void test_random_rounds(void **state)
{
    const char *given = getenv("STREAMSAN_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : 1;
    assert_int_equal(device_run("eager", play_all, &seed, NULL), 0);
    assert_int_equal(device_run("lazy", play_all, &seed, NULL), 0);
    assert_int_equal(device_run("random:7", play_all, &seed, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_rounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
