/* Every call of the pipeline library that can fail does, one at a time: once, or it and all CUDA
 * calls behind it, as after a sticky error. Whatever it is: every job has one end, told to the
 * caller whose it is with its number; nothing waits for ever (an alarm); all that was made is
 * dropped (and the leak checker of a sanitizer build looks, too). */
#include "seams.h"
#include "streamsan/pipeline.h"
#include "unit/vcuda_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#undef pthread_create
#undef cudaMemcpyAsync
#undef cudaStreamCreateWithFlags
#undef cudaStreamDestroy
#undef cudaStreamSynchronize

#define JOBS      5
#define BYTES     256
#define MAX_CALLS 32

/* What is to fail, and what was called. */
static struct {
    pthread_mutex_t lock;
    const char *names[MAX_CALLS];
    int counts[MAX_CALLS], kinds;
    const char *name; /* NULL: nothing fails */
    int nth;
    bool for_good; /* from then on every CUDA call fails that does not drop something */
    bool has_happened;
    int live;
} seam = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int kind_of(const char *call)
{
    for (int i = 0; i < seam.kinds; i++) {
        if (strcmp(seam.names[i], call) == 0) {
            return i;
        }
    }
    CHECK(seam.kinds < MAX_CALLS);
    seam.names[seam.kinds] = call;
    return seam.kinds++;
}

bool seam_fails(const char *call)
{
    bool fails;
    pthread_mutex_lock(&seam.lock);
    int n = ++seam.counts[kind_of(call)];
    fails = seam.name && strcmp(call, seam.name) == 0 && n == seam.nth;
    fails = fails || (seam.has_happened && seam.for_good && strncmp(call, "cuda", 4) == 0);
    seam.has_happened = seam.has_happened || fails;
    pthread_mutex_unlock(&seam.lock);
    return fails;
}

void seam_live(int change)
{
    pthread_mutex_lock(&seam.lock);
    seam.live += change;
    pthread_mutex_unlock(&seam.lock);
}

/* How a pipeline is used; each has calls that the others lack. */
static const struct shape {
    const char *name;
    bool on_device, from_device, no_copy_out;
    int landings;
} shapes[] = {{"host", false, false, false, 0},
              {"staged", true, false, false, 1},
              {"from the device", true, true, false, 2},
              {"not copied out", true, true, true, 1}};

enum end { END_NONE, END_TAKEN, END_FAILED, END_REFUSED };

static struct run {
    const struct shape *shape;
    struct ssan_pipe *pipe;
    struct ssan_pipe_consumer *consumer;
    cudaStream_t stream, use;
    enum end ends[JOBS];
    uint64_t numbers[JOBS];     /* SSAN_PIPE_NO_BATCH: acquire was refused */
    atomic_int told, told_late; /* failures; those that only flush or drain told */
    int fails_compute;          /* job whose compute fails by itself; -1: none */
} run;

static void end_job(int job, enum end end)
{
    CHECK(job >= 0 && job < JOBS);
    CHECK(run.ends[job] == END_NONE);
    run.ends[job] = end;
}

static int job_of(uint64_t number)
{
    for (int job = 0; job < JOBS; job++) {
        if (run.numbers[job] == number) {
            return job;
        }
    }
    return -1;
}

static int copy_on_device(void *user, struct ssan_pipe_batch *batch, cudaStream_t stream)
{
    int error = (int)cudaMemcpyAsync(batch->device_output, batch->device_input, batch->input_bytes,
                                     cudaMemcpyDeviceToDevice, stream);
    return *(const int *)user == run.fails_compute ? 4711 : error;
}

static void check_error(enum ssan_pipe_status status, const struct ssan_pipe_error *err)
{
    CHECK(err->status == status && err->text[0]);
    if (status == SSAN_PIPE_FAILED && err->call && strcmp(err->call, "compute") == 0) {
        CHECK(err->code == 4711 && run.fails_compute >= 0);
    } else if (status == SSAN_PIPE_FAILED) {
        CHECK(err->code == cudaErrorUnknown && err->call && seam.name);
        CHECK(seam.for_good || strcmp(err->call, seam.name) == 0);
    }
    run.told++;
}

