/* Streams, events, joins, contexts and devices. */
#include "capture/program/program.h"

static void *device, *pinned;

static void allocate(void)
{
    cudaMalloc(&device, 4096);
    cudaMallocHost(&pinned, 4096);
}

int scenario_streams(void)
{
    cudaStream_t first, second, third, fourth;
    allocate();
    cudaStreamCreate(&first);
    cudaStreamCreateWithFlags(&second, CUDA_STREAM_NON_BLOCKING);
    cudaStreamCreateWithPriority(&third, CUDA_STREAM_NON_BLOCKING, -1);
    cuStreamCreate(&fourth, 0);
    cudaMemsetAsync(device, 1, 64, fourth);
    cudaMemsetAsync(device, 1, 64, second);
    cudaStreamDestroy(first);
    cudaStreamCreate(&third); /* the handle of the first, but another stream */
    if (third != first) {
        return 3;
    }
    cudaMemsetAsync(device, 1, 64, third);
    fake_fail(CUDA_OUT_OF_MEMORY);
    cudaStreamCreate(&first);
    cuStreamDestroy_v2(fourth);
    return cudaStreamDestroy(fourth) == CUDA_INVALID_HANDLE ? cudaDeviceSynchronize() : 4;
}

/* NULL, cudaStreamLegacy and cudaStreamPerThread; calls of both forms. */
int scenario_default_streams(void)
{
    allocate();
    cudaMemsetAsync(device, 1, 64, NULL);
    cudaMemsetAsync(device, 2, 64, cudaStreamLegacy);
    cudaMemsetAsync(device, 3, 64, cudaStreamPerThread);
    cudaMemcpy_ptds(pinned, device, 64, CUDA_COPY_DEVICE_TO_HOST);
    cudaMemcpyAsync_ptsz(pinned, device, 64, CUDA_COPY_DEVICE_TO_HOST, NULL);
    cudaMemcpyAsync_ptsz(pinned, device, 64, CUDA_COPY_DEVICE_TO_HOST, cudaStreamLegacy);
    cudaMemset_ptds(device, 4, 64);
    cudaStreamSynchronize_ptsz(NULL);
    cudaStreamQuery_ptsz(NULL);
    cudaStreamSynchronize(NULL);
    cudaStreamSynchronize(cudaStreamLegacy);
    cudaStreamSynchronize(cudaStreamPerThread);
    return cudaStreamQuery(NULL);
}

static void *own(void *unused)
{
    cudaMemsetAsync(device, 1, 64, cudaStreamPerThread);
    cudaStreamSynchronize(cudaStreamPerThread);
    return NULL;
}

/* A per-thread stream for each thread; it ends with its thread, and its handle comes back. */
int scenario_own_streams(void)
{
    allocate();
    cudaMemsetAsync(device, 0, 64, cudaStreamPerThread);
    cudaStreamSynchronize(cudaStreamPerThread);
    for (int i = 0; i < 2; i++) {
        run_thread(own);
    }
    cudaMemsetAsync(device, 2, 64, cudaStreamPerThread);
    return cudaStreamSynchronize(cudaStreamPerThread);
}

int scenario_events(void)
{
    cudaStream_t first, second;
    cudaEvent_t plain, untimed, never, again;
    float ms;
    allocate();
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaEventCreate(&plain);
    cudaEventCreateWithFlags(&untimed, CUDA_EVENT_DISABLE_TIMING);
    cuEventCreate(&never, CUDA_EVENT_BLOCKING_SYNC);
    cudaStreamWaitEvent(second, never, 0);
    cudaEventSynchronize(never);
    cudaEventQuery(never);
    cudaMemsetAsync(device, 1, 64, first);
    cudaEventRecord(plain, first);
    cudaStreamWaitEvent(second, plain, 0);
    cudaStreamWaitEvent(NULL, plain, 0);
    cudaEventRecordWithFlags(untimed, second, 0);
    cuEventRecord(plain, second);
    cudaEventRecord_ptsz(untimed, NULL);
    cudaEventSynchronize(plain);
    cudaEventQuery(plain);
    cudaEventSynchronize(untimed);
    cudaEventElapsedTime(&ms, plain, plain);
    cudaEventElapsedTime(&ms, plain, untimed); /* fails: no times */
    cudaEventDestroy(never);
    cudaEventCreate(&again); /* the handle of the one before, never recorded */
    if (again != never) {
        return 3;
    }
    cudaStreamWaitEvent(first, again, 0);
    cudaEventDestroy(plain);
    return cudaEventRecord(plain, first) == CUDA_INVALID_HANDLE ? cudaDeviceSynchronize() : 4;
}

