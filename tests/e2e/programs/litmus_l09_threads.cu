// RUN: --threads strict
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-EVENT-RACE nearest=host-threads
// RUN: --threads observed
// VERDICT: clean
// EXIT: 0
/* L09: record and wait in two host threads that nothing orders. A semaphore without annotations
 * keeps the trace's order. */
#include "common.h"

#include <semaphore.h>
#include <thread>

int main(void)
{
    cudaStream_t s = new_stream(0), t = new_stream(0);
    cudaEvent_t e = new_event();
    int *d = new_device(BYTES), *out = new_device(BYTES);
    sem_t recorded;
    sem_init(&recorded, 0, 0);
    std::thread second([&] {
        sem_wait(&recorded);
        CK(cudaStreamWaitEvent(t, e, 0));
        take<<<GRID, 256, 0, t>>>(d, out);
    });
    fill<<<GRID, 256, 0, s>>>(d, 1);
    CK(cudaEventRecord(e, s));
    sem_post(&recorded);
    second.join();
    CK(cudaDeviceSynchronize());
    return 0;
}
