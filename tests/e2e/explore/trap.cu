/* A kernel traps: what the other stream had to do is done before it, or never. */
#include <cstdio>
#include <cuda_runtime.h>

__global__ void set(int *d) { *d = 1; }
__global__ void die() { asm volatile("trap;"); }

int main() {
    int *d;
    cudaStream_t a, b;
    cudaMallocHost(&d, sizeof *d);
    *d = 0;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    set<<<1, 1, 0, a>>>(d);
    die<<<1, 1, 0, b>>>();
    cudaDeviceSynchronize();
    return *d == 1 ? 0 : 4;
}
