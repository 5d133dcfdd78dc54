// VERDICT: clean
// MAY: advice SSAN-EVENT-UNRECORDED
// EXIT: 0
// STDOUT: sum=40200
/* 200 streams, each created, used, waited for and destroyed in a loop, all adding to one buffer in
 * turn. */
#include "common.h"

static __global__ void add(int *out, int value)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

int main(void)
{
    int *d = new_device(BYTES), h[1];
    cudaEvent_t done = new_event();
    for (int i = 1; i <= 200; i++) {
        cudaStream_t s = new_stream(cudaStreamNonBlocking);
        CK(cudaStreamWaitEvent(s, done, 0));
        add<<<GRID, 256, 0, s>>>(d, 2 * i);
        CK(cudaEventRecord(done, s));
        CK(cudaStreamDestroy(s));
    }
    CK(cudaEventSynchronize(done));
    CK(cudaMemcpy(h, d + 7, sizeof *h, cudaMemcpyDeviceToHost));
    printf("sum=%d\n", h[0]);
    return 0;
}
