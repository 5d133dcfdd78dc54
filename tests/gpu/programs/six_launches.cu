/* Six launches on one stream, of three kernels in turn; the third and the fourth stand between cudaProfilerStart and
 * cudaProfilerStop, the fifth inside an NVTX range named "part". */
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>

static void must(cudaError_t result)
{
    if (result != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorName(result));
        std::exit(1);
    }
}

__global__ void first(int *p) { p[threadIdx.x] += 1; }

__global__ void second(int *p) { p[threadIdx.x] += 2; }

__global__ void third(int *p) { p[threadIdx.x] += 3; }

int main()
{
    void (*const kernels[])(int *) = {first, second, third};
    int *p, sum;
    must(cudaMalloc(&p, 64 * sizeof(int)));
    must(cudaMemset(p, 0, 64 * sizeof(int)));
    for (int i = 0; i < 6; ++i) {
        if (i == 2) {
            must(cudaProfilerStart());
        }
        if (i == 4) {
            nvtxRangePushA("part");
        }
        kernels[i % 3]<<<1, 64>>>(p);
        must(cudaGetLastError());
        if (i == 3) {
            must(cudaProfilerStop());
        }
        if (i == 4) {
            nvtxRangePop();
        }
    }
    must(cudaMemcpy(&sum, p, sizeof sum, cudaMemcpyDeviceToHost));
    must(cudaFree(p));
    std::printf("sum=%d\n", sum);
    return sum == 12 ? 0 : 2;
}
