// A device-wide wait is what orders two streams, and the host behind a copy. One more behind it is covered.
// ASSUME non-blocking: nothing
#include "common.cuh"

int main(void)
{
    cudaStream_t x, y;
    int *a, *h;
    CK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&y, cudaStreamNonBlocking));
    CK(cudaMalloc((void **)&a, BYTES));
    CK(cudaMallocHost((void **)&h, BYTES));
    fill<<<8, 256, 0, x>>>(a);
    CK(cudaDeviceSynchronize());         // @load-bearing
    twice<<<8, 256, 0, y>>>(a);          // @accident device
    CK(cudaMemcpyAsync(h, a, BYTES, cudaMemcpyDeviceToHost, y));
    CK(cudaDeviceSynchronize());         // @redundant covered cudaStreamSynchronize
    CK(cudaStreamSynchronize(y));        // @redundant covered cudaDeviceSynchronize by-accident
    SSAN_HOST_READ(h, BYTES);
    printf("%d\n", h[3]);
    return 0;
}
