/* The entry points whose default stream depends on the calling translation unit. Compiled twice: as
 * they stand, and with CUDA_API_PER_THREAD_DEFAULT_STREAM, under which the header renames each to
 * its _ptsz or _ptds form (per_thread.def). */
#include "vcuda/api.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define PER_THREAD_STREAM true
#else
#define PER_THREAD_STREAM false
#endif

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    struct call call;
    return BEGIN(&call, "cudaStreamGetPriority")
               ? call_end(&call, api_stream_priority(&call, stream, PER_THREAD_STREAM, priority))
               : call.error;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
    struct call call;
    return BEGIN(&call, "cudaStreamGetFlags")
               ? call_end(&call, api_stream_flags(&call, stream, PER_THREAD_STREAM, flags))
               : call.error;
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *streamId)
{
    struct call call;
    return BEGIN(&call, "cudaStreamGetId")
               ? call_end(&call, api_stream_id(&call, stream, PER_THREAD_STREAM, streamId))
               : call.error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    struct call call;
    return BEGIN(&call, "cudaStreamSynchronize")
               ? call_end(&call, api_stream_synchronize(&call, stream, PER_THREAD_STREAM))
               : call.error;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    struct call call;
    return BEGIN(&call, "cudaStreamQuery")
               ? call_end(&call, api_stream_query(&call, stream, PER_THREAD_STREAM))
               : call.error;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    struct call call;
    return BEGIN(&call, "cudaStreamWaitEvent")
               ? call_end(&call, api_stream_wait(&call, stream, PER_THREAD_STREAM, event, flags))
               : call.error;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    struct call call;
    return BEGIN(&call, "cudaEventRecord")
               ? call_end(&call, api_event_record(&call, event, stream, PER_THREAD_STREAM, 0))
               : call.error;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    struct call call;
    return BEGIN(&call, "cudaEventRecordWithFlags")
               ? call_end(&call, api_event_record(&call, event, stream, PER_THREAD_STREAM, flags))
               : call.error;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    struct call call;
    const struct hostfunc hostfunc = {.function = fn, .data = userData};
    return BEGIN(&call, "cudaLaunchHostFunc")
               ? call_end(&call, api_hostfunc(&call, stream, PER_THREAD_STREAM, &hostfunc))
               : call.error;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void *userData, unsigned int flags)
{
    struct call call;
    const struct hostfunc hostfunc = {.callback = callback, .data = userData, .stream = stream};
    if (!BEGIN(&call, "cudaStreamAddCallback")) {
        return call.error;
    }
    return call_end(&call, flags == 0 ? api_hostfunc(&call, stream, PER_THREAD_STREAM, &hostfunc)
                                      : cudaErrorInvalidValue);
}

cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                             size_t sharedMem, cudaStream_t stream)
{
    struct call call;
    if (!api_launch_begin(&call, func, __builtin_frame_address(0))) {
        return call.error;
    }
    return call_end(&call,
                    api_launch(&call, &(struct launch_request){.stub = func,
                                                               .grid = gridDim,
                                                               .block = blockDim,
                                                               .args = args,
                                                               .shared_bytes = sharedMem,
                                                               .stream = stream,
                                                               .per_thread = PER_THREAD_STREAM}));
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                        size_t sharedMem, cudaStream_t stream)
{
    struct call call;
    const struct launch_request request = {.stub = func,
                                           .grid = gridDim,
                                           .block = blockDim,
                                           .args = args,
                                           .shared_bytes = sharedMem,
                                           .stream = stream,
                                           .per_thread = PER_THREAD_STREAM,
                                           .cooperative = true};
    return BEGIN(&call, "cudaLaunchCooperativeKernel")
               ? call_end(&call, api_launch(&call, &request))
               : call.error;
}

/* Attributes that only hint are passed by; true: `request` is all that the others ask for. */
static bool read_attributes(const cudaLaunchConfig_t *config, struct launch_request *request)
{
    for (unsigned int i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *attribute = &config->attrs[i];
        switch (attribute->id) {
        case cudaLaunchAttributeCooperative:
            request->cooperative = attribute->val.cooperative != 0;
            break;
        case cudaLaunchAttributeIgnore:
        case cudaLaunchAttributeAccessPolicyWindow:
        case cudaLaunchAttributeSynchronizationPolicy:
        case cudaLaunchAttributePriority:
            break;
        default:
            return false;
        }
    }
    return true;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    struct call call;
    struct launch_request request = {.stub = func, .args = args, .per_thread = PER_THREAD_STREAM};
    if (config && !read_attributes(config, &request)) {
        return call_unsupported("cudaLaunchKernelExC with clusters or a programmatic launch",
                                __builtin_frame_address(0));
    }
    if (!BEGIN(&call, "cudaLaunchKernelExC")) {
        return call.error;
    }
    if (!config) {
        return call_end(&call, cudaErrorInvalidValue);
    }
    request.grid = config->gridDim;
    request.block = config->blockDim;
    request.shared_bytes = config->dynamicSmemBytes;
    request.stream = config->stream;
    return call_end(&call, api_launch(&call, &request));
}

