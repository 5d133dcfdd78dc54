// BUILD:
// VERDICT: clean
// EXIT: 0
// STDOUT: hits 8192, sum 8386560
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// STDOUT: hits 8192, sum 8386560
// RUN: --schedule random:5
// VERDICT: clean
// EXIT: 0
// STDOUT: hits 8192, sum 8386560
// BUILD: -DRESET
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAW 'hits' [0,4) first=memset then=kernel:count_hits
// BUILD: -DPEEK
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'hits' [0,4) first=kernel:count_hits then=copy
/* Streams may share a counter through atomics, and the last block of a kernel may read what the
 * others wrote; a plain memset or copy of the counter is no part of that. */
#include "common.h"

static __global__ void count_hits(int *hits)
{
    atomicAdd(hits, 1);
}

static __device__ unsigned arrived;

static __global__ void reduce(const int *in, int *parts, int *sum)
{
    __shared__ int tile[256];
    __shared__ bool last;
    tile[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            tile[threadIdx.x] += tile[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = tile[0];
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int all = 0;
        for (unsigned i = 0; i < gridDim.x; i++) {
            all += ((volatile int *)parts)[i];
        }
        *sum = all;
    }
}

static __global__ void number(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
}

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    int *hits = new_device(sizeof(int)), *in = new_device(BYTES), *parts = new_device(BYTES);
    int *sum = new_device(sizeof(int)), got[2] = {0, 0};
#ifdef RESET
    CK(cudaMemsetAsync(hits, 0, sizeof(int), b));
#endif
    count_hits<<<GRID, 256, 0, a>>>(hits);
#ifndef RESET
    count_hits<<<GRID, 256, 0, b>>>(hits);
#endif
#ifdef PEEK
    CK(cudaStreamSynchronize(b));
    CK(cudaMemcpyAsync(parts, hits, sizeof(int), cudaMemcpyDeviceToDevice, b));
#endif
    number<<<GRID, 256, 0, b>>>(in);
    reduce<<<GRID, 256, 0, b>>>(in, parts, sum);
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(&got[0], hits, sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(&got[1], sum, sizeof(int), cudaMemcpyDeviceToHost));
    printf("hits %d, sum %d\n", got[0], got[1]);
    return 0;
}
