// LIBS: -lstreamsan-pipeline
// RUN: --threads strict
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAR 'pipe.slot0.input' then=27 fix=keep-usage
// FIX: fill it between acquire and submit
// RUN: --threads strict
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// The producer keeps the pointer to the input and fills it for the next batch as soon as submit
// has returned.
#include "pipeline.h"

int main(int argc, char **)
{
    is_right = argc > 1;
    begin(2, nullptr);
    for (int i = 0; i < BATCHES; i++) {
        ssan_pipe_batch *batch = acquire();
        int *input = (int *)batch->input;
        fill(batch);
        submit(batch);
        if (!is_right) {
            input[0] = i + 1;
            SSAN_HOST_WRITE(input, sizeof *input);
        }
        release(take());
    }
    return end();
}
