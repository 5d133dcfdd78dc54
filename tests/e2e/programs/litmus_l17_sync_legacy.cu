// BUILD: -DA
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'pin2' [0,16384) first=kernel:fill then=host-read
/* L17: synchronising the legacy stream covers blocking streams only. */
#include "common.h"

int main(void)
{
    cudaStream_t s = new_stream(0), n = new_stream(cudaStreamNonBlocking);
    int *pin, *pin2;
    CK(cudaMallocHost((void **)&pin, BYTES));
    CK(cudaMallocHost((void **)&pin2, BYTES));
    fill<<<GRID, 256, 0, s>>>(pin, 1);
    fill<<<GRID, 256, 0, n>>>(pin2, 2);
    CK(cudaStreamSynchronize(0));
    SSAN_HOST_READ(pin, BYTES);
    SSAN_HOST_READ(pin2, BYTES);
    CK(cudaDeviceSynchronize());
    return 0;
}
