// BUILD: -DASYNC
// RUN: --device virtual:2
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'd1' [0,16384) first=copy then=kernel:take
// BUILD: -DASYNC -DEVENT
// RUN: --device virtual:2 --schedule lazy
// VERDICT: clean
// STDOUT: 8
// BUILD: -DSTREAM=cudaStreamDefault
// RUN: --device virtual:2 --schedule lazy
// VERDICT: clean
// EXIT: 0
// STDOUT: 8
// BUILD: -DSTREAM=cudaStreamDefault -DMEMCPY
// RUN: --device virtual:2 --schedule random:3
// VERDICT: clean
// STDOUT: 8
// BUILD: -DSTREAM=cudaStreamNonBlocking
// RUN: --device virtual:2
// VERDICT: errors
// FINDING: error SSAN-RAW 'd1' [0,16384) first=copy then=kernel:take
/* L29: a peer copy is an item of both legacy streams; in a stream of its own it is nothing to the
 * other device. */
#include "common.h"

#ifndef STREAM
#define STREAM cudaStreamDefault
#endif

int main(void)
{
    int *d0 = new_device(BYTES), *d1, *out, host[4];
    cudaStream_t s0 = new_stream(cudaStreamDefault), s1;
    cudaEvent_t copied = new_event();
    CK(cudaSetDevice(1));
    d1 = new_device(BYTES);
    out = new_device(BYTES);
    s1 = new_stream(STREAM);
    CK(cudaSetDevice(0));
    fill<<<GRID, 256, 0, s0>>>(d0, 7);
#if defined(ASYNC)
    CK(cudaMemcpyPeerAsync(d1, 1, d0, 0, BYTES, s0));
    CK(cudaEventRecord(copied, s0));
#elif defined(MEMCPY)
    CK(cudaMemcpy(d1, d0, BYTES, cudaMemcpyDefault));
#else
    CK(cudaMemcpyPeer(d1, 1, d0, 0, BYTES));
#endif
    CK(cudaSetDevice(1));
#ifdef EVENT
    CK(cudaStreamWaitEvent(s1, copied, 0));
#endif
    take<<<GRID, 256, 0, s1>>>(d1, out);
    CK(cudaMemcpyAsync(host, out, sizeof host, cudaMemcpyDeviceToHost, s1));
    CK(cudaStreamSynchronize(s1));
    printf("%d\n", host[1]);
    CK(cudaSetDevice(0));
    CK(cudaDeviceSynchronize());
    return 0;
}
