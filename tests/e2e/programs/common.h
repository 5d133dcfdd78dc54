/* What the test programs share: checked calls, sizes, and the hooks of annotate.h under short
 * names. */
#ifndef COMMON_H
#define COMMON_H

#include <cuda_runtime.h>
#include <streamsan/annotate.h>

#include <stdio.h>
#include <stdlib.h>

#define CK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t err_ = (call);                                                                 \
        if (err_ != cudaSuccess) {                                                                 \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(err_));                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { COUNT = 4096, BYTES = COUNT * (int)sizeof(int) };

static inline cudaStream_t new_stream(unsigned flags)
{
    cudaStream_t stream;
    CK(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

static inline cudaEvent_t new_event(void)
{
    cudaEvent_t event;
    CK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

static inline int *new_device(size_t bytes)
{
    int *memory;
    CK(cudaMalloc((void **)&memory, bytes));
    CK(cudaMemset(memory, 0, bytes));
    CK(cudaDeviceSynchronize());
    return memory;
}

static inline int *new_pinned(size_t bytes)
{
    int *memory;
    CK(cudaMallocHost((void **)&memory, bytes));
    return memory;
}

#define GRID (COUNT / 256)

static __global__ void fill(int *out, int value)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static __global__ void take(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + 1;
}

#endif
