// LIBS: -lstreamsan-pipeline
// RUN: --threads strict
// VERDICT: incomplete
// EXIT: 67
// STDOUT: SSAN_PIPE_FAILED: pipe, batch 0: compute failed: 700 (cudaErrorIllegalAddress, if it is a cudaError_t)
// RUN: --threads strict
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// compute writes more than the slot's output has.
#include "pipeline.h"

static int wide_compute(void *, ssan_pipe_batch *batch, cudaStream_t on)
{
    const int count = is_right ? COUNT : COUNT + 1;
    square<<<1, count, 0, on>>>((int *)batch->device_output, (const int *)batch->device_input);
    return cudaGetLastError();
}

int main(int argc, char **)
{
    is_right = argc > 1;
    begin(2, nullptr);
    for (int i = 0; i < BATCHES; i++) {
        ssan_pipe_batch *batch = acquire();
        fill(batch);
        need(ssan_pipe_submit(pipe_, batch, wide_compute, nullptr, stream, &err));
        release(take());
    }
    return end();
}
