/* Access from one device to another's memory, and the copies that name both (chapter 12 of the
 * rules, R-COPY-14, R-COPY-15).
 *
 * Every two devices can access each other. A kernel that does so without cudaDeviceEnablePeerAccess
 * faults, as on devices; copies need none. */
#include "vcuda/api.h"
#include "vcuda/emit.h"
#include "vcuda/memory.h"
#include "vcuda/reach.h"

#include "trace/message.h"

/* As devices of one kind that are linked directly. */
static bool p2p_attribute(enum cudaDeviceP2PAttr attr, int *value)
{
    switch (attr) {
    case cudaDevP2PAttrPerformanceRank:
        *value = 0;
        return true;
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported:
        *value = 1;
        return true;
    case cudaDevP2PAttrCudaArrayAccessSupported:
        *value = 0; /* there are no arrays */
        return true;
    default:
        return false;
    }
}

bool api_is_device(int number)
{
    return number >= 0 && (uint32_t)number < device.count;
}

cudaError_t cudaDeviceCanAccessPeer(int *canAccessPeer, int number, int peerDevice)
{
    struct call call;
    if (!BEGIN(&call, "cudaDeviceCanAccessPeer")) {
        return call.error;
    }
    if (!canAccessPeer) {
        return call_end(&call, cudaErrorInvalidValue);
    }
    if (!api_is_device(number) || !api_is_device(peerDevice)) {
        return call_end(&call, cudaErrorInvalidDevice);
    }
    *canAccessPeer = number != peerDevice;
    return call_end(&call, cudaSuccess);
}

/* No order comes of it, nor of its end (R-IMPL-3). */
cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    struct call call;
    uint32_t *peers;
    if (!BEGIN(&call, "cudaDeviceEnablePeerAccess")) {
        return call.error;
    }
    peers = &device.contexts[call.ordinal].peers;
    if (!api_is_device(peerDevice) || (uint32_t)peerDevice == call.ordinal) {
        return call_end(&call, cudaErrorInvalidDevice);
    }
    if (flags != 0) {
        return call_end(&call, cudaErrorInvalidValue);
    }
    if (*peers >> peerDevice & 1) {
        return call_end(&call, cudaErrorPeerAccessAlreadyEnabled);
    }
    *peers |= 1u << peerDevice;
    memory_raise_epoch();
    return call_end(&call, cudaSuccess);
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice)
{
    struct call call;
    uint32_t *peers;
    if (!BEGIN(&call, "cudaDeviceDisablePeerAccess")) {
        return call.error;
    }
    peers = &device.contexts[call.ordinal].peers;
    if (!api_is_device(peerDevice)) {
        return call_end(&call, cudaErrorInvalidDevice);
    }
    if (!(*peers >> peerDevice & 1)) {
        return call_end(&call, cudaErrorPeerAccessNotEnabled);
    }
    if (reach_is_open(call.ordinal, (uint32_t)peerDevice)) {
        static const char what[] = "cudaDeviceDisablePeerAccess under kernels not waited for";
        emit_unsupported(what, call.thread, call_site(&call));
        message_once(what, "is a fault (R-IMPL-3) that is not judged: wait for their streams, an "
                           "event recorded there, or the device");
    }
    *peers &= ~(1u << peerDevice);
    memory_raise_epoch();
    return call_end(&call, cudaSuccess);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice,
                                      int dstDevice)
{
    struct call call;
    cudaError_t error = cudaSuccess;
    if (!BEGIN(&call, "cudaDeviceGetP2PAttribute")) {
        return call.error;
    }
    if (!api_is_device(srcDevice) || !api_is_device(dstDevice) || srcDevice == dstDevice) {
        error = cudaErrorInvalidDevice;
    } else if (!value || !p2p_attribute(attr, value)) {
        error = cudaErrorInvalidValue;
    }
    return call_end(&call, error);
}

/* The block lies in memory of that device. */
static bool is_of(uint64_t address, int number)
{
    struct memory_block block;
    return memory_find(address, &block) && block.kind == SSAN_memory_DEVICE &&
           block.ordinal == (uint32_t)number;
}

/* A stream of 0 is the legacy one here, however the translation unit was compiled: CUDA has no
 * other form of these calls (R-STREAM-10). */
static cudaError_t copy(struct call *call, const struct transfer *rows, int dst_device,
                        int src_device, enum ssan_form form, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    if (!api_is_device(dst_device) || !api_is_device(src_device)) {
        error = cudaErrorInvalidDevice;
    } else if (rows->width > 0 &&
               (!is_of(rows->dst, dst_device) || !is_of(rows->src, src_device))) {
        error = cudaErrorInvalidValue;
    } else {
        error = api_copy(call, rows, cudaMemcpyDeviceToDevice, form, stream, false);
    }
    return call_end(call, error);
}

cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count)
{
    struct call call;
    const struct transfer rows = api_row(dst, src, count);
    return BEGIN(&call, "cudaMemcpyPeer")
               ? copy(&call, &rows, dstDevice, srcDevice, SSAN_form_SYNC, NULL)
               : call.error;
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
                                size_t count, cudaStream_t stream)
{
    struct call call;
    const struct transfer rows = api_row(dst, src, count);
    return BEGIN(&call, "cudaMemcpyPeerAsync")
               ? copy(&call, &rows, dstDevice, srcDevice, SSAN_form_ASYNC, stream)
               : call.error;
}
