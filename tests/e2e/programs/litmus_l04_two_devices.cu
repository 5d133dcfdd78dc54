// BUILD: -DA
// RUN: --device virtual:2
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'd' [0,16384) first=kernel:fill then=kernel:take
// RUN: --device virtual:2 --schedule lazy
// VERDICT: errors
// FINDING: error SSAN-RAW 'd' [0,16384) first=kernel:fill then=kernel:take
// BUILD: -DC
// RUN: --device virtual:2
// VERDICT: errors
// FINDING: error SSAN-RAW 'd' [0,16384) first=kernel:fill then=kernel:take nearest=peer-default fix=checked
// RUN: --device virtual:2 --format text --output /dev/stderr
// SAYS: take on 'legacy#2' (device 1) reads 'd' before fill on 'legacy' (device 0)
// SAYS: +   cudaSetDevice(0);
// SAYS: +   cudaSetDevice(1);
// BUILD: -DB
// RUN: --device virtual:2
// VERDICT: clean
// EXIT: 0
// STDOUT: 8
// RUN: --device virtual:2 --schedule lazy
// VERDICT: clean
// STDOUT: 8
/* L04: the default streams of two devices, with peer access; B: an event between them; C: no event at all. */
#include "common.h"

int main(void)
{
    int *d = new_device(BYTES), *out, host[4];
    cudaEvent_t filled = new_event();
    fill<<<GRID, 256>>>(d, 7);
#ifndef C
    CK(cudaEventRecord(filled, 0));
#endif
    CK(cudaSetDevice(1));
    out = new_device(BYTES);
    CK(cudaDeviceEnablePeerAccess(0, 0));
#ifdef B
    CK(cudaStreamWaitEvent(0, filled, 0));
#endif
    take<<<GRID, 256>>>(d, out);
    CK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    CK(cudaSetDevice(0));
    CK(cudaDeviceSynchronize());
    printf("%d\n", host[1]);
    return 0;
}
