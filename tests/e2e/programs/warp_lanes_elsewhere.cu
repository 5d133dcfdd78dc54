// BUILD: -DELSEWHERE
// VERDICT: incomplete
// EXIT: 67
// SAYS: went on without threads that it names
// BUILD: -DPARTLY
// VERDICT: incomplete
// EXIT: 67
// SAYS: warp_lanes_elsewhere.cu:28: a shuffle, vote, match or __syncwarp of sums went on without threads
// BUILD: -DGONE -DFIRST=8
// VERDICT: clean
// STDOUT: sum 120
// BUILD:
// VERDICT: clean
// STDOUT: sum 496
/* A shuffle waits for all threads that it names. Half of them may have left the kernel; they may not be at a barrier of the block,
 * and not at another shuffle, as far as the virtual device goes. */
#include "common.h"

#if !defined FIRST
#define FIRST 16
#endif

static __global__ void sums(int *out)
{
    int value = threadIdx.x;
#if defined PARTLY
    if (threadIdx.x < 16) {
        value += __shfl_xor_sync(0xffffffff, value, 8);
    }
    __syncthreads();
#elif defined ELSEWHERE
    if (threadIdx.x < 16) {
        out[33] = value = __shfl_xor_sync(0xffffffff, value, 16);
    } else {
        out[34] = value;
        value = __shfl_xor_sync(0xffffffff, value * 3, 16);
    }
#elif defined GONE
    if (threadIdx.x >= 16) {
        return;
    }
#endif
    for (int distance = FIRST; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    if (threadIdx.x == 0) {
        out[0] = value;
    }
}

int main(void)
{
    int *sum = new_device(4096), host = 0;
    sums<<<1, 32>>>(sum);
    CK(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost));
    printf("sum %d\n", host);
    return 0;
}
