// BUILD: -DA
// VERDICT: clean
// EXIT: 0
/* L05: two events hand an order on through a stream that does nothing itself. */
#include "common.h"

int main(void)
{
    cudaStream_t s, t, n = new_stream(cudaStreamNonBlocking);
    cudaEvent_t e = new_event(), f = new_event();
    int *d = new_device(BYTES), *out = new_device(BYTES);
    CK(cudaStreamCreate(&s));
    CK(cudaStreamCreate(&t));
    fill<<<GRID, 256, 0, s>>>(d, 1);
    CK(cudaEventRecord(e, s));
    CK(cudaStreamWaitEvent(t, e, 0));
    CK(cudaEventRecord(f, t));
    CK(cudaStreamWaitEvent(n, f, 0));
    take<<<GRID, 256, 0, n>>>(d, out);
    CK(cudaDeviceSynchronize());
    return 0;
}
