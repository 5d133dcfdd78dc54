/* One pipeline in every shape: the words of the command line say which (key=value, see `shape`).
 *
 * Producer p makes jobs p, p + P, ...; a job's bytes follow from its id, so every batch can be
 * checked wherever it lands. Ends with `jobs=N wrong=W told=T`: batches that came, that were not
 * what they should be, and failures that some caller was told of. Exit code 0 if all is right.
 *
 * The checker sees host threads as strict: nothing but what the pipeline tells orders them, for
 * this program hands nothing over itself but by thread start and join. */
#include <cuda_runtime.h>

#include <streamsan/annotate.h>
#include <streamsan/pipeline.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mutant.h"

static const int ROOM = 4097; /* elements of a slot */

static struct {
    int slots = 2, producers = 1, consumers = 1, devices = 1, jobs = 8, elems = 257; /* -1: mixed */
    int depth = 0, max_kb = 0, copy_streams = 1, landings = 2, in_order = 1, share = 0, timing = 0, blocking = 0;
    int staged = 0, peer = 0, copy_out = 1; /* where consumers are: neither: host */
    int flush = 0, drain = 0; /* main changes `salt` behind it */
    int abandon = 0;          /* every third acquire is given back first */
    int fail_compute = -1;    /* job whose compute fails behind its kernel */
    int failing = 0;          /* calls fail, told by streamsan run --fail */
    int one_thread = 0;       /* main is producer and consumer by turns */
    int quick_end = 0;        /* destroy at once behind the last release */
    int two_threads_release = 0; /* another thread releases what the consumer took */
} shape;
static std::string mutant = "NONE";

static int elems_of(int job)
{
    static const int mixed[] = {0, 1, 257, 4096, 4097};
    return shape.elems >= 0 ? shape.elems : mixed[job % 5];
}

static int input_of(int job, int i)
{
    return job * 10007 + i * 3;
}

static int output_of(int job, int i)
{
    return 2 * input_of(job, i) + 1;
}

__global__ void compute(int *out, const int *in, const int *salt, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        out[i] = 2 * in[i] + salt[0];
    }
}

/* What landed, against what it should be: wrong[job] counts the elements that differ. */
__global__ void compare(int *wrong, const int *landed, int job, int count)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        if (landed[i] != 2 * (job * 10007 + i * 3) + 1) {
            atomicAdd(&wrong[job], 1);
        }
    }
}

static std::atomic<int> wrong, told, submitted, lost; /* lost: jobs that failed, or were refused */
static std::mutex tally_lock;
static std::vector<int> seen;

static void must(bool ok, const char *what)
{
    if (!ok) {
        std::printf("wrong: %s\n", what);
        wrong++;
    }
}
/* Once the context is dead every call says so; what the program itself launches may be told to fail. */
#define CUDA(call) must((call) == cudaSuccess || shape.failing, #call)

struct job_of_batch {
    int job;
    int *salt;
};

static int launch(void *user, struct ssan_pipe_batch *batch, cudaStream_t stream)
{
    const job_of_batch *job = (const job_of_batch *)user;
    int count = elems_of(job->job);
    batch->output_bytes = count * sizeof(int);
    if (count) {
        compute<<<(count + 255) / 256, 256, 0, stream>>>(
            (int *)batch->device_output, (const int *)batch->device_input, job->salt, count);
    }
    cudaError_t error = cudaGetLastError();
    return error == cudaSuccess && job->job == shape.fail_compute ? 4711 : error;
}

static void note_failure(enum ssan_pipe_status status, const struct ssan_pipe_error *err)
{
    must(status == SSAN_PIPE_FAILED || status == SSAN_PIPE_BROKEN, err->text);
    must(err->batch < (uint64_t)(2 * shape.jobs) && strstr(err->text, "batch"), err->text);
    told++;
    lost++;
}

/* Where a job comes to its end, once. */
static void tally(int job, bool right)
{
    std::lock_guard<std::mutex> guard(tally_lock);
    must(right, "bytes");
    must(job >= 0 && job < shape.jobs && seen[job]++ == 0, "a job came twice, or never was");
}

static void check_on_host(const struct ssan_pipe_batch *batch)
{
    int job = (int)(intptr_t)batch->tag, count = elems_of(job);
    const int *out = (const int *)batch->output;
    bool right = batch->output_bytes == count * sizeof(int);
    for (int i = 0; right && i < count; i++) {
        right = out[i] == output_of(job, i);
    }
    tally(job, right);
}

