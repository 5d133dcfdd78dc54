// BUILD:
// VERDICT: clean
// EXIT: 0
// BUILD: -DRECORD
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,16384) first=kernel:fill then=kernel:take
// RUN: --schedule random:3
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,16384) first=kernel:fill then=kernel:take
// BUILD: -DWAIT
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,16384) first=kernel:fill then=kernel:take nearest=recorded-not-waited fix=checked
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,16384) first=kernel:fill then=kernel:take nearest=recorded-not-waited fix=checked
// BUILD: -DSYNC
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' first=kernel:fill then=kernel:take fix=checked
/* The event is recorded on the stream that did not write, or the stream that does not read
 * waits, or the host joins the wrong one. */
#include "common.h"

int main(void)
{
    cudaStream_t compute = new_stream(cudaStreamNonBlocking);
    cudaStream_t copier = new_stream(cudaStreamNonBlocking);
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    cudaEvent_t ready = new_event();
    int *data = new_device(BYTES), *out = new_device(BYTES);
    cudaStream_t recorded = compute, waiting = copier;
#if defined RECORD
    recorded = copier;
#elif defined WAIT
    waiting = other;
#endif
    fill<<<GRID, 256, 0, compute>>>(data, 1);
#ifdef SYNC
    CK(cudaStreamSynchronize(other));
#else
    CK(cudaEventRecord(ready, recorded));
    CK(cudaStreamWaitEvent(waiting, ready, 0));
#endif
    take<<<GRID, 256, 0, copier>>>(data, out);
    (void)recorded, (void)waiting, (void)ready;
    CK(cudaDeviceSynchronize());
    return 0;
}
