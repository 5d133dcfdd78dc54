/* The runtime API's C++ face: typed pointers, kernels and device variables where the C functions
 * take void pointers.
 *
 * Nothing here does work of its own, every function is one cast and one call, always inlined so
 * that the call site that a report names is the program's. Needs only the C header; kernels and
 * symbols make sense in .cu files. */
#ifndef SSAN_CC_RUNTIME_TEMPLATES_H
#define SSAN_CC_RUNTIME_TEMPLATES_H
#pragma GCC system_header

#define SSAN_API_ static inline __attribute__((always_inline, unused)) cudaError_t

template <class T> SSAN_API_ cudaMalloc(T **devPtr, size_t size)
{
    return ::cudaMalloc((void **)(void *)devPtr, size);
}
template <class T> SSAN_API_ cudaMallocHost(T **ptr, size_t size)
{
    return ::cudaMallocHost((void **)(void *)ptr, size);
}
template <class T> SSAN_API_ cudaMallocHost(T **ptr, size_t size, unsigned int flags)
{
    return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}
template <class T> SSAN_API_ cudaHostAlloc(T **ptr, size_t size, unsigned int flags)
{
    return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}
SSAN_API_ cudaMallocHost(void **ptr, size_t size, unsigned int flags)
{
    return ::cudaHostAlloc(ptr, size, flags);
}
template <class T>
SSAN_API_ cudaMallocManaged(T **devPtr, size_t size, unsigned int flags = cudaMemAttachGlobal)
{
    return ::cudaMallocManaged((void **)(void *)devPtr, size, flags);
}
template <class T> SSAN_API_ cudaMallocPitch(T **devPtr, size_t *pitch, size_t width, size_t height)
{
    return ::cudaMallocPitch((void **)(void *)devPtr, pitch, width, height);
}
template <class T> SSAN_API_ cudaMallocAsync(T **ptr, size_t size, cudaStream_t stream)
{
    return ::cudaMallocAsync((void **)(void *)ptr, size, stream);
}
template <class T>
SSAN_API_ cudaMallocAsync(T **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync((void **)(void *)ptr, size, memPool, stream);
}
template <class T>
SSAN_API_ cudaMallocFromPoolAsync(T **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync((void **)(void *)ptr, size, memPool, stream);
}
template <class T> SSAN_API_ cudaHostGetDevicePointer(T **device, void *host, unsigned int flags)
{
    return ::cudaHostGetDevicePointer((void **)(void *)device, host, flags);
}
template <class T>
SSAN_API_ cudaStreamAttachMemAsync(cudaStream_t stream, T *devPtr, size_t length = 0,
                                   unsigned int flags = cudaMemAttachSingle)
{
    return ::cudaStreamAttachMemAsync(stream, (void *)devPtr, length, flags);
}
SSAN_API_ cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
    return ::cudaEventCreateWithFlags(event, flags);
}

/* Device variables. */
template <class T>
SSAN_API_ cudaMemcpyToSymbol(const T &symbol, const void *src, size_t count, size_t offset = 0,
                             enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return ::cudaMemcpyToSymbol((const void *)&symbol, src, count, offset, kind);
}
template <class T>
SSAN_API_ cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t count, size_t offset = 0,
                               enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return ::cudaMemcpyFromSymbol(dst, (const void *)&symbol, count, offset, kind);
}
template <class T>
SSAN_API_ cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t count, size_t offset = 0,
                                  enum cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                  cudaStream_t stream = 0)
{
    return ::cudaMemcpyToSymbolAsync((const void *)&symbol, src, count, offset, kind, stream);
}
template <class T>
SSAN_API_ cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t count, size_t offset = 0,
                                    enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                    cudaStream_t stream = 0)
{
    return ::cudaMemcpyFromSymbolAsync(dst, (const void *)&symbol, count, offset, kind, stream);
}
template <class T> SSAN_API_ cudaGetSymbolAddress(void **devPtr, const T &symbol)
{
    return ::cudaGetSymbolAddress(devPtr, (const void *)&symbol);
}
template <class T> SSAN_API_ cudaGetSymbolAddress(T **devPtr, const T &symbol)
{
    return ::cudaGetSymbolAddress((void **)(void *)devPtr, (const void *)&symbol);
}
template <class T> SSAN_API_ cudaGetSymbolSize(size_t *size, const T &symbol)
{
    return ::cudaGetSymbolSize(size, (const void *)&symbol);
}

