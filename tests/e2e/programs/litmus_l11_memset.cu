// BUILD: -DA
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'd' [0,16384) first=memset then=kernel:take
// BUILD: -DB
// VERDICT: clean
// EXIT: 0
/* L11: cudaMemset of device memory does not wait, and holds back blocking streams only. */
#include "common.h"

int main(void)
{
    cudaStream_t s;
    int *d, *out = new_device(BYTES);
    CK(cudaMalloc((void **)&d, BYTES));
#ifdef A
    CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
#else
    CK(cudaStreamCreate(&s));
#endif
    CK(cudaMemset(d, 0, BYTES));
    take<<<GRID, 256, 0, s>>>(d, out);
    CK(cudaDeviceSynchronize());
    return 0;
}
