// BUILD: -DWAITS
// RUN: --device virtual:3
// VERDICT: clean
// EXIT: 0
// STDOUT: sum 1008
// MAY: advice SSAN-EVENT-UNRECORDED
// RUN: --device virtual:3 --schedule lazy
// VERDICT: clean
// STDOUT: sum 1008
// MAY: advice SSAN-EVENT-UNRECORDED
// RUN: --device virtual:3 --schedule random:11
// VERDICT: clean
// STDOUT: sum 1008
// MAY: advice SSAN-EVENT-UNRECORDED
// BUILD: -DWAITS -DEARLY
// RUN: --device virtual:3
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAR 'in1' [0,16384) first=kernel:take then=copy
// MAY: advice SSAN-EVENT-UNRECORDED
/* A batch goes from device 0 over device 1 to device 2, each with a stream of its own; slots come
 * back by events. EARLY: device 0 doesn't wait until device 1 has read the last batch. */
#include "common.h"

enum { BATCHES = 4 };

int main(void)
{
    int *host = new_pinned(BATCHES * sizeof *host);
    long long sum = 0;
    int *d[3], *in1, *in2;
    cudaStream_t s[3];
    cudaEvent_t sent1 = NULL, sent2 = NULL, read1 = NULL, read2 = NULL;
    for (int i = 0; i < 3; i++) {
        CK(cudaSetDevice(i));
        s[i] = new_stream(cudaStreamNonBlocking);
        d[i] = new_device(BYTES);
    }
    CK(cudaSetDevice(0));
    sent1 = new_event();
    CK(cudaSetDevice(1));
    in1 = new_device(BYTES);
    sent2 = new_event();
    read1 = new_event();
    CK(cudaSetDevice(2));
    in2 = new_device(BYTES);
    read2 = new_event();
    for (int batch = 0; batch < BATCHES; batch++) {
        CK(cudaSetDevice(0));
        fill<<<GRID, 256, 0, s[0]>>>(d[0], 100 * (batch + 1));
#ifndef EARLY
        CK(cudaStreamWaitEvent(s[0], read1, 0));
#endif
        CK(cudaMemcpyPeerAsync(in1, 1, d[0], 0, BYTES, s[0]));
        CK(cudaEventRecord(sent1, s[0]));
        CK(cudaSetDevice(1));
        CK(cudaStreamWaitEvent(s[1], sent1, 0));
        take<<<GRID, 256, 0, s[1]>>>(in1, d[1]);
        CK(cudaEventRecord(read1, s[1]));
        CK(cudaStreamWaitEvent(s[1], read2, 0));
        CK(cudaMemcpyAsync(in2, d[1], BYTES, cudaMemcpyDefault, s[1]));
        CK(cudaEventRecord(sent2, s[1]));
        CK(cudaSetDevice(2));
        CK(cudaStreamWaitEvent(s[2], sent2, 0));
        take<<<GRID, 256, 0, s[2]>>>(in2, d[2]);
        CK(cudaEventRecord(read2, s[2]));
        CK(cudaMemcpyAsync(host + batch, d[2], sizeof *host, cudaMemcpyDeviceToHost, s[2]));
    }
    for (int i = 0; i < 3; i++) {
        CK(cudaSetDevice(i));
        CK(cudaDeviceSynchronize());
    }
    for (int batch = 0; batch < BATCHES; batch++) {
        sum += host[batch];
    }
    printf("sum %lld\n", sum);
    return 0;
}
