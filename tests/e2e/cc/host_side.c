/* A C file of a CUDA program: the host half of the API, in C11, without a default argument. */
#include <cuda_runtime.h>
#include <streamsan/annotate.h>

#include <stdio.h>

int fill_and_check(int count);
void launch_fill(int *device, int count, cudaStream_t stream); /* of kernels.cu */

int fill_and_check(int count)
{
    int *device = NULL, *host = NULL, bad = 0;
    cudaStream_t stream;
    struct cudaDeviceProp prop;
    size_t bytes = (size_t)count * sizeof(int);
    dim3 block = {32, 1, 1};
    float4 v = make_float4(1, 2, 3, 4);
    if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess || block.x != 32 || v.w != 4 ||
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess ||
        cudaMalloc((void **)&device, bytes) != cudaSuccess ||
        cudaMallocHost((void **)&host, bytes) != cudaSuccess) {
        return -1;
    }
    SSAN_NAME(stream, "stream");
    launch_fill(device, count, stream);
    if (cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream) != cudaSuccess ||
        cudaStreamSynchronize(stream) != cudaSuccess) {
        return -1;
    }
    SSAN_HOST_READ(host, bytes);
    for (int i = 0; i < count; i++) {
        bad += host[i] != 3 * i;
    }
    printf("elements=%d mismatches=%d\n", count, bad);
    return bad;
}
