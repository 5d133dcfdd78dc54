// BUILD: -DA
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'pin' [0,16384) first=copy then=host-read fix=checked
// BUILD: -DB
// VERDICT: clean
// EXIT: 0
// BUILD: -DC
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'pin' [0,16384) first=copy then=host-read
/* L15: the pinned target of a download has the data only behind a join of that stream. */
#include "common.h"

int main(void)
{
    cudaStream_t s = new_stream(0), t = new_stream(0);
    int *d = new_device(BYTES), *pin;
    CK(cudaMallocHost((void **)&pin, BYTES));
    fill<<<GRID, 256, 0, s>>>(d, 1);
    CK(cudaMemcpyAsync(pin, d, BYTES, cudaMemcpyDeviceToHost, s));
#if defined B
    CK(cudaStreamSynchronize(s));
#elif defined C
    CK(cudaStreamSynchronize(t));
#endif
    (void)t;
    SSAN_HOST_READ(pin, BYTES);
    CK(cudaDeviceSynchronize());
    return 0;
}