struct producer {
    struct ssan_pipe *pipe;
    int index, device, acquired;
    int *salt;
    cudaStream_t stream;
};

/* One job's way into the pipeline; false: it is not there. */
static bool produce(producer *self, int job)
{
    struct ssan_pipe_error err;
    struct ssan_pipe_batch *batch;
    int count = elems_of(job);
    struct ssan_pipe_request request = {(unsigned)self->device, count * sizeof(int),
                                        count * sizeof(int)};
    while (shape.abandon && self->acquired++ % 3 == 2) {
        must(ssan_pipe_acquire(self->pipe, &request, SSAN_PIPE_FOREVER, &batch, &err) ==
                 SSAN_PIPE_OK, "acquire");
        if (count) {
            ((int *)batch->input)[0] = -1;
        }
        ssan_pipe_abandon(self->pipe, batch);
    }
    enum ssan_pipe_status status =
        ssan_pipe_acquire(self->pipe, &request, SSAN_PIPE_FOREVER, &batch, &err);
    if (status != SSAN_PIPE_OK) {
        must(shape.failing && status == SSAN_PIPE_BROKEN, err.text);
        lost++;
        submitted++;
        return false;
    }
    for (int i = 0; i < count; i++) {
        ((int *)batch->input)[i] = input_of(job, i);
    }
    batch->tag = (void *)(intptr_t)job;
    job_of_batch user = {job, self->salt};
    status = ssan_pipe_submit(self->pipe, batch, launch, &user, self->stream, &err);
    if (status != SSAN_PIPE_OK) {
        note_failure(status, &err);
    }
    submitted++;
    return status == SSAN_PIPE_OK;
}

static void run_producer(producer *self)
{
    CUDA(cudaSetDevice(self->device));
    for (int job = self->index; job < shape.jobs; job += shape.producers) {
        (void)produce(self, job); /* refused ones are counted, each by itself */
    }
}

struct consumer {
    struct ssan_pipe_consumer *handle;
    int device;
    cudaStream_t stream;
    int *wrong_of; /* on the device, one a job */
    std::vector<int> jobs;
    uint64_t last = SSAN_PIPE_NO_BATCH;
};

static void use(consumer *self, struct ssan_pipe_batch *batch)
{
    struct ssan_pipe_error err;
    must(!shape.in_order || self->last == SSAN_PIPE_NO_BATCH || batch->number > self->last,
         "out of order");
    self->last = batch->number;
    if (!batch->landed) {
        check_on_host(batch);
    } else {
        int job = (int)(intptr_t)batch->tag, count = (int)(batch->output_bytes / sizeof(int));
        must(count == elems_of(job), "size");
        if (count) {
            compare<<<1, 64, 0, self->stream>>>(self->wrong_of, (const int *)batch->landed, job,
                                                count);
            CUDA(cudaGetLastError());
        }
        self->jobs.push_back(job);
    }
    auto release = [&] {
        if (ssan_pipe_release(self->handle, batch, &err) != SSAN_PIPE_OK) {
            must(shape.failing, err.text);
            told++;
        }
    };
    if (shape.two_threads_release) {
        std::atomic<bool> done(false);
        std::thread other([&] {
            release();
            done = true; /* orders nothing for the checker, and this thread is joined late */
        });
        while (!done) {
            std::this_thread::yield();
        }
        other.detach();
    } else {
        release();
    }
}

/* False: no more batches. */
static bool consume(consumer *self, uint64_t timeout_ns)
{
    struct ssan_pipe_error err;
    struct ssan_pipe_batch *batch;
    enum ssan_pipe_status status = ssan_pipe_take(self->handle, timeout_ns, &batch, &err);
    if (status == SSAN_PIPE_OK) {
        use(self, batch);
    } else if (status == SSAN_PIPE_FAILED) {
        note_failure(status, &err);
    } else {
        must(status == SSAN_PIPE_CLOSED || (shape.failing && status == SSAN_PIPE_BROKEN), err.text);
        return false;
    }
    return true;
}

static void run_consumer(consumer *self)
{
    CUDA(cudaSetDevice(self->device));
    while (consume(self, SSAN_PIPE_FOREVER)) {
    }
}

/* What device consumers found, once all is over. */
static void collect(consumer *self)
{
    std::vector<int> counts(shape.jobs);
    if (shape.failing && cudaDeviceSynchronize() != cudaSuccess) { /* the context is dead */
        lost += (int)self->jobs.size();
        return;
    }
    CUDA(cudaSetDevice(self->device));
    CUDA(cudaStreamSynchronize(self->stream));
    CUDA(cudaMemcpy(counts.data(), self->wrong_of, shape.jobs * sizeof(int), cudaMemcpyDeviceToHost));
    for (int job : self->jobs) {
        tally(job, counts[job] == 0);
    }
}

