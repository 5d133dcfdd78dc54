// Kernels of the audited programs.
#pragma once
#include <cuda_runtime.h>
#include <streamsan/annotate.h>
#include <stdio.h>
#include <stdlib.h>

#define N     2048
#define BYTES (N * sizeof(int))
#define CK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void fill(int *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) p[i] = i;
}

__global__ void twice(int *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) p[i] *= 2;
}

__global__ void add(const int *p, int *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) sum[i] += p[i];
}
