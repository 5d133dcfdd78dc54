// BUILD:
// VERDICT: clean
// EXIT: 0
// STDOUT: 2 2
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// STDOUT: 2 2
// RUN: --schedule random:9
// VERDICT: clean
// EXIT: 0
// STDOUT: 2 2
// BUILD: -DRACY
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'late' [0,4) first=copy then=host-read
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'late' [0,4) first=copy then=host-read
/* The host polls an event, a stream, and a page-locked word that the device writes; a poll that
 * gives up without success orders nothing. */
#include "common.h"

#include <sched.h>

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    cudaEvent_t copied = new_event();
    int *d = new_device(BYTES), *early = new_pinned(4), *late = new_pinned(4);
    fill<<<GRID, 256, 0, a>>>(d, 2);
    CK(cudaMemcpyAsync(early, d, 4, cudaMemcpyDeviceToHost, a));
    CK(cudaEventRecord(copied, a));
    while (cudaEventQuery(copied) == cudaErrorNotReady) {
        sched_yield();
    }
    SSAN_HOST_READ(early, 4);
    CK(cudaMemcpyAsync(late, d, 4, cudaMemcpyDeviceToHost, b));
#ifdef RACY
    (void)cudaStreamQuery(a);
#else
    while (cudaStreamQuery(b) == cudaErrorNotReady) {
    }
#endif
    SSAN_HOST_READ(late, 4);
    printf("%d %d\n", *early, *late);
    CK(cudaDeviceSynchronize());
    return 0;
}
