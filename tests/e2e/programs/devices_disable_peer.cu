// BUILD:
// RUN: --device virtual:2
// VERDICT: incomplete
// EXIT: 67
// RUN: --device virtual:2 --schedule lazy
// VERDICT: incomplete
// EXIT: 67
// BUILD: -DJOINED
// RUN: --device virtual:2
// VERDICT: clean
/* Peer access is taken away while a kernel may still read the peer's memory: a fault (R-IMPL-3) that is not judged, whatever the
 * schedule. */
#include "common.h"
int main(void)
{
    int *a = new_device(BYTES), *out;
    fill<<<GRID, 256>>>(a, 7);
    CK(cudaDeviceSynchronize());
    CK(cudaSetDevice(1));
    out = new_device(BYTES);
    CK(cudaDeviceEnablePeerAccess(0, 0));
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    take<<<GRID, 256, 0, s>>>(a, out);
#ifdef JOINED
    CK(cudaStreamSynchronize(s));
#endif
    CK(cudaDeviceDisablePeerAccess(0));
    (void)cudaDeviceSynchronize();
    return 0;
}
