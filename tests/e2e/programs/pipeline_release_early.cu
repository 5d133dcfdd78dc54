// LIBS: -lstreamsan-pipeline
// RUN: --threads strict
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAR 'pipe.consumer0.landing0' first=37 fix=keep-usage
// FIX: and that stream for the work before release
// RUN: --threads strict
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// A device consumer's work goes into another stream than the one it has told the pipeline, and the
// landing is released while that work may still read it.
#include "pipeline.h"

int main(int argc, char **)
{
    is_right = argc > 1;
    int *sums;
    ssan_pipe_consumer_options where = {};
    where.size = sizeof where;
    where.on_device = true;
    where.landings = 1;
    where.stream = make_stream();
    cudaStream_t other = is_right ? where.stream : make_stream();
    cudaEvent_t landed;
    cudaEventCreateWithFlags(&landed, cudaEventDisableTiming);
    cudaMalloc((void **)&sums, BYTES);
    begin(2, &where);
    for (int i = 0; i < BATCHES; i++) {
        ssan_pipe_batch *batch = acquire();
        fill(batch);
        submit(batch);
        batch = take();
        cudaEventRecord(landed, where.stream);
        cudaStreamWaitEvent(other, landed, 0);
        square<<<1, COUNT, 0, other>>>(sums, (const int *)batch->landed);
        release(batch);
    }
    cudaStreamSynchronize(other);
    cudaFree(sums);
    return end();
}
