// LIBS: -lstreamsan-pipeline
// RUN: --threads strict
// VERDICT: incomplete
// EXIT: 67
// STDOUT: SSAN_PIPE_TIMEOUT: pipe: no slot: the time is over; batches: 2 to be submitted or abandoned
// RUN: --threads strict
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// Slots are acquired, and neither submitted nor abandoned.
#include "pipeline.h"

int main(int argc, char **)
{
    is_right = argc > 1;
    begin(2, nullptr);
    for (int i = 0; i < BATCHES; i++) {
        ssan_pipe_batch *batch = acquire(SHORT_NS);
        fill(batch);
        if (is_right && i < BATCHES / 2) {
            ssan_pipe_abandon(pipe_, batch);
        } else if (is_right) {
            submit(batch);
            release(take());
        }
    }
    return end();
}
