// BUILD:
// RUN:
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'pü.größe' [0,1024) first=kernel:fill then=kernel:take
// RUN: --format text --output /dev/stderr
// SAYS: take on 'größter' reads 'pü.größe' before fill on 'erster' has finished writing it
// SAYS: first      fill writes pü.größe   E1 on 'erster'
// SAYS: :40                                      G1  take   reads pü.größe    <-- not after E1
// SAYS: then       take reads  pü.größe   G1 on 'größter'
// SAYS: +   cudaStreamWaitEvent(größter, ssan_ready, 0);
/* Names of variables are what the compiler takes for names, and columns of a report count characters. Kernels have names in
 * ASCII: nvcc allows no others in device code. */
#include <cuda_runtime.h>

struct puffer {
    float *größe;
};

__global__ void fill(float *p)
{
    p[threadIdx.x] = 1;
}

__global__ void take(float *q, const float *p)
{
    q[threadIdx.x] = p[threadIdx.x];
}

int main()
{
    puffer pü;
    float *ausgäng;
    cudaStream_t erster, größter;
    cudaMalloc(&pü.größe, 1024);
    cudaMalloc(&ausgäng, 1024);
    cudaStreamCreate(&erster);
    cudaStreamCreate(&größter);
    fill<<<1, 256, 0, erster>>>(pü.größe);
    take<<<1, 256, 0, größter>>>(ausgäng, pü.größe);
    return cudaDeviceSynchronize() != cudaSuccess;
}
