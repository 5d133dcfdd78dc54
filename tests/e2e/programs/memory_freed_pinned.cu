// BUILD: -DCOPY_FROM
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-USE-AFTER-FREE 'h' [0,1048576) then=copy
// RUN: --schedule eager
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-USE-AFTER-FREE 'h' [0,1048576) then=copy
// BUILD: -DCOPY_TO
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-USE-AFTER-FREE 'h' [0,1048576) then=copy
// BUILD: -DSET
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-USE-AFTER-FREE 'h' [0,1048576) then=memset
// BUILD: -DREUSED
// VERDICT: clean
// EXIT: 0
// BUILD: -DREGISTERED
// VERDICT: clean
// EXIT: 0
/* Page-locked memory after its end: its addresses are nobody else's, so a late operation is found;
 * memory that was only registered is ordinary memory again. */
#include "common.h"

#include <string.h>

enum { BIG = 1 << 20 }; /* mapped by itself */

int main(void)
{
    cudaStream_t s = new_stream(0);
    int *d = new_device(BIG);
    int *h = new_pinned(BIG);
    memset(h, 1, BIG);
#ifdef REGISTERED
    int *plain = (int *)calloc(1, BIG);
    CK(cudaHostRegister(plain, BIG, 0));
    CK(cudaMemcpyAsync(d, plain, BIG, cudaMemcpyHostToDevice, s));
    CK(cudaStreamSynchronize(s));
    CK(cudaHostUnregister(plain));
    CK(cudaMemcpyAsync(d, plain, BIG, cudaMemcpyHostToDevice, s));
    CK(cudaStreamSynchronize(s));
#endif
    CK(cudaFreeHost(h));
#if defined COPY_FROM
    CK(cudaMemcpyAsync(d, h, BIG, cudaMemcpyHostToDevice, s));
#elif defined COPY_TO
    CK(cudaMemcpyAsync(h, d, BIG, cudaMemcpyDeviceToHost, s));
#elif defined SET
    CK(cudaMemsetAsync(h, 0, BIG, s));
#elif defined REUSED
    for (int i = 0; i < 8; i++) {
        void *plain = malloc(BIG - 64); /* the size that fits where the page-locked block was */
        memset(plain, i, BIG - 64);
        CK(cudaMemcpyAsync(d, plain, BIG - 64, cudaMemcpyHostToDevice, s));
    }
    int *again = new_pinned(BIG);
    CK(cudaMemcpyAsync(again, d, BIG, cudaMemcpyDeviceToHost, s));
#endif
    CK(cudaDeviceSynchronize());
    return 0;
}
