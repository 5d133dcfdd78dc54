// A copy to pageable memory blocks, and orders what has nothing to do with it. That it blocks at all no manual promises.
#include "common.cuh"

int main(void)
{
    cudaStream_t x, y;
    int *a, *c, small[4] = {0};
    CK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&y, cudaStreamNonBlocking));
    CK(cudaMalloc((void **)&a, BYTES));
    CK(cudaMalloc((void **)&c, BYTES));
    CK(cudaMemsetAsync(c, 0, BYTES, x));
    fill<<<8, 256, 0, x>>>(a);
    CK(cudaMemcpyAsync(small, c, sizeof small, cudaMemcpyDeviceToHost, x));
    SSAN_HOST_READ(small, sizeof small); // @accident call
    twice<<<8, 256, 0, y>>>(a);          // @accident call
    CK(cudaStreamSynchronize(y));        // @redundant
    printf("%d\n", small[0]);
    return 0;
}
