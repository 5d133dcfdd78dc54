/* Launches, host functions, graphs, and what fails. */
#include "capture/program/program.h"

static void *device, *second, *pinned;
static cudaStream_t stream;

static void begin(void)
{
    cudaMalloc(&device, 4096);
    cudaMalloc(&second, 4096);
    cudaMallocHost(&pinned, 4096);
    cudaStreamCreate(&stream);
}

int scenario_launches(void)
{
    begin();
    void *arguments[] = {&device, &second};
    struct cuda_runtime_launch_config config = {
        .grid = {2, 3, 4}, .block = {8, 2, 2}, .stream = stream};
    launch(&kernel_scale, device, NULL, stream);
    launch(&kernel_add, device, second, NULL);
    launch(&kernel_add, device, second, cudaStreamPerThread);
    cudaLaunchKernelExC(&config, &kernel_scale, arguments);
    cudaLaunchCooperativeKernel(&kernel_scale, config.grid, config.block, arguments, 0, stream);
    cudaLaunchKernel_ptsz(&kernel_scale, config.grid, config.block, arguments, 0, NULL);
    cuLaunchKernel((CUfunction)(uintptr_t)&kernel_scale, 1, 1, 1, 32, 1, 1, 0, stream, arguments,
                   NULL);
    char buffer[16] = {0};
    size_t size = sizeof(buffer);
    void *extra[] = {CUDA_LAUNCH_BUFFER_POINTER, buffer, CUDA_LAUNCH_BUFFER_SIZE, &size,
                     CUDA_LAUNCH_END};
    cuLaunchKernel((CUfunction)(uintptr_t)&kernel_scale, 1, 1, 1, 32, 1, 1, 0, stream, NULL, extra);
    config.block.x = 4096;
    if (cudaLaunchKernelExC(&config, &kernel_scale, arguments) == 0) {
        return 3;
    }
    return cudaDeviceSynchronize();
}

/* Kernels that may begin before the one before them has ended: behind a copy, two that wait for it
 * first, and one of which that is not known. */
int scenario_dependent(void)
{
    begin();
    void *arguments[] = {&device, &second};
    struct cuda_launch_attribute attribute = {.id = CUDA_ATTRIBUTE_PROGRAMMATIC_SERIALIZATION};
    attribute.value.number = 1;
    struct cuda_runtime_launch_config config = {.grid = {1, 1, 1},
                                                .block = {32, 1, 1},
                                                .stream = stream,
                                                .attributes = &attribute,
                                                .attribute_count = 1};
    cudaMemcpyAsync(device, pinned, 64, CUDA_COPY_HOST_TO_DEVICE, stream);
    cudaLaunchKernelExC(&config, &kernel_scale, arguments);
    cudaLaunchKernelExC(&config, &kernel_waiting, arguments);
    cudaLaunchKernelExC(&config, &kernel_waiting, arguments);
    cudaStreamSynchronize(stream);
    cudaLaunchKernelExC(&config, &kernel_scale, arguments);
    return cudaDeviceSynchronize();
}

static void host(void *user)
{
    *(int *)user += 1;
}

static void callback(CUstream unused, int status, void *user)
{
    *(int *)user += status == 0;
}

int scenario_host_functions(void)
{
    int calls = 0;
    begin();
    fake_hold(); /* they run inside the waits */
    cudaMemsetAsync(device, 1, 64, stream);
    cudaLaunchHostFunc(stream, host, &calls);
    cudaStreamAddCallback(stream, callback, &calls, 0);
    cudaStreamSynchronize(stream);
    fake_release();
    return calls == 2 ? 0 : 3;
}

/* The first use of a default stream. */
int scenario_own_host_function(void)
{
    int calls = 0;
    begin();
    fake_hold();
    cudaLaunchHostFunc_ptsz(NULL, host, &calls);
    cudaStreamSynchronize(cudaStreamPerThread);
    cudaLaunchHostFunc(NULL, host, &calls);
    cudaStreamSynchronize(NULL);
    fake_release();
    return calls == 2 ? 0 : 3;
}

/* Nothing is left of a host function that the driver did not take. */
int scenario_failed_host_function(void)
{
    int calls = 0;
    begin();
    fake_fail(CUDA_INVALID_VALUE);
    cudaLaunchHostFunc(stream, host, &calls);
    fake_fail(CUDA_INVALID_VALUE);
    cudaStreamAddCallback(stream, callback, &calls, 0);
    cudaMemsetAsync(device, 7, 64, stream);
    cudaStreamSynchronize(stream);
    return calls == 0 ? 0 : 3;
}

static cudaGraphExec_t capture(void)
{
    static int calls;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(stream, 0);
    launch(&kernel_scale, device, NULL, stream);
    cudaMemcpyAsync(second, device, 64, CUDA_COPY_DEVICE_TO_DEVICE, stream);
    cudaMemsetAsync(device, 0, 64, stream);
    cudaLaunchHostFunc(stream, host, &calls);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    return exec;
}

