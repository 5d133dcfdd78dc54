// BUILD: -DA
// VERDICT: clean
// EXIT: 0
// BUILD: -DB
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'pin' first=copy then=host-read
/* L10: a query that succeeds joins; one that is not asked again does not. */
#include "common.h"

int main(void)
{
    cudaStream_t s = new_stream(0);
    cudaEvent_t e = new_event();
    int *d = new_device(BYTES), *pin;
    CK(cudaMallocHost((void **)&pin, BYTES));
    fill<<<GRID, 256, 0, s>>>(d, 1);
    CK(cudaMemcpyAsync(pin, d, BYTES, cudaMemcpyDeviceToHost, s));
    CK(cudaEventRecord(e, s));
#ifdef A
    while (cudaEventQuery(e) != cudaSuccess) {
    }
#else
    (void)cudaStreamQuery(s);
#endif
    SSAN_HOST_READ(pin, BYTES);
    CK(cudaDeviceSynchronize());
    return 0;
}
