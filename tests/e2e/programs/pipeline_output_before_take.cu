// LIBS: -lstreamsan-pipeline
// RUN: --threads strict
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'pipe.slot0.device_output' then=30 fix=keep-usage
// FIX: and have the result from take
// RUN: --threads strict
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// The producer fetches the result itself, on a stream of its own, right behind submit.
#include "pipeline.h"

int main(int argc, char **)
{
    is_right = argc > 1;
    static int result[COUNT];
    begin(2, nullptr);
    cudaStream_t mine = make_stream();
    for (int i = 0; i < BATCHES; i++) {
        ssan_pipe_batch *batch = acquire();
        fill(batch);
        submit(batch);
        if (is_right) {
            ssan_pipe_batch *done = take();
            memcpy(result, done->output, BYTES);
            release(done);
        } else {
            cudaMemcpyAsync(result, batch->device_output, BYTES, cudaMemcpyDeviceToHost, mine);
            cudaStreamSynchronize(mine);
            release(take());
        }
    }
    return end();
}
