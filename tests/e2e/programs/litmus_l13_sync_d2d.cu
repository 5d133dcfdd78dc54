// BUILD: -DA
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'd2' [0,16384) first=copy then=kernel:take
/* L13: a synchronous copy within the device does not wait. */
#include "common.h"

int main(void)
{
    cudaStream_t n = new_stream(cudaStreamNonBlocking);
    int *d1 = new_device(BYTES), *d2, *out = new_device(BYTES);
    CK(cudaMalloc((void **)&d2, BYTES));
    CK(cudaMemcpy(d2, d1, BYTES, cudaMemcpyDeviceToDevice));
    take<<<GRID, 256, 0, n>>>(d2, out);
    CK(cudaDeviceSynchronize());
    return 0;
}