static void *produce(void *unused)
{
    for (int job = 0; job < JOBS; job++) {
        struct ssan_pipe_error err;
        struct ssan_pipe_batch *batch;
        enum ssan_pipe_status status =
            ssan_pipe_acquire(run.pipe, NULL, SSAN_PIPE_FOREVER, &batch, &err);
        if (status != SSAN_PIPE_OK) {
            CHECK(status == SSAN_PIPE_BROKEN && err.batch != SSAN_PIPE_NO_BATCH);
            check_error(status, &err);
            end_job(job, END_REFUSED);
            continue;
        }
        run.numbers[job] = batch->number;
        memset(batch->input, job + 1, BYTES);
        status = ssan_pipe_submit(run.pipe, batch, copy_on_device, &job, run.stream, &err);
        if (status != SSAN_PIPE_OK) {
            CHECK(status == SSAN_PIPE_FAILED || status == SSAN_PIPE_BROKEN);
            CHECK(err.batch == run.numbers[job]);
            check_error(status, &err);
            end_job(job, END_FAILED);
        }
    }
    ssan_pipe_close(run.pipe);
    return NULL;
}

static bool is_filled(const unsigned char *bytes, int job)
{
    for (int i = 0; i < BYTES; i++) {
        if (bytes[i] != job + 1) {
            return false;
        }
    }
    return true;
}

static bool has_landed(const struct ssan_pipe_batch *batch, int job)
{
    unsigned char bytes[BYTES];
    OK(cudaMemcpyAsync(bytes, batch->landed, BYTES, cudaMemcpyDeviceToHost, run.use));
    OK(cudaStreamSynchronize(run.use));
    return is_filled(bytes, job);
}

static void *consume(void *unused)
{
    struct ssan_pipe_error err;
    struct ssan_pipe_batch *batch;
    enum ssan_pipe_status status;
    for (;;) {
        status = ssan_pipe_take(run.consumer, SSAN_PIPE_FOREVER, &batch, &err);
        if (status == SSAN_PIPE_FAILED) {
            check_error(status, &err);
            end_job(job_of(err.batch), END_FAILED);
            continue;
        }
        if (status != SSAN_PIPE_OK) {
            break;
        }
        int job = job_of(batch->number);
        CHECK(run.shape->on_device ? has_landed(batch, job) : is_filled(batch->output, job));
        end_job(job, END_TAKEN);
        status = ssan_pipe_release(run.consumer, batch, &err);
        if (status != SSAN_PIPE_OK) {
            CHECK(status == SSAN_PIPE_CUDA && err.batch == run.numbers[job]);
            check_error(status, &err);
        }
    }
    CHECK(status == SSAN_PIPE_CLOSED || status == SSAN_PIPE_BROKEN);
    return NULL;
}

/* Joins what CUDA calls told to nobody: the pipeline's own, told by drain or destroy. */
static void finish(void)
{
    struct ssan_pipe_error err;
    enum ssan_pipe_status status = ssan_pipe_drain(run.pipe, SSAN_PIPE_FOREVER, &err);
    CHECK(status == SSAN_PIPE_OK || status == SSAN_PIPE_FAILED || status == SSAN_PIPE_BROKEN);
    if (status != SSAN_PIPE_OK) {
        CHECK(err.batch != SSAN_PIPE_NO_BATCH);
        run.told_late++;
    }
    status = ssan_pipe_destroy(run.pipe, &err);
    CHECK(status == SSAN_PIPE_OK || status == SSAN_PIPE_CUDA);
    run.told_late += status == SSAN_PIPE_CUDA;
}

static bool make_pipe(void)
{
    struct ssan_pipe_options options = {.size = sizeof options,
                                        .slots = 2,
                                        .input_bytes = BYTES,
                                        .output_bytes = BYTES,
                                        .timing = true,
                                        .no_copy_out = run.shape->no_copy_out};
    struct ssan_pipe_consumer_options wants = {.size = sizeof wants,
                                               .on_device = run.shape->on_device,
                                               .from_device = run.shape->from_device,
                                               .landings = (unsigned)run.shape->landings,
                                               .stream = run.use};
    struct ssan_pipe_error err;
    enum ssan_pipe_status status = ssan_pipe_create(&options, &run.pipe, &err);
    if (status == SSAN_PIPE_OK) {
        status = ssan_pipe_consumer_create(run.pipe, &wants, &run.consumer, &err);
        if (status != SSAN_PIPE_OK) {
            CHECK(ssan_pipe_destroy(run.pipe, NULL) == SSAN_PIPE_OK || seam.for_good);
        }
    }
    if (status != SSAN_PIPE_OK) {
        CHECK(status == SSAN_PIPE_CUDA || status == SSAN_PIPE_NO_MEMORY);
        CHECK(err.call && (seam.for_good || strcmp(err.call, seam.name) == 0));
        run.told++;
    }
    return status == SSAN_PIPE_OK;
}