static cudaError_t copy(struct call *call, const struct transfer *rows, enum cudaMemcpyKind kind,
                        enum ssan_form form, cudaStream_t stream)
{
    return call_end(call, api_copy(call, rows, kind, form, stream, PER_THREAD_STREAM));
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    struct call call;
    const struct transfer rows = api_row(dst, src, count);
    return BEGIN(&call, "cudaMemcpy") ? copy(&call, &rows, kind, SSAN_form_SYNC, NULL) : call.error;
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    struct call call;
    const struct transfer rows = api_row(dst, src, count);
    return BEGIN(&call, "cudaMemcpyAsync") ? copy(&call, &rows, kind, SSAN_form_ASYNC, stream)
                                           : call.error;
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind)
{
    struct call call;
    const struct transfer rows = {.dst = api_address(dst),
                                  .src = api_address(src),
                                  .width = width,
                                  .height = height,
                                  .dst_pitch = dpitch,
                                  .src_pitch = spitch};
    return BEGIN(&call, "cudaMemcpy2D") ? copy(&call, &rows, kind, SSAN_form_SYNC, NULL)
                                        : call.error;
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    struct call call;
    const struct transfer rows = {.dst = api_address(dst),
                                  .src = api_address(src),
                                  .width = width,
                                  .height = height,
                                  .dst_pitch = dpitch,
                                  .src_pitch = spitch};
    return BEGIN(&call, "cudaMemcpy2DAsync") ? copy(&call, &rows, kind, SSAN_form_ASYNC, stream)
                                             : call.error;
}

static cudaError_t copy_to_symbol(struct call *call, const void *symbol, const void *src,
                                  size_t count, size_t offset, enum cudaMemcpyKind kind,
                                  enum ssan_form form, cudaStream_t stream)
{
    uint64_t address;
    cudaError_t error = api_symbol(call, symbol, offset, count, &address);
    if (error == cudaSuccess && (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)) {
        error = cudaErrorInvalidMemcpyDirection;
    }
    if (error != cudaSuccess) {
        return call_end(call, error);
    }
    const struct transfer rows = api_row((void *)(uintptr_t)address, src, count);
    return copy(call, &rows, kind, form, stream);
}

static cudaError_t copy_from_symbol(struct call *call, void *dst, const void *symbol, size_t count,
                                    size_t offset, enum cudaMemcpyKind kind, enum ssan_form form,
                                    cudaStream_t stream)
{
    uint64_t address;
    cudaError_t error = api_symbol(call, symbol, offset, count, &address);
    if (error == cudaSuccess && (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)) {
        error = cudaErrorInvalidMemcpyDirection;
    }
    if (error != cudaSuccess) {
        return call_end(call, error);
    }
    const struct transfer rows = api_row(dst, (const void *)(uintptr_t)address, count);
    return copy(call, &rows, kind, form, stream);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                               enum cudaMemcpyKind kind)
{
    struct call call;
    return BEGIN(&call, "cudaMemcpyToSymbol")
               ? copy_to_symbol(&call, symbol, src, count, offset, kind, SSAN_form_SYNC, NULL)
               : call.error;
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                 enum cudaMemcpyKind kind)
{
    struct call call;
    return BEGIN(&call, "cudaMemcpyFromSymbol")
               ? copy_from_symbol(&call, dst, symbol, count, offset, kind, SSAN_form_SYNC, NULL)
               : call.error;
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct call call;
    return BEGIN(&call, "cudaMemcpyToSymbolAsync")
               ? copy_to_symbol(&call, symbol, src, count, offset, kind, SSAN_form_ASYNC, stream)
               : call.error;
}

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct call call;
    return BEGIN(&call, "cudaMemcpyFromSymbolAsync")
               ? copy_from_symbol(&call, dst, symbol, count, offset, kind, SSAN_form_ASYNC, stream)
               : call.error;
}

static cudaError_t set(struct call *call, void *dst, size_t pitch, int value, size_t width,
                       size_t height, enum ssan_form form, cudaStream_t stream)
{
    const struct transfer rows = {.dst = api_address(dst),
                                  .width = width,
                                  .height = height,
                                  .dst_pitch = pitch,
                                  .value = value};
    return call_end(call, api_memset(call, &rows, form, stream, PER_THREAD_STREAM));
}

cudaError_t cudaMemset(void *devPtr, int value, size_t count)
{
    struct call call;
    return BEGIN(&call, "cudaMemset")
               ? set(&call, devPtr, count, value, count, 1, SSAN_form_SYNC, NULL)
               : call.error;
}

cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    struct call call;
    return BEGIN(&call, "cudaMemsetAsync")
               ? set(&call, devPtr, count, value, count, 1, SSAN_form_ASYNC, stream)
               : call.error;
}

cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    struct call call;
    return BEGIN(&call, "cudaMemset2D")
               ? set(&call, devPtr, pitch, value, width, height, SSAN_form_SYNC, NULL)
               : call.error;
}

cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    struct call call;
    return BEGIN(&call, "cudaMemset2DAsync")
               ? set(&call, devPtr, pitch, value, width, height, SSAN_form_ASYNC, stream)
               : call.error;
}
