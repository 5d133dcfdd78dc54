// BUILD:
// RUN: --device virtual:2
// VERDICT: errors
// FINDING: error SSAN-RAW 'page' [0,16384) first=copy then=host-read
// RUN: --device virtual:2 --format text --output /dev/stderr
// SAYS: +   cudaSetDevice(1);
// SAYS: +   cudaStreamSynchronize(0);
// SAYS: +   cudaSetDevice(ssan_device);
// SAYS: with this change the trace has no finding left
// BUILD: -DRIGHT
// RUN: --device virtual:2
// VERDICT: clean
// BUILD: -DDOWNLOAD
// RUN: --device virtual:2
// VERDICT: errors
// FINDING: error SSAN-RAW 'b' [0,16384) first=kernel:fill then=copy
/* cudaDeviceSynchronize joins the current device only (R-HOST-1), and so the fix must make the other one current, and this
 * one again. DOWNLOAD: cudaMemcpy of device 1's memory with device 0 current stands in device 0's default stream (R-COPY-7). */
#include "common.h"
int main(void)
{
    int *b, *page = new_pinned(BYTES);
    CK(cudaSetDevice(1));
    b = new_device(BYTES);
    fill<<<GRID, 256>>>(b, 3);
#ifndef DOWNLOAD
    CK(cudaMemcpyAsync(page, b, BYTES, cudaMemcpyDeviceToHost, 0));
#endif
#ifndef RIGHT
    CK(cudaSetDevice(0));
#endif
#ifdef DOWNLOAD
    CK(cudaMemcpy(page, b, BYTES, cudaMemcpyDeviceToHost));
#else
    CK(cudaDeviceSynchronize());
    SSAN_HOST_READ(page, BYTES);
#endif
    CK(cudaSetDevice(1));
    CK(cudaDeviceSynchronize());
    return 0;
}
