// VERDICT: clean
// EXIT: 0
// STDOUT: a=1 b=2
/* Two streams write alternating bytes: neighbours within one word, but never the same byte. */
#include "common.h"

static __global__ void every_second(unsigned char *out, int first, unsigned char value)
{
    out[2 * (blockIdx.x * blockDim.x + threadIdx.x) + first] = value;
}

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    unsigned char *d = (unsigned char *)new_device(BYTES), h[2];
    every_second<<<GRID / 2, 256, 0, a>>>(d, 0, 1);
    every_second<<<GRID / 2, 256, 0, b>>>(d, 1, 2);
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(h, d, 2, cudaMemcpyDeviceToHost));
    printf("a=%d b=%d\n", h[0], h[1]);
    return 0;
}
