// A loop that polls: it must end under every list, also one that can't be followed.
#include <cstdio>
#include <cuda_runtime.h>
__global__ void one(int *p)
{
    *p += 1;
}
int main()
{
    int *p;
    cudaStream_t a, b;
    cudaMalloc(&p, 8);
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    one<<<1, 1, 0, a>>>(p);
    one<<<1, 1, 0, b>>>(p + 1);
    while (cudaStreamQuery(a) == cudaErrorNotReady) {
    }
    one<<<1, 1, 0, b>>>(p + 1);
    cudaStreamSynchronize(b);
    puts("done");
    return 0;
}
