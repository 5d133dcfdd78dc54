// LIBS: -lstreamsan-pipeline
// RUN: --threads strict --device virtual:2
// VERDICT: clean
// EXIT: 3
// STDOUT: SSAN_PIPE_FAILED: pipe, batch 0: compute failed: 400 (cudaErrorInvalidResourceHandle, if it is a cudaError_t); does the stream live, and is it of the batch's device?
// RUN: --threads strict --device virtual:2
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// The stream is of another device than the batch.
#include "pipeline.h"

int main(int argc, char **)
{
    is_right = argc > 1;
    begin(2, nullptr);
    cudaSetDevice(1);
    cudaStream_t other = make_stream();
    cudaSetDevice(0);
    for (int i = 0; i < BATCHES; i++) {
        ssan_pipe_batch *batch = acquire();
        fill(batch);
        need(ssan_pipe_submit(pipe_, batch, compute, nullptr, is_right ? stream : other, &err));
        release(take());
    }
    return end();
}
