/* What is submitted depends on data: a count that two streams race for decides how many kernels follow. */
#include <cstdio>
#include <cuda_runtime.h>

__global__ void set(int *d, int value) { *d = value; }
__global__ void add(int *d) { *d += 1; }

int main() {
    int *d, count = 0;
    cudaStream_t streams[2];
    cudaMalloc(&d, sizeof *d);
    cudaMemset(d, 0, sizeof *d);
    cudaStreamCreateWithFlags(&streams[0], cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    set<<<1, 1, 0, streams[0]>>>(d, 1);
    set<<<1, 1, 0, streams[1]>>>(d, 2);
    cudaDeviceSynchronize();
    cudaMemcpy(&count, d, sizeof count, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) {
        add<<<1, 1, 0, streams[i]>>>(d);
    }
    cudaDeviceSynchronize();
    cudaMemcpy(&count, d, sizeof count, cudaMemcpyDeviceToHost);
    std::printf("count=%d\n", count);
    return 0;
}