/* One pipeline's whole life, in which the n-th call of `name` fails. */
static void live_once(const struct shape *shape, const char *name, int nth, bool for_good,
                      int fails_compute)
{
    pthread_t producer, consumer;
    run.shape = shape;
    run.fails_compute = fails_compute;
    atomic_store(&run.told, 0);
    atomic_store(&run.told_late, 0);
    for (int job = 0; job < JOBS; job++) {
        run.ends[job] = END_NONE;
        run.numbers[job] = SSAN_PIPE_NO_BATCH;
    }
    seam.name = name;
    seam.nth = nth;
    seam.for_good = for_good;
    seam.has_happened = false;
    memset(seam.counts, 0, sizeof seam.counts);
    if (make_pipe()) {
        CHECK(pthread_create(&producer, NULL, produce, NULL) == 0);
        CHECK(pthread_create(&consumer, NULL, consume, NULL) == 0);
        pthread_join(producer, NULL);
        pthread_join(consumer, NULL);
        finish();
        for (int job = 0; job < JOBS; job++) {
            CHECK(run.ends[job] != END_NONE);
            CHECK(name || run.ends[job] == (job == fails_compute ? END_FAILED : END_TAKEN));
        }
    }
    CHECK(seam.live == 0);
}

/* Failures of these are none of the user's: a copy goes over the host then, a time is not known, a
 * device stays current. */
static bool may_be_silent(const char *name)
{
    static const char *const silent[] = {"cudaDeviceCanAccessPeer", "cudaDeviceEnablePeerAccess",
                                         "cudaEventElapsedTime", "cudaSetDevice"};
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        if (strcmp(name, silent[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Every call that a clean life makes. Returns how many lives there were. */
static int fail_each(const struct shape *shape, bool for_good)
{
    int counts[MAX_CALLS], lives = 0;
    live_once(shape, NULL, 0, false, -1);
    memcpy(counts, seam.counts, sizeof counts);
    for (int i = 0; i < seam.kinds; i++) {
        for (int n = 1; n <= counts[i]; n++) {
            live_once(shape, seam.names[i], n, for_good, -1);
            CHECK(seam.has_happened);
            CHECK(run.told + run.told_late > 0 || may_be_silent(seam.names[i]));
            lives++;
        }
    }
    return lives;
}

static int all_shapes(void *data)
{
    bool for_good = *(const bool *)data;
    alarm(240); /* a life that hangs ends the test */
    OK(cudaStreamCreateWithFlags(&run.stream, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&run.use, cudaStreamNonBlocking));
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        int lives = fail_each(&shapes[i], for_good);
        printf("%s: %d calls failed, %s\n", shapes[i].name, lives, for_good ? "for good" : "once");
    }
    OK(cudaStreamDestroy(run.stream));
    OK(cudaStreamDestroy(run.use));
    return 0;
}

static void test_each_call_fails_once(void **state)
{
    bool for_good = false;
    assert_int_equal(device_run("eager", all_shapes, &for_good, NULL), 0);
    assert_int_equal(device_run("lazy", all_shapes, &for_good, NULL), 0);
}

static void test_each_call_fails_for_good(void **state)
{
    bool for_good = true;
    assert_int_equal(device_run("eager", all_shapes, &for_good, NULL), 0);
}

/* The callback fails for each job in turn, behind work that it has enqueued. */
static int each_compute(void *unused)
{
    OK(cudaStreamCreateWithFlags(&run.stream, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&run.use, cudaStreamNonBlocking));
    alarm(60);
    for (int job = 0; job < JOBS; job++) {
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            live_once(&shapes[i], NULL, 0, false, job);
            CHECK(run.told == 1 && run.told_late == 0);
        }
    }
    OK(cudaStreamDestroy(run.stream));
    OK(cudaStreamDestroy(run.use));
    return 0;
}

static void test_each_compute_fails(void **state)
{
    assert_int_equal(device_run("eager", each_compute, NULL, NULL), 0);
    assert_int_equal(device_run("lazy", each_compute, NULL, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_call_fails_once),
        cmocka_unit_test(test_each_call_fails_for_good),
        cmocka_unit_test(test_each_compute_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
