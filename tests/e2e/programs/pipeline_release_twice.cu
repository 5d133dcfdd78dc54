// LIBS: -lstreamsan-pipeline
// RUN: --threads strict
// VERDICT: clean
// EXIT: 3
// STDOUT: SSAN_PIPE_INVALID: pipe: release of what is no batch any more: it was released, or never taken here
// RUN: --threads strict
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// One batch is released twice.
#include "pipeline.h"

int main(int argc, char **)
{
    is_right = argc > 1;
    begin(2, nullptr);
    ssan_pipe_batch *batch = acquire();
    fill(batch);
    submit(batch);
    batch = take();
    release(batch);
    if (!is_right) {
        release(batch);
    }
    return end();
}
