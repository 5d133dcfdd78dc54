// BUILD:
// VERDICT: clean
// EXIT: 0
// STDOUT: 7 12
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// STDOUT: 7 12
// BUILD: -DCONSTANT
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAW 'factors' [0,8) first=copy then=copy
// FINDING: folded error SSAN-WAR 'factors' [0,8) first=kernel:scale_by then=copy
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAW 'factors' [0,8) first=copy then=copy
// FINDING: folded error SSAN-WAR 'factors' [0,8) first=kernel:scale_by then=copy
// BUILD: -DGLOBAL
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'state' [4,8) first=kernel:store_state then=copy
/* Constant memory is written while a kernel may still read it; two streams use one device
 * variable. */
#include "common.h"

static __constant__ int factors[2];
static __device__ int state[2];

static __global__ void scale_by(int *out)
{
    *out = factors[0] + factors[1];
}

static __global__ void store_state(int value)
{
    state[1] = value;
}

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    int *out = new_device(4), *from = new_pinned(16), *got = new_pinned(8);
    from[0] = 3, from[1] = 4, from[2] = 30, from[3] = 40;
    CK(cudaMemcpyToSymbolAsync(factors, from, 8, 0, cudaMemcpyHostToDevice, a));
    scale_by<<<1, 1, 0, a>>>(out);
#ifndef CONSTANT
    CK(cudaStreamSynchronize(a));
#endif
    CK(cudaMemcpyToSymbolAsync(factors, from + 2, 8, 0, cudaMemcpyHostToDevice, b));
    store_state<<<1, 1, 0, a>>>(12);
#ifndef GLOBAL
    CK(cudaStreamSynchronize(a));
#endif
    CK(cudaMemcpyFromSymbolAsync(&got[1], state, 4, 4, cudaMemcpyDeviceToHost, b));
    CK(cudaMemcpyAsync(&got[0], out, 4, cudaMemcpyDeviceToHost, a));
    CK(cudaDeviceSynchronize());
    printf("%d %d\n", got[0], got[1]);
    return 0;
}
