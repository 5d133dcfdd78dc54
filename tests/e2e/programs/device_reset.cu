// VERDICT: clean
// EXIT: 0
// STDOUT: 8 7 8 3
/* cudaDeviceReset gives module variables their initial values again, and ends what kernels have
 * left on their heap. */
#include "common.h"

__device__ int counter = 7;
__constant__ int step = 1;

static __global__ void raise_counter()
{
    counter += step;
}

static __global__ void leave_on_heap(void **at)
{
    *at = malloc(64);
}

static int value(void)
{
    int result;
    CK(cudaMemcpyFromSymbol(&result, counter, sizeof result));
    return result;
}

int main(void)
{
    int three = 3, before, at_reset, after;
    void **at;
    CK(cudaMalloc((void **)&at, sizeof *at));
    leave_on_heap<<<1, 1>>>(at);
    raise_counter<<<1, 1>>>();
    before = value();
    CK(cudaMemcpyToSymbol(step, &three, sizeof three));
    CK(cudaDeviceSynchronize());
    CK(cudaDeviceReset());
    at_reset = value();
    raise_counter<<<1, 1>>>();
    after = value();
    CK(cudaMemcpyToSymbol(counter, &three, sizeof three));
    printf("%d %d %d %d\n", before, at_reset, after, value());
    return 0;
}
