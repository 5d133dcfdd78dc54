/* Allocation, freeing, registration, and questions about pointers (chapter 5). */
#include "vcuda/api.h"
#include "vcuda/emit.h"
#include "vcuda/memory.h"
#include "vcuda/queue.h"
#include "vcuda/sched.h"
#include "vcuda/snapshot.h"

#include <string.h>

#define PITCH_ALIGN 512u

static cudaError_t allocate(struct call *call, void **pointer, uint64_t size)
{
    struct memory_block block;
    cudaError_t error;
    if (!pointer) {
        return cudaErrorInvalidValue;
    }
    *pointer = NULL;
    if (size == 0) {
        return cudaSuccess;
    }
    error = memory_alloc_device(size, 1, call->ordinal, device.alloc_count + 1, &block);
    if (error == cudaSuccess) {
        device.alloc_count++;
        emit_alloc(call, call->name, &block);
        *pointer = (void *)(uintptr_t)block.address;
    }
    return error;
}

cudaError_t cudaMalloc(void **devPtr, size_t size)
{
    struct call call;
    return BEGIN(&call, "cudaMalloc") ? call_end(&call, allocate(&call, devPtr, size)) : call.error;
}

static cudaError_t allocate_rows(struct call *call, void **pointer, size_t *pitch, size_t width,
                                 uint64_t rows)
{
    uint64_t size;
    if (!pointer || !pitch || width > SIZE_MAX - PITCH_ALIGN) {
        return cudaErrorInvalidValue;
    }
    *pitch = (width + PITCH_ALIGN - 1) & ~(size_t)(PITCH_ALIGN - 1);
    if (__builtin_mul_overflow(*pitch, rows, &size)) {
        return cudaErrorMemoryAllocation;
    }
    return allocate(call, pointer, size);
}

cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    struct call call;
    return BEGIN(&call, "cudaMallocPitch")
               ? call_end(&call, allocate_rows(&call, devPtr, pitch, width, height))
               : call.error;
}

static cudaError_t allocate_3d(struct call *call, struct cudaPitchedPtr *made,
                               struct cudaExtent extent)
{
    uint64_t rows;
    cudaError_t error;
    if (!made || __builtin_mul_overflow((uint64_t)extent.height, (uint64_t)extent.depth, &rows)) {
        return cudaErrorInvalidValue;
    }
    error = allocate_rows(call, &made->ptr, &made->pitch, extent.width, rows);
    made->xsize = extent.width;
    made->ysize = extent.height;
    return error;
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    struct call call;
    return BEGIN(&call, "cudaMalloc3D") ? call_end(&call, allocate_3d(&call, pitchedDevPtr, extent))
                                        : call.error;
}

static cudaError_t allocate_host(struct call *call, void **pointer, size_t size, unsigned flags)
{
    const unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    struct memory_block block;
    cudaError_t error;
    if (!pointer || (flags & ~known)) {
        return cudaErrorInvalidValue;
    }
    *pointer = NULL;
    if (size == 0) {
        return cudaSuccess;
    }
    error = memory_alloc_pinned(size, flags, call->ordinal, device.alloc_count + 1, &block);
    if (error == cudaSuccess) {
        device.alloc_count++;
        emit_alloc(call, call->name, &block);
        *pointer = (void *)(uintptr_t)block.address;
    }
    return error;
}

cudaError_t cudaMallocHost(void **ptr, size_t size)
{
    struct call call;
    return BEGIN(&call, "cudaMallocHost") ? call_end(&call, allocate_host(&call, ptr, size, 0))
                                          : call.error;
}

cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
    struct call call;
    return BEGIN(&call, "cudaHostAlloc") ? call_end(&call, allocate_host(&call, pHost, size, flags))
                                         : call.error;
}

static cudaError_t register_host(struct call *call, void *pointer, size_t size, unsigned flags)
{
    const unsigned known =
        cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
    struct memory_block block;
    cudaError_t error;
    if (flags & cudaHostRegisterIoMemory) {
        return cudaErrorNotSupported;
    }
    if (flags & ~known) {
        return cudaErrorInvalidValue;
    }
    error = memory_register(api_address(pointer), size, flags, call->ordinal,
                            device.alloc_count + 1, &block);
    if (error == cudaSuccess) {
        device.alloc_count++;
        emit_alloc(call, call->name, &block);
    }
    return error;
}

cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
    struct call call;
    return BEGIN(&call, "cudaHostRegister")
               ? call_end(&call, register_host(&call, ptr, size, flags))
               : call.error;
}

