// BUILD: -DA
// VERDICT: clean
// EXIT: 0
// BUILD: -DB
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'd' [0,16384) first=kernel:fill then=kernel:take nearest=re-recorded fix=checked
/* L08: a wait keeps the record that was current at its call. */
#include "common.h"

int main(void)
{
    cudaStream_t s, t, u;
    cudaEvent_t e;
    int *d = new_device(BYTES), *out = new_device(BYTES);
    SSAN_NAME(d, "d");
    CK(cudaStreamCreate(&s));
    CK(cudaStreamCreate(&t));
    CK(cudaStreamCreate(&u));
    CK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    fill<<<GRID, 256, 0, s>>>(d, 1);
    CK(cudaEventRecord(e, s));
#ifdef A
    CK(cudaStreamWaitEvent(t, e, 0));
    CK(cudaEventRecord(e, u));
#else
    CK(cudaEventRecord(e, u));
    CK(cudaStreamWaitEvent(t, e, 0));
#endif
    take<<<GRID, 256, 0, t>>>(d, out);
    CK(cudaDeviceSynchronize());
    return 0;
}
