/* Our parameter structs of API calls against NVIDIA's generated ones, and a few numbers of the
 * driver.
 *
 * All is asserted when this is compiled; running it says so. Needs headers of CUDA that fit the
 * sanitizer's (the build tries those before it adds the test). HAS_... says what the headers have
 * of what came later than CUDA 12.4. */
#include "capture/cuda_abi.h"

#include <stdio.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <sanitizer.h> /* has types that the next needs */
#include <generated_cuda_meta.h>
#include <generated_cuda_runtime_api_meta.h>
#undef cuEventElapsedTime /* names of parameters below, not calls */
#pragma GCC diagnostic pop

#define NUMBER(ours, theirs) static_assert((long)(ours) == (long)(theirs), #ours)
#define MEMBER(ours, member, theirs, their_member)                                                 \
    static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member) &&               \
                      sizeof(((struct ours *)0)->member) == sizeof(((theirs *)0)->their_member),   \
                  #theirs "." #their_member)

/* Structs of one, two, ... members, by name of the call. */
#define SAME1(ours, a, theirs, x) MEMBER(ours, a, theirs##_params, x)
#define SAME2(ours, a, b, theirs, x, y)                                                            \
    SAME1(ours, a, theirs, x);                                                                     \
    SAME1(ours, b, theirs, y)
#define SAME3(ours, a, b, c, theirs, x, y, z)                                                      \
    SAME2(ours, a, b, theirs, x, y);                                                               \
    SAME1(ours, c, theirs, z)
#define SAME4(ours, a, b, c, d, theirs, x, y, z, w)                                                \
    SAME3(ours, a, b, c, theirs, x, y, z);                                                         \
    SAME1(ours, d, theirs, w)

