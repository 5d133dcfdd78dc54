// BUILD: -DSECOND=32
// VERDICT: clean
// EXIT: 0
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// BUILD: -DSECOND=31
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAW 'matrix' [124,128) [380,384) [636,640) [892,896) first=kernel:columns then=kernel:columns
// BUILD: -DSECOND=32 -DROWS_TOO
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'matrix' [0,124) first=kernel:columns then=copy
// FINDING: folded error SSAN-RAW 'matrix' [512,640) first=kernel:columns then=kernel:row
/* Two streams own the left and the right columns of one matrix; a third reads rows of it. */
#include "common.h"

enum { WIDTH = 64, HEIGHT = 4 };

static __global__ void columns(int *m, int first, int value)
{
    for (int y = 0; y < HEIGHT; y++) {
        m[y * WIDTH + first + threadIdx.x] = value;
    }
}

static __global__ void row(const int *m, int y, int *out)
{
    out[threadIdx.x] = m[y * WIDTH + threadIdx.x];
}

int main(void)
{
    cudaStream_t left = new_stream(cudaStreamNonBlocking),
                 right = new_stream(cudaStreamNonBlocking);
    cudaStream_t reader = new_stream(cudaStreamNonBlocking);
    cudaEvent_t done = new_event();
    int *matrix = new_device(WIDTH * HEIGHT * sizeof(int)), *out = new_device(BYTES);
    columns<<<1, 32, 0, left>>>(matrix, 0, 1);
    columns<<<1, WIDTH - SECOND, 0, right>>>(matrix, SECOND, 2);
#ifdef ROWS_TOO
    CK(cudaMemcpyAsync(out + WIDTH, matrix, 124, cudaMemcpyDeviceToDevice, right));
#else
    CK(cudaEventRecord(done, left));
    CK(cudaStreamWaitEvent(reader, done, 0));
#endif
    CK(cudaEventRecord(done, right));
    CK(cudaStreamWaitEvent(reader, done, 0));
    row<<<1, WIDTH, 0, reader>>>(matrix, 2, out);
    CK(cudaDeviceSynchronize());
    return 0;
}
