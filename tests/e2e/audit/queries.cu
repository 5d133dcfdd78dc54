// Queries that succeeded join the host: of an event, of a stream, and by the time between two events.
#include "common.cuh"

int main(void)
{
    cudaStream_t x, y;
    cudaEvent_t begin, end;
    int *a, *b;
    float ms;
    CK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&y, cudaStreamNonBlocking));
    CK(cudaEventCreate(&begin));
    CK(cudaEventCreate(&end));
    CK(cudaMalloc((void **)&a, BYTES));
    CK(cudaMalloc((void **)&b, BYTES));
    CK(cudaEventRecord(begin, x));
    fill<<<8, 256, 0, x>>>(a);
    CK(cudaEventRecord(end, x));
    while (cudaEventQuery(end) == cudaErrorNotReady) { // @load-bearing
    }
    CK(cudaMemsetAsync(b, 0, BYTES, y));
    add<<<8, 256, 0, y>>>(a, b);
    CK(cudaEventElapsedTime(&ms, begin, end)); // @redundant
    while (cudaStreamQuery(y) == cudaErrorNotReady) { // @load-bearing
    }
    twice<<<8, 256, 0, x>>>(b);
    CK(cudaStreamSynchronize(x));        // @redundant
    printf("%d\n", ms >= 0);
    return 0;
}
