// LIBS: -lstreamsan-pipeline
// RUN: --threads strict
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'pipe.slot0.device_input' then=21 fix=keep-usage
// FINDING: error SSAN-RAW 'pipe.slot0.device_output' first=21 fix=keep-usage
// FIX: use it in compute, on the stream that compute is given
// FIX: fill it in compute, on the stream that compute is given
// RUN: --threads strict
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// compute launches on a stream of the program's, not on the one that it is given.
#include "pipeline.h"

static cudaStream_t mine;

static int wrong_compute(void *, ssan_pipe_batch *batch, cudaStream_t on)
{
    square<<<1, COUNT, 0, is_right ? on : mine>>>((int *)batch->device_output,
                                                  (const int *)batch->device_input);
    return cudaGetLastError();
}

int main(int argc, char **)
{
    is_right = argc > 1;
    begin(2, nullptr);
    mine = make_stream();
    for (int i = 0; i < BATCHES; i++) {
        ssan_pipe_batch *batch = acquire();
        fill(batch);
        need(ssan_pipe_submit(pipe_, batch, wrong_compute, nullptr, stream, &err));
        release(take());
    }
    return end();
}
