// Two host threads, a stream each, that nothing orders; each submits three memsets.
#include <cstdio>
#include <cuda_runtime.h>
#include <thread>
static void submit(cudaStream_t stream, unsigned char *bytes, int value)
{
    for (int i = 0; i < 3; i++) {
        cudaMemsetAsync(bytes, value + i, 64, stream);
    }
}
int main()
{
    unsigned char *a, *b;
    cudaStream_t left, right;
    cudaMalloc(&a, 64);
    cudaMalloc(&b, 64);
    cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&right, cudaStreamNonBlocking);
    std::thread one(submit, left, a, 1);
    std::thread two(submit, right, b, 11);
    one.join();
    two.join();
    cudaDeviceSynchronize();
    puts("done");
    return 0;
}
