// BUILD:
// VERDICT: clean
// EXIT: 0
// STDOUT: 3000
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// STDOUT: 3000
// BUILD: -DRACY
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'counter' [0,4) first=kernel:bump then=kernel:bump
// RUN: --schedule random:4
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'counter' [0,4) first=kernel:bump then=kernel:bump
/* Thousands of small launches handed from stream to stream through 300 events; one of the 3000
 * waits is missing in the racy one. */
#include "common.h"

enum { LAUNCHES = 3000, EVENTS = 300, STREAMS = 7 };

static __global__ void bump(int *counter)
{
    *counter += 1;
}

int main(void)
{
    cudaStream_t streams[STREAMS];
    cudaEvent_t events[EVENTS];
    int *counter = new_device(sizeof(int)), got = 0;
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = new_stream(cudaStreamNonBlocking);
    }
    for (int i = 0; i < EVENTS; i++) {
        events[i] = new_event();
    }
    for (int i = 0; i < LAUNCHES; i++) {
        cudaStream_t s = streams[i % STREAMS];
#ifdef RACY
        if (i != 2345)
#endif
            if (i > 0) {
                CK(cudaStreamWaitEvent(s, events[(i - 1) % EVENTS], 0));
            }
        bump<<<1, 1, 0, s>>>(counter);
        CK(cudaEventRecord(events[i % EVENTS], s));
    }
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(&got, counter, sizeof got, cudaMemcpyDeviceToHost));
    printf("%d\n", got);
    return 0;
}
