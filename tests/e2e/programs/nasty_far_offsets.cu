// BUILD:
// VERDICT: clean
// EXIT: 0
// BUILD: -DRACY
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAW 'huge' [2147483648,2147483652) first=kernel:store_at then=memset
/* Offsets beyond 31 bits: the bytes at 2 GiB are not the bytes at 0. */
#include "common.h"

static __global__ void store_at(char *base, size_t offset)
{
    *(int *)(base + offset) = 1;
}

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    const size_t far_away = (size_t)1 << 31;
    char *huge;
    CK(cudaMalloc((void **)&huge, far_away + 4096));
    store_at<<<1, 1, 0, a>>>(huge, far_away);
    store_at<<<1, 1, 0, a>>>(huge, far_away + 64);
#ifdef RACY
    CK(cudaMemsetAsync(huge + far_away, 0, 4, b));
#else
    CK(cudaMemsetAsync(huge, 0, 4, b));
#endif
    CK(cudaDeviceSynchronize());
    CK(cudaFree(huge));
    return 0;
}
