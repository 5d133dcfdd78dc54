// BUILD:
// VERDICT: clean
// EXIT: 0
// STDOUT: early 8 3
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// STDOUT: early 8 3
// BUILD: -DRACY
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,16384) first=kernel:fill then=kernel:take fix=checked
// MAY: advice SSAN-PENDING-AT-EXIT
/* A static object of the same file launches kernels and uses a device variable in its constructor,
 * before clang's own registration of the device code. */
#include "common.h"

static __device__ int shared_count = 3;

struct table {
    int *data = new_device(BYTES);
    int *out = new_device(BYTES);
    cudaStream_t first = new_stream(cudaStreamNonBlocking);
    cudaStream_t second = new_stream(cudaStreamNonBlocking);
    int got = 0, count = 0;

    table()
    {
        CK(cudaMemcpyFromSymbol(&count, shared_count, sizeof count));
        fill<<<GRID, 256, 0, first>>>(data, 7);
        CK(cudaGetLastError());
#ifndef RACY
        CK(cudaStreamSynchronize(first));
#endif
        take<<<GRID, 256, 0, second>>>(data, out);
        CK(cudaStreamSynchronize(second));
        CK(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
    }
};

static table early;

int main(void)
{
    printf("early %d %d\n", early.got, early.count);
    return 0;
}
