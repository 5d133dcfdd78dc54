// BUILD:
// VERDICT: clean
// EXIT: 0
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// BUILD: -DRACY
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'parts' [0,16384) first=kernel:fill then=kernel:take_all nearest=re-recorded
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'parts' [0,16384) first=kernel:fill then=kernel:take_all nearest=re-recorded
/* One event object joins two workers: the second record takes the place of the first, so that the
 * reader waits for the last worker only. */
#include "common.h"

static __global__ void take_all(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + in[i + COUNT];
}

int main(void)
{
    cudaStream_t workers[2] = {new_stream(cudaStreamNonBlocking),
                               new_stream(cudaStreamNonBlocking)};
    cudaStream_t reader = new_stream(cudaStreamNonBlocking);
    cudaEvent_t done = new_event();
    int *parts = new_device(2 * BYTES), *out = new_device(BYTES);
    for (int i = 0; i < 2; i++) {
        fill<<<GRID, 256, 0, workers[i]>>>(parts + i * COUNT, i);
        CK(cudaEventRecord(done, workers[i]));
#ifndef RACY
        CK(cudaStreamWaitEvent(reader, done, 0));
#endif
    }
#ifdef RACY
    CK(cudaStreamWaitEvent(reader, done, 0));
#endif
    take_all<<<GRID, 256, 0, reader>>>(parts, out);
    CK(cudaDeviceSynchronize());
    return 0;
}
