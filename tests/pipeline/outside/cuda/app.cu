/* A program of somebody else, in CUDA: batches whose compute throws every other time. With a word
 * on the command line it has a mistake: compute launches on a stream of its own. */
#include <cuda_runtime.h>
#include <streamsan/pipeline.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

static const int BATCHES = 10, COUNT = 256;

struct work {
    bool throws;
    cudaStream_t own;
};

static __global__ void increment(int *out, const int *in)
{
    out[threadIdx.x] = in[threadIdx.x] + 1;
}

static int compute(void *user, ssan_pipe_batch *batch, cudaStream_t stream)
{
    const work *w = static_cast<const work *>(user);
    cudaStream_t on = w->own ? w->own : stream;
    increment<<<1, COUNT, 0, on>>>((int *)batch->device_output, (const int *)batch->device_input);
    if (w->throws) {
        throw std::runtime_error("no");
    }
    return cudaGetLastError();
}

static bool submit(ssan_pipe *pipe, ssan_pipe_batch *batch, work w, cudaStream_t stream)
{
    try {
        return ssan_pipe_submit(pipe, batch, compute, &w, stream, nullptr) == SSAN_PIPE_OK;
    } catch (const std::runtime_error &) {
        return false;
    }
}

int main(int argc, char **)
{
    ssan_pipe_options options = {};
    ssan_pipe *pipe;
    ssan_pipe_consumer *consumer;
    ssan_pipe_batch *batch;
    ssan_pipe_error err;
    cudaStream_t stream, own = nullptr;
    int right = 0;
    options.size = sizeof options;
    options.slots = 1;
    options.input_bytes = options.output_bytes = COUNT * sizeof(int);
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) ||
        (argc > 1 && cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking))) {
        return 1;
    }
    if (ssan_pipe_create(&options, &pipe, &err) ||
        ssan_pipe_consumer_create(pipe, nullptr, &consumer, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (int i = 0; i < 2 * BATCHES; i++) {
        if (ssan_pipe_acquire(pipe, nullptr, 0, &batch, nullptr)) {
            return 2; /* an exception has lost a slot */
        }
        for (int k = 0; k < COUNT; k++) {
            static_cast<int *>(batch->input)[k] = i;
        }
        if (!submit(pipe, batch, {i % 2 != 0, own}, stream)) {
            continue;
        }
        if (ssan_pipe_take(consumer, SSAN_PIPE_FOREVER, &batch, nullptr)) {
            return 3;
        }
        right += static_cast<int *>(batch->output)[COUNT - 1] == i + 1;
        ssan_pipe_release(consumer, batch, nullptr);
    }
    printf("%d of %d batches right\n", right, BATCHES);
    return ssan_pipe_destroy(pipe, nullptr);
}
