// BUILD: -DA
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'd' [0,16384) first=kernel:fill then=kernel:take nearest=never-recorded fix=checked
// MAY: advice SSAN-EVENT-UNRECORDED
/* L06: a wait for an event that is recorded only later orders nothing. */
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
    CK(cudaStreamWaitEvent(t, e, 0));
    fill<<<GRID, 256, 0, s>>>(d, 1);
    CK(cudaEventRecord(e, s));
    take<<<GRID, 256, 0, t>>>(d, out);
    CK(cudaDeviceSynchronize());
    return 0;
}
