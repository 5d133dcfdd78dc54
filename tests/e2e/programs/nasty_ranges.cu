// BUILD: -DEND=101
// VERDICT: clean
// EXIT: 0
// BUILD: -DEND=102
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAW 'bytes' [101,102) first=copy then=copy
// BUILD: -DEND=101 -DWITHIN
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'bytes' [300,333) first=copy then=copy
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'bytes' [300,333) first=copy then=copy
/* Copies of odd byte ranges, and copies within one buffer: the ranges that meet are exact. */
#include "common.h"

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    char *bytes = (char *)new_device(1024), *host = (char *)new_pinned(1024);
    memset(host, 1, 1024);
    CK(cudaMemcpyAsync(bytes + 1, host, END - 1, cudaMemcpyHostToDevice, a));
    CK(cudaMemcpyAsync(bytes + 101, host, 99, cudaMemcpyHostToDevice, b));
    CK(cudaMemcpyAsync(bytes + 200, bytes, 1, cudaMemcpyDeviceToDevice, a));
    CK(cudaMemsetAsync(bytes + 201, 2, 3, b));
#ifdef WITHIN
    CK(cudaMemcpyAsync(bytes + 300, bytes + 600, 33, cudaMemcpyDeviceToDevice, a));
    CK(cudaMemcpyAsync(bytes + 700, bytes + 290, 43, cudaMemcpyDeviceToDevice, b));
#else
    CK(cudaMemcpyAsync(bytes + 300, bytes + 600, 33, cudaMemcpyDeviceToDevice, a));
    CK(cudaMemcpyAsync(bytes + 700, bytes + 600, 33, cudaMemcpyDeviceToDevice, b));
#endif
    CK(cudaDeviceSynchronize());
    return 0;
}
