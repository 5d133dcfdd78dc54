// BUILD:
// RUN: --device virtual:2
// VERDICT: clean
// STDOUT: 8
// BUILD: -DPLAIN
// RUN: --device virtual:2
// VERDICT: errors
// FINDING: error SSAN-RAW 'a' [0,16384) first=kernel:fill then=copy
// FINDING: error SSAN-RAW 'b' [0,16384) first=copy then=kernel:take
/* cudaMemcpyPeer whose two ends are on one device, while another one is current, acts in the legacy streams of both
 * (R-COPY-14). PLAIN: cudaMemcpy stands in the current device's default stream alone (R-COPY-7). */
#include "common.h"
int main(void)
{
    int *a = new_device(BYTES), *b = new_device(BYTES), *out = new_device(BYTES), host[4];
    fill<<<GRID, 256>>>(a, 7);
    CK(cudaSetDevice(1));
#ifndef PLAIN
    CK(cudaMemcpyPeer(b, 0, a, 0, BYTES));
#else
    CK(cudaMemcpy(b, a, BYTES, cudaMemcpyDeviceToDevice));
#endif
    CK(cudaSetDevice(0));
    take<<<GRID, 256>>>(b, out);
    CK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d\n", host[1]);
    CK(cudaDeviceSynchronize());
    CK(cudaSetDevice(1));
    CK(cudaDeviceSynchronize());
    return 0;
}
