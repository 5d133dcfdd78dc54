// OBJECT: @/parts/second_file.cu
// VERDICT: clean
// EXIT: 0
// STDOUT: h=43
// BUILD: -DNO_WAIT
// OBJECT: @/parts/second_file.cu
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'd' [0,16384) first=kernel:second_fill then=kernel:take nearest=recorded-not-waited fix=checked
/* The producer's kernel and its launch live in a second file, built with -c. */
#include "common.h"

void launch_second_fill(int *out, int value, cudaStream_t stream);

int main(void)
{
    cudaStream_t a, b;
    cudaEvent_t ready;
    int *d, *out, h[1];
    CK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    CK(cudaMalloc((void **)&d, BYTES));
    CK(cudaMalloc((void **)&out, BYTES));
    launch_second_fill(d, 42, a);
    CK(cudaEventRecord(ready, a));
#ifndef NO_WAIT
    CK(cudaStreamWaitEvent(b, ready, 0));
#endif
    take<<<GRID, 256, 0, b>>>(d, out);
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(h, out, sizeof *h, cudaMemcpyDeviceToHost));
    printf("h=%d\n", h[0]);
    return 0;
}
