/* The pipeline library against its bounds, all in one run (pipeline [--smoke] [--mib N,...]
 * [--rounds N] [--slots N] [--weight F] [--round-s F] [--blocking]):
 *
 *   slowest  the slowest stage alone: upload, compute or way out, back to back on one stream
 *   bare     all CUDA calls of the library for a batch, issued by one thread without the library
 *   unsafe   the same work on the same streams with no event between them
 *   safe     the library: this thread produces, another consumes
 *
 * and the host's time for one batch: of the bare calls, of acquire, submit, take and release. A way
 * is host (copied out) or peer (to a buffer of the last device, the same one if there is one only).
 * Compute is made `weight` times as long as the slower copy (default 4, as in training), so that the
 * bound is one stage that shares nothing with the others; 0 leaves it as short as it is. Then the
 * copies are the slowest, and share the bus. Filling and emptying the ring counts: two copies in
 * --round-s seconds (default 0.4). All figures are medians of the
 * rounds; rounds take turns, so that a change of clock meets all.
 *
 * Builds with nvcc (-lstreamsan-pipeline) and with streamsan cc; --smoke is for the virtual device,
 * whose times say nothing. */
#include <cuda_runtime.h>

#include <streamsan/pipeline.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

static struct {
    std::vector<double> mib = {1, 64};
    int rounds = 9, slots = 8, smoke = 0, blocking = 0;
    double weight = 4, round_s = 0.4;
} given;

static void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        std::fprintf(stderr, "pipeline: %s: %s\n", what, cudaGetErrorString(error));
        std::exit(1);
    }
}
#define OK(call) check((call), #call)

static void need(enum ssan_pipe_status status, const struct ssan_pipe_error &err)
{
    if (status != SSAN_PIPE_OK) {
        std::fprintf(stderr, "pipeline: %s\n", err.text);
        std::exit(1);
    }
}

static double now_s()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/* One element a thread, so that there are more blocks than fit: warps that loop, and all begin at once,
 * load at once too, and then such a kernel alone is slower than one that a copy has set out of step. */
__global__ void compute(float *out, const float *in, int count, int work)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float x = in[i];
        for (int k = 0; k < work; k++) {
            x = x * 0.999f + 0.5f;
        }
        out[i] = x;
    }
}

struct slot {
    float *input, *device_input, *device_output, *output, *landing;
    cudaEvent_t uploaded, produced, copied, landed, reclaimed, consumed;
};

/* One way and one payload: memory for the stages without the library, and the figures. */
struct bench {
    bool peer;
    int device = 0, other = 0, work = 1, count = 0;
    size_t bytes = 0;
    cudaStream_t upload, main, out, use; /* out and use: on `other` for peer */
    std::vector<slot> slots;
};

static void launch(const bench &b, float *out, const float *in, cudaStream_t stream)
{
    compute<<<(b.count + 255) / 256, 256, 0, stream>>>(out, in, b.count, b.work);
    OK(cudaGetLastError());
}

