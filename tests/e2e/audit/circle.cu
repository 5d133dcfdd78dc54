// Three ways over from x to y, one of them by way of z: one of the short ones has to stay.
// TOGETHER 3 of 4
#include "common.cuh"

int main(void)
{
    cudaStream_t x, y, z;
    cudaEvent_t filled, other, relayed;
    int *a;
    CK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&y, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&z, cudaStreamNonBlocking));
    CK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
    CK(cudaEventCreateWithFlags(&other, cudaEventDisableTiming));
    CK(cudaEventCreateWithFlags(&relayed, cudaEventDisableTiming));
    CK(cudaMalloc((void **)&a, BYTES));
    fill<<<8, 256, 0, x>>>(a);
    CK(cudaEventRecord(filled, x));
    CK(cudaEventRecord(other, x));
    CK(cudaStreamWaitEvent(z, filled, 0));  // @redundant
    CK(cudaEventRecord(relayed, z));
    CK(cudaStreamWaitEvent(y, relayed, 0)); // @redundant
    CK(cudaStreamWaitEvent(y, filled, 0));  // @redundant
    CK(cudaStreamWaitEvent(y, other, 0));   // @redundant
    twice<<<8, 256, 0, y>>>(a);
    printf("done\n");
    return 0;
}
