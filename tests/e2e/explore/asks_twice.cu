/* Only when two queries one after the other find work unfinished is there a race (-DTIMES: so many). */
#include <cstdio>
#include <cuda_runtime.h>

#ifndef TIMES
#define TIMES 2
#endif

__global__ void set(int *d, int value) { *d = value; }
__global__ void scale(int *d) { *d *= 5; }
__global__ void copy(int *to, const int *from) { *to = *from; }

int main() {
    int *d, result[2], failed = 0;
    cudaStream_t a, b;
    cudaMalloc(&d, 2 * sizeof *d);
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    set<<<1, 1, 0, a>>>(d, 1);
    set<<<1, 1, 0, a>>>(d + 1, 0);
    cudaDeviceSynchronize();
    scale<<<1, 1, 0, a>>>(d);
    while (failed < TIMES && cudaStreamQuery(a) == cudaErrorNotReady) {
        failed++;
    }
    if (failed == TIMES) {
        copy<<<1, 1, 0, b>>>(d + 1, d);
    }
    cudaDeviceSynchronize();
    cudaMemcpy(result, d, sizeof result, cudaMemcpyDeviceToHost);
    std::printf("%d %d\n", result[0], result[1]);
    return result[1] == 1 ? 5 : 0;
}
