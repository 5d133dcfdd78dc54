/* Contexts of the fake driver: a primary one for each device, made by the first call of the runtime
 * that needs it, and those of cuCtxCreate. FAKE_DEVICES says how many devices there are. */
#include "capture/fake/fake.h"

#include <stdlib.h>
#include <unistd.h>

enum { DEVICES = 8 };

static struct fake_context *primary[DEVICES];
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct fake_context *current;
static _Thread_local struct fake_context *below; /* a stack of two */
static _Thread_local int device;

struct fake_context *fake_current(void)
{
    return current;
}

/* Its streams are told before it is, and one of those is the legacy default stream. */
static void fill(struct fake_context *context)
{
    fake_lock_driver();
    fake_tell_context(SANITIZER_CONTEXT_CREATION_STARTING, context);
    struct fake_stream *streams[FAKE_INTERNAL];
    for (int i = 0; i < FAKE_INTERNAL; i++) {
        streams[i] = fake_new_stream(context, true, 0);
        fake_tell_stream(SANITIZER_STREAM_CREATED, streams[i]);
    }
    context->legacy = streams[1];
    struct sanitizer_memory_data data = {.address = (uint64_t)(uintptr_t)fake_allocate(512),
                                         .size = 512,
                                         .context = (CUcontext)context,
                                         .device = context->device,
                                         .flags = SANITIZER_MEMORY_CG_RUNTIME,
                                         .permissions = 7,
                                         .visibility = SANITIZER_VISIBLE_GLOBAL};
    fake_tell(SANITIZER_RESOURCE, SANITIZER_DEVICE_MEMORY_ALLOC, &data);
    fake_tell_context(SANITIZER_CONTEXT_CREATION_FINISHED, context);
    fake_unlock_driver();
}

static void empty(struct fake_context *context)
{
    fake_tell_context(SANITIZER_CONTEXT_DESTROY_STARTING, context);
    fake_wait(fake_last());
    fake_end_context_events(context);
    fake_end_context_streams(context);
    fake_end_context_memory(context);
    fake_tell_context(SANITIZER_CONTEXT_DESTROY_FINISHED, context);
}

int fake_runtime(void)
{
    if (current) {
        return fake_sticky();
    }
    pthread_mutex_lock(&making);
    bool is_new = !primary[device];
    if (is_new) {
        primary[device] = calloc(1, sizeof(**primary));
        *primary[device] = (struct fake_context){.device = device, .is_primary = true};
    }
    CUcontext params = (CUcontext)primary[device];
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, 303, "cuCtxSetCurrent", &params, NULL);
    current = primary[device];
    fake_exit(&call, 0);
    if (is_new) {
        fake_enter(&call, SANITIZER_DRIVER_API, 386, "cuDevicePrimaryCtxRetain", &device, NULL);
        fill(current);
        fake_exit(&call, 0);
    }
    pthread_mutex_unlock(&making);
    return fake_sticky();
}

cudaError_t cudaSetDevice(int number)
{
    const char *count = getenv("FAKE_DEVICES");
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 16, "cudaSetDevice", &number, NULL);
    if (number < 0 || number >= DEVICES || number >= (count ? atoi(count) : 1)) {
        return fake_exit(&call, 101);
    }
    if (number != device) {
        device = number;
        current = NULL;
    }
    return fake_exit(&call, fake_runtime());
}

cudaError_t cudaDeviceReset(void)
{
    struct fake_call call, inner;
    fake_enter(&call, SANITIZER_RUNTIME_API, 164, "cudaDeviceReset", NULL, NULL);
    fake_enter(&inner, SANITIZER_DRIVER_API, 389, "cuDevicePrimaryCtxReset", &device, NULL);
    if (primary[device]) {
        empty(primary[device]);
        primary[device] = NULL;
        current = NULL;
    }
    fake_exit(&inner, 0);
    return fake_exit(&call, 0);
}

static int synchronize(uint32_t id, const char *name, const CUcontext *named)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, id, name, named, NULL);
    int result = fake_sticky();
    if (!result) {
        fake_wait(fake_last());
        struct sanitizer_synchronize_data data = {.context = (CUcontext)current};
        fake_tell(SANITIZER_SYNCHRONIZE, SANITIZER_CONTEXT_SYNCHRONIZED, &data);
    }
    return fake_exit(&call, result);
}

cudaError_t cudaDeviceSynchronize(void)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 165, "cudaDeviceSynchronize", NULL, NULL);
    fake_runtime();
    CUcontext context = (CUcontext)current;
    return fake_exit(&call, synchronize(800, "cuCtxSynchronize_v2", &context));
}

int cuCtxSynchronize(void)
{
    return synchronize(17, "cuCtxSynchronize", NULL);
}

static cudaError_t profiler(uint32_t id, const char *name, uint32_t inner_id, const char *inner)
{
    struct fake_call call, driver;
    fake_enter(&call, SANITIZER_RUNTIME_API, id, name, NULL, NULL);
    fake_enter(&driver, SANITIZER_DRIVER_API, inner_id, inner, NULL, NULL);
    fake_exit(&driver, 0);
    return fake_exit(&call, 0);
}

cudaError_t cudaProfilerStart(void)
{
    return profiler(171, "cudaProfilerStart", 308, "cuProfilerStart");
}

cudaError_t cudaProfilerStop(void)
{
    return profiler(172, "cudaProfilerStop", 309, "cuProfilerStop");
}

int cuInit(unsigned int flags)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, 1, "cuInit", &flags, NULL);
    return fake_exit(&call, 0);
}

int cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice number)
{
    struct {
        CUcontext *context;
        unsigned int flags;
        int device;
    } params = {context, flags, number};
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, 235, "cuCtxCreate_v2", &params, NULL);
    current = calloc(1, sizeof(*current));
    current->device = number;
    fill(current);
    *context = (CUcontext)current;
    return fake_exit(&call, 0);
}

int cuCtxDestroy_v2(CUcontext context)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, 322, "cuCtxDestroy_v2", &context, NULL);
    if (current == (struct fake_context *)context) {
        current = NULL;
    }
    empty((struct fake_context *)context);
    return fake_exit(&call, 0);
}

int cuCtxSetCurrent(CUcontext context)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, 303, "cuCtxSetCurrent", &context, NULL);
    current = (struct fake_context *)context;
    return fake_exit(&call, 0);
}

int cuCtxPushCurrent_v2(CUcontext context)
{
    below = current;
    current = (struct fake_context *)context;
    return 0;
}

int cuCtxPopCurrent_v2(CUcontext *context)
{
    *context = (CUcontext)current;
    current = below;
    below = NULL;
    return 0;
}

int cuThreadExchangeStreamCaptureMode(int *mode)
{
    return 0;
}

int cuCtxGetCurrent(CUcontext *context)
{
    *context = (CUcontext)current;
    return 0;
}
