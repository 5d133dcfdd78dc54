/* Prints its process number: its output is never the same. */
#include <cstdio>
#include <cuda_runtime.h>
#include <unistd.h>

int main() {
    void *d;
    cudaMalloc(&d, 64);
    cudaMemset(d, 0, 64);
    cudaDeviceSynchronize();
    std::printf("%d\n", (int)getpid());
    return 0;
}
