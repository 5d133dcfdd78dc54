// BUILD: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
// VERDICT: clean
// EXIT: 0
// SAYS: host threads as observed
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// BUILD: -DCUDA_API_PER_THREAD_DEFAULT_STREAM -DRACY
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAW 'shared_total' [0,16384) first=kernel:fill then=kernel:fill
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAW 'shared_total' [0,16384) first=kernel:fill then=kernel:fill
// BUILD: -DRACY
// VERDICT: clean
// EXIT: 0
/* Each thread works on its own default stream and ends: with the per-thread default stream a
 * buffer of all threads is written without order, with the legacy one it is not. */
#include "common.h"

#include <thread>

int main(void)
{
    int *shared_total = new_device(BYTES);
    int *own[3] = {new_device(BYTES), new_device(BYTES), new_device(BYTES)};
    for (int i = 0; i < 3; i++) {
        std::thread([=] {
            fill<<<GRID, 256>>>(own[i], i);
            take<<<GRID, 256>>>(own[i], own[i]);
#ifndef RACY
            CK(cudaStreamSynchronize(0));
#endif
            fill<<<GRID, 256>>>(shared_total, i);
#ifndef RACY
            CK(cudaStreamSynchronize(0));
#endif
        }).join();
    }
    CK(cudaDeviceSynchronize());
    return 0;
}
