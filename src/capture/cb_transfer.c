/* Copies and memsets: an op with its bytes, closed at once, since which bytes it touches is known
 * when it is accepted; its return is told when the call returns (R-COPY-1). One that fails never
 * comes here. */
#include "capture/dispatch.h"

#include "capture/emit.h"
#include "capture/memory.h"

#include <string.h>

/* Rows of one operand: `planes` times `rows` of `width` bytes. */
struct box {
    uint64_t address, width, rows, pitch, planes, plane_pitch;
};

static void tell_box(uint64_t op, enum ssan_access access, const struct box *box)
{
    struct ssan_run run = {.address = box->address, .length = box->width, .count = 1};
    if (box->rows > 1 && box->pitch <= box->width) { /* no gaps between rows */
        run.length = box->width * box->rows;
    } else if (box->rows > 1) {
        run.stride = box->pitch;
        run.count = box->rows;
    }
    if (box->planes > 1 && box->plane_pitch == box->rows * box->pitch && run.count > 1) {
        run.count *= box->planes;
        emit_set(op, access, 0, 0, (struct ssan_runs){&run, 1});
        return;
    }
    for (uint64_t plane = 0; plane < box->planes; plane++) {
        emit_set(op, access, 0, 0, (struct ssan_runs){&run, 1});
        run.address += box->plane_pitch;
    }
}

void transfer_return(struct thread *thread)
{
    if (thread->transfer) {
        emit_op_return(thread->transfer);
        thread->transfer = 0;
    }
}

/* Fills in what copies and memsets share and puts the op; 0 without memory. */
static uint64_t put(struct thread *thread, struct ssan_ev_op *op, bool is_async, CUcontext context,
                    CUstream stream, struct sanitizer_stream *handle)
{
    struct caller caller = calls_caller(thread);
    transfer_return(thread); /* a call may be made of several */
    op->form = is_async ? SSAN_form_ASYNC : SSAN_form_SYNC;
    op->call = ssan_str(calls_name(thread));
    op->thread = caller.thread;
    op->site = caller.site;
    emit_lock();
    op->stream = handles_stream(context, stream, handle, caller);
    thread->transfer = item_put(thread, op, handle, NULL);
    emit_unlock();
    return thread->transfer;
}

/* The distance of planes is in the arguments of the call alone; F is in rows. */
static void find_planes(const struct thread *thread, struct box *source, struct box *destination)
{
    const struct call_frame *frame = calls_inside(thread, API_COPY);
    uint64_t source_rows = source->rows, destination_rows = destination->rows;
    if (frame && frame->call->domain == SANITIZER_DRIVER_API &&
        strncmp(frame->call->name, "cuMemcpy3D", 10) == 0) {
        const struct cuda_copy_3d *copy = *(const struct cuda_copy_3d *const *)frame->params;
        source_rows = copy->source_height ? copy->source_height : source_rows;
        destination_rows = copy->destination_height ? copy->destination_height : destination_rows;
    }
    source->plane_pitch = source->pitch * source_rows;
    destination->plane_pitch = destination->pitch * destination_rows;
}

/* Whether the trace knows the address as device memory of that context: of two such operands the
 * analysis sees that a copy is between contexts, and what it orders (R-COPY-14, R-COPY-15). */
static bool is_in(uint64_t address, CUcontext context)
{
    struct memory_block block;
    bool is_known;
    emit_lock();
    is_known = memory_find(address, &block) && block.memory == SSAN_memory_DEVICE &&
               block.context == handles_find_context(context);
    emit_unlock();
    return is_known;
}

static bool is_default_stream(struct sanitizer_stream *handle)
{
    bool is_default;
    emit_lock();
    is_default = handles_is_default(handle);
    emit_unlock();
    return is_default;
}

void on_memcpy(const struct sanitizer_memcpy_data *data)
{
    struct thread *thread = calls_thread();
    uint64_t rows = data->height ? data->height : 1, planes = data->depth ? data->depth : 1;
    struct box source = {data->source, data->width, rows, data->source_pitch, planes, 0};
    struct box destination = source;
    struct ssan_ev_op op = {.kind = SSAN_op_kind_COPY};
    uint64_t id;
    destination.address = data->destination;
    destination.pitch = data->destination_pitch;
    if (data->width == 0) {
        return;
    }
    if (planes > 1) {
        find_planes(thread, &source, &destination);
    }
    op.dst = data->destination;
    op.src = data->source;
    op.width = data->width;
    op.height = rows * planes;
    op.dst_pitch = op.height > 1 ? data->destination_pitch : 0;
    op.src_pitch = op.height > 1 ? data->source_pitch : 0;
    id = put(thread, &op, data->is_async, data->api_context, data->api_stream, data->api_handle);
    if (data->source_context != data->destination_context && is_default_stream(data->api_handle) &&
        !(is_in(data->source, data->source_context) &&
          is_in(data->destination, data->destination_context))) {
        emit_unsupported(calls_name(thread), thread->id, op.site);
    }
    if (id) {
        tell_box(id, SSAN_access_READ, &source);
        tell_box(id, SSAN_access_WRITE, &destination);
        emit_closed(id);
    }
}

void on_memset(const struct sanitizer_memset_data *data)
{
    struct thread *thread = calls_thread();
    uint64_t rows = data->height ? data->height : 1;
    uint64_t width = data->width * (data->element_size ? data->element_size : 1);
    struct box target = {data->address, width, rows, data->pitch, 1, 0};
    struct ssan_ev_op op = {.kind = SSAN_op_kind_MEMSET};
    uint64_t id;
    if (width == 0) {
        return;
    }
    op.dst = data->address;
    op.width = width;
    op.height = rows;
    op.dst_pitch = rows > 1 ? data->pitch : 0;
    id = put(thread, &op, data->is_async, data->context, data->stream, data->handle);
    if (id) {
        tell_box(id, SSAN_access_WRITE, &target);
        emit_closed(id);
    }
}