/* What is not done yet leaves nothing. */
int scenario_queries(void)
{
    cudaStream_t stream;
    cudaEvent_t event;
    float ms;
    allocate();
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    fake_hold();
    cudaMemsetAsync(device, 1, 64, stream);
    cudaEventRecord(event, stream);
    if (cudaStreamQuery(stream) != CUDA_NOT_READY || cudaEventQuery(event) != CUDA_NOT_READY ||
        cudaEventElapsedTime(&ms, event, event) != CUDA_NOT_READY) {
        return 3;
    }
    cudaStreamSynchronize(stream);
    fake_release();
    cudaEventQuery(event);
    cuEventQuery(event);
    cuStreamQuery(stream);
    cudaEventElapsedTime(&ms, event, event);
    return cudaStreamQuery(stream);
}

int scenario_joins(void)
{
    cudaStream_t stream;
    cudaEvent_t event;
    allocate();
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    cudaMemsetAsync(device, 1, 64, stream);
    cudaEventRecord(event, stream);
    cudaDeviceSynchronize();
    cuCtxSynchronize();
    cudaStreamSynchronize(stream);
    cuStreamSynchronize(stream);
    cudaEventSynchronize(event);
    cuEventSynchronize(event);
    fake_fail(CUDA_ILLEGAL_ADDRESS); /* joins that fail */
    cudaStreamSynchronize(stream);
    return 0;
}

/* Contexts of the driver beside the primary one. */
int scenario_contexts(void)
{
    CUcontext primary, own_context;
    CUstream stream;
    CUdeviceptr memory;
    allocate();
    cuCtxGetCurrent(&primary);
    cudaMemset(device, 1, 64);
    cuCtxCreate_v2(&own_context, 0, 0);
    cuMemAlloc_v2(&memory, 4096);
    cuStreamCreate(&stream, CUDA_STREAM_NON_BLOCKING);
    cuMemsetD32Async(memory, 1, 16, stream);
    cuMemsetD32Async(memory, 1, 16, NULL); /* its own default stream */
    cuCtxSynchronize();
    cuCtxSetCurrent(primary);
    cudaMemset(device, 2, 64);
    cuCtxDestroy_v2(own_context);
    return cudaDeviceSynchronize();
}

int scenario_devices(void)
{
    void *remote;
    cudaStream_t stream;
    allocate();
    cudaMemset(device, 1, 64);
    cudaSetDevice(1);
    cudaMalloc(&remote, 4096);
    cudaStreamCreate(&stream);
    cudaMemsetAsync(remote, 1, 64, stream);
    cudaMemset(remote, 1, 64);
    cudaDeviceSynchronize(); /* of device 1 */
    cudaSetDevice(0);
    cudaMemcpy(remote, device, 64, CUDA_COPY_DEFAULT); /* both legacy streams */
    cudaMemsetAsync(remote, 2, 64, stream);            /* behind it, though it is on device 1 */
    cudaMemcpyAsync(device, remote, 64, CUDA_COPY_DEFAULT, stream); /* this stream alone */
    cudaStreamSynchronize(stream);
    cudaDeviceSynchronize();
    return cudaSetDevice(2) == 101 ? 0 : 3;
}

int scenario_reset(void)
{
    cudaStream_t stream;
    allocate();
    cudaStreamCreate(&stream);
    cudaMemsetAsync(device, 1, 64, stream);
    cudaDeviceReset();
    allocate();
    cudaMemset(device, 1, 64);
    return cudaDeviceSynchronize();
}
