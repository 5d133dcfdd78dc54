// BUILD: -DA
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'd' [0,16384) first=kernel:fill then=kernel:take nearest=none fix=checked
// BUILD: -DB
// VERDICT: clean
// EXIT: 0
/* L01: two operations in two streams, and in one. */
#include "common.h"

int main(void)
{
    cudaStream_t s, t;
    int *d = new_device(BYTES), *out = new_device(BYTES);
    SSAN_NAME(d, "d");
    CK(cudaStreamCreate(&s));
    CK(cudaStreamCreate(&t));
#ifdef A
    fill<<<GRID, 256, 0, s>>>(d, 1);
    take<<<GRID, 256, 0, t>>>(d, out);
#else
    fill<<<GRID, 256, 0, s>>>(d, 1);
    take<<<GRID, 256, 0, s>>>(d, out);
#endif
    CK(cudaDeviceSynchronize());
    return 0;
}
