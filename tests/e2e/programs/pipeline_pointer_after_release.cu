// LIBS: -lstreamsan-pipeline
// RUN: --threads strict
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'pipe.slot0.output' then=17 fix=keep-usage
// FIX: copy out before release what is needed longer
// RUN: --threads strict
// ARGS: right
// VERDICT: clean
// EXIT: 0
//
// The consumer keeps a pointer into the output and reads it behind release.
#include "pipeline.h"

static int look(const int *value)
{
    SSAN_HOST_READ(value, sizeof *value);
    return *value;
}

int main(int argc, char **)
{
    is_right = argc > 1;
    const int *last = nullptr;
    int sum = 0;
    begin(1, nullptr);
    for (int i = 0; i < BATCHES; i++) {
        ssan_pipe_batch *batch = acquire();
        fill(batch);
        submit(batch);
        if (last && !is_right) {
            sum += look(last);
        }
        batch = take();
        last = (const int *)batch->output;
        if (is_right) {
            sum += look(last);
        }
        release(batch);
    }
    printf("sum=%d\n", sum);
    return end();
}
