// BUILD: -DA
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'd' [0,16384) first=kernel:fill then=kernel:take nearest=recorded-early fix=checked
/* L07: an event recorded before the operation does not cover it. */
#include "common.h"

int main(void)
{
    cudaStream_t s, t;
    cudaEvent_t e;
    int *d = new_device(BYTES), *out = new_device(BYTES);
    SSAN_NAME(d, "d");
    CK(cudaStreamCreate(&s));
    CK(cudaStreamCreate(&t));
    CK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    CK(cudaEventRecord(e, s));
    fill<<<GRID, 256, 0, s>>>(d, 1);
    CK(cudaStreamWaitEvent(t, e, 0));
    take<<<GRID, 256, 0, t>>>(d, out);
    CK(cudaDeviceSynchronize());
    return 0;
}
