// LIBS: -lstreamsan-pipeline
// RUN: --threads strict
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'pipe.consumer0.landing0' then=32 fix=keep-usage
// FIX: on the stream that the consumer was created with
// RUN: --threads strict
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// A device consumer's thread fetches the landing with a stream of its own, which waits for
// nothing.
#include "pipeline.h"

int main(int argc, char **)
{
    is_right = argc > 1;
    static int result[COUNT];
    ssan_pipe_consumer_options where = {};
    where.size = sizeof where;
    where.on_device = true;
    where.stream = make_stream();
    begin(2, &where);
    cudaStream_t fetch = make_stream();
    for (int i = 0; i < BATCHES; i++) {
        ssan_pipe_batch *batch = acquire();
        fill(batch);
        submit(batch);
        batch = take();
        cudaStream_t by = is_right ? where.stream : fetch;
        cudaMemcpyAsync(result, batch->landed, BYTES, cudaMemcpyDeviceToHost, by);
        cudaStreamSynchronize(by);
        release(batch);
    }
    return end();
}
