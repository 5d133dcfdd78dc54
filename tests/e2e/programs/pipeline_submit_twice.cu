// LIBS: -lstreamsan-pipeline
// RUN: --threads strict
// VERDICT: clean
// EXIT: 3
// STDOUT: SSAN_PIPE_INVALID: pipe: submit of a batch that is submitted already
// MAY: advice SSAN-PENDING-AT-EXIT
// RUN: --threads strict
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// One batch is submitted twice.
#include "pipeline.h"

int main(int argc, char **)
{
    is_right = argc > 1;
    begin(2, nullptr);
    ssan_pipe_batch *batch = acquire();
    fill(batch);
    submit(batch);
    if (!is_right) {
        submit(batch);
    }
    release(take());
    return end();
}
