// BUILD: -DA
// VERDICT: clean
// EXIT: 0
// FINDING: warning SSAN-FREE-IN-FLIGHT 'p' [0,16384) first=kernel:fill by=R-IMPL-4
// RUN: --order documented
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-FREE-IN-FLIGHT 'p' [0,16384) first=kernel:fill
// BUILD: -DB
// VERDICT: clean
// EXIT: 0
/* L19(a): cudaFree under a running kernel: drivers wait, the manual does not promise it. */
#include "common.h"

int main(void)
{
    cudaStream_t s = new_stream(0);
    int *p;
    CK(cudaMalloc((void **)&p, BYTES));
    fill<<<GRID, 256, 0, s>>>(p, 1);
#ifdef B
    CK(cudaStreamSynchronize(s));
#endif
    CK(cudaFree(p));
    CK(cudaDeviceSynchronize());
    return 0;
}
