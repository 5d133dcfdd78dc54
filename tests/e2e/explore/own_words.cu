/* A line with a number that is never the same, and one that the order decides, in one line and behind it. */
#include <cstdio>
#include <ctime>
#include <cuda_runtime.h>
#include <unistd.h>

__global__ void set(int *d, int value) { *d = value; }

int main() {
    int *d, result = 0;
    cudaStream_t a, b;
    cudaMalloc(&d, sizeof *d);
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    set<<<1, 1, 0, a>>>(d, 1);
#ifdef FIXED
    cudaStreamSynchronize(a);
#endif
    set<<<1, 1, 0, b>>>(d, 2);
    cudaDeviceSynchronize();
    cudaMemcpy(&result, d, sizeof result, cudaMemcpyDeviceToHost);
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    std::printf("begin\ntook %ld ns by %d, result %d\nend\n", now.tv_nsec, getpid(), result);
    return 0;
}
