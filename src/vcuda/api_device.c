/* The devices: their properties, the calls that choose and configure them, versions, the profiler
 * switch. */
#include "vcuda/api.h"
#include "vcuda/emit.h"
#include "vcuda/handle.h"
#include "vcuda/limits.h"
#include "vcuda/memory.h"
#include "vcuda/program.h"
#include "vcuda/queue.h"
#include "vcuda/reach.h"
#include "vcuda/sched.h"
#include "vcuda/snapshot.h"

#include <stdio.h>
#include <string.h>

static size_t device_bytes(uint32_t ordinal)
{
    uint64_t free_bytes, total_bytes;
    memory_totals(ordinal, &free_bytes, &total_bytes);
    return total_bytes;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    struct call call;
    if (!BEGIN(&call, "cudaGetDeviceCount")) {
        return call.error;
    }
    if (count) {
        *count = (int)device.count;
    }
    return call_end(&call, count ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGetDevice(int *number)
{
    struct call call;
    if (!BEGIN(&call, "cudaGetDevice")) {
        return call.error;
    }
    if (number) {
        *number = (int)call.ordinal;
    }
    return call_end(&call, number ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaSetDevice(int number)
{
    struct call call;
    if (!BEGIN(&call, "cudaSetDevice")) {
        return call.error;
    }
    if (!api_is_device(number)) {
        return call_end(&call, cudaErrorInvalidDevice);
    }
    device_choose((uint32_t)number);
    return call_end(&call, cudaSuccess);
}

cudaError_t cudaInitDevice(int number, unsigned int deviceFlags, unsigned int flags)
{
    struct call call;
    return BEGIN(&call, "cudaInitDevice")
               ? call_end(&call, api_is_device(number) ? cudaSuccess : cudaErrorInvalidDevice)
               : call.error;
}

cudaError_t cudaSetValidDevices(int *devices, int length)
{
    struct call call;
    bool ok = length >= 0 && (devices || length == 0);
    if (!BEGIN(&call, "cudaSetValidDevices")) {
        return call.error;
    }
    for (int i = 0; ok && i < length; i++) {
        ok = api_is_device(devices[i]);
    }
    return call_end(&call, ok ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaChooseDevice(int *number, const struct cudaDeviceProp *prop)
{
    struct call call;
    if (!BEGIN(&call, "cudaChooseDevice")) {
        return call.error;
    }
    if (number && prop) {
        *number = 0;
    }
    return call_end(&call, number && prop ? cudaSuccess : cudaErrorInvalidValue);
}

static void fill_properties(struct cudaDeviceProp *prop, uint32_t ordinal)
{
    memset(prop, 0, sizeof *prop);
    snprintf(prop->name, sizeof prop->name, "streamsan virtual device");
    memcpy(prop->uuid.bytes, "streamsan-virt-0", 16);
    prop->uuid.bytes[15] = "0123456789abcdef"[ordinal % 16];
    prop->pciBusID = (int)ordinal;
    prop->totalGlobalMem = device_bytes(ordinal);
    prop->sharedMemPerBlock = LIMIT_SHARED_BYTES;
    prop->sharedMemPerBlockOptin = LIMIT_SHARED_OPT_IN;
    prop->sharedMemPerMultiprocessor = LIMIT_SHARED_PER_SM;
    prop->regsPerBlock = LIMIT_REGISTERS;
    prop->regsPerMultiprocessor = LIMIT_REGISTERS;
    prop->warpSize = LIMIT_WARP;
    prop->memPitch = INT32_MAX;
    prop->maxThreadsPerBlock = LIMIT_THREADS;
    prop->maxThreadsDim[0] = prop->maxThreadsDim[1] = LIMIT_BLOCK_XY;
    prop->maxThreadsDim[2] = LIMIT_BLOCK_Z;
    prop->maxGridSize[0] = LIMIT_GRID_X;
    prop->maxGridSize[1] = prop->maxGridSize[2] = LIMIT_GRID_YZ;
    prop->maxThreadsPerMultiProcessor = LIMIT_THREADS_PER_SM;
    prop->maxBlocksPerMultiProcessor = LIMIT_BLOCKS_PER_SM;
    prop->multiProcessorCount = LIMIT_MULTIPROCESSORS;
    prop->clockRate = prop->memoryClockRate = LIMIT_CLOCK_KHZ;
    prop->memoryBusWidth = 256;
    prop->l2CacheSize = 4 << 20;
    prop->totalConstMem = LIMIT_CONSTANT_BYTES;
    prop->major = LIMIT_MAJOR;
    prop->minor = LIMIT_MINOR;
    prop->textureAlignment = 512;
    prop->texturePitchAlignment = 32;
    prop->surfaceAlignment = 512;
    prop->deviceOverlap = prop->concurrentKernels = 1;
    prop->asyncEngineCount = 2;
    prop->canMapHostMemory = prop->unifiedAddressing = 1;
    prop->streamPrioritiesSupported = prop->cooperativeLaunch = 1;
    prop->canUseHostPointerForRegisteredMem = prop->hostRegisterSupported = 1;
    prop->hostRegisterReadOnlySupported = 1;
    prop->singleToDoublePrecisionPerfRatio = 2;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int number)
{
    struct call call;
    if (!BEGIN(&call, "cudaGetDeviceProperties")) {
        return call.error;
    }
    if (!prop) {
        return call_end(&call, cudaErrorInvalidValue);
    }
    if (!api_is_device(number)) {
        return call_end(&call, cudaErrorInvalidDevice);
    }
    fill_properties(prop, (uint32_t)number);
    return call_end(&call, cudaSuccess);
}

/* False for an attribute that doesn't exist. */
static bool attribute_of(enum cudaDeviceAttr attr, uint32_t ordinal, int *value)
{
    struct cudaDeviceProp prop;
    fill_properties(&prop, ordinal);
    switch (attr) {
#define ATTRIBUTE(name, expression)                                                                \
    case name:                                                                                     \
        *value = (int)(expression);                                                                \
        return true;
#include "vcuda/attributes.def"
#undef ATTRIBUTE
    default:
        *value = 0;
        return (int)attr >= 1 && attr < cudaDevAttrMax; /* a feature that is not there */
    }
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int number)
{
    struct call call;
    cudaError_t error = cudaSuccess;
    if (!BEGIN(&call, "cudaDeviceGetAttribute")) {
        return call.error;
    }
    if (!value) {
        error = cudaErrorInvalidValue;
    } else if (!api_is_device(number)) {
        error = cudaErrorInvalidDevice;
    } else if (!attribute_of(attr, (uint32_t)number, value)) {
        error = cudaErrorInvalidValue;
    }
    return call_end(&call, error);
}

cudaError_t cudaDriverGetVersion(int *driverVersion)
{
    struct call call;
    if (!BEGIN(&call, "cudaDriverGetVersion")) {
        return call.error;
    }
    if (driverVersion) {
        *driverVersion = CUDART_VERSION;
    }
    return call_end(&call, driverVersion ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaRuntimeGetVersion(int *runtimeVersion)
{
    struct call call;
    if (!BEGIN(&call, "cudaRuntimeGetVersion")) {
        return call.error;
    }
    if (runtimeVersion) {
        *runtimeVersion = CUDART_VERSION;
    }
    return call_end(&call, runtimeVersion ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    struct call call;
    if (!BEGIN(&call, "cudaSetDeviceFlags")) {
        return call.error;
    }
    if (flags & ~(unsigned)cudaDeviceMask) {
        return call_end(&call, cudaErrorInvalidValue);
    }
    if (flags & cudaDeviceSyncMemops) {
        (void)call_end(&call, cudaSuccess);
        return call_unsupported("cudaSetDeviceFlags(cudaDeviceSyncMemops)",
                                __builtin_frame_address(0));
    }
    device.contexts[call.ordinal].flags = flags;
    return call_end(&call, cudaSuccess);
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    struct call call;
    if (!BEGIN(&call, "cudaGetDeviceFlags")) {
        return call.error;
    }
    if (flags) {
        *flags = device.contexts[call.ordinal].flags | cudaDeviceMapHost;
    }
    return call_end(&call, flags ? cudaSuccess : cudaErrorInvalidValue);
}

#define LIMITS (sizeof device.contexts->limits / sizeof *device.contexts->limits)

/* Of a context in which nobody has set them. */
static const size_t limits[LIMITS] = {
    [cudaLimitStackSize] = 1024,
    [cudaLimitPrintfFifoSize] = 1 << 20,
    [cudaLimitMallocHeapSize] = 8 << 20,
    [cudaLimitDevRuntimeSyncDepth] = 2,
    [cudaLimitDevRuntimePendingLaunchCount] = 2048,
    [cudaLimitMaxL2FetchGranularity] = 64,
    [cudaLimitPersistingL2CacheSize] = 0,
};

/* Kept and told, but nothing here is limited by them. */
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    struct call call;
    if (!BEGIN(&call, "cudaDeviceSetLimit")) {
        return call.error;
    }
    if ((unsigned)limit >= LIMITS) {
        return call_end(&call, cudaErrorUnsupportedLimit);
    }
    device.contexts[call.ordinal].limits[limit] = value;
    device.contexts[call.ordinal].has_limits |= 1u << limit;
    return call_end(&call, cudaSuccess);
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    struct call call;
    const struct context *own;
    if (!BEGIN(&call, "cudaDeviceGetLimit")) {
        return call.error;
    }
    if (!value || (unsigned)limit >= LIMITS) {
        return call_end(&call, value ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue);
    }
    own = &device.contexts[call.ordinal];
    *value = own->has_limits >> limit & 1 ? own->limits[limit] : limits[limit];
    return call_end(&call, cudaSuccess);
}

/* Preferences: hints that change nothing here, as on devices with one kind of memory. */
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig)
{
    struct call call;
    return BEGIN(&call, "cudaDeviceSetCacheConfig")
               ? call_end(&call, (unsigned)cacheConfig <= cudaFuncCachePreferEqual
                                     ? cudaSuccess
                                     : cudaErrorInvalidValue)
               : call.error;
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *cacheConfig)
{
    struct call call;
    if (!BEGIN(&call, "cudaDeviceGetCacheConfig")) {
        return call.error;
    }
    if (cacheConfig) {
        *cacheConfig = cudaFuncCachePreferNone;
    }
    return call_end(&call, cacheConfig ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    struct call call;
    return BEGIN(&call, "cudaDeviceSetSharedMemConfig")
               ? call_end(&call, (unsigned)config <= cudaSharedMemBankSizeEightByte
                                     ? cudaSuccess
                                     : cudaErrorInvalidValue)
               : call.error;
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    struct call call;
    if (!BEGIN(&call, "cudaDeviceGetSharedMemConfig")) {
        return call.error;
    }
    if (config) {
        *config = cudaSharedMemBankSizeFourByte;
    }
    return call_end(&call, config ? cudaSuccess : cudaErrorInvalidValue);
}

#define PCI_ID "0000:%02x:00.0"

cudaError_t cudaDeviceGetPCIBusId(char *pciBusId, int length, int number)
{
    struct call call;
    char text[24];
    if (!BEGIN(&call, "cudaDeviceGetPCIBusId")) {
        return call.error;
    }
    if (!api_is_device(number)) {
        return call_end(&call, cudaErrorInvalidDevice);
    }
    int needed = snprintf(text, sizeof text, PCI_ID, (unsigned)number) + 1;
    if (!pciBusId || length < needed) {
        return call_end(&call, cudaErrorInvalidValue);
    }
    memcpy(pciBusId, text, (size_t)needed);
    return call_end(&call, cudaSuccess);
}

cudaError_t cudaDeviceGetByPCIBusId(int *number, const char *pciBusId)
{
    struct call call;
    char text[24];
    if (!BEGIN(&call, "cudaDeviceGetByPCIBusId")) {
        return call.error;
    }
    if (!number || !pciBusId) {
        return call_end(&call, cudaErrorInvalidValue);
    }
    for (uint32_t i = 0; i < device.count; i++) {
        snprintf(text, sizeof text, PCI_ID, i);
        if (strcmp(pciBusId, text) == 0) {
            *number = (int)i;
            return call_end(&call, cudaSuccess);
        }
    }
    return call_end(&call, cudaErrorInvalidDevice);
}

cudaError_t cudaProfilerStart(void)
{
    struct call call;
    return BEGIN(&call, "cudaProfilerStart") ? call_end(&call, cudaSuccess) : call.error;
}

cudaError_t cudaProfilerStop(void)
{
    struct call call;
    return BEGIN(&call, "cudaProfilerStop") ? call_end(&call, cudaSuccess) : call.error;
}

static void destroy_handles(struct call *call)
{
    for (size_t i = 0; i < device.by_number.count; i++) {
        struct stream *stream = device.by_number.items[i];
        if (stream && stream->ordinal == call->ordinal) {
            emit_stream_destroy(call, stream);
            queue_abandon_stream(stream);
            device.by_number.items[i] = NULL;
        }
    }
    for (size_t i = 0; i < device.events.count; i++) {
        struct event *event = device.events.items[i];
        if (event && event->ordinal == call->ordinal) {
            emit_event_destroy(call, event);
            queue_drop(event->record);
            mem_free(event);
            device.events.items[i] = NULL;
        }
    }
}

/* Page-locked memory belongs to the context in which it was made. */
static void end_blocks(struct call *call)
{
    struct memory_block block;
    uint64_t after = 0;
    while (!device.sticky && memory_next(after, &block)) {
        after = block.address + block.size;
        if (block.ordinal == call->ordinal && !block.is_variable && memory_claim(block.address)) {
            if (block.id) { /* else of the heap of kernels: no generation */
                snapshot_free(&block);
                emit_free(call, block.id);
            }
            memory_release(block.address);
        }
    }
}

static void forget_settings(uint32_t ordinal)
{
    struct context *own = &device.contexts[ordinal];
    own->peers = 0;
    own->flags = 0;
    own->has_limits = 0;
    for (uint32_t i = 0; i < device.count; i++) {
        device.contexts[i].peers &= ~(1u << ordinal);
    }
    memory_raise_epoch();
}

/* Drains the current device, then ends what its context held; variables of modules begin anew. */
static cudaError_t reset(struct call *call)
{
    struct op_list targets = {0};
    if (!queue_targets_of(&targets, call->ordinal)) {
        queue_targets_finish(&targets);
        return cudaErrorMemoryAllocation;
    }
    sched_join(&targets);
    queue_targets_finish(&targets);
    reach_joined_device(call->ordinal, UINT64_MAX);
    end_blocks(call);
    if (!device.sticky) {
        program_reset(call);
    }
    destroy_handles(call);
    forget_settings(call->ordinal);
    return device.sticky;
}

cudaError_t cudaDeviceReset(void)
{
    struct call call;
    return BEGIN(&call, "cudaDeviceReset") ? call_end(&call, reset(&call)) : call.error;
}

cudaError_t cudaThreadExit(void)
{
    struct call call;
    return BEGIN(&call, "cudaThreadExit") ? call_end(&call, reset(&call)) : call.error;
}
