// Only the legacy stream orders the kernels; non-blocking streams and per-thread default streams lose that.
// ASSUME non-blocking: SSAN-RAW twice, SSAN-RAW add
// ASSUME per-thread-default-stream: SSAN-RAW twice, SSAN-RAW add
#include "common.cuh"

int main(void)
{
    cudaStream_t x;
    int *a, *b;
    CK(cudaStreamCreate(&x));
    CK(cudaMalloc((void **)&a, BYTES));
    CK(cudaMalloc((void **)&b, BYTES));
    CK(cudaMemsetAsync(b, 0, BYTES, x));
    fill<<<8, 256, 0, x>>>(a);
    twice<<<8, 256>>>(a);                // @accident legacy
    add<<<8, 256, 0, x>>>(a, b);         // @accident legacy
    CK(cudaStreamSynchronize(x));        // @redundant
    printf("done\n");
    return 0;
}
