// BUILD:
// VERDICT: clean
// EXIT: 0
// STDOUT: 2
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// STDOUT: 2
// RUN: --schedule random:6
// VERDICT: clean
// EXIT: 0
// STDOUT: 2
// BUILD: -DRACY
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,16384) first=kernel:fill then=kernel:take fix=checked
// MAY: advice SSAN-PENDING-AT-EXIT
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,16384) first=kernel:fill then=kernel:take fix=checked
// MAY: advice SSAN-PENDING-AT-EXIT
/* Streams and events are destroyed while their work is pending: what was ordered stays so, and
 * destroying orders nothing, not even where a new stream gets the old handle. */
#include "common.h"

int main(void)
{
    cudaStream_t gone = new_stream(cudaStreamNonBlocking);
    int *data = new_device(BYTES), *out = new_device(BYTES), got = 0;
    fill<<<GRID, 256, 0, gone>>>(data, 1);
#ifndef RACY
    cudaEvent_t filled = new_event();
    CK(cudaEventRecord(filled, gone));
#endif
    CK(cudaStreamDestroy(gone));
    cudaStream_t fresh = new_stream(cudaStreamNonBlocking);
#ifndef RACY
    CK(cudaStreamWaitEvent(fresh, filled, 0));
    CK(cudaEventDestroy(filled));
#endif
    take<<<GRID, 256, 0, fresh>>>(data, out);
    cudaEvent_t taken = new_event();
    CK(cudaEventRecord(taken, fresh));
    CK(cudaStreamDestroy(fresh));
    CK(cudaEventSynchronize(taken));
    CK(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
    printf("%d\n", got);
    return 0;
}
