/* What the programs about wrong use of the pipeline library share: a pipeline of squares, batch k
 * full of k.
 *
 * Each program makes one mistake that users of the library make; with a word behind its name it
 * does not. */
#ifndef SSAN_TESTS_E2E_PIPELINE_H
#define SSAN_TESTS_E2E_PIPELINE_H

#include <streamsan/annotate.h>
#include <streamsan/pipeline.h>

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

/* Set first thing by main: the program was given a word. */
static bool is_right;

enum { COUNT = 256, BYTES = COUNT * sizeof(int), BATCHES = 4 };
static const uint64_t SHORT_NS = 300000000; /* for what would wait for ever */

static ssan_pipe *pipe_;
static ssan_pipe_consumer *consumer;
static ssan_pipe_error err;
static cudaStream_t stream;

static __global__ void square(int *out, const int *in)
{
    out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x];
}

static inline int compute(void *, ssan_pipe_batch *batch, cudaStream_t on)
{
    square<<<1, COUNT, 0, on>>>((int *)batch->device_output, (const int *)batch->device_input);
    return cudaGetLastError();
}

/* What a program does with a failure that it does not expect. */
static inline void need(ssan_pipe_status status)
{
    if (status != SSAN_PIPE_OK) {
        printf("%s: %s\n", ssan_pipe_status_name(status), err.text);
        exit(3);
    }
}

static inline cudaStream_t make_stream(void)
{
    cudaStream_t made;
    if (cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking) != cudaSuccess) {
        exit(4);
    }
    return made;
}

static inline void begin(unsigned slots, const ssan_pipe_consumer_options *where)
{
    ssan_pipe_options options = {};
    options.size = sizeof options;
    options.slots = slots;
    options.input_bytes = options.output_bytes = BYTES;
    stream = make_stream();
    need(ssan_pipe_create(&options, &pipe_, &err));
    need(ssan_pipe_consumer_create(pipe_, where, &consumer, &err));
}

static inline ssan_pipe_batch *acquire(uint64_t timeout_ns = SSAN_PIPE_FOREVER)
{
    ssan_pipe_batch *batch;
    need(ssan_pipe_acquire(pipe_, nullptr, timeout_ns, &batch, &err));
    return batch;
}

static inline void fill(ssan_pipe_batch *batch)
{
    for (int i = 0; i < COUNT; i++) {
        ((int *)batch->input)[i] = (int)batch->number;
    }
}

static inline void submit(ssan_pipe_batch *batch)
{
    need(ssan_pipe_submit(pipe_, batch, compute, nullptr, stream, &err));
}

static inline ssan_pipe_batch *take(void)
{
    ssan_pipe_batch *batch;
    need(ssan_pipe_take(consumer, SSAN_PIPE_FOREVER, &batch, &err));
    return batch;
}

static inline void release(ssan_pipe_batch *batch)
{
    need(ssan_pipe_release(consumer, batch, &err));
}

static inline int end(void)
{
    need(ssan_pipe_destroy(pipe_, &err));
    return cudaStreamDestroy(stream) != cudaSuccess;
}

#endif
