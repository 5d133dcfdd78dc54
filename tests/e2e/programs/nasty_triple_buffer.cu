// BUILD:
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// BUILD: -DRACY
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAR 'slots' first=kernel:take then=kernel:fill
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAR 'slots' first=kernel:take then=kernel:fill
/* Slots go round between a producer and a consumer; the racy one has fewer slots than events, so
 * that it waits for what the consumer gave back a round too early (modulo of the wrong count). */
#include "common.h"

#ifdef RACY
enum { SLOTS = 2 };
#else
enum { SLOTS = 3 };
#endif
enum { EVENTS = 3, ROUNDS = 9 };

int main(void)
{
    cudaStream_t producer = new_stream(cudaStreamNonBlocking);
    cudaStream_t consumer = new_stream(cudaStreamNonBlocking);
    cudaEvent_t filled[EVENTS], taken[EVENTS];
    int *slots = new_device((size_t)SLOTS * BYTES), *out = new_device(BYTES);
    for (int i = 0; i < EVENTS; i++) {
        filled[i] = new_event();
        taken[i] = new_event();
    }
    for (int round = 0; round < ROUNDS; round++) {
        int slot = round % SLOTS, event = round % EVENTS;
        if (round >= EVENTS) {
            CK(cudaStreamWaitEvent(producer, taken[event], 0));
        }
        fill<<<GRID, 256, 0, producer>>>(slots + slot * COUNT, round);
        CK(cudaEventRecord(filled[event], producer));
        CK(cudaStreamWaitEvent(consumer, filled[event], 0));
        take<<<GRID, 256, 0, consumer>>>(slots + slot * COUNT, out);
        CK(cudaEventRecord(taken[event], consumer));
    }
    CK(cudaDeviceSynchronize());
    return 0;
}
