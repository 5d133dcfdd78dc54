/* A block is used again when a query finds its last use done, else another one: right in either way. */
#include <cstdio>
#include <cuda_runtime.h>

int main() {
    int *block, *other, value = 0;
    cudaStream_t a, b;
    cudaEvent_t used;
    cudaMalloc(&block, 256);
    cudaMalloc(&other, 256);
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&used, cudaEventDisableTiming);
    cudaMemsetAsync(block, 1, 256, b);
    cudaEventRecord(used, b);
    int *mine = cudaEventQuery(used) == cudaSuccess ? block : other;
    cudaMemsetAsync(mine, 2, sizeof value, a);
    cudaDeviceSynchronize();
    cudaMemcpy(&value, mine, sizeof value, cudaMemcpyDeviceToHost);
    std::printf("%x\n", value);
    return 0;
}
