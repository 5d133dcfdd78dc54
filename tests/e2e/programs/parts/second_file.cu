/* The second file of twin_second_file.cu: a kernel and the function that launches it. */
#include <cuda_runtime.h>

__global__ void second_fill(int *out, int value)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

void launch_second_fill(int *out, int value, cudaStream_t stream)
{
    second_fill<<<16, 256, 0, stream>>>(out, value);
}
