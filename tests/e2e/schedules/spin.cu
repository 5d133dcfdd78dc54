// `waits` spins until `sets` has run: a list that puts it first and lets nothing else run can't be followed.
#include <cstdio>
#include <cuda_runtime.h>
__global__ void waits(volatile int *flag)
{
    while (*flag == 0) {
    }
}
__global__ void sets(volatile int *flag)
{
    *flag = 1;
}
int main()
{
    int *flag;
    cudaStream_t a, b;
    cudaMalloc(&flag, 4);
    cudaMemset(flag, 0, 4);
    cudaDeviceSynchronize();
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    waits<<<1, 1, 0, a>>>(flag);
    sets<<<1, 1, 0, b>>>(flag);
    cudaDeviceSynchronize();
    puts("done");
    return 0;
}
