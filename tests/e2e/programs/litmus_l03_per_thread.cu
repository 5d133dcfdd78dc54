// BUILD: -DA
// VERDICT: clean
// EXIT: 0
// BUILD: -DB
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'd' [0,16384) first=kernel:fill then=kernel:take
/* L03: the per-thread default stream against the legacy one, and those of two threads. */
#include "common.h"

#include <thread>

int main(void)
{
    int *d = new_device(BYTES), *out = new_device(BYTES);
    SSAN_NAME(d, "d");
#ifdef A
    fill<<<GRID, 256, 0, cudaStreamPerThread>>>(d, 1);
    take<<<GRID, 256, 0, cudaStreamLegacy>>>(d, out);
#else
    fill<<<GRID, 256, 0, cudaStreamPerThread>>>(d, 1);
    std::thread([&] { take<<<GRID, 256, 0, cudaStreamPerThread>>>(d, out); }).join();
#endif
    CK(cudaDeviceSynchronize());
    return 0;
}
