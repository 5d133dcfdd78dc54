// LIBS: -lstreamsan-pipeline
// RUN: --threads strict
// VERDICT: clean
// EXIT: 3
// STDOUT: SSAN_PIPE_TIMEOUT: pipe: no slot: the time is over; batches: 2 to be taken
// RUN: --threads strict
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// Batches are submitted, and nobody takes them.
#include "pipeline.h"

int main(int argc, char **)
{
    is_right = argc > 1;
    begin(2, nullptr);
    for (int i = 0; i < BATCHES; i++) {
        ssan_pipe_batch *batch = acquire(SHORT_NS);
        fill(batch);
        submit(batch);
        if (is_right) {
            release(take());
        }
    }
    return end();
}
