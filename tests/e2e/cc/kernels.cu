/* Kernels of a program whose main is in main.cu and whose host half is in host_side.c. */
#include <cuda_runtime.h>

static __device__ int factor = 3;

static __global__ void fill(int *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        out[i] = factor * i;
    }
}

extern "C" void launch_fill(int *device, int count, cudaStream_t stream)
{
    fill<<<(count + 255) / 256, 256, 0, stream>>>(device, count);
}
