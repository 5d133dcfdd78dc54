// The host reads twice what two streams write, without waiting for either.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <streamsan/annotate.h>

__global__ void set(int *p, int value)
{
    *p = value;
}

int main()
{
    int *pinned, first, second;
    cudaStream_t a, b;
    cudaMallocHost(&pinned, 2 * sizeof(int));
    memset(pinned, 0, 2 * sizeof(int));
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    set<<<1, 1, 0, a>>>(pinned, 5);
    set<<<1, 1, 0, b>>>(pinned + 1, 6);
    SSAN_HOST_READ(pinned, 4);
    first = *(volatile int *)pinned;
    SSAN_HOST_READ(pinned + 1, 4);
    second = *(volatile int *)(pinned + 1);
    cudaDeviceSynchronize();
    printf("%d %d\n", first, second);
    return 0;
}
