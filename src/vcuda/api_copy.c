/* Copies and memsets: what they check, and when they return (R-COPY-*, the matrix of chapter 4.3 in
 * its observed reading, so that nothing which real drivers do for a program fails here). */
#include "vcuda/api.h"
#include "vcuda/emit.h"
#include "vcuda/executor.h"
#include "vcuda/handle.h"
#include "vcuda/memory.h"
#include "vcuda/program.h"
#include "vcuda/plan_sites.h"
#include "vcuda/queue.h"
#include "vcuda/reach.h"
#include "vcuda/sched.h"

#include <string.h>

/* When the call comes back to its caller. */
enum returns {
    AT_ONCE,
    WHEN_STAGED,       /* the source has been taken */
    WHEN_PRIOR_STAGED, /* earlier work of the stream is done and the source has been taken */
    WHEN_DONE,
};

/* As if the program waited for the stream behind the call. */
static void serialize(const struct call *call, struct op *op)
{
    struct call wait = *call;
    int64_t began = device_now_ns();
    uint64_t sync;
    wait.name = "streamsan --serialize";
    sync = emit_sync(&wait, SSAN_sync_kind_STREAM, op->stream->id);
    sched_join_op(op);
    emit_sync_return(sync, !device.sticky, (uint64_t)(device_now_ns() - began));
}

/* Puts the operation into its stream, behind `also` too; false when out of memory: it is gone. */
static bool accept(struct call *call, struct op *op, struct op *also, enum ssan_form form,
                   const char *name, uint32_t event_id)
{
    if (!queue_link(op, also)) {
        queue_drop(op);
        return false;
    }
    op->planned = call->planned;
    queue_submit(op);
    emit_op(call, op, form, name, event_id);
    reach_accepted(op);
    return true;
}

cudaError_t api_submit(struct call *call, struct op *op, struct op *also, enum ssan_form form,
                       const char *name, struct event *event, uint32_t event_id)
{
    if (!accept(call, op, also, form, name, event_id)) {
        return cudaErrorMemoryAllocation;
    }
    if (event) {
        queue_drop(event->record);
        event->record = op;
        event->polled = false;
        queue_hold(op);
    }
    sched_submitted(op);
    if (plan_sites_serializes(call, op)) {
        serialize(call, op);
    }
    queue_drop(op);
    return cudaSuccess;
}

/* Bytes from the first row's begin to the last row's end; false when that overflows. */
static bool extent_of(uint64_t width, uint64_t height, uint64_t pitch, uint64_t *extent)
{
    uint64_t last;
    return !__builtin_mul_overflow(height - 1, pitch, &last) &&
           !__builtin_add_overflow(last, width, extent);
}

/* The kind of the memory of one operand (4.1), and for device memory its device. A range that is
 * registered in part counts as pageable (R-COPY-6). */
static cudaError_t classify(uint64_t address, uint64_t extent, enum ssan_memory *memory,
                            uint32_t *ordinal)
{
    struct memory_block block;
    bool found = memory_find(address, &block);
    *ordinal = found ? block.ordinal : 0;
    bool holds = found && extent <= block.size - (address - block.address);
    if (!address || address + extent < address) {
        return cudaErrorInvalidValue;
    }
    if (memory_is_device_address(address) || (found && block.kind == SSAN_memory_PINNED)) {
        *memory = found ? block.kind : SSAN_memory_DEVICE;
        return holds ? cudaSuccess : cudaErrorInvalidValue;
    }
    *memory = holds ? block.kind : SSAN_memory_PAGEABLE;
    return cudaSuccess;
}

static bool is_locked(enum ssan_memory memory)
{
    return memory == SSAN_memory_PINNED || memory == SSAN_memory_REGISTERED;
}

