/* The copy matrix row by row, each named by its entry in order.def. The only place where memory
 * kinds decide what a return is ordered behind; the engine and the nearest misses both ask here. */
#include "core/copy_matrix.h"

#include "core/order.h"

#include <string.h>

/* Up to here the guide calls copies from the host to the device asynchronous to the host. */
#define SMALL_COPY_BYTES 65536u

static bool is_host(enum ssan_memory memory)
{
    return memory == SSAN_memory_PINNED || memory == SSAN_memory_PAGEABLE ||
           memory == SSAN_memory_REGISTERED;
}

/* Synchronous forms; as documented, managed memory plays device memory. */
static struct copy_effect sync_row(const struct copy_shape *shape, bool documented)
{
    bool managed = shape->src == SSAN_memory_MANAGED || shape->dst == SSAN_memory_MANAGED;
    if (managed && !documented) {
        return (struct copy_effect){.host_sync = true, .row = ORDER_C6};
    }
    enum ssan_memory src = shape->src == SSAN_memory_MANAGED ? SSAN_memory_DEVICE : shape->src;
    enum ssan_memory dst = shape->dst == SSAN_memory_MANAGED ? SSAN_memory_DEVICE : shape->dst;
    bool small = shape->bytes <= SMALL_COPY_BYTES;
    if (is_host(src) && is_host(dst)) {
        return (struct copy_effect){.host_sync = true, .row = ORDER_C5};
    }
    if (is_host(dst)) {
        return (struct copy_effect){.host_sync = true, .row = ORDER_C3};
    }
    if (!is_host(src)) {
        return (struct copy_effect){.row = ORDER_C4};
    }
    if (src == SSAN_memory_PAGEABLE) {
        return (struct copy_effect){
            .source_free = true, .joins_prior = !documented || !small, .row = ORDER_C1};
    }
    bool synchronous = !documented || !small;
    return (struct copy_effect){.source_free = true, .host_sync = synchronous, .row = ORDER_C2};
}

static struct copy_effect async_row(const struct copy_shape *shape, bool documented)
{
    if (shape->src == SSAN_memory_MANAGED || shape->dst == SSAN_memory_MANAGED) {
        return (struct copy_effect){.row = ORDER_A6};
    }
    if (is_host(shape->src) && is_host(shape->dst)) {
        return (struct copy_effect){.host_sync = true, .row = ORDER_A5};
    }
    if (shape->src == SSAN_memory_PAGEABLE) {
        return (struct copy_effect){.source_free = !documented, .row = ORDER_A1};
    }
    if (shape->dst == SSAN_memory_PAGEABLE) {
        return (struct copy_effect){.host_sync = !documented, .row = ORDER_A2};
    }
    bool device = shape->src == SSAN_memory_DEVICE && shape->dst == SSAN_memory_DEVICE;
    return (struct copy_effect){.row = device ? ORDER_A4 : ORDER_A3};
}

static struct copy_effect memset_row(const struct copy_shape *shape, bool documented)
{
    if (shape->form != SSAN_form_SYNC) {
        return (struct copy_effect){.row = ORDER_R_COPY_19};
    }
    bool pinned = is_host(shape->dst) && shape->dst != SSAN_memory_PAGEABLE;
    bool managed = shape->dst == SSAN_memory_MANAGED;
    return (struct copy_effect){.host_sync = pinned || (managed && !documented),
                                .row = ORDER_R_COPY_18};
}

struct copy_effect copy_matrix_effect(const struct copy_shape *shape, bool documented)
{
    if (shape->is_memset) {
        return memset_row(shape, documented);
    }
    return shape->form == SSAN_form_SYNC ? sync_row(shape, documented)
                                         : async_row(shape, documented);
}

uint64_t copy_matrix_bytes(const struct ssan_ev_op *event)
{
    uint64_t rows = event->height ? event->height : 1;
    return event->width > UINT64_MAX / rows ? UINT64_MAX : event->width * rows;
}

bool copy_matrix_names_devices(const struct ssan_ev_op *event)
{
    static const char end[] = "Peer"; /* cudaMemcpyPeer, cuMemcpy3DPeer; other calls end in Async */
    const size_t length = sizeof end - 1;
    return event->call.length >= length && event->form == SSAN_form_SYNC &&
           memcmp(event->call.ptr + event->call.length - length, end, length) == 0;
}