static void read_words(int argc, char **argv)
{
    struct {
        const char *name;
        int *value;
    } const words[] = {
        {"slots", &shape.slots},           {"producers", &shape.producers},
        {"consumers", &shape.consumers},   {"devices", &shape.devices},
        {"jobs", &shape.jobs},             {"elems", &shape.elems},
        {"depth", &shape.depth},           {"max_kb", &shape.max_kb},
        {"copy_streams", &shape.copy_streams}, {"landings", &shape.landings},
        {"in_order", &shape.in_order},     {"share", &shape.share},
        {"timing", &shape.timing},         {"blocking", &shape.blocking},
                 {"staged", &shape.staged},
        {"peer", &shape.peer},             {"copy_out", &shape.copy_out},
        {"flush", &shape.flush},           {"drain", &shape.drain},
        {"abandon", &shape.abandon},       {"fail_compute", &shape.fail_compute},
        {"failing", &shape.failing},
        {"one_thread", &shape.one_thread}, {"quick_end", &shape.quick_end},
        {"two_threads_release", &shape.two_threads_release},
    };
    for (int i = 1; i < argc; i++) {
        std::string word = argv[i], name = word.substr(0, word.find('='));
        std::string value = word.substr(word.find('=') + 1);
        bool known = name == "mutant";
        if (known) {
            mutant = value;
        }
        for (const auto &w : words) {
            if (name == w.name) {
                *w.value = std::atoi(value.c_str());
                known = true;
            }
        }
        if (!known) {
            std::printf("unknown word %s\n", argv[i]);
            std::exit(64);
        }
    }
}

