// BUILD: -DWAITS
// VERDICT: clean
// EXIT: 0
// BUILD:
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'd' [0,16384) first=kernel:fill then=kernel:take
/* A thread whose first call of CUDA is the one that waits: it counts, although the thread has met
 * no context before. */
#include "common.h"

#include <thread>

int main(void)
{
    cudaStream_t first = new_stream(cudaStreamNonBlocking), second = new_stream(cudaStreamNonBlocking);
    cudaEvent_t ready = new_event();
    int *d = new_device(BYTES), *out = new_device(BYTES);
    SSAN_NAME(d, "d");
    fill<<<GRID, 256, 0, first>>>(d, 1);
    CK(cudaEventRecord(ready, first));
    std::thread waiter([ready] {
#ifdef WAITS
        CK(cudaEventSynchronize(ready));
#endif
        (void)ready;
    });
    waiter.join();
    take<<<GRID, 256, 0, second>>>(d, out);
    CK(cudaDeviceSynchronize());
    return 0;
}
