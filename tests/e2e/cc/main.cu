/* A second file with device code, whose static names are those of kernels.cu: both register their
 * own. */
#include <cuda_runtime.h>

static __device__ int factor = 1;

static __global__ void fill(int *out, int count)
{
    if ((int)threadIdx.x < count) {
        out[threadIdx.x] = factor;
    }
}

extern "C" int fill_and_check(int count);

int main()
{
    int *out = nullptr, first = 0;
    if (cudaMalloc(&out, 32 * sizeof(int)) != cudaSuccess) {
        return 1;
    }
    fill<<<1, 32>>>(out, 32);
    if (cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost) != cudaSuccess ||
        first != 1) {
        return 1;
    }
    return fill_and_check(1000) ? 2 : 0;
}
