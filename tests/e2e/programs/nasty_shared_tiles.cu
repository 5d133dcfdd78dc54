// BUILD:
// VERDICT: clean
// EXIT: 0
// STDOUT: sum 523776, warps 32, wrong 0
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// STDOUT: sum 523776, warps 32, wrong 0
// BUILD: -DRACY
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'flipped' [0,4096) first=kernel:transpose then=kernel:sum_warps fix=checked
/* Tiles in dynamic shared memory, warp shuffles, and threads that leave early. */
#include "common.h"

enum { SIDE = 32 };

static __global__ void transpose(const int *in, int *out)
{
    extern __shared__ int tile[];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y * (SIDE + 1) + x] = in[y * SIDE + x];
    __syncthreads();
    out[y * SIDE + x] = tile[x * (SIDE + 1) + y];
}

static __global__ void sum_warps(const int *in, int *sum, int *warps, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    int value = in[i];
    for (int step = 16; step > 0; step /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, step);
    }
    if (threadIdx.x % 32 != 0) {
        return;
    }
    atomicAdd(sum, value);
    atomicAdd(warps, __popc(__activemask()));
}

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    const int bytes = SIDE * SIDE * (int)sizeof(int);
    int *in = new_device(bytes), *flipped = new_device(bytes), *sums = new_device(2 * sizeof(int));
    int host[SIDE * SIDE], got[2], wrong = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        host[i] = i;
    }
    CK(cudaMemcpy(in, host, bytes, cudaMemcpyHostToDevice));
    CK(cudaDeviceSynchronize());
    transpose<<<1, dim3(SIDE, SIDE), SIDE *(SIDE + 1) * sizeof(int), a>>>(in, flipped);
#ifndef RACY
    CK(cudaStreamSynchronize(a));
#endif
    sum_warps<<<5, 256, 0, b>>>(flipped, sums, sums + 1, SIDE * SIDE);
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(host, flipped, bytes, cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < SIDE * SIDE; i++) {
        wrong += host[i] != i % SIDE * SIDE + i / SIDE;
    }
    printf("sum %d, warps %d, wrong %d\n", got[0], got[1], wrong);
    return 0;
}
