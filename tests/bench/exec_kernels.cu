/* The kernels of exec_bench.c; exec_kernels.ptx is this file through clang 14 -O2 (command in exec_bench.c). */
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#include <__clang_cuda_builtin_vars.h>

extern "C" __global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] *= 2;
    }
}

extern "C" __global__ void add(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] += 1;
    }
}

extern "C" __global__ void poly(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i], sum = 1;
#pragma unroll 1
        for (int k = 0; k < 64; k++) {
            sum = __builtin_fmaf(sum, v, 0.5f);
        }
        x[i] = sum;
    }
}

extern "C" __global__ void collatz(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned v = i + 1;
        int steps = 0;
        while (v != 1) {
            if (v & 1) {
                v = 3 * v + 1;
            } else {
                v >>= 1;
            }
            steps++;
        }
        x[i] = steps;
    }
}

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float ta[16][16], tb[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n / 16; t++) {
        ta[threadIdx.y][threadIdx.x] = a[row * n + t * 16 + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t * 16 + threadIdx.y) * n + column];
        __nvvm_bar_sync(0);
        for (int k = 0; k < 16; k++) {
            sum = __builtin_fmaf(ta[threadIdx.y][k], tb[k][threadIdx.x], sum);
        }
        __nvvm_bar_sync(0);
    }
    c[row * n + column] = sum;
}
