/* A launch in compute fails, and the program never asks: that the library looks at the last error
 * around its own calls is no question of the program's. */
#include <streamsan/pipeline.h>

#include <cuda_runtime.h>

enum { BYTES = 4096 };

__global__ void fill(char *out)
{
    out[threadIdx.x] = 1;
}

static int compute(void *unused, struct ssan_pipe_batch *batch, cudaStream_t stream)
{
    cudaMemsetAsync(batch->device_output, 0, BYTES, stream);
    fill<<<1, BYTES, 0, stream>>>((char *)batch->device_output); /* too many threads */
    return 0;
}

int main()
{
    struct ssan_pipe_options options = {};
    struct ssan_pipe *pipe;
    struct ssan_pipe_consumer *consumer;
    struct ssan_pipe_batch *batch;
    options.size = sizeof options, options.slots = 1, options.output_bytes = BYTES;
    bool ok = !ssan_pipe_create(&options, &pipe, NULL) &&
              !ssan_pipe_consumer_create(pipe, NULL, &consumer, NULL);
    for (int i = 0; ok && i < 2; i++) {
        ok = !ssan_pipe_acquire(pipe, NULL, SSAN_PIPE_FOREVER, &batch, NULL) &&
             !ssan_pipe_submit(pipe, batch, compute, NULL, 0, NULL) &&
             !ssan_pipe_take(consumer, SSAN_PIPE_FOREVER, &batch, NULL) &&
             !ssan_pipe_release(consumer, batch, NULL);
    }
    return ok && !ssan_pipe_destroy(pipe, NULL) ? 0 : 1;
}
