/* A kernel takes an index that another stream writes: too early it is no index, and the device faults. */
#include <cstdio>
#include <cuda_runtime.h>

__global__ void choose(unsigned *index) { *index = 3; }
__global__ void use(const unsigned *index, int *d) { d[*index] = 1; }

int main() {
    unsigned *index;
    int *d;
    cudaStream_t first, second;
    cudaMalloc(&index, sizeof *index);
    cudaMalloc(&d, 16 * sizeof *d);
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    choose<<<1, 1, 0, first>>>(index);
    use<<<1, 1, 0, second>>>(index, d);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
}
