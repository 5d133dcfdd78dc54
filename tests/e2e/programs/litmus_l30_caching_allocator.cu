// BUILD: -DA
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAR 'slab' [0,16384) first=kernel:take then=kernel:fill
// BUILD: -DB
// VERDICT: clean
// EXIT: 0
/* L30: a block of a caching allocator, used on a second stream, comes back to its owner. */
#include "common.h"

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    cudaEvent_t e = new_event(), f = new_event();
    int *slab, *out = new_device(BYTES);
    CK(cudaMalloc((void **)&slab, 4 * BYTES));
    fill<<<GRID, 256, 0, a>>>(slab, 1);
    CK(cudaEventRecord(e, a));
    CK(cudaStreamWaitEvent(b, e, 0));
    take<<<GRID, 256, 0, b>>>(slab, out);
#ifdef B
    CK(cudaEventRecord(f, b));
    while (cudaEventQuery(f) != cudaSuccess) {
    }
#endif
    (void)f;
    fill<<<GRID, 256, 0, a>>>(slab, 2);
    CK(cudaDeviceSynchronize());
    return 0;
}
