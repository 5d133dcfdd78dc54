/* Allocations, copies, memsets, values in memory. */
#include "capture/program/program.h"

static char pageable[65536], other[65536];
static void *device, *second, *pinned, *managed;

static void allocate(void)
{
    cudaMalloc(&device, 65536);
    cudaMalloc(&second, 65536);
    cudaMallocHost(&pinned, 65536);
    cudaMallocManaged(&managed, 65536, 1);
}

int scenario_allocations(void)
{
    static int registered[1024];
    void *again;
    cudaMalloc(&device, 4096);
    cudaMallocHost(&pinned, 8192);
    cudaHostAlloc(&again, 512, CUDA_HOST_ALLOC_MAPPED);
    cudaMallocManaged(&managed, 1024, 1);
    cudaHostRegister(registered, sizeof(registered), 0);
    cudaHostUnregister(registered);
    cudaFree(managed);
    cudaFreeHost(pinned);
    cudaFreeHost(again);
    cudaFree(device);
    cudaFree(NULL);
    cudaMalloc(&again, 4096); /* the same address, another generation */
    if (again != device || cudaFree((char *)again + 4) == 0) {
        return 3;
    }
    fake_fail(CUDA_OUT_OF_MEMORY);
    if (cudaMalloc(&device, 64) != CUDA_OUT_OF_MEMORY) {
        return 4;
    }
    cuMemAlloc_v2((CUdeviceptr *)&device, 256);
    cuMemFree_v2((CUdeviceptr)device);
    cudaMemset(again, 0, 4096);
    cudaDeviceSynchronize();
    return cudaFree(again);
}

int scenario_blocking_copies(void)
{
    allocate();
    cudaMemcpy(device, pageable, 4096, CUDA_COPY_HOST_TO_DEVICE);
    cudaMemcpy(device, pinned, 4096, CUDA_COPY_HOST_TO_DEVICE);
    cudaMemcpy(pageable, device, 4096, CUDA_COPY_DEVICE_TO_HOST);
    cudaMemcpy(pinned, device, 4096, CUDA_COPY_DEVICE_TO_HOST);
    cudaMemcpy(second, device, 4096, CUDA_COPY_DEVICE_TO_DEVICE);
    cudaMemcpy(other, pageable, 4096, CUDA_COPY_HOST_TO_HOST);
    cudaMemcpy(device, managed, 4096, CUDA_COPY_DEFAULT);
    cudaMemcpy2D(device, 512, pageable, 256, 100, 3, CUDA_COPY_HOST_TO_DEVICE);
    cudaMemset(device, 1, 4096);
    cudaMemset(pinned, 1, 4096);
    cudaMemset2D(device, 512, 3, 100, 4);
    cuMemcpyHtoD_v2((CUdeviceptr)device, pageable, 64);
    /* nothing of these */
    cudaMemcpy(device, pageable, 0, CUDA_COPY_HOST_TO_DEVICE);
    cudaMemcpy(NULL, pageable, 64, CUDA_COPY_HOST_TO_DEVICE);
    cudaMemcpy(device, pageable, (size_t)1 << 33, CUDA_COPY_HOST_TO_DEVICE);
    cudaMemcpy(device, pageable, 64, 77);
    cudaMemset((void *)(uintptr_t)16, 0, 64);
    return cudaDeviceSynchronize();
}

int scenario_async_copies(void)
{
    cudaStream_t stream;
    allocate();
    cudaStreamCreate(&stream);
    cudaMemcpyAsync(device, pageable, 4096, CUDA_COPY_HOST_TO_DEVICE, stream);
    cudaMemcpyAsync(device, pinned, 4096, CUDA_COPY_HOST_TO_DEVICE, stream);
    cudaMemcpyAsync(pageable, device, 4096, CUDA_COPY_DEVICE_TO_HOST, stream);
    cudaMemcpyAsync(pinned, device, 4096, CUDA_COPY_DEVICE_TO_HOST, stream);
    cudaMemcpyAsync(second, device, 4096, CUDA_COPY_DEVICE_TO_DEVICE, stream);
    cudaMemcpyAsync(other, pageable, 4096, CUDA_COPY_HOST_TO_HOST, stream);
    cudaMemcpy2DAsync(second, 512, device, 256, 100, 3, CUDA_COPY_DEVICE_TO_DEVICE, stream);
    cudaMemsetAsync(device, 1, 4096, stream);
    cuMemsetD32Async((CUdeviceptr)device, 3, 100, stream);
    cuMemcpyDtoHAsync_v2(pinned, (CUdeviceptr)device, 64, stream);
    cudaMemcpyAsync(device, pinned, (size_t)1 << 33, CUDA_COPY_HOST_TO_DEVICE, stream);
    return cudaStreamSynchronize(stream);
}

int scenario_pools(void)
{
    cudaStream_t stream;
    void *pooled;
    cudaStreamCreate(&stream);
    cudaMallocAsync(&pooled, 4096, stream);
    cudaMemsetAsync(pooled, 0, 4096, stream);
    cudaFreeAsync(pooled, stream);
    cudaMalloc(&device, 4096);
    cudaFreeAsync(device, stream);
    return cudaStreamSynchronize(stream);
}

int scenario_values(void)
{
    cudaStream_t stream;
    cudaMalloc(&device, 4096);
    cudaStreamCreate(&stream);
    cuStreamWriteValue32_v2(stream, (CUdeviceptr)device, 5, 0);
    cuStreamWaitValue32_v2(stream, (CUdeviceptr)device, 5, 0);
    struct cuda_mem_op_params batch[2] = {
        {.operation = CUDA_MEM_OP_WRITE_32, .address = (CUdeviceptr)device, .value = 9},
        {.operation = CUDA_MEM_OP_WAIT_32, .address = (CUdeviceptr)device, .value = 9}};
    cuStreamBatchMemOp_v2(stream, 2, batch, 0);
    return cudaStreamSynchronize(stream);
}

int scenario_managed(void)
{
    cudaStream_t stream;
    allocate();
    cudaStreamCreate(&stream);
    cudaStreamAttachMemAsync(stream, managed, 0, 4);
    launch(&kernel_scale, managed, NULL, stream);
    return cudaStreamSynchronize(stream);
}

int scenario_variable(void)
{
    CUdeviceptr address;
    size_t size;
    launch(&kernel_scale, NULL, NULL, NULL); /* loads the module */
    if (cuModuleGetGlobal_v2(&address, &size, NULL, "no such") == 0 ||
        cuModuleGetGlobal_v2(&address, &size, NULL, "variable") != 0) {
        return 3;
    }
    cuModuleGetGlobal_v2(&address, NULL, NULL, "variable");
    cudaMemcpy((void *)(uintptr_t)address, pageable, size, CUDA_COPY_HOST_TO_DEVICE);
    return cudaDeviceSynchronize();
}
