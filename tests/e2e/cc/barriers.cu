/* What one thread writes between barriers and fences the others read behind them, in every loop: no
 * load moves across. */
#include <cuda_runtime.h>

#include <cstdio>

#define THREADS 64
#define TASKS   5

/* Thread 0 fetches tasks for its block, and counts them down. */
__global__ void fetch(int *counter, int *sums)
{
    __shared__ int next[2];
    int sum = 0;
    if (threadIdx.x == 0) {
        next[1] = atomicAdd(counter, 1);
    }
    __syncthreads();
    while (next[1] < TASKS) {
        sum += next[1] + 1;
        __syncthreads();
        if (threadIdx.x == 0) {
            next[1] = atomicAdd(counter, 1);
        }
        __syncthreads();
    }
    sums[threadIdx.x] = sum;
}

__global__ void fetch_with_votes(int *counter, int *sums)
{
    __shared__ int next[2];
    int sum = 0;
    if (threadIdx.x == 0) {
        next[0] = atomicAdd(counter, 1);
    }
    int all = __syncthreads_count(1);
    while (next[0] < TASKS) {
        sum += all == THREADS ? next[0] + 1 : 1000;
        all = __syncthreads_and(1) ? THREADS : 0;
        if (threadIdx.x == 0) {
            next[0] = atomicAdd(counter, 1);
        }
        all = __syncthreads_or(threadIdx.x == 3) ? all : 0;
    }
    sums[threadIdx.x] = sum;
}

/* The same within a warp. */
__global__ void fetch_in_a_warp(int *counter, int *sums)
{
    __shared__ int next[2];
    int sum = 0;
    if (threadIdx.x == 0) {
        next[1] = atomicAdd(counter, 1);
    }
    __syncwarp();
    while (next[1] < TASKS) {
        sum += next[1] + 1;
        __syncwarp();
        if (threadIdx.x == 0) {
            next[1] = atomicAdd(counter, 1);
        }
        __syncwarp();
    }
    sums[threadIdx.x] = sum;
}

int main()
{
    int *counters, *sums, host[3 * THREADS], bad = 0;
    if (cudaMalloc(&counters, 3 * sizeof *counters) || cudaMalloc(&sums, sizeof host) ||
        cudaMemset(counters, 0, 3 * sizeof *counters)) {
        return 1;
    }
    fetch<<<1, THREADS>>>(counters, sums);
    fetch_with_votes<<<1, THREADS>>>(counters + 1, sums + THREADS);
    fetch_in_a_warp<<<1, 32>>>(counters + 2, sums + 2 * THREADS);
    if (cudaGetLastError() || cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost)) {
        return 1;
    }
    for (int i = 0; i < 2 * THREADS + 32; i++) {
        bad += host[i] != TASKS * (TASKS + 1) / 2;
    }
    std::printf("mismatches=%d\n", bad);
    return bad ? 2 : 0;
}
