// BUILD:
// VERDICT: clean
// EXIT: 3
// STDOUT: at exit 2
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 3
// STDOUT: at exit 2
// BUILD: -DRACY
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,16384) first=kernel:fill then=kernel:take fix=checked
// MAY: advice SSAN-PENDING-AT-EXIT
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,16384) first=kernel:fill then=kernel:take fix=checked
// MAY: advice SSAN-PENDING-AT-EXIT
/* Streams and buffers of a static object, made before main; work from a handler that runs at exit.
 */
#include "common.h"

struct pipeline {
    cudaStream_t first = new_stream(cudaStreamNonBlocking);
    cudaStream_t second = new_stream(cudaStreamNonBlocking);
    int *data = new_device(BYTES);
    int *out = new_device(BYTES);
};

static pipeline early;

static void finish(void)
{
    int got = 0;
#ifndef RACY
    CK(cudaStreamSynchronize(early.first));
#endif
    take<<<GRID, 256, 0, early.second>>>(early.data, early.out);
    CK(cudaStreamSynchronize(early.second));
    CK(cudaMemcpy(&got, early.out, sizeof got, cudaMemcpyDeviceToHost));
    printf("at exit %d\n", got);
}

int main(void)
{
    atexit(finish);
    fill<<<GRID, 256, 0, early.first>>>(early.data, 1);
    return 3;
}
