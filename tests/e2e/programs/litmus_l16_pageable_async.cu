// BUILD: -DA
// VERDICT: clean
// EXIT: 0
// FINDING: warning SSAN-RAW first=copy then=host-read by=A2 nearest=host-late
// RUN: --order documented
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW first=copy then=host-read
// BUILD: -DB
// VERDICT: clean
// EXIT: 0
/* L16: an asynchronous download to pageable memory waits today, but no manual promises it; host to
 * host always waits. */
#include "common.h"

int main(void)
{
    cudaStream_t n = new_stream(cudaStreamNonBlocking);
    int *d = new_device(BYTES), *pin = new_pinned(BYTES), *pin2 = new_pinned(BYTES);
    int *pag = (int *)malloc(BYTES);
#ifdef A
    fill<<<GRID, 256, 0, n>>>(d, 1);
    CK(cudaMemcpyAsync(pag, d, BYTES, cudaMemcpyDeviceToHost, n));
    SSAN_HOST_READ(pag, BYTES);
#else
    fill<<<GRID, 256, 0, n>>>(pin, 1);
    CK(cudaMemcpyAsync(pin2, pin, BYTES, cudaMemcpyHostToHost, n));
    SSAN_HOST_READ(pin2, BYTES);
#endif
    CK(cudaDeviceSynchronize());
    free(pag);
    return 0;
}
