// LIBS: -lstreamsan-pipeline
// RUN: --threads strict
// VERDICT: clean
// EXIT: 3
// STDOUT: SSAN_PIPE_BUSY: pipe: 1 batch is still held; release or abandon it
// RUN: --threads strict
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// The pipeline is destroyed while a consumer holds a batch.
#include "pipeline.h"

int main(int argc, char **)
{
    is_right = argc > 1;
    begin(2, nullptr);
    ssan_pipe_batch *batch = acquire();
    fill(batch);
    submit(batch);
    batch = take();
    if (is_right) {
        release(batch);
    }
    return end();
}
