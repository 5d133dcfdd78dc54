// VERDICT: clean
// EXIT: 0
// STDOUT: even=1 odd=2
/* Two streams write one buffer: the even and the odd elements. No byte is shared, so nothing need
 * be ordered. */
#include "common.h"

static __global__ void every_second(int *out, int first, int value)
{
    out[2 * (blockIdx.x * blockDim.x + threadIdx.x) + first] = value;
}

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    int *d = new_device(BYTES), *h = new_pinned(BYTES);
    every_second<<<GRID / 2, 256, 0, a>>>(d, 0, 1);
    every_second<<<GRID / 2, 256, 0, b>>>(d, 1, 2);
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(h, d, BYTES, cudaMemcpyDeviceToHost));
    SSAN_HOST_READ(h, BYTES);
    printf("even=%d odd=%d\n", h[COUNT - 2], h[COUNT - 1]);
    return 0;
}
