/* Kernels as objects: their attributes and occupancy. */
#include "vcuda/api.h"
#include "vcuda/limits.h"
#include "vcuda/program.h"

#include <string.h>

static int most_threads(const struct kernel *kernel)
{
    return kernel->code->max_threads ? (int)kernel->code->max_threads : (int)LIMIT_THREADS;
}

/* Of a thread. Those of PTX are not those of a machine: no more than the largest block can have, as
 * each launch that the limits allow works here. */
static uint64_t registers_of(const struct kernel *kernel)
{
    const uint64_t most = LIMIT_REGISTERS / LIMIT_THREADS, named = kernel->code->registers;
    return named == 0 ? 1 : named < most ? named : most;
}

static uint64_t most_dynamic(const struct kernel *kernel)
{
    uint64_t fixed = kernel->code->shared_bytes;
    if (kernel->most_shared_bytes) {
        return kernel->most_shared_bytes;
    }
    return fixed < LIMIT_SHARED_BYTES ? LIMIT_SHARED_BYTES - fixed : 0;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
    struct call call;
    struct kernel *kernel;
    cudaError_t error;
    if (!BEGIN(&call, "cudaFuncGetAttributes")) {
        return call.error;
    }
    error = attr ? program_find_kernel(&call, func, &kernel) : cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        memset(attr, 0, sizeof *attr);
        attr->sharedSizeBytes = kernel->code->shared_bytes;
        attr->localSizeBytes = kernel->code->local_bytes;
        attr->maxThreadsPerBlock = most_threads(kernel);
        attr->numRegs = (int)registers_of(kernel);
        attr->ptxVersion = attr->binaryVersion = LIMIT_MAJOR * 10 + LIMIT_MINOR;
        attr->maxDynamicSharedSizeBytes = (int)most_dynamic(kernel);
        attr->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
    }
    return call_end(&call, error);
}

static cudaError_t set_attribute(struct kernel *kernel, enum cudaFuncAttribute attr, int value)
{
    switch (attr) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || (uint64_t)value + kernel->code->shared_bytes > LIMIT_SHARED_OPT_IN) {
            return cudaErrorInvalidValue;
        }
        kernel->most_shared_bytes = (uint32_t)value;
        return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        return value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue;
    default:
        return cudaErrorInvalidValue; /* clusters need compute capability 9.0 */
    }
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
    struct call call;
    struct kernel *kernel;
    cudaError_t error;
    if (!BEGIN(&call, "cudaFuncSetAttribute")) {
        return call.error;
    }
    error = program_find_kernel(&call, func, &kernel);
    return call_end(&call, error == cudaSuccess ? set_attribute(kernel, attr, value) : error);
}

cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig)
{
    struct call call;
    struct kernel *kernel;
    return BEGIN(&call, "cudaFuncSetCacheConfig")
               ? call_end(&call, program_find_kernel(&call, func, &kernel))
               : call.error;
}

cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
    struct call call;
    struct kernel *kernel;
    return BEGIN(&call, "cudaFuncSetSharedMemConfig")
               ? call_end(&call, program_find_kernel(&call, func, &kernel))
               : call.error;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t api_active_blocks(const struct kernel *kernel, uint64_t threads, uint64_t shared_bytes)
{
    const uint64_t shared = kernel->code->shared_bytes + shared_bytes;
    const uint64_t warps = (threads + LIMIT_WARP - 1) / LIMIT_WARP;
    const uint64_t registers = warps * LIMIT_WARP * registers_of(kernel);
    uint64_t most = smaller(LIMIT_BLOCKS_PER_SM, LIMIT_THREADS_PER_SM / (warps * LIMIT_WARP));
    most = smaller(most, LIMIT_REGISTERS / registers);
    return shared ? smaller(most, LIMIT_SHARED_PER_SM / shared) : most;
}

static cudaError_t occupancy(struct call *call, int *blocks, const void *func, int block_size,
                             size_t shared_bytes)
{
    struct kernel *kernel;
    cudaError_t error =
        blocks && block_size > 0 ? program_find_kernel(call, func, &kernel) : cudaErrorInvalidValue;
    if (error != cudaSuccess) {
        return error;
    }
    *blocks = 0;
    if (block_size > most_threads(kernel) || shared_bytes > most_dynamic(kernel)) {
        return cudaSuccess;
    }
    *blocks = (int)api_active_blocks(kernel, (uint64_t)block_size, shared_bytes);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func,
                                                          int blockSize, size_t dynamicSMemSize)
{
    struct call call;
    return BEGIN(&call, "cudaOccupancyMaxActiveBlocksPerMultiprocessor")
               ? call_end(&call, occupancy(&call, numBlocks, func, blockSize, dynamicSMemSize))
               : call.error;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func,
                                                                   int blockSize,
                                                                   size_t dynamicSMemSize,
                                                                   unsigned int flags)
{
    struct call call;
    return BEGIN(&call, "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags")
               ? call_end(&call, occupancy(&call, numBlocks, func, blockSize, dynamicSMemSize))
               : call.error;
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func,
                                                      int numBlocks, int blockSize)
{
    struct call call;
    struct kernel *kernel;
    cudaError_t error;
    if (!BEGIN(&call, "cudaOccupancyAvailableDynamicSMemPerBlock")) {
        return call.error;
    }
    error = dynamicSmemSize && numBlocks > 0 && blockSize > 0
                ? program_find_kernel(&call, func, &kernel)
                : cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        uint64_t each = LIMIT_SHARED_PER_SM / (uint64_t)numBlocks,
                 fixed = kernel->code->shared_bytes;
        *dynamicSmemSize = smaller(each > fixed ? each - fixed : 0, most_dynamic(kernel));
    }
    return call_end(&call, error);
}
