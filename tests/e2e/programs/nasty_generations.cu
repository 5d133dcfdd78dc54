// BUILD:
// VERDICT: clean
// EXIT: 0
// STDOUT: again: same address
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// BUILD: -DDOUBLE_FREE
// VERDICT: clean
// EXIT: 0
// STDOUT: second free: invalid argument
// BUILD: -DAFTER_FREE
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-USE-AFTER-FREE then=kernel:fill
// BUILD: -DIN_FLIGHT
// VERDICT: clean
// EXIT: 0
// FINDING: warning SSAN-FREE-IN-FLIGHT first=kernel:fill by=R-IMPL-4
// RUN: --order documented --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-FREE-IN-FLIGHT first=kernel:fill
/* An address lives many times; what an earlier life left in flight is no race with the next. */
#include "common.h"

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    int *before = NULL, same = 0;
    for (int life = 0; life < 8; life++) {
        int *p;
        CK(cudaMalloc((void **)&p, BYTES));
        same += p == before;
        before = p;
        fill<<<GRID, 256, 0, life % 2 ? a : b>>>(p, life);
#ifndef IN_FLIGHT
        CK(cudaDeviceSynchronize());
#endif
        CK(cudaFree(p));
    }
    printf("again: %s\n", same ? "same address" : "another address");
#ifdef DOUBLE_FREE
    printf("second free: %s\n", cudaGetErrorString(cudaFree(before)));
#endif
#ifdef AFTER_FREE
    fill<<<GRID, 256, 0, a>>>(before, 1);
#endif
    cudaDeviceSynchronize();
    return 0;
}
