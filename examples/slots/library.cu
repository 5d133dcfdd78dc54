/* The ring of slots.cu on streamsan/pipeline.h: no event, no wait and no copy of our own.
 *
 * A producer thread fills slots and submits them, with a callback that puts the kernel into the
 * compute stream; the main thread takes the results, in order. The library owns slots, events, the
 * streams that copy, and the thread that waits.
 *
 *     streamsan cc library.cu -o library -lstreamsan-pipeline
 *     streamsan run --threads strict -- ./library
 *
 *     nvcc library.cu -o library -lstreamsan-pipeline
 *
 * Exit code: 0 all elements are right, 1 a CUDA call failed, 2 mismatches. */
#include <cuda_runtime.h>
#include <streamsan/pipeline.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

enum { COUNT = 1024, SLOTS = 2, BATCHES = 8 };

static void need(enum ssan_pipe_status status, const struct ssan_pipe_error *err)
{
    if (status != SSAN_PIPE_OK) {
        std::fprintf(stderr, "%s: %s\n", ssan_pipe_status_text(status), err->text);
        std::exit(1);
    }
}

__global__ void square(const int *in, int *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        out[i] = in[i] * in[i];
    }
}

/* What is done with a batch on the device; runs in the thread that submits. */
static int compute(void *, struct ssan_pipe_batch *batch, cudaStream_t stream)
{
    square<<<(COUNT + 255) / 256, 256, 0, stream>>>((const int *)batch->device_input,
                                                    (int *)batch->device_output, COUNT);
    return cudaGetLastError();
}

static void produce(struct ssan_pipe *pipe, cudaStream_t stream)
{
    struct ssan_pipe_error err;
    struct ssan_pipe_batch *batch;
    for (int b = 0; b < BATCHES; b++) {
        need(ssan_pipe_acquire(pipe, NULL, SSAN_PIPE_FOREVER, &batch, &err), &err);
        for (int i = 0; i < COUNT; i++) {
            ((int *)batch->input)[i] = b + i % 1000;
        }
        need(ssan_pipe_submit(pipe, batch, compute, NULL, stream, &err), &err);
    }
    ssan_pipe_close(pipe);
}

int main()
{
    struct ssan_pipe_options options = {};
    struct ssan_pipe_error err;
    struct ssan_pipe *pipe;
    struct ssan_pipe_consumer *consumer;
    struct ssan_pipe_batch *batch;
    enum ssan_pipe_status status;
    cudaStream_t stream;
    int mismatches = 0;
    options.size = sizeof options;
    options.slots = SLOTS;
    options.input_bytes = options.output_bytes = COUNT * sizeof(int);
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) {
        return 1;
    }
    need(ssan_pipe_create(&options, &pipe, &err), &err);
    need(ssan_pipe_consumer_create(pipe, NULL, &consumer, &err), &err);
    std::thread producer(produce, pipe, stream);

    while ((status = ssan_pipe_take(consumer, SSAN_PIPE_FOREVER, &batch, &err)) == SSAN_PIPE_OK) {
        for (int i = 0; i < COUNT; i++) {
            int value = (int)batch->number + i % 1000;
            mismatches += ((const int *)batch->output)[i] != value * value;
        }
        need(ssan_pipe_release(consumer, batch, &err), &err);
    }
    need(status == SSAN_PIPE_CLOSED ? SSAN_PIPE_OK : status, &err);
    producer.join();
    std::printf("elements=%d mismatches=%d\n", BATCHES * COUNT, mismatches);
    need(ssan_pipe_destroy(pipe, &err), &err);
    return mismatches || cudaStreamDestroy(stream) != cudaSuccess ? 2 : 0;
}