NUMBER(CUDA_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
NUMBER(CUDA_INVALID_VALUE, cudaErrorInvalidValue);
NUMBER(CUDA_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
NUMBER(CUDA_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED);
NUMBER(CUDA_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED);
NUMBER(CUDA_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT);
NUMBER(CUDA_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE);
NUMBER(CUDA_INVALID_HANDLE, cudaErrorInvalidResourceHandle);
NUMBER(CUDA_NOT_READY, CUDA_ERROR_NOT_READY);
NUMBER(CUDA_NOT_READY, cudaErrorNotReady);
NUMBER(CUDA_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS);
NUMBER(CUDA_ILLEGAL_ADDRESS, cudaErrorIllegalAddress);
NUMBER(CUDA_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT);
NUMBER(CUDA_CONTEXT_IS_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED);
NUMBER(CUDA_ASSERT, CUDA_ERROR_ASSERT);
NUMBER(CUDA_HARDWARE_STACK_ERROR, CUDA_ERROR_HARDWARE_STACK_ERROR);
NUMBER(CUDA_ILLEGAL_INSTRUCTION, CUDA_ERROR_ILLEGAL_INSTRUCTION);
NUMBER(CUDA_MISALIGNED_ADDRESS, CUDA_ERROR_MISALIGNED_ADDRESS);
NUMBER(CUDA_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_ADDRESS_SPACE);
NUMBER(CUDA_INVALID_PC, CUDA_ERROR_INVALID_PC);
NUMBER(CUDA_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED);
NUMBER(CUDA_NOT_PERMITTED, CUDA_ERROR_NOT_PERMITTED);
NUMBER(CUDA_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED);
NUMBER(CUDA_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
NUMBER(CUDA_STREAM_CAPTURE_INVALIDATED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

NUMBER(CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
NUMBER(CUDA_STREAM_NON_BLOCKING, cudaStreamNonBlocking);
NUMBER(CUDA_EVENT_BLOCKING_SYNC, CU_EVENT_BLOCKING_SYNC);
NUMBER(CUDA_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING);
NUMBER(CUDA_EVENT_INTERPROCESS, CU_EVENT_INTERPROCESS);
NUMBER(CUDA_EVENT_WAIT_EXTERNAL, CU_EVENT_WAIT_EXTERNAL);
NUMBER(CUDA_HOST_REGISTER_IO_MEMORY, CU_MEMHOSTREGISTER_IOMEMORY);
NUMBER(CUDA_HOST_ALLOC_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
NUMBER(CUDA_HOST_ALLOC_MAPPED, CU_MEMHOSTALLOC_DEVICEMAP);
NUMBER(CUDA_COPY_HOST_TO_HOST, cudaMemcpyHostToHost);
NUMBER(CUDA_COPY_HOST_TO_DEVICE, cudaMemcpyHostToDevice);
NUMBER(CUDA_COPY_DEVICE_TO_HOST, cudaMemcpyDeviceToHost);
NUMBER(CUDA_COPY_DEVICE_TO_DEVICE, cudaMemcpyDeviceToDevice);
NUMBER(CUDA_COPY_DEFAULT, cudaMemcpyDefault);
NUMBER(CUDA_MEM_OP_WAIT_32, CU_STREAM_MEM_OP_WAIT_VALUE_32);
NUMBER(CUDA_MEM_OP_WRITE_32, CU_STREAM_MEM_OP_WRITE_VALUE_32);
NUMBER(CUDA_MEM_OP_FLUSH_REMOTE_WRITES, CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES);
NUMBER(CUDA_MEM_OP_WAIT_64, CU_STREAM_MEM_OP_WAIT_VALUE_64);
NUMBER(CUDA_MEM_OP_WRITE_64, CU_STREAM_MEM_OP_WRITE_VALUE_64);
NUMBER(CUDA_MEM_OP_BARRIER, CU_STREAM_MEM_OP_BARRIER);

SAME1(cuda_stream_params, stream, cudaStreamQuery_v3020, stream);
SAME1(cuda_stream_params, stream, cudaStreamSynchronize_v3020, stream);
SAME1(cuda_stream_params, stream, cudaStreamDestroy_v5050, stream);
SAME1(cuda_stream_params, stream, cuStreamQuery, hStream);
SAME1(cuda_stream_params, stream, cuStreamSynchronize, hStream);
SAME1(cuda_stream_params, stream, cuStreamDestroy_v2, hStream);
SAME1(cuda_event_params, event, cudaEventQuery_v3020, event);
SAME1(cuda_event_params, event, cudaEventSynchronize_v3020, event);
SAME1(cuda_event_params, event, cudaEventDestroy_v3020, event);
SAME1(cuda_event_params, event, cuEventQuery, hEvent);
SAME1(cuda_event_params, event, cuEventSynchronize, hEvent);
SAME1(cuda_event_params, event, cuEventDestroy_v2, hEvent);
SAME3(cuda_elapsed_params, milliseconds, start, end, cuEventElapsedTime, pMilliseconds, hStart,
      hEnd);
SAME1(cuda_stream_create_params, stream, cudaStreamCreate_v3020, pStream);
SAME2(cuda_stream_create_params, stream, flags, cudaStreamCreateWithFlags_v5000, pStream, flags);
SAME3(cuda_stream_create_params, stream, flags, priority, cudaStreamCreateWithPriority_v5050,
      pStream, flags, priority);
SAME2(cuda_stream_create_params, stream, flags, cuStreamCreate, phStream, Flags);
SAME3(cuda_stream_create_params, stream, flags, priority, cuStreamCreateWithPriority, phStream,
      flags, priority);
SAME1(cuda_event_create_params, event, cudaEventCreate_v3020, event);
SAME2(cuda_event_create_params, event, flags, cudaEventCreateWithFlags_v3020, event, flags);
SAME2(cuda_event_create_params, event, flags, cuEventCreate, phEvent, Flags);
SAME2(cuda_event_record_params, event, stream, cudaEventRecord_v3020, event, stream);
SAME2(cuda_event_record_params, event, stream, cudaEventRecord_ptsz_v7000, event, stream);
SAME2(cuda_event_record_params, event, stream, cuEventRecord, hEvent, hStream);
SAME3(cuda_event_record_params, event, stream, flags, cuEventRecordWithFlags, hEvent, hStream,
      flags);
SAME3(cuda_stream_wait_event_params, stream, event, flags, cudaStreamWaitEvent_v3020, stream, event,
      flags);
SAME3(cuda_stream_wait_event_params, stream, event, flags, cuStreamWaitEvent, hStream, hEvent,
      Flags);
#if HAS_CONTEXT_RECORD
SAME2(cuda_context_event_params, context, event, cuCtxRecordEvent, hCtx, hEvent);
#endif

SAME3(cuda_host_func_params, stream, function, user, cudaLaunchHostFunc_v10000, stream, fn,
      userData);
SAME3(cuda_host_func_params, stream, function, user, cuLaunchHostFunc, hStream, fn, userData);
SAME4(cuda_add_callback_params, stream, function, user, flags, cudaStreamAddCallback_v5000, stream,
      callback, userData, flags);
SAME4(cuda_add_callback_params, stream, function, user, flags, cuStreamAddCallback, hStream,
      callback, userData, flags);
SAME4(cuda_value32_params, stream, address, value, flags, cuStreamWaitValue32_v2, stream, addr,
      value, flags);
SAME4(cuda_value32_params, stream, address, value, flags, cuStreamWriteValue32_v2, stream, addr,
      value, flags);
SAME4(cuda_value32_params, stream, address, value, flags, cuStreamWaitValue32, stream, addr, value,
      flags);
SAME4(cuda_value64_params, stream, address, value, flags, cuStreamWaitValue64_v2, stream, addr,
      value, flags);
SAME4(cuda_value64_params, stream, address, value, flags, cuStreamWriteValue64_v2, stream, addr,
      value, flags);
SAME4(cuda_batch_params, stream, count, operations, flags, cuStreamBatchMemOp_v2, stream, count,
      paramArray, flags);
MEMBER(cuda_mem_op_params, operation, CUstreamBatchMemOpParams, waitValue.operation);
MEMBER(cuda_mem_op_params, address, CUstreamBatchMemOpParams, waitValue.address);
MEMBER(cuda_mem_op_params, value, CUstreamBatchMemOpParams, waitValue.value64);
MEMBER(cuda_mem_op_params, flags, CUstreamBatchMemOpParams, waitValue.flags);
MEMBER(cuda_mem_op_params, address, CUstreamBatchMemOpParams, writeValue.address);
MEMBER(cuda_mem_op_params, value, CUstreamBatchMemOpParams, writeValue.value64);
static_assert(sizeof(struct cuda_mem_op_params) == sizeof(CUstreamBatchMemOpParams), "batch");

SAME2(cuda_alloc_params, pointer, size, cudaMalloc_v3020, devPtr, size);
SAME2(cuda_alloc_params, pointer, size, cudaMallocHost_v3020, ptr, size);
SAME3(cuda_alloc_params, pointer, size, flags, cudaHostAlloc_v3020, pHost, size, flags);
SAME3(cuda_alloc_params, pointer, size, flags, cudaMallocManaged_v6000, devPtr, size, flags);
SAME2(cuda_alloc_params, pointer, size, cuMemAlloc_v2, dptr, bytesize);
SAME3(cuda_alloc_params, pointer, size, flags, cuMemHostAlloc, pp, bytesize, Flags);
SAME3(cuda_alloc_params, pointer, size, flags, cuMemAllocManaged, dptr, bytesize, flags);
SAME1(cuda_free_params, pointer, cudaFree_v3020, devPtr);
SAME1(cuda_free_params, pointer, cudaFreeHost_v3020, ptr);
SAME1(cuda_free_params, pointer, cudaHostUnregister_v4000, ptr);
SAME1(cuda_free_params, pointer, cuMemFree_v2, dptr);
SAME1(cuda_free_params, pointer, cuMemFreeHost, p);
SAME1(cuda_free_params, pointer, cuMemHostUnregister, p);
SAME3(cuda_host_register_params, pointer, size, flags, cudaHostRegister_v4000, ptr, size, flags);
SAME3(cuda_host_register_params, pointer, size, flags, cuMemHostRegister_v2, p, bytesize, Flags);
SAME3(cuda_alloc_async_params, pointer, size, stream, cudaMallocAsync_v11020, devPtr, size,
      hStream);
SAME3(cuda_alloc_async_params, pointer, size, stream, cuMemAllocAsync, dptr, bytesize, hStream);
SAME2(cuda_free_async_params, pointer, stream, cudaFreeAsync_v11020, devPtr, hStream);
SAME2(cuda_free_async_params, pointer, stream, cuMemFreeAsync, dptr, hStream);
SAME4(cuda_attach_params, stream, pointer, size, flags, cuStreamAttachMemAsync, hStream, dptr,
      length, flags);
#if HAS_PREFETCH_V2
SAME3(cuda_prefetch_v2_params, pointer, size, flags, cuMemPrefetchAsync_v2, devPtr, count, flags);
SAME3(cuda_prefetch_v2_params, location_type, location_id, stream, cuMemPrefetchAsync_v2,
      location.type, location.id, hStream);
#endif

SAME4(cuda_global_params, address, size, owner, name, cuModuleGetGlobal_v2, dptr, bytes, hmod,
      name);
SAME4(cuda_global_params, address, size, owner, name, cuLibraryGetGlobal, dptr, bytes, library,
      name);
SAME4(cuda_copy_params, destination, source, size, kind, cudaMemcpy_v3020, dst, src, count, kind);
SAME4(cuda_copy_params, destination, source, size, stream, cudaMemcpyAsync_v3020, dst, src, count,
      stream);
SAME4(cuda_copy_2d_params, destination, source, width, stream, cudaMemcpy2DAsync_v3020, dst, src,
      width, stream);
SAME4(cuda_copy_2d_params, destination_pitch, source_pitch, height, kind, cudaMemcpy2DAsync_v3020,
      dpitch, spitch, height, kind);
SAME4(cuda_driver_copy_params, destination, source, size, stream, cuMemcpyAsync, dst, src,
      ByteCount, hStream);
SAME4(cuda_driver_copy_params, destination, source, size, stream, cuMemcpyHtoDAsync_v2, dstDevice,
      srcHost, ByteCount, hStream);
SAME4(cuda_memset_params, pointer, value, size, stream, cudaMemsetAsync_v3020, devPtr, value, count,
      stream);

SAME3(cuda_launch_params, function, grid, block, cudaLaunchKernel_v7000, func, gridDim, blockDim);
SAME3(cuda_launch_params, arguments, shared_bytes, stream, cudaLaunchKernel_v7000, args, sharedMem,
      stream);
SAME4(cuda_driver_launch_params, function, grid_x, grid_y, grid_z, cuLaunchKernel, f, gridDimX,
      gridDimY, gridDimZ);
SAME4(cuda_driver_launch_params, block_x, block_y, block_z, shared_bytes, cuLaunchKernel, blockDimX,
      blockDimY, blockDimZ, sharedMemBytes);
SAME3(cuda_driver_launch_params, stream, arguments, extra, cuLaunchKernel, hStream, kernelParams,
      extra);
SAME2(cuda_driver_launch_params, stream, arguments, cuLaunchCooperativeKernel, hStream,
      kernelParams);
SAME4(cuda_launch_ex_params, config, function, arguments, extra, cuLaunchKernelEx, config, f,
      kernelParams, extra);
MEMBER(cuda_launch_config, grid_x, CUlaunchConfig, gridDimX);
MEMBER(cuda_launch_config, block_z, CUlaunchConfig, blockDimZ);
MEMBER(cuda_launch_config, shared_bytes, CUlaunchConfig, sharedMemBytes);
MEMBER(cuda_launch_config, stream, CUlaunchConfig, hStream);
MEMBER(cuda_launch_config, attributes, CUlaunchConfig, attrs);
MEMBER(cuda_launch_config, attribute_count, CUlaunchConfig, numAttrs);
MEMBER(cuda_runtime_launch_config, grid, cudaLaunchConfig_t, gridDim);
MEMBER(cuda_runtime_launch_config, block, cudaLaunchConfig_t, blockDim);
MEMBER(cuda_runtime_launch_config, shared_bytes, cudaLaunchConfig_t, dynamicSmemBytes);
MEMBER(cuda_runtime_launch_config, stream, cudaLaunchConfig_t, stream);
MEMBER(cuda_runtime_launch_config, attributes, cudaLaunchConfig_t, attrs);
MEMBER(cuda_runtime_launch_config, attribute_count, cudaLaunchConfig_t, numAttrs);
SAME3(cuda_runtime_launch_ex_params, config, function, arguments, cudaLaunchKernelExC_v11060,
      config, func, args);
SAME2(cuda_graph_launch_params, graph, stream, cudaGraphLaunch_v10000, graphExec, stream);
SAME2(cuda_graph_launch_params, graph, stream, cuGraphLaunch, hGraph, hStream);

int main(void)
{
    printf("parameters of %d are as declared\n", CUDA_VERSION);
    return 0;
}