/* Ends a block as drivers do: the end stands where the call was made, then all that runs is waited
 * for (on the device that owns the block, for host memory on every one), and only then the bytes go
 * (R-IMPL-3). */
static cudaError_t end_block(struct call *call, const struct memory_block *block)
{
    struct op_list targets = {0};
    cudaError_t error = cudaSuccess;
    if (!queue_targets_of(&targets,
                          block->kind == SSAN_memory_DEVICE ? block->ordinal : EVERY_DEVICE)) {
        queue_targets_finish(&targets);
        return cudaErrorMemoryAllocation;
    }
    emit_free(call, block->id);
    sched_join(&targets);
    queue_targets_finish(&targets);
    error = device.sticky;
    snapshot_free(block);
    memory_release(block->address);
    return error;
}

static cudaError_t release(struct call *call, void *pointer, enum ssan_memory kind,
                           cudaError_t otherwise)
{
    struct memory_block block;
    if (!memory_find(api_address(pointer), &block) || block.address != api_address(pointer) ||
        block.kind != kind || block.is_variable || !memory_claim(block.address)) {
        return otherwise;
    }
    return end_block(call, &block);
}

cudaError_t cudaFree(void *devPtr)
{
    struct call call;
    if (!BEGIN(&call, "cudaFree")) {
        return call.error;
    }
    return call_end(&call, devPtr
                               ? release(&call, devPtr, SSAN_memory_DEVICE, cudaErrorInvalidValue)
                               : cudaSuccess);
}

cudaError_t cudaFreeHost(void *ptr)
{
    struct call call;
    if (!BEGIN(&call, "cudaFreeHost")) {
        return call.error;
    }
    return call_end(&call, ptr ? release(&call, ptr, SSAN_memory_PINNED, cudaErrorInvalidValue)
                               : cudaSuccess);
}

cudaError_t cudaHostUnregister(void *ptr)
{
    struct call call;
    if (!BEGIN(&call, "cudaHostUnregister")) {
        return call.error;
    }
    return call_end(
        &call, ptr ? release(&call, ptr, SSAN_memory_REGISTERED, cudaErrorHostMemoryNotRegistered)
                   : cudaErrorInvalidValue);
}

static cudaError_t device_pointer(void **pointer, void *host, unsigned flags)
{
    struct memory_block block;
    if (!pointer || flags != 0 || !memory_find(api_address(host), &block) ||
        block.kind == SSAN_memory_DEVICE) {
        return cudaErrorInvalidValue;
    }
    *pointer = host; /* one address space (unifiedAddressing) */
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags)
{
    struct call call;
    return BEGIN(&call, "cudaHostGetDevicePointer")
               ? call_end(&call, device_pointer(pDevice, pHost, flags))
               : call.error;
}

cudaError_t cudaHostGetFlags(unsigned int *pFlags, void *pHost)
{
    struct call call;
    struct memory_block block;
    cudaError_t error = cudaErrorInvalidValue;
    if (!BEGIN(&call, "cudaHostGetFlags")) {
        return call.error;
    }
    if (pFlags && memory_find(api_address(pHost), &block) && block.kind == SSAN_memory_PINNED) {
        *pFlags = block.flags | cudaHostAllocMapped;
        error = cudaSuccess;
    }
    return call_end(&call, error);
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    struct call call;
    uint64_t free_bytes, total_bytes;
    if (!BEGIN(&call, "cudaMemGetInfo")) {
        return call.error;
    }
    if (!free || !total) {
        return call_end(&call, cudaErrorInvalidValue);
    }
    memory_totals(call.ordinal, &free_bytes, &total_bytes);
    *free = free_bytes;
    *total = total_bytes;
    return call_end(&call, cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
    struct call call;
    struct memory_block block;
    if (!BEGIN(&call, "cudaPointerGetAttributes")) {
        return call.error;
    }
    if (!attributes) {
        return call_end(&call, cudaErrorInvalidValue);
    }
    memset(attributes, 0, sizeof *attributes);
    attributes->device = cudaInvalidDeviceId;
    attributes->hostPointer = (void *)(uintptr_t)ptr;
    if (memory_find(api_address(ptr), &block)) {
        bool is_device = block.kind == SSAN_memory_DEVICE;
        attributes->type = is_device ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
        attributes->device = (int)block.ordinal;
        attributes->devicePointer = (void *)(uintptr_t)ptr;
        attributes->hostPointer = is_device ? NULL : (void *)(uintptr_t)ptr;
    } else if (memory_is_device_address(api_address(ptr))) {
        return call_end(&call, cudaErrorInvalidValue);
    }
    return call_end(&call, cudaSuccess);
}
