// BUILD: -DA
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAR 'pin' [0,16384) first=copy then=host-write fix=checked
// BUILD: -DB
// VERDICT: clean
// EXIT: 0
/* L14: the pinned source of an upload is in use until the copy is joined. */
#include "common.h"

int main(void)
{
    cudaStream_t s = new_stream(0);
    int *d = new_device(BYTES), *pin;
    CK(cudaMallocHost((void **)&pin, BYTES));
    SSAN_HOST_WRITE(pin, BYTES);
    CK(cudaMemcpyAsync(d, pin, BYTES, cudaMemcpyHostToDevice, s));
#ifdef B
    CK(cudaStreamSynchronize(s));
#endif
    SSAN_HOST_WRITE(pin, BYTES);
    CK(cudaDeviceSynchronize());
    return 0;
}