/* What the kind says against what the addresses are. Page-locked memory may be called either. */
static cudaError_t check_kind(enum cudaMemcpyKind kind, enum ssan_memory dst, enum ssan_memory src)
{
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if ((unsigned)kind > cudaMemcpyDefault) {
        return cudaErrorInvalidMemcpyDirection;
    }
    if (kind == cudaMemcpyDefault) {
        return cudaSuccess;
    }
    if ((to_device && dst == SSAN_memory_PAGEABLE) || (!to_device && dst == SSAN_memory_DEVICE) ||
        (from_device && src == SSAN_memory_PAGEABLE) ||
        (!from_device && src == SSAN_memory_DEVICE)) {
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

static enum returns row_of(enum ssan_form form, enum ssan_memory dst, enum ssan_memory src)
{
    bool to_device = dst == SSAN_memory_DEVICE, from_device = src == SSAN_memory_DEVICE;
    if (!to_device && !from_device) {
        return WHEN_DONE; /* C5, A5 */
    }
    if (to_device && from_device) {
        return AT_ONCE; /* C4, A4 */
    }
    if (form == SSAN_form_SYNC) {
        return to_device && !is_locked(src) ? WHEN_PRIOR_STAGED : WHEN_DONE; /* C1; C2, C3 */
    }
    if (to_device) {
        return is_locked(src) ? AT_ONCE : WHEN_STAGED; /* A3; A1 */
    }
    return is_locked(dst) ? AT_ONCE : WHEN_DONE; /* A3; A2 */
}

static bool find_hostfunc(struct op *op, void *self)
{
    *(bool *)self |= op->kind == SSAN_op_kind_HOSTFUNC;
    return true;
}

/* Only a host function can still write pageable memory: behind one the source can't be taken yet.
 */
static bool waits_for_hostfunc(struct op *op)
{
    bool found = false;
    return !queue_walk_op(op, find_hostfunc, &found) || found;
}

static void join_needs(struct op *op)
{
    struct op_list needs = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < op->needs.count; i++) {
        ok = VEC_PUSH(&needs, op->needs.items[i]);
        if (ok) {
            queue_hold(op->needs.items[i]);
        }
    }
    if (ok) {
        sched_join(&needs);
    } else {
        sched_join_op(op);
    }
    queue_targets_finish(&needs);
}

/* Comes back when the rule of the call lets it; what is not staged by then is done. */
static void wait_for_return(struct op *op, enum returns returns)
{
    if (returns == WHEN_DONE) {
        sched_join_op(op);
        reach_joined(op->scope, op->id);
        return;
    }
    if (returns == AT_ONCE || op->state == OP_DONE) {
        return;
    }
    if (returns == WHEN_PRIOR_STAGED || waits_for_hostfunc(op)) {
        join_needs(op);
    }
    while (op->state == OP_RUNNING && !device.sticky) {
        pthread_cond_wait(&device.changed, &device.lock);
    }
    if (op->state != OP_DONE && !device.sticky && !executor_stage(&op->transfer)) {
        sched_join_op(op);
    }
}

static cudaError_t submit(struct call *call, struct op *op, enum ssan_form form,
                          enum returns returns)
{
    uint64_t id;
    cudaError_t error;
    if (!accept(call, op, NULL, form, NULL, 0)) {
        return cudaErrorMemoryAllocation;
    }
    id = op->id;
    sched_submitted(op);
    wait_for_return(op, returns);
    error = returns == WHEN_DONE || returns == WHEN_PRIOR_STAGED ? device.sticky : cudaSuccess;
    if (error == cudaSuccess) {
        emit_op_return(id);
        if (plan_sites_serializes(call, op)) {
            serialize(call, op);
        }
    }
    queue_drop(op);
    return error;
}

/* A copy between two devices counts as an item of both their legacy streams when it stands in a
 * legacy stream, and of its own stream alone elsewhere (R-COPY-14, R-COPY-15). cudaMemcpyPeer is an
 * item of the devices that it names, also where both are the same. */
static uint32_t barriers_of(const struct call *call, const struct stream *stream, uint32_t dst,
                            uint32_t src)
{
    const bool acts = dst != src || strcmp(call->name, "cudaMemcpyPeer") == 0;
    if (!acts || stream->flavour != SSAN_stream_flavour_LEGACY) {
        return 0;
    }
    return (1u << dst | 1u << src) & ~(1u << stream->ordinal);
}

cudaError_t api_copy(struct call *call, const struct transfer *copy, enum cudaMemcpyKind kind,
                     enum ssan_form form, cudaStream_t handle, bool per_thread)
{
    uint64_t dst_extent, src_extent;
    uint32_t dst_ordinal, src_ordinal;
    enum ssan_memory dst, src;
    struct stream *stream;
    struct op *op;
    cudaError_t error;
    if ((unsigned)kind > cudaMemcpyDefault) {
        return cudaErrorInvalidMemcpyDirection;
    }
    error = handle_find_stream(call, handle, per_thread, &stream);
    if (error != cudaSuccess || copy->width == 0 || copy->height == 0) {
        return error;
    }
    if (copy->height > 1 && (copy->dst_pitch < copy->width || copy->src_pitch < copy->width)) {
        return cudaErrorInvalidPitchValue;
    }
    if (!extent_of(copy->width, copy->height, copy->dst_pitch, &dst_extent) ||
        !extent_of(copy->width, copy->height, copy->src_pitch, &src_extent)) {
        return cudaErrorInvalidValue;
    }
    error = classify(copy->dst, dst_extent, &dst, &dst_ordinal);
    if (error == cudaSuccess) {
        error = classify(copy->src, src_extent, &src, &src_ordinal);
    }
    if (error == cudaSuccess) {
        error = check_kind(kind, dst, src);
    }
    if (error != cudaSuccess) {
        return error;
    }
    op = queue_create(SSAN_op_kind_COPY, stream);
    if (!op) {
        return cudaErrorMemoryAllocation;
    }
    op->transfer = *copy;
    if (dst == SSAN_memory_DEVICE && src == SSAN_memory_DEVICE) {
        op->barriers = barriers_of(call, stream, dst_ordinal, src_ordinal);
    }
    return submit(call, op, form, row_of(form, dst, src));
}

cudaError_t api_memset(struct call *call, const struct transfer *set, enum ssan_form form,
                       cudaStream_t handle, bool per_thread)
{
    uint64_t extent;
    uint32_t ordinal;
    enum ssan_memory memory;
    struct stream *stream;
    struct op *op;
    cudaError_t error = handle_find_stream(call, handle, per_thread, &stream);
    if (error != cudaSuccess || set->width == 0 || set->height == 0) {
        return error;
    }
    if (set->height > 1 && set->dst_pitch < set->width) {
        return cudaErrorInvalidPitchValue;
    }
    if (!extent_of(set->width, set->height, set->dst_pitch, &extent)) {
        return cudaErrorInvalidValue;
    }
    error = classify(set->dst, extent, &memory, &ordinal);
    if (error == cudaSuccess && memory == SSAN_memory_PAGEABLE &&
        !memory_is_freed(set->dst, extent)) { /* freed page-locked memory: for the report to say */
        error = cudaErrorInvalidValue;
    }
    if (error != cudaSuccess) {
        return error;
    }
    op = queue_create(SSAN_op_kind_MEMSET, stream);
    if (!op) {
        return cudaErrorMemoryAllocation;
    }
    op->transfer = *set;
    /* R-COPY-18, R-COPY-19 */
    return submit(call, op, form,
                  form == SSAN_form_SYNC && is_locked(memory) ? WHEN_DONE : AT_ONCE);
}

cudaError_t api_symbol(struct call *call, const void *symbol, size_t offset, size_t count,
                       uint64_t *address)
{
    uint64_t size;
    cudaError_t error = program_find_variable(call, symbol, address, &size);
    if (error == cudaSuccess && (offset > size || count > size - offset)) {
        error = cudaErrorInvalidValue;
    }
    if (error == cudaSuccess) {
        *address += offset;
    }
    return error;
}

cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
    struct call call;
    uint64_t address, size;
    cudaError_t error;
    if (!BEGIN(&call, "cudaGetSymbolAddress")) {
        return call.error;
    }
    error = pointer ? program_find_variable(&call, symbol, &address, &size) : cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        *pointer = (void *)(uintptr_t)address;
    }
    return call_end(&call, error);
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    struct call call;
    uint64_t address, size;
    cudaError_t error;
    if (!BEGIN(&call, "cudaGetSymbolSize")) {
        return call.error;
    }
    error = bytes ? program_find_variable(&call, symbol, &address, &size) : cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        *bytes = size;
    }
    return call_end(&call, error);
}
