/* Launches in a row, nobody waits between them, of a kernel whose few threads read and write words that lie 4 KiB apart: each
 * launch needs records all over two blocks, and all launches together many times those that there are. A second kernel does the
 * same with single bytes. */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define COUNT    8192
#define STRIDE   4096
#define LAUNCHES 1000

static void must(cudaError_t result)
{
    if (result != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorName(result));
        std::exit(1);
    }
}

template <typename T> __global__ void scattered(T *to, const T *from)
{
    size_t at = (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * (STRIDE / sizeof(T));
    to[at] = from[at] + 1;
}

int main()
{
    int *a, *b, last;
    must(cudaMalloc(&a, (size_t)COUNT * STRIDE));
    must(cudaMalloc(&b, (size_t)COUNT * STRIDE));
    must(cudaMemset(b, 0, (size_t)COUNT * STRIDE));
    for (int i = 0; i < LAUNCHES; i++) {
        scattered<int><<<COUNT / 256, 256>>>(a, b);
        scattered<int><<<COUNT / 256, 256>>>(b, a);
    }
    for (int i = 0; i < LAUNCHES / 4; i++) {
        scattered<char><<<COUNT / 256, 256>>>((char *)a, (const char *)b);
    }
    must(cudaMemcpy(&last, b + (size_t)(COUNT - 1) * (STRIDE / sizeof(int)), sizeof last, cudaMemcpyDeviceToHost));
    std::printf("%d\n", last);
    return 0;
}
