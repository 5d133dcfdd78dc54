/* What programs of tests/capture see of the fake driver: CUDA's names, and a few switches of ours.
 *
 * Device memory is host memory. Kernels are host functions (struct fake_kernel). Items of streams
 * are carried out in the order of submission by one thread, which stands for the device and for the
 * driver's own thread alike; fake_hold() stops it, so that queries find work unfinished; a call
 * that waits runs what it waits for, held or not. Which callbacks a call makes, in which order, is
 * what a driver of CUDA 13.0 did on a GPU (driver_order.txt). */
#ifndef SSAN_CAPTURE_FAKE_CUDA_H
#define SSAN_CAPTURE_FAKE_CUDA_H

#include "capture/cuda_abi.h"

#pragma GCC visibility push(default)

typedef int cudaError_t;
typedef CUstream cudaStream_t;
typedef CUevent cudaEvent_t;
typedef CUgraph cudaGraph_t;
typedef CUgraphExec cudaGraphExec_t;

#define cudaStreamLegacy    CUDA_STREAM_LEGACY
#define cudaStreamPerThread CUDA_STREAM_PER_THREAD

/* A kernel: what it is called (mangled), what it does, the bytes of its parameters up to a 0. Its
 * code holds `operation`, the lowest bits of an instruction (0: none that matters). */
struct fake_kernel {
    const char *name;
    void (*body)(void **arguments);
    size_t sizes[8];
    uint32_t operation;
};

/* -- switches -----------------------------------------------------------------------------------*/

/* Nothing runs by itself from here on, until fake_release. */
void fake_hold(void);
/* Windows of launches (capture/patch_abi.h) that kernels were in so far; UINT_MAX: none is
 * observed. */
unsigned fake_windows(void);
void fake_release(void);
/* Host functions run on a thread of the driver before the call that submits them returns, as they
 * do where their stream has nothing else to do. */
void fake_overtake(void);
/* Called by every copy to the device of the sanitizer library, before it looks at its stream: what
 * other threads do meanwhile. */
void fake_on_copy(void (*hook)(CUstream stream));
/* The next driver call that submits or allocates fails with `code`, and tells nobody. */
void fake_fail(int code);
/* All calls fail with `code` from here on, as after a device fault. */
void fake_fault(int code);
/* The kernels of the program's module, up to NULL; before the first launch. */
void fake_register(const struct fake_kernel *const *kernels);

enum fake_access { FAKE_READ, FAKE_WRITE, FAKE_ATOMIC };

/* In a kernel's body, in place of the device's own: its instruction number `instruction` accesses
 * `size` bytes. The patch of the launch sees it, if there is one. */
void fake_access(unsigned int instruction, const void *pointer, uint32_t size,
                 enum fake_access access);

/* Calls back as told, whatever it is. */
void fake_tell(uint32_t domain, uint32_t id, const void *data);

/* -- the runtime --------------------------------------------------------------------------------*/

cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

cudaError_t cudaMalloc(void **pointer, size_t size);
cudaError_t cudaMallocHost(void **pointer, size_t size);
cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int flags);
cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned int flags);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned int flags);
cudaError_t cudaHostUnregister(void *pointer);
cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t size,
                                     unsigned int flags);

cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *user);
cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, void (*function)(void *), void *user);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, void (*function)(CUstream, int, void *),
                                  void *user, unsigned int flags);

cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);

cudaError_t cudaMemcpy(void *destination, const void *source, size_t size, int kind);
cudaError_t cudaMemcpy_ptds(void *destination, const void *source, size_t size, int kind);
cudaError_t cudaMemcpyAsync(void *destination, const void *source, size_t size, int kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpyAsync_ptsz(void *destination, const void *source, size_t size, int kind,
                                 cudaStream_t stream);
cudaError_t cudaMemcpy2D(void *destination, size_t destination_pitch, const void *source,
                         size_t source_pitch, size_t width, size_t height, int kind);
cudaError_t cudaMemcpy2DAsync(void *destination, size_t destination_pitch, const void *source,
                              size_t source_pitch, size_t width, size_t height, int kind,
                              cudaStream_t stream);
cudaError_t cudaMemset(void *pointer, int value, size_t size);
cudaError_t cudaMemset_ptds(void *pointer, int value, size_t size);
cudaError_t cudaMemsetAsync(void *pointer, int value, size_t size, cudaStream_t stream);
cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height);

/* Of the thread: what its last call of the runtime that failed has returned. */
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);

/* `function` is a struct fake_kernel. */
cudaError_t cudaLaunchKernel(const void *function, struct cuda_dim3 grid, struct cuda_dim3 block,
                             void **arguments, size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaLaunchKernel_ptsz(const void *function, struct cuda_dim3 grid,
                                  struct cuda_dim3 block, void **arguments, size_t shared_bytes,
                                  cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void *function, struct cuda_dim3 grid,
                                        struct cuda_dim3 block, void **arguments,
                                        size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const struct cuda_runtime_launch_config *config,
                                const void *function, void **arguments);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

/* -- the driver ---------------------------------------------------------------------------------*/

int cuInit(unsigned int flags);
int cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
int cuCtxDestroy_v2(CUcontext context);
int cuCtxSetCurrent(CUcontext context);
int cuCtxGetCurrent(CUcontext *context);
int cuCtxPushCurrent_v2(CUcontext context);
int cuCtxPopCurrent_v2(CUcontext *context);
int cuThreadExchangeStreamCaptureMode(int *mode);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(CUdeviceptr *pointer, size_t size);
int cuMemFree_v2(CUdeviceptr pointer);
int cuMemHostAlloc(void **pointer, size_t size, unsigned int flags);
int cuMemFreeHost(void *pointer);
int cuStreamCreate(CUstream *stream, unsigned int flags);
int cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority);
int cuCtxGetStreamPriorityRange(int *least, int *greatest);
int cuStreamDestroy_v2(CUstream stream);
int cuStreamSynchronize(CUstream stream);
int cuStreamQuery(CUstream stream);
int cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);
int cuStreamGetCtx(CUstream stream, CUcontext *context);
int cuStreamGetFlags(CUstream stream, unsigned int *flags);
int cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                           unsigned int flags);
int cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                            unsigned int flags);
int cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
                          struct cuda_mem_op_params *operations, unsigned int flags);
int cuEventCreate(CUevent *event, unsigned int flags);
int cuEventDestroy_v2(CUevent event);
int cuEventRecord(CUevent event, CUstream stream);
int cuEventSynchronize(CUevent event);
int cuEventQuery(CUevent event);
int cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end);
int cuMemcpyHtoD_v2(CUdeviceptr destination, const void *source, size_t size);
int cuMemcpyDtoHAsync_v2(void *destination, CUdeviceptr source, size_t size, CUstream stream);
int cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count, CUstream stream);
/* `function` is a struct fake_kernel too. */
int cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                   unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                   void **arguments, void **extra);
int cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size);
int cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size);
int cuKernelGetFunction(CUfunction *function, CUkernel kernel);
int cuFuncGetName(const char **name, CUfunction function);
int cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule module, const char *name);

#pragma GCC visibility pop

#endif