int scenario_graph(void)
{
    begin();
    cudaGraphExec_t exec = capture();
    cudaGraphUpload(exec, stream);
    cudaGraphLaunch(exec, stream);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    return cudaGraphExecDestroy(exec);
}

/* Captured work that is never launched is no work. */
int scenario_captured(void)
{
    cudaEvent_t event;
    cudaStream_t other;
    cudaGraph_t graph;
    begin();
    cudaStreamCreate(&other);
    cudaEventCreate(&event);
    cudaMemsetAsync(device, 0, 64, stream);
    cudaStreamBeginCapture(stream, 0);
    cudaMemsetAsync(device, 1, 64, stream);
    cudaEventRecord(event, stream);
    cudaStreamWaitEvent(other, event, 0);
    cudaMemsetAsync(device, 2, 64, other);
    cudaStreamEndCapture(stream, &graph);
    cudaMemsetAsync(device, 3, 64, stream);
    return cudaStreamSynchronize(stream);
}

/* Calls that fail leave nothing. */
int scenario_failures(void)
{
    cudaEvent_t event;
    int failed = 0;
    begin();
    cudaEventCreate(&event);
#define FAILS(call) (fake_fail(CUDA_INVALID_VALUE), failed += (call) == CUDA_INVALID_VALUE)
    FAILS(launch(&kernel_scale, device, NULL, stream));
    FAILS(cudaMemcpy(device, pinned, 64, CUDA_COPY_HOST_TO_DEVICE));
    FAILS(cudaMemcpyAsync(device, pinned, 64, CUDA_COPY_HOST_TO_DEVICE, stream));
    FAILS(cudaMemset(device, 0, 64));
    FAILS(cudaMemsetAsync(device, 0, 64, stream));
    FAILS(cudaEventRecord(event, stream));
    FAILS(cudaStreamWaitEvent(stream, event, 0));
    FAILS(cudaEventQuery(event));
    FAILS(cudaStreamQuery(stream));
    FAILS(cudaMallocAsync(&pinned, 64, stream));
    FAILS(cuStreamWaitValue32_v2(stream, (CUdeviceptr)device, 5, 0));
    FAILS(cuStreamWriteValue32_v2(stream, (CUdeviceptr)device, 5, 0));
    FAILS(cudaMalloc(&pinned, 64));
    FAILS(cudaFree(device));
    FAILS(cudaEventDestroy(event));
    FAILS(cudaStreamDestroy(stream));
    cudaMemsetAsync(device, 7, 64, stream); /* the one operation */
    cudaStreamSynchronize(stream);
    return failed == 16 ? 0 : 3;
}

/* A kernel faults: the first call that tells ends the context. */
int scenario_fault(void)
{
    begin();
    launch(&kernel_scale, device, NULL, stream);
    fake_fault(CUDA_ILLEGAL_ADDRESS);
    cudaStreamSynchronize(stream);
    cudaMemcpy(pinned, device, 64, CUDA_COPY_DEVICE_TO_HOST);
    launch(&kernel_scale, device, NULL, stream);
    cudaFree(device);
    return cudaDeviceSynchronize() == CUDA_ILLEGAL_ADDRESS ? 9 : 3;
}

/* -- verdicts
 * -------------------------------------------------------------------------------------*/

static int two_streams(int wait)
{
    cudaStream_t other;
    cudaEvent_t event;
    begin();
    cudaStreamCreateWithFlags(&other, CUDA_STREAM_NON_BLOCKING);
    cudaEventCreateWithFlags(&event, CUDA_EVENT_DISABLE_TIMING);
    cudaMemsetAsync(device, 1, 4096, stream);
    cudaEventRecord(event, stream);
    if (wait) {
        cudaStreamWaitEvent(other, event, 0);
    }
    cudaMemcpyAsync(pinned, device, 4096, CUDA_COPY_DEVICE_TO_HOST, other);
    cudaStreamSynchronize(stream);
    return cudaStreamSynchronize(other);
}

int scenario_race(void)
{
    return two_streams(0);
}

int scenario_ordered(void)
{
    return two_streams(1);
}

int scenario_freed_in_flight(void)
{
    begin();
    cudaMemsetAsync(device, 1, 4096, stream);
    cudaFree(device);
    return cudaStreamSynchronize(stream);
}

/* Nobody checks addresses of kernels here; the block comes back at once to somebody else. */
int scenario_use_after_free(void)
{
    void *again;
    cudaStream_t other;
    begin();
    cudaStreamCreateWithFlags(&other, CUDA_STREAM_NON_BLOCKING);
    cudaFree(device);
    cudaMalloc(&again, 4096);
    cudaMemsetAsync(again, 1, 64, stream);
    cudaMemsetAsync(device, 2, 64, other); /* the old pointer */
    return cudaDeviceSynchronize();
}
