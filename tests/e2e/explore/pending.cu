/* Nobody waits for two kernels that write the same bytes: the end runs them, and only memory can tell their order. */
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(int *d, int value) { d[threadIdx.x] = value; }

int main() {
    int *d;
    cudaStream_t first, second;
    cudaMalloc(&d, 32 * sizeof *d);
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    fill<<<1, 32, 0, first>>>(d, 1);
    fill<<<1, 32, 0, second>>>(d, 2);
    std::puts("submitted");
    return 0;
}
