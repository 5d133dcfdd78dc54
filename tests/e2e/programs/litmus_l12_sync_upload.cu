// BUILD: -DA
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'd' first=copy then=kernel:take
// BUILD: -DB
// VERDICT: clean
// EXIT: 0
// BUILD: -DC
// VERDICT: clean
// EXIT: 0
// BUILD: -DC_SMALL
// VERDICT: clean
// EXIT: 0
// FINDING: warning SSAN-RAW 'd' first=copy then=kernel:take by=C2
// RUN: --order documented
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'd' first=copy then=kernel:take
// BUILD: -DDD
// VERDICT: clean
// EXIT: 0
/* L12: what a synchronous upload orders, from pageable and from pinned memory. */
#include "common.h"

int main(void)
{
    const size_t bytes = 1 << 20;
    cudaStream_t s, n = new_stream(cudaStreamNonBlocking);
    int *d, *out = new_device(bytes), *pag = (int *)malloc(bytes), *pin = new_pinned(bytes);
    CK(cudaMalloc((void **)&d, bytes));
    CK(cudaStreamCreate(&s));
    for (size_t i = 0; i < bytes / sizeof *pag; i++) {
        pag[i] = pin[i] = 1;
    }
    SSAN_HOST_WRITE(pag, bytes);
    SSAN_HOST_WRITE(pin, bytes);
#if defined A
    CK(cudaMemcpy(d, pag, bytes, cudaMemcpyHostToDevice));
    take<<<GRID, 256, 0, n>>>(d, out);
#elif defined B
    CK(cudaMemcpy(d, pag, bytes, cudaMemcpyHostToDevice));
    take<<<GRID, 256, 0, s>>>(d, out);
#elif defined C
    CK(cudaMemcpy(d, pin, bytes, cudaMemcpyHostToDevice));
    take<<<GRID, 256, 0, n>>>(d, out);
#elif defined C_SMALL
    CK(cudaMemcpy(d, pin, BYTES, cudaMemcpyHostToDevice));
    take<<<GRID, 256, 0, n>>>(d, out);
#else
    CK(cudaMemcpy(d, pag, bytes, cudaMemcpyHostToDevice));
    pag[0] = 2;
    SSAN_HOST_WRITE(pag, sizeof *pag);
#endif
    CK(cudaDeviceSynchronize());
    free(pag);
    return 0;
}
