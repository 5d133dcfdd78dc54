// BUILD:
// RUN: --device virtual:2
// VERDICT: errors
// FINDING: error SSAN-RAW 'b' [0,16384) first=kernel:fill then=copy
// RUN: --device virtual:2 --format text --output /dev/stderr
// SAYS: +   cudaGetDevice(&ssan_device);
// SAYS: +   cudaSetDevice(ssan_device);
/* The copy stands in a stream of device 0 while device 1 is current (R-STREAM-15), and so it must be behind the printed
 * fix: the launch that follows is one of device 1. */
#include "common.h"
int main(void)
{
    int *a = new_device(BYTES), *b, *c;
    cudaStream_t s0 = new_stream(cudaStreamNonBlocking), s1;
    CK(cudaSetDevice(1));
    s1 = new_stream(cudaStreamNonBlocking);
    b = new_device(BYTES);
    c = new_device(BYTES);
    fill<<<GRID, 256, 0, s1>>>(b, 1);
    CK(cudaMemcpyPeerAsync(a, 0, b, 1, BYTES, s0));
    fill<<<GRID, 256, 0, s1>>>(c, 2);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    CK(cudaStreamSynchronize(s0));
    return 0;
}
