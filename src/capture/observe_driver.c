/* The driver as the thread that drains needs it. Functions are looked up once, by name: whatever
 * the program has loaded. */
#include "capture/observe_driver.h"

#include "capture/driver.h"

#include "trace/message.h"

#include <stdatomic.h>
#include <stdio.h>

#define RELAXED 2 /* CU_STREAM_CAPTURE_MODE_RELAXED */

bool observe_driver_find(struct observe_driver *driver)
{
    driver->push = (int (*)(CUcontext))driver_find("cuCtxPushCurrent_v2");
    driver->pop = (int (*)(CUcontext *))driver_find("cuCtxPopCurrent_v2");
    driver->create = (int (*)(CUstream *, unsigned, int))driver_find("cuStreamCreateWithPriority");
    driver->priorities = (int (*)(int *, int *))driver_find("cuCtxGetStreamPriorityRange");
    driver->exchange = (int (*)(int *))driver_find("cuThreadExchangeStreamCaptureMode");
    driver->memory = (growth_memory_info *)driver_find("cuMemGetInfo_v2");
    return driver->push && driver->pop && driver->create && driver->priorities && driver->exchange;
}

void observe_driver_relax(const struct observe_driver *driver)
{
    int mode = RELAXED;
    (void)driver->exchange(&mode);
}

void observe_driver_open_stream(const struct observe_driver *driver, struct pool *pool)
{
    CUstream stream = NULL;
    struct sanitizer_stream *handle = NULL;
    int least = 0, greatest = 0;
    if (driver->priorities(&least, &greatest) != CUDA_OK) {
        greatest = 0;
    }
    if (driver->create(&stream, CUDA_STREAM_NON_BLOCKING, greatest) == CUDA_OK &&
        pool->api->get_stream_handle(pool->context, stream, &handle) == SANITIZER_OK) {
        atomic_store(&pool->stream, handle);
    }
}

void observe_driver_tell_failure(const struct observe_driver *driver, const struct pool *pool)
{
    size_t free_bytes = 0, total_bytes = 0;
    char text[200];
    if (driver->memory && driver->memory(&free_bytes, &total_bytes) == CUDA_OK) {
        snprintf(
            text, sizeof text,
            "accesses of kernels are no longer observed on a device: the driver refuses to give "
            "its records back (%s: error %u)",
            pool->failed_call, (unsigned)pool->failure);
        message_tell(text);
    }
}
