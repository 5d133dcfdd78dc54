/* Callbacks as no driver sends them, or not yet: of objects that nobody has told of, halves of
 * pairs, nests deeper than there are frames. The library may know less then, but it stays. */
#include "capture/program/program.h"

#include "capture/sanitizer_abi.h"

#include <string.h>

static char objects[16]; /* addresses that are no handles */

static void tell_unknown(void)
{
    struct sanitizer_stream *handle = (void *)&objects[0];
    CUstream stream = (void *)&objects[1];
    CUcontext context = (void *)&objects[2];
    const void *event[5] = {&objects[3], context, stream, handle, handle};
    struct sanitizer_memory_data memory = {
        .address = 0x123000, .size = 64, .context = context, .flags = 0, .visibility = 1};
    struct sanitizer_synchronize_data join = {context, stream, handle};
    struct sanitizer_memset_data set = {.context = context,
                                        .stream = stream,
                                        .handle = handle,
                                        .address = 0x456000,
                                        .width = 64,
                                        .height = 1,
                                        .element_size = 1};
    const void *data[4] = {context, stream, handle, handle};
    fake_tell(SANITIZER_EVENTS, SANITIZER_EVENT_RECORD, event);
    fake_tell(SANITIZER_EVENTS, SANITIZER_EVENT_STREAM_WAIT, event);
    fake_tell(SANITIZER_EVENTS, SANITIZER_EVENT_DESTROYED, event);
    fake_tell(SANITIZER_EVENTS, SANITIZER_EVENT_SYNCHRONIZE, event);
    fake_tell(SANITIZER_RESOURCE, SANITIZER_STREAM_DESTROY_STARTING, data);
    fake_tell(SANITIZER_RESOURCE, SANITIZER_STREAM_DESTROY_FINISHED, data);
    fake_tell(SANITIZER_RESOURCE, SANITIZER_DEVICE_MEMORY_FREE, &memory);
    fake_tell(SANITIZER_RESOURCE, SANITIZER_HOST_MEMORY_FREE, &memory);
    fake_tell(SANITIZER_RESOURCE, SANITIZER_MEMORY_FREE_ASYNC, &memory);
    fake_tell(SANITIZER_RESOURCE, SANITIZER_CONTEXT_DESTROY_STARTING, data);
    fake_tell(SANITIZER_RESOURCE, SANITIZER_CONTEXT_DESTROY_FINISHED, data);
    fake_tell(SANITIZER_SYNCHRONIZE, SANITIZER_STREAM_SYNCHRONIZED, &join);
    fake_tell(SANITIZER_MEMSET, SANITIZER_MEMSET_STARTING, &set); /* an operation all the same */
}

static void tell_halves(void)
{
    struct sanitizer_launch_data launched = {.context = (void *)&objects[2],
                                             .handle = (void *)&objects[0],
                                             .function = (void *)&objects[4],
                                             .name = "nobody"};
    int result = 0;
    struct sanitizer_api_data call = {
        .site = SANITIZER_API_EXIT, .function = "cudaMemcpy", .result = &result};
    fake_tell(SANITIZER_LAUNCH, SANITIZER_LAUNCH_AFTER_SYSCALL_SETUP, &launched);
    fake_tell(SANITIZER_LAUNCH, SANITIZER_LAUNCH_END, &launched);
    fake_tell(SANITIZER_RUNTIME_API, 31, &call); /* an exit that nobody entered */
    call.site = SANITIZER_API_ENTER;
    for (int i = 0; i < 20; i++) {
        fake_tell(SANITIZER_RUNTIME_API, 31, &call);
    }
    call.site = SANITIZER_API_EXIT;
    for (int i = 0; i < 20; i++) {
        fake_tell(SANITIZER_RUNTIME_API, 31, &call);
    }
    fake_tell(SANITIZER_RESOURCE, 200, &launched); /* ids of versions to come */
    fake_tell(SANITIZER_GRAPHS, 100, &launched);
    fake_tell(SANITIZER_EVENTS, 50, &launched);
    fake_tell(SANITIZER_LAUNCH, 60, &launched);
}

int scenario_strange(void)
{
    void *device;
    cudaMalloc(&device, 4096);
    tell_unknown();
    tell_halves();
    cudaMemset(device, 1, 64);
    return cudaDeviceSynchronize();
}

static int host_calls;

static void count_host(void *user)
{
    host_calls++;
}

/* Launches before and behind a window of the profiler. */
int scenario_window(void)
{
    void *device;
    cudaStream_t stream;
    cudaMalloc(&device, 4096);
    cudaStreamCreate(&stream);
    launch(&kernel_scale, device, NULL, stream);
    cudaStreamSynchronize(stream);
    cudaProfilerStart();
    fake_hold(); /* the host function runs inside the wait */
    launch(&kernel_scale, device, NULL, stream);
    cudaLaunchHostFunc(stream, count_host, NULL);
    cudaStreamSynchronize(stream);
    fake_release();
    cudaProfilerStop();
    launch(&kernel_scale, device, NULL, stream);
    cudaStreamSynchronize(stream);
    return host_calls == 1 ? 0 : 3;
}
