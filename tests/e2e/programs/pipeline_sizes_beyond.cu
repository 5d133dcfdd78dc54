// LIBS: -lstreamsan-pipeline
// RUN: --threads strict
// VERDICT: incomplete
// EXIT: 67
// STDOUT: SSAN_PIPE_INVALID: pipe, batch 0: output_bytes is 2048, but acquire gave 1024
// RUN: --threads strict
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// A batch says that it has more output than the slot.
#include "pipeline.h"

int main(int argc, char **)
{
    is_right = argc > 1;
    begin(2, nullptr);
    ssan_pipe_batch *batch = acquire();
    fill(batch);
    batch->output_bytes = is_right ? BYTES : 2 * BYTES;
    submit(batch);
    release(take());
    return end();
}
