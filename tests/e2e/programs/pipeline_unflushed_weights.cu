// LIBS: -lstreamsan-pipeline
// RUN: --threads strict
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAR 'weights' then=38 fix=record-wait
// FIX: cudaStreamWaitEvent(update, ssan_ready, 0);
// RUN: --threads strict
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// What compute reads beside the batch is changed on another stream as soon as submit has returned.
#include "pipeline.h"

static int *weights;

static int scaled(void *, ssan_pipe_batch *batch, cudaStream_t on)
{
    square<<<1, COUNT, 0, on>>>((int *)batch->device_output, weights);
    return cudaGetLastError();
}

int main(int argc, char **)
{
    is_right = argc > 1;
    begin(2, nullptr);
    cudaStream_t update = make_stream();
    cudaMalloc((void **)&weights, BYTES);
    cudaMemset(weights, 0, BYTES);
    cudaDeviceSynchronize();
    for (int i = 0; i < BATCHES; i++) {
        ssan_pipe_batch *batch = acquire();
        fill(batch);
        need(ssan_pipe_submit(pipe_, batch, scaled, nullptr, stream, &err));
        if (is_right) {
            need(ssan_pipe_flush(pipe_, SSAN_PIPE_FOREVER, &err));
        }
        cudaMemsetAsync(weights, i, BYTES, update);
        cudaStreamSynchronize(update);
        release(take());
    }
    cudaFree(weights);
    return end();
}
