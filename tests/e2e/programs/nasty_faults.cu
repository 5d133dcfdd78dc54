// BUILD: -DBOUNDS
// VERDICT: incomplete
// EXIT: 67
// STDOUT: sync: an illegal memory access was encountered
// BUILD: -DASSERT
// VERDICT: incomplete
// EXIT: 67
// STDOUT: sync: device-side assert triggered
// BUILD: -DPRINT
// VERDICT: clean
// EXIT: 0
// STDOUT: block 1 thread 2: 3.5 two
// STDOUT: sync: no error
// BUILD: -DTRAP
// VERDICT: incomplete
// EXIT: 67
// STDOUT: sync: unspecified launch failure
/* Kernels that print, assert, trap or leave their buffer; the error stays with the context. */
#include "common.h"

#include <assert.h>

static __global__ void faulty(int *out)
{
#if defined BOUNDS
    out[threadIdx.x << 20] = 1;
#elif defined ASSERT
    assert(threadIdx.x < 3);
#elif defined TRAP
    if (threadIdx.x == 3) {
        __trap();
    }
#else
    if (blockIdx.x == 1 && threadIdx.x == 2) {
        printf("block %d thread %u: %.1f %s\n", blockIdx.x, threadIdx.x, 3.5, "two");
    }
#endif
    out[threadIdx.x] = 1;
}

int main(void)
{
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    int *d = new_device(4096);
    faulty<<<2, 32, 0, s>>>(d);
    printf("sync: %s\n", cudaGetErrorString(cudaStreamSynchronize(s)));
    int *more;
    cudaError_t later = cudaMalloc((void **)&more, 4);
    printf("later: %s\n", cudaGetErrorString(later));
    return 0;
}
