// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAW 'd' [8192,8196) first=kernel:part then=kernel:part nearest=none fix=checked
/* Two streams write the two halves of a buffer; the first half is one element too long. */
#include "common.h"

static __global__ void part(int *out, int count, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        out[i] = value;
    }
}

int main(void)
{
    cudaStream_t a, b;
    int *d;
    CK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CK(cudaMalloc((void **)&d, BYTES));
    part<<<GRID, 256, 0, a>>>(d, COUNT / 2 + 1, 1);
    part<<<GRID, 256, 0, b>>>(d + COUNT / 2, COUNT / 2, 2);
    CK(cudaDeviceSynchronize());
    return 0;
}
