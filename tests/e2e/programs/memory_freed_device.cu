// BUILD: -DREAD
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-USE-AFTER-FREE 'p' [0,4) then=kernel:take
// BUILD: -DWRITE
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-USE-AFTER-FREE 'p' [0,4) then=kernel:fill
// BUILD: -DPINNED
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-USE-AFTER-FREE 'p' [0,4) then=kernel:fill
// BUILD: -DOUTSIDE
// VERDICT: incomplete
// EXIT: 67
/* A kernel that touches freed memory faults, and the report says more than that; one that only
 * runs over an end does not touch what was freed. */
#include "common.h"

int main(void)
{
    int *out = new_device(BYTES);
#ifdef PINNED
    int *p = new_pinned(BYTES);
    CK(cudaFreeHost(p));
#else
    int *p = new_device(BYTES);
    CK(cudaFree(p));
#endif
#if defined READ
    take<<<GRID, 256>>>(p, out);
#elif defined OUTSIDE
    fill<<<GRID, 256>>>(out + 64, 1);
#else
    fill<<<GRID, 256>>>(p, 1);
#endif
    cudaDeviceSynchronize();
    return 0;
}
