/* Two kernels without order fill one buffer: whole, either may win; interleaved, the buffer is mixed. */
#include <cstdio>
#include <cuda_runtime.h>

#ifndef BLOCKS
#define BLOCKS 16
#endif

constexpr int THREADS = 32, COUNT = BLOCKS * THREADS;

__global__ void fill(int *d, int value) { d[blockIdx.x * blockDim.x + threadIdx.x] = value; }

int main() {
    static int host[COUNT];
    int *d;
    cudaStream_t first, second;
    cudaMalloc(&d, sizeof host);
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    fill<<<BLOCKS, THREADS, 0, first>>>(d, 1);
    fill<<<BLOCKS, THREADS, 0, second>>>(d, 2);
    cudaDeviceSynchronize();
    cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
    bool uniform = true;
    for (int value : host) {
        uniform = uniform && value == host[0];
    }
    std::puts(uniform ? "uniform" : "mixed");
    return 0;
}