static void make(bench *b)
{
    OK(cudaSetDevice(b->device));
    OK(cudaStreamCreateWithFlags(&b->upload, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b->main, cudaStreamNonBlocking));
    b->slots.resize(given.slots);
    for (slot &s : b->slots) {
        OK(cudaMallocHost((void **)&s.input, b->bytes));
        OK(cudaMallocHost((void **)&s.output, b->bytes));
        OK(cudaMalloc((void **)&s.device_input, b->bytes));
        OK(cudaMalloc((void **)&s.device_output, b->bytes));
        std::memset(s.input, 0, b->bytes);
        std::memset(s.output, 0, b->bytes);
        for (cudaEvent_t *e : {&s.uploaded, &s.produced, &s.copied}) {
            OK(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
        }
    }
    OK(cudaSetDevice(b->other));
    OK(cudaStreamCreateWithFlags(&b->out, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b->use, cudaStreamNonBlocking));
    for (slot &s : b->slots) {
        OK(cudaMalloc((void **)&s.landing, b->bytes));
        for (cudaEvent_t *e : {&s.landed, &s.reclaimed, &s.consumed}) {
            OK(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
        }
        OK(cudaEventRecord(s.reclaimed, b->out));
        OK(cudaEventRecord(s.consumed, b->use));
    }
    if (b->peer && b->other != b->device) {
        int can = 0;
        OK(cudaDeviceCanAccessPeer(&can, b->other, b->device));
        if (can && cudaDeviceEnablePeerAccess(b->device, 0) != cudaSuccess) {
            (void)cudaGetLastError();
        }
    }
    OK(cudaSetDevice(b->device));
}

static void drop(bench *b)
{
    OK(cudaSetDevice(b->device));
    OK(cudaDeviceSynchronize());
    for (slot &s : b->slots) {
        OK(cudaFreeHost(s.input));
        OK(cudaFreeHost(s.output));
        OK(cudaFree(s.device_input));
        OK(cudaFree(s.device_output));
        OK(cudaFree(s.landing));
        for (cudaEvent_t e : {s.uploaded, s.produced, s.copied, s.landed, s.reclaimed, s.consumed}) {
            OK(cudaEventDestroy(e));
        }
    }
    for (cudaStream_t s : {b->upload, b->main, b->out, b->use}) {
        OK(cudaStreamDestroy(s));
    }
}

static void enqueue_upload(const bench &b, const slot &s)
{
    OK(cudaMemcpyAsync(s.device_input, s.input, b.bytes, cudaMemcpyHostToDevice, b.upload));
}

static void enqueue_out(const bench &b, const slot &s)
{
    if (!b.peer) {
        OK(cudaMemcpyAsync(s.output, s.device_output, b.bytes, cudaMemcpyDeviceToHost, b.out));
    } else if (b.device == b.other) {
        OK(cudaMemcpyAsync(s.landing, s.device_output, b.bytes, cudaMemcpyDeviceToDevice, b.out));
    } else {
        OK(cudaMemcpyPeerAsync(s.landing, b.other, s.device_output, b.device, b.bytes, b.out));
    }
}

static void wait_all(const bench &b)
{
    OK(cudaStreamSynchronize(b.upload));
    OK(cudaStreamSynchronize(b.main));
    OK(cudaStreamSynchronize(b.out));
    OK(cudaStreamSynchronize(b.use));
}

/* Seconds a batch, over n batches. */
static double alone(const bench &b, int n, const std::function<void(const slot &)> &stage)
{
    wait_all(b);
    double begin = now_s();
    for (int i = 0; i < n; i++) {
        stage(b.slots[i % given.slots]);
    }
    wait_all(b);
    return (now_s() - begin) / n;
}

static int current_device()
{
    int device;
    OK(cudaGetDevice(&device));
    return device;
}

static void enter(const bench &b)
{
    if (current_device() != b.other) {
        OK(cudaSetDevice(b.other));
    }
}

static void leave(const bench &b)
{
    if (b.other != b.device) {
        OK(cudaSetDevice(b.device));
    }
}

/* What submit enqueues, and a taker of a peer with what it does at the release. */
static void issue(const bench &b, const slot &s)
{
    (void)current_device();
    enqueue_upload(b, s);
    OK(cudaEventRecord(s.uploaded, b.upload));
    OK(cudaStreamWaitEvent(b.main, s.uploaded, 0));
    if (b.peer) {
        OK(cudaStreamWaitEvent(b.main, s.reclaimed, 0));
    }
    launch(b, s.device_output, s.device_input, b.main);
    (void)current_device();
    OK(cudaEventRecord(s.produced, b.main));
    if (!b.peer) {
        OK(cudaStreamWaitEvent(b.out, s.produced, 0));
        enqueue_out(b, s);
        OK(cudaEventRecord(s.copied, b.out));
    }
}

static void issue_transfer(const bench &b, const slot &s)
{
    OK(cudaEventSynchronize(s.produced));
    enter(b);
    OK(cudaStreamWaitEvent(b.out, s.consumed, 0));
    enqueue_out(b, s);
    OK(cudaEventRecord(s.landed, b.out));
    OK(cudaEventRecord(s.reclaimed, b.out));
    OK(cudaStreamWaitEvent(b.use, s.landed, 0));
    leave(b);
    enter(b);
    OK(cudaEventRecord(s.consumed, b.use));
    leave(b);
}

/* The ring by hand: a slot is used again when its batch is out. */
static double bare(const bench &b, int n)
{
    wait_all(b);
    double begin = now_s();
    for (int i = 0; i < n; i++) {
        const slot &s = b.slots[i % given.slots];
        if (i >= given.slots) {
            OK(cudaEventSynchronize(b.peer ? s.landed : s.copied));
        }
        issue(b, s);
        if (b.peer && i >= given.slots / 2) { /* the way out of a batch before: this thread goes on */
            issue_transfer(b, b.slots[(i - given.slots / 2) % given.slots]);
        }
    }
    for (int i = std::max(0, n - given.slots / 2); b.peer && i < n; i++) {
        issue_transfer(b, b.slots[i % given.slots]);
    }
    wait_all(b);
    return (now_s() - begin) / n;
}

static double unsafe(const bench &b, int n)
{
    wait_all(b);
    double begin = now_s();
    for (int i = 0; i < n; i++) {
        const slot &s = b.slots[i % given.slots];
        enqueue_upload(b, s);
        launch(b, s.device_output, s.device_input, b.main);
        enqueue_out(b, s);
    }
    wait_all(b);
    return (now_s() - begin) / n;
}

struct library {
    struct ssan_pipe *pipe;
    struct ssan_pipe_consumer *consumer;
    cudaStream_t use;
};

static int on_stream(void *user, struct ssan_pipe_batch *batch, cudaStream_t stream)
{
    launch(*(const bench *)user, (float *)batch->device_output, (const float *)batch->device_input, stream);
    return 0;
}

static library open_library(const bench &b)
{
    library lib;
    struct ssan_pipe_error err;
    struct ssan_pipe_options options = {};
    struct ssan_pipe_consumer_options wants = {};
    options.size = sizeof options;
    options.devices = &b.device;
    options.device_count = 1;
    options.slots = given.slots;
    options.input_bytes = options.output_bytes = b.bytes;
    options.no_copy_out = b.peer;
    options.blocking_wait = given.blocking;
    need(ssan_pipe_create(&options, &lib.pipe, &err), err);
    OK(cudaSetDevice(b.other));
    OK(cudaStreamCreateWithFlags(&lib.use, cudaStreamNonBlocking));
    OK(cudaSetDevice(b.device));
    wants.size = sizeof wants;
    wants.on_device = wants.from_device = b.peer;
    wants.device = b.other;
    wants.landings = given.slots;
    wants.stream = lib.use;
    need(ssan_pipe_consumer_create(lib.pipe, &wants, &lib.consumer, &err), err);
    return lib;
}

static void close_library(library *lib)
{
    struct ssan_pipe_error err;
    need(ssan_pipe_destroy(lib->pipe, &err), err);
    OK(cudaStreamDestroy(lib->use));
}

static void put(const library &lib, const bench &b)
{
    struct ssan_pipe_error err;
    struct ssan_pipe_batch *batch;
    need(ssan_pipe_acquire(lib.pipe, NULL, SSAN_PIPE_FOREVER, &batch, &err), err);
    need(ssan_pipe_submit(lib.pipe, batch, on_stream, (void *)&b, b.main, &err), err);
}

static void get(const library &lib)
{
    struct ssan_pipe_error err;
    struct ssan_pipe_batch *batch;
    need(ssan_pipe_take(lib.consumer, SSAN_PIPE_FOREVER, &batch, &err), err);
    need(ssan_pipe_release(lib.consumer, batch, &err), err);
}

static double safe(const library &lib, const bench &b, int n)
{
    double begin = now_s();
    std::thread consumer([&] {
        OK(cudaSetDevice(b.other));
        for (int i = 0; i < n; i++) {
            get(lib);
        }
        OK(cudaStreamSynchronize(lib.use)); /* behind the last transfer */
    });
    for (int i = 0; i < n; i++) {
        put(lib, b);
    }
    consumer.join();
    return (now_s() - begin) / n;
}

/* A core and a driver that have slept for milliseconds take some to be as fast as between two
 * batches: both sides begin each part of what is measured behind a while of calls. */
static void wake(const bench &b)
{
    for (double end = now_s() + (given.smoke ? 0 : 3e-4); now_s() < end;) {
        OK(cudaStreamQuery(b.main));
    }
}

/* Host time of a ring's worth of batches, none of which has to wait: issued, then joined. */
static double host_bare(const bench &b)
{
    wait_all(b);
    wake(b);
    double begin = now_s(), spent;
    for (const slot &s : b.slots) {
        issue(b, s);
    }
    spent = now_s() - begin;
    OK(cudaStreamSynchronize(b.main));
    OK(cudaStreamSynchronize(b.out));
    wake(b);
    begin = now_s();
    for (const slot &s : b.slots) {
        if (b.peer) {
            issue_transfer(b, s);
        } else {
            OK(cudaEventSynchronize(s.copied));
        }
    }
    return (spent + now_s() - begin) / given.slots;
}

static double host_safe(const library &lib, const bench &b)
{
    struct ssan_pipe_error err;
    wait_all(b);
    need(ssan_pipe_drain(lib.pipe, SSAN_PIPE_FOREVER, &err), err);
    wake(b);
    double begin = now_s(), spent;
    for (int i = 0; i < given.slots; i++) {
        put(lib, b);
    }
    spent = now_s() - begin;
    need(ssan_pipe_flush(lib.pipe, SSAN_PIPE_FOREVER, &err), err);
    wake(b);
    begin = now_s();
    for (int i = 0; i < given.slots; i++) {
        get(lib);
    }
    return (spent + now_s() - begin) / given.slots;
}

/* Makes compute `weight` times as long as the slower copy. */
static void weigh(bench *b, int n)
{
    double copies = std::max(alone(*b, n, [&](const slot &s) { enqueue_upload(*b, s); }),
                             alone(*b, n, [&](const slot &s) { enqueue_out(*b, s); }));
    for (int i = 0; i < 12 && given.weight > 0; i++) {
        double t = alone(*b, n, [&](const slot &s) { launch(*b, s.device_output, s.device_input, b->main); });
        double ratio = given.weight * copies / t;
        if (ratio <= 1.05) {
            break;
        }
        b->work = (int)(b->work * std::min(ratio * 1.02, 16.0)) + 1;
    }
}

static void run(bool peer, double mib, int devices)
{
    bench b;
    b.peer = peer;
    b.other = peer && devices > 1 ? 1 : 0;
    b.bytes = (size_t)(mib * 1048576) / sizeof(float) * sizeof(float);
    b.count = (int)(b.bytes / sizeof(float));
    make(&b);
    library lib = open_library(b);
    int n = given.smoke ? 2 * given.slots : 32;
    if (!given.smoke) {
        (void)bare(b, n);
        weigh(&b, n);
        n = std::max(32, (int)(given.round_s / bare(b, n)));
    }
    std::vector<double> up, comp, out, t_bare, t_unsafe, t_safe, h_bare, h_safe;
    for (int round = 0; round < given.rounds; round++) {
        up.push_back(alone(b, n, [&](const slot &s) { enqueue_upload(b, s); }));
        comp.push_back(alone(b, n, [&](const slot &s) { launch(b, s.device_output, s.device_input, b.main); }));
        out.push_back(alone(b, n, [&](const slot &s) { enqueue_out(b, s); }));
        t_bare.push_back(bare(b, n));
        t_unsafe.push_back(unsafe(b, n));
        t_safe.push_back(safe(lib, b, n));
        std::vector<double> one_bare, one_safe;
        for (int i = 0; i < (given.smoke ? 1 : 25); i++) {
            one_bare.push_back(host_bare(b));
            one_safe.push_back(host_safe(lib, b));
        }
        h_bare.push_back(median(one_bare));
        h_safe.push_back(median(one_safe));
    }
    double stages[] = {median(up), median(comp), median(out)};
    int slowest = (int)(std::max_element(stages, stages + 3) - stages);
    static const char *const names[] = {"upload", "compute", "out"};
    double s = median(t_safe), us = 1e6;
    std::printf("%-4s %7.3f  %8.1f %8.1f %8.1f  %-7s  %8.1f %8.1f %8.1f  %7.1f %% %7.1f %%  %6.1f %6.1f %6.1f\n",
                peer ? b.other ? "peer" : "same" : "host", mib, stages[0] * us, stages[1] * us, stages[2] * us, names[slowest],
                median(t_bare) * us, median(t_unsafe) * us, s * us, 100 * stages[slowest] / s, 100 * median(t_unsafe) / s, median(h_bare) * us,
                median(h_safe) * us, (median(h_safe) - median(h_bare)) * us);
    close_library(&lib);
    drop(&b);
}

static void read_words(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        std::string word = argv[i];
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (word == "--smoke") {
            given.smoke = given.rounds = 1;
            given.slots = 3;
            given.mib = {0.004, 0.02};
        } else if (word == "--blocking") {
            given.blocking = 1;
        } else if (word == "--mib") {
            given.mib.clear();
            for (const char *at = value; *at; at += std::strcspn(at, ","), at += *at == ',') {
                given.mib.push_back(std::atof(at));
            }
            i++;
        } else if (word == "--rounds" || word == "--slots") {
            (word == "--slots" ? given.slots : given.rounds) = std::max(1, std::atoi(value));
            i++;
        } else if (word == "--weight" || word == "--round-s") {
            (word == "--weight" ? given.weight : given.round_s) = std::atof(value);
            i++;
        } else {
            std::fprintf(stderr, "pipeline [--smoke] [--mib N,...] [--rounds N] [--slots N] [--weight F] [--round-s F] [--blocking]\n");
            std::exit(64);
        }
    }
}

int main(int argc, char **argv)
{
    int devices = 0;
    read_words(argc, argv);
    OK(cudaGetDeviceCount(&devices));
    std::printf("us a batch, medians of %d rounds; %d slots, %d devices, compute at least %g copies%s\n", given.rounds, given.slots, devices,
                given.weight, given.blocking ? ", publisher sleeps" : "");
    std::printf("%-4s %7s  %8s %8s %8s  %-7s  %8s %8s %8s  %9s %9s  %6s %6s %6s\n", "way", "MiB", "upload", "compute", "out", "slowest", "bare",
                "unsafe", "safe", "of bound", "of unsafe", "host:", "safe", "more");
    for (bool peer : {false, true}) {
        for (double mib : given.mib) {
            run(peer, mib, devices);
        }
    }
    return 0;
}
