// LIBS: -lstreamsan-pipeline
// RUN: --threads strict
// VERDICT: clean
// EXIT: 3
// STDOUT: SSAN_PIPE_TIMEOUT: pipe: no batch: the time is over; batches: none, and the pipeline is not closed
// RUN: --threads strict
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// The producer is done and does not close the pipeline: the consumer waits for more.
#include "pipeline.h"

int main(int argc, char **)
{
    is_right = argc > 1;
    ssan_pipe_batch *batch;
    ssan_pipe_status status;
    begin(2, nullptr);
    for (int i = 0; i < 2; i++) {
        batch = acquire();
        fill(batch);
        submit(batch);
    }
    if (is_right) {
        ssan_pipe_close(pipe_);
    }
    while ((status = ssan_pipe_take(consumer, SHORT_NS, &batch, &err)) == SSAN_PIPE_OK) {
        release(batch);
    }
    if (status != SSAN_PIPE_CLOSED) {
        need(status);
    }
    return end();
}
