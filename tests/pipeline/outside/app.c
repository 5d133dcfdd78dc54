/* A program of somebody else, in C, without kernels: the work is a copy on the device. */
#include <cuda_runtime_api.h>
#include <streamsan/pipeline.h>

#include <stdio.h>
#include <string.h>

#define BATCHES 10
#define BYTES   1000

static int copy(void *user, struct ssan_pipe_batch *batch, cudaStream_t stream)
{
    return cudaMemcpyAsync(batch->device_output, batch->device_input, batch->input_bytes,
                           cudaMemcpyDeviceToDevice, stream);
}

static int failed(const struct ssan_pipe_error *err)
{
    fprintf(stderr, "%s\n", err->text);
    return 1;
}

int main(void)
{
    struct ssan_pipe_options options = {
        .size = sizeof options, .slots = 3, .input_bytes = BYTES, .output_bytes = BYTES};
    struct ssan_pipe_consumer *consumer;
    struct ssan_pipe_error err;
    struct ssan_pipe_batch *batch;
    struct ssan_pipe *pipe;
    cudaStream_t stream;
    int right = 0;
    if (ssan_pipe_create(&options, &pipe, &err) ||
        ssan_pipe_consumer_create(pipe, NULL, &consumer, &err)) {
        return failed(&err);
    }
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) {
        return 1;
    }
    for (int i = 0; i < BATCHES; i++) {
        if (ssan_pipe_acquire(pipe, NULL, SSAN_PIPE_FOREVER, &batch, &err)) {
            return failed(&err);
        }
        memset(batch->input, i + 1, BYTES);
        if (ssan_pipe_submit(pipe, batch, copy, NULL, stream, &err) ||
            ssan_pipe_take(consumer, SSAN_PIPE_FOREVER, &batch, &err)) {
            return failed(&err);
        }
        const unsigned char *out = batch->output;
        right += out[0] == i + 1 && out[BYTES - 1] == i + 1;
        if (ssan_pipe_release(consumer, batch, &err)) {
            return failed(&err);
        }
    }
    if (ssan_pipe_destroy(pipe, &err)) {
        return failed(&err);
    }
    cudaStreamDestroy(stream);
    printf("%d of %d batches right\n", right, BATCHES);
    return right != BATCHES;
}
