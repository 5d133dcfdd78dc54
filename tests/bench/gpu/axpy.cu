/* y = a x + y over two arrays of 1 GiB: bound by memory bandwidth, every access of a warp coalesced. */
#include "timing.cuh"

__global__ void axpy(float a, const float *x, float *y, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}

int main()
{
    const unsigned n = 1u << 28;
    float *x, *y, first;
    MUST(cudaMalloc(&x, n * sizeof(float)));
    MUST(cudaMalloc(&y, n * sizeof(float)));
    MUST(cudaMemset(x, 0, n * sizeof(float)));
    MUST(cudaMemset(y, 0, n * sizeof(float)));
    measure("axpy", 4, 5, [=] { axpy<<<n / 256, 256>>>(2.0f, x, y, n); });
    MUST(cudaMemcpy(&first, y, sizeof first, cudaMemcpyDeviceToHost));
    return first == 0.0f ? 0 : 2;
}