static int *make_salt(int device)
{
    int one = 1, *salt;
    CUDA(cudaSetDevice(device));
    CUDA(cudaMalloc((void **)&salt, sizeof(int)));
    SSAN_NAME(salt, "salt");
    CUDA(cudaMemcpy(salt, &one, sizeof(int), cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    return salt;
}

static struct ssan_pipe *make_pipe(void)
{
    const int ids[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct ssan_pipe *pipe;
    struct ssan_pipe_error err;
    struct ssan_pipe_options options = {};
    options.size = sizeof options;
    options.devices = ids;
    options.device_count = shape.devices;
    options.slots = shape.slots;
    options.copy_streams = shape.copy_streams;
    options.depth = shape.depth;
    options.share = shape.share ? shape.consumers : 0;
    options.input_bytes = options.output_bytes = ROOM * sizeof(int);
    options.max_bytes = (uint64_t)shape.max_kb * 1024;
    options.order = shape.in_order ? SSAN_PIPE_IN_ORDER : SSAN_PIPE_COMPLETED;
    options.no_copy_out = !shape.copy_out;
    options.timing = shape.timing;
    options.blocking_wait = shape.blocking;
    if (ssan_pipe_create(&options, &pipe, &err) != SSAN_PIPE_OK) {
        std::printf("%s\n", err.text);
        std::exit(3);
    }
    return pipe;
}

static void make_consumer(struct ssan_pipe *pipe, consumer *self, int index)
{
    struct ssan_pipe_error err;
    struct ssan_pipe_consumer_options wants = {};
    self->device = (index + 1) % shape.devices;
    wants.size = sizeof wants;
    wants.share_index = shape.share ? index : 0;
    wants.landings = shape.landings;
    wants.device = self->device;
    wants.on_device = shape.staged || shape.peer;
    wants.from_device = shape.peer;
    CUDA(cudaSetDevice(self->device));
    CUDA(cudaStreamCreateWithFlags(&self->stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc((void **)&self->wrong_of, shape.jobs * sizeof(int)));
    CUDA(cudaMemset(self->wrong_of, 0, shape.jobs * sizeof(int)));
    CUDA(cudaDeviceSynchronize());
    wants.stream = self->stream;
    must(ssan_pipe_consumer_create(pipe, &wants, &self->handle, &err) == SSAN_PIPE_OK, "consumer");
}

static void make_producer(struct ssan_pipe *pipe, producer *self, int index, const std::vector<int *> &salts)
{
    int device = index % shape.devices;
    *self = {pipe, index, device, 0, salts[device], NULL};
    CUDA(cudaSetDevice(device));
    CUDA(cudaStreamCreateWithFlags(&self->stream, cudaStreamNonBlocking));
}

/* main is producer and consumer by turns. */
static void take_turns(struct ssan_pipe *pipe, producer *maker, consumer *taker)
{
    for (int job = 0, inside = 0; job < shape.jobs; job++) {
        inside += produce(maker, job);
        if (inside == shape.slots) {
            consume(taker, SSAN_PIPE_FOREVER);
            inside--;
        }
    }
    ssan_pipe_close(pipe);
    while (consume(taker, SSAN_PIPE_FOREVER)) {
    }
}

/* Changes what compute reads, behind a flush or drain. */
static void change_salts(struct ssan_pipe *pipe, const std::vector<int *> &salts, cudaStream_t stream)
{
    struct ssan_pipe_error err;
    while (submitted < shape.jobs) { /* orders nothing */
        std::this_thread::yield();
    }
    enum ssan_pipe_status status = shape.flush ? ssan_pipe_flush(pipe, SSAN_PIPE_FOREVER, &err)
                                               : ssan_pipe_drain(pipe, SSAN_PIPE_FOREVER, &err);
    must(status == SSAN_PIPE_OK, "flush or drain");
    for (int d = 0; d < shape.devices; d++) {
        CUDA(cudaSetDevice(d));
        CUDA(cudaMemsetAsync(salts[d], 0, sizeof(int), stream));
        CUDA(cudaStreamSynchronize(stream));
    }
}

/* Without knowing of what consumers did, but by the pipeline. */
static void end_quickly(struct ssan_pipe *pipe)
{
    struct ssan_pipe_error err;
    struct ssan_pipe_stats so_far = {};
    so_far.size = sizeof so_far;
    while (ssan_pipe_stats_get(pipe, &so_far) == SSAN_PIPE_OK && so_far.released < (uint64_t)shape.jobs) {
        std::this_thread::yield();
    }
    must(ssan_pipe_destroy(pipe, &err) == SSAN_PIPE_OK, "destroy");
    std::printf("quick end\n");
    std::fflush(stdout);
    _Exit(wrong ? 2 : 0);
}

/* Destroys the pipeline; how many jobs came. */
static int end(struct ssan_pipe *pipe, std::vector<consumer> &consumers)
{
    int came = 0;
    struct ssan_pipe_error err;
    struct ssan_pipe_stats stats = {};
    stats.size = sizeof stats;
    must(ssan_pipe_stats_get(pipe, &stats) == SSAN_PIPE_OK, "stats");
    must(shape.failing || stats.published + stats.failed == (uint64_t)shape.jobs, "counts");
    must(ssan_pipe_destroy(pipe, &err) == SSAN_PIPE_OK || shape.failing, "destroy");
    for (consumer &c : consumers) {
        if (shape.staged || shape.peer) {
            collect(&c);
        }
    }
    for (int count : seen) {
        came += count;
    }
    must(came + lost == shape.jobs, "jobs are missing");
    return came;
}

int main(int argc, char **argv)
{
    read_words(argc, argv);
    set_mutant(mutant.c_str());
    seen.resize(shape.jobs);

    std::vector<int *> salts(shape.devices);
    std::vector<consumer> consumers(shape.consumers);
    std::vector<producer> producers(shape.producers);
    for (int d = 0; d < shape.devices; d++) {
        salts[d] = make_salt(d);
    }
    CUDA(cudaSetDevice(0));
    struct ssan_pipe *pipe = make_pipe();
    for (int c = 0; c < shape.consumers; c++) {
        make_consumer(pipe, &consumers[c], c);
    }
    for (int p = 0; p < shape.producers; p++) {
        make_producer(pipe, &producers[p], p, salts);
    }
    CUDA(cudaSetDevice(0));

    std::vector<std::thread> makers, takers;
    if (shape.one_thread) {
        take_turns(pipe, &producers[0], &consumers[0]);
    } else {
        for (producer &p : producers) {
            makers.emplace_back(run_producer, &p);
        }
        for (consumer &c : consumers) {
            takers.emplace_back(run_consumer, &c);
        }
    }
    if (shape.flush || shape.drain) {
        change_salts(pipe, salts, producers[0].stream);
    }
    for (std::thread &t : makers) {
        t.join();
    }
    ssan_pipe_close(pipe);
    if (shape.quick_end) {
        end_quickly(pipe);
    }
    for (std::thread &t : takers) {
        t.join();
    }
    int came = end(pipe, consumers);
    std::printf("jobs=%d wrong=%d told=%d\n", came, wrong.load(), told.load());
    return wrong ? 2 : 0;
}
