// Two queries that find the work unfinished: only then a second stream reads what nothing orders.
#include <cstdio>
#include <cuda_runtime.h>
__global__ void set(int *p, int value)
{
    *p = value;
}
__global__ void times(int *p, int value)
{
    *p *= value;
}
__global__ void copy(int *to, const int *from)
{
    *to = *from;
}
int main()
{
    int *x, h[2];
    cudaStream_t a, b;
    cudaMalloc(&x, 16);
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    set<<<1, 1, 0, a>>>(x, 1);
    set<<<1, 1, 0, a>>>(x + 1, 0);
    cudaDeviceSynchronize();
    times<<<1, 1, 0, a>>>(x, 5);
    if (cudaStreamQuery(a) == cudaErrorNotReady && cudaStreamQuery(a) == cudaErrorNotReady) {
        copy<<<1, 1, 0, b>>>(x + 1, x);
    }
    cudaDeviceSynchronize();
    cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
    printf("copy=%d\n", h[1]);
    return 0;
}