/* Kernels. */
template <class T>
SSAN_API_ cudaLaunchKernel(T *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem = 0,
                           cudaStream_t stream = 0)
{
    return ::cudaLaunchKernel((const void *)func, gridDim, blockDim, args, sharedMem, stream);
}
template <class T>
SSAN_API_ cudaLaunchCooperativeKernel(T *func, dim3 gridDim, dim3 blockDim, void **args,
                                      size_t sharedMem = 0, cudaStream_t stream = 0)
{
    return ::cudaLaunchCooperativeKernel((const void *)func, gridDim, blockDim, args, sharedMem,
                                         stream);
}
template <class T> SSAN_API_ cudaFuncGetAttributes(struct cudaFuncAttributes *attr, T *func)
{
    return ::cudaFuncGetAttributes(attr, (const void *)func);
}
template <class T> SSAN_API_ cudaFuncSetAttribute(T *func, enum cudaFuncAttribute attr, int value)
{
    return ::cudaFuncSetAttribute((const void *)func, attr, value);
}
template <class T> SSAN_API_ cudaFuncSetCacheConfig(T *func, enum cudaFuncCache cacheConfig)
{
    return ::cudaFuncSetCacheConfig((const void *)func, cacheConfig);
}
template <class T> SSAN_API_ cudaFuncSetSharedMemConfig(T *func, enum cudaSharedMemConfig config)
{
    return ::cudaFuncSetSharedMemConfig((const void *)func, config);
}
template <class T>
SSAN_API_ cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, T func, int blockSize,
                                                        size_t dynamicSMemSize)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, (const void *)func, blockSize,
                                                           dynamicSMemSize);
}

/* Occupancy of the virtual device does not depend on the block's size: the largest block is as good
 * as any. */
template <class T>
SSAN_API_ cudaOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, T func,
                                             size_t dynamicSMemSize = 0, int blockSizeLimit = 0)
{
    struct cudaFuncAttributes attributes;
    int device = 0, processors = 0, active = 0;
    cudaError_t error = ::cudaFuncGetAttributes(&attributes, (const void *)func);
    if (error == cudaSuccess) {
        error = ::cudaGetDevice(&device);
    }
    if (error == cudaSuccess) {
        error = ::cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    }
    if (error != cudaSuccess) {
        return error;
    }
    *blockSize = attributes.maxThreadsPerBlock;
    if (blockSizeLimit > 0 && blockSizeLimit < *blockSize) {
        *blockSize = blockSizeLimit;
    }
    error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(&active, (const void *)func, *blockSize,
                                                            dynamicSMemSize);
    *minGridSize = processors * active;
    return error;
}

#if __cplusplus >= 201103L
template <class... Expected, class... Given>
SSAN_API_ cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*func)(Expected...),
                             Given &&...given)
{
    return [&](Expected... converted) {
        void *args[] = {(void *)&converted..., nullptr};
        return ::cudaLaunchKernelExC(config, (const void *)func, args);
    }(static_cast<Given &&>(given)...);
}
#endif

/* Before CUDA 12, instantiation reported errors into a buffer. */
SSAN_API_ cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *errorNode,
                               char *logBuffer, size_t bufferSize)
{
    if (errorNode) {
        *errorNode = 0;
    }
    if (logBuffer && bufferSize) {
        *logBuffer = '\0';
    }
    return ::cudaGraphInstantiate(exec, graph, 0ULL);
}
SSAN_API_ cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *errorNode,
                              enum cudaGraphExecUpdateResult *result)
{
    cudaGraphExecUpdateResultInfo info = cudaGraphExecUpdateResultInfo();
    cudaError_t error = ::cudaGraphExecUpdate(exec, graph, &info);
    if (errorNode) {
        *errorNode = info.errorNode;
    }
    if (result) {
        *result = info.result;
    }
    return error;
}

#undef SSAN_API_

#endif
