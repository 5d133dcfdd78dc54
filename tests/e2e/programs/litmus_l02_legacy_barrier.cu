// BUILD: -DA
// VERDICT: clean
// EXIT: 0
// BUILD: -DB
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'd' [0,16384) first=kernel:fill then=kernel:take nearest=legacy-exempt fix=checked
/* L02: a kernel in the legacy stream between two blocking streams, and behind a non-blocking one.
 */
#include "common.h"

int main(void)
{
    cudaStream_t first, t;
    int *d = new_device(BYTES), *other = new_device(BYTES), *out = new_device(BYTES);
    SSAN_NAME(d, "d");
    CK(cudaStreamCreate(&t));
#ifdef A
    CK(cudaStreamCreate(&first));
#else
    CK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
#endif
    fill<<<GRID, 256, 0, first>>>(d, 1);
    fill<<<GRID, 256>>>(other, 2);
    take<<<GRID, 256, 0, t>>>(d, out);
    CK(cudaDeviceSynchronize());
    return 0;
}
