/* Fills in the events. One function each; no state but the number of syncs. */
#include "vcuda/emit.h"

#include "trace/cuda_names.h"
#include "vcuda/program.h"
#include "vcuda/site.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic uint64_t sync_count;

void emit_stream_create(struct call *call, const struct stream *stream)
{
    struct ssan_event event = {.kind = SSAN_EV_stream_create};
    event.stream_create =
        (struct ssan_ev_stream_create){stream->id,    stream->ordinal + 1, stream->flavour,
                                       stream->owner, call->thread,        call_site(call)};
    emit_put(&event);
}

void emit_stream_destroy(struct call *call, const struct stream *stream)
{
    struct ssan_event event = {.kind = SSAN_EV_stream_destroy};
    event.stream_destroy =
        (struct ssan_ev_stream_destroy){stream->id, call->thread, call_site(call)};
    emit_put(&event);
}

void emit_event_create(struct call *call, const struct event *made)
{
    struct ssan_event event = {.kind = SSAN_EV_event_create};
    event.event_create = (struct ssan_ev_event_create){made->id, made->ordinal + 1, made->flags,
                                                       call->thread, call_site(call)};
    emit_put(&event);
}

void emit_event_destroy(struct call *call, const struct event *dead)
{
    struct ssan_event event = {.kind = SSAN_EV_event_destroy};
    event.event_destroy = (struct ssan_ev_event_destroy){dead->id, call->thread, call_site(call)};
    emit_put(&event);
}

static void put_alloc(const struct call *call, uint32_t site, const char *name,
                      const struct memory_block *block)
{
    struct ssan_event event = {.kind = SSAN_EV_alloc};
    event.alloc = (struct ssan_ev_alloc){.alloc = block->id,
                                         .context = block->ordinal + 1,
                                         .memory = block->kind,
                                         .address = block->address,
                                         .size = block->size,
                                         .call = ssan_str(name),
                                         .thread = call->thread,
                                         .site = site};
    emit_put(&event);
}

void emit_alloc(struct call *call, const char *name, const struct memory_block *block)
{
    put_alloc(call, call_site(call), name, block);
}

void emit_variable(const struct call *call, const char *space, const struct memory_block *block)
{
    put_alloc(call, 0, space, block);
}

void emit_free(struct call *call, uint32_t alloc)
{
    struct ssan_event event = {.kind = SSAN_EV_free};
    event.free = (struct ssan_ev_free){alloc, ssan_str(call->name), call->thread, call_site(call)};
    emit_put(&event);
}

static void fill_contents(struct ssan_ev_op *out, const struct op *op)
{
    if (op->kind == SSAN_op_kind_KERNEL) {
        out->grid_x = op->launch.grid[0];
        out->grid_y = op->launch.grid[1];
        out->grid_z = op->launch.grid[2];
        out->block_x = op->launch.block[0];
        out->block_y = op->launch.block[1];
        out->block_z = op->launch.block[2];
    } else if (op->kind == SSAN_op_kind_COPY || op->kind == SSAN_op_kind_MEMSET) {
        out->dst = op->transfer.dst;
        out->src = op->transfer.src;
        out->width = op->transfer.width;
        out->height = op->transfer.height;
        out->dst_pitch = op->transfer.dst_pitch;
        out->src_pitch = op->transfer.src_pitch;
    }
}

void emit_op(struct call *call, const struct op *op, enum ssan_form form, const char *name,
             uint32_t event)
{
    struct ssan_event out = {.kind = SSAN_EV_op};
    if (!emit_is_on()) {
        return;
    }
    out.op = (struct ssan_ev_op){.op = op->id,
                                 .stream = op->stream->id,
                                 .kind = op->kind,
                                 .form = form,
                                 .call = ssan_str(call->name),
                                 .name = ssan_str(name ? name : ""),
                                 .event = event,
                                 .thread = call->thread,
                                 .site = call_site(call)};
    fill_contents(&out.op, op);
    emit_put(&out);
}

void emit_leaf(uint64_t op, enum ssan_access access, uint32_t site, uint32_t width,
               uint64_t address, const uint64_t *bits)
{
    struct ssan_event event = {.kind = SSAN_EV_set_leaf};
    event.set_leaf = (struct ssan_ev_set_leaf){
        op, access, SSAN_set_sureness_EXACT, site, width, address, 0, {bits, 64}};
    emit_put(&event);
}

uint64_t emit_sync(struct call *call, enum ssan_sync_kind kind, uint32_t object)
{
    struct ssan_event event = {.kind = SSAN_EV_sync};
    uint64_t id = atomic_fetch_add_explicit(&sync_count, 1, memory_order_relaxed) + 1;
    event.sync = (struct ssan_ev_sync){id,           kind,           object, ssan_str(call->name),
                                       call->thread, call_site(call)};
    emit_put(&event);
    return id;
}

void emit_failed(struct call *call, cudaError_t error, bool earlier)
{
    struct ssan_event event = {.kind = SSAN_EV_failed};
    const char *name = call->stub && call->locked ? program_kernel_name(call->stub) : NULL;
    if (!emit_is_on()) {
        return;
    }
    event.failed = (struct ssan_ev_failed){
        .call = ssan_str(call->name),
        .name = ssan_str(name ? name : ""),
        .does = cuda_call_kind(call->name),
        .error_of = earlier               ? SSAN_error_of_EARLIER
                    : call->asked_to_fail ? SSAN_error_of_PLANNED
                                          : SSAN_error_of_ITSELF,
        .error = (uint32_t)error,
        .discarded = call->discards,
        .thread = call->thread,
        .site = call_site(call),
    };
    emit_put(&event);
}

void emit_missed(const char *failure, const char *name, uint64_t calls)
{
    struct ssan_event event = {.kind = SSAN_EV_missed};
    event.missed = (struct ssan_ev_missed){ssan_str(failure), ssan_str(name), calls};
    emit_put(&event);
}

void emit_printed(uint64_t op)
{
    struct ssan_event event = {.kind = SSAN_EV_printed, .printed = {op}};
    emit_put(&event);
}

void emit_progress_forced(const struct op *op)
{
    struct ssan_event event = {.kind = SSAN_EV_progress_forced, .progress_forced = {op->id}};
    emit_put(&event);
}

void emit_thread_start(uint32_t thread, uint32_t parent, uint32_t site)
{
    struct ssan_event event = {.kind = SSAN_EV_thread_start,
                               .thread_start = {thread, parent, site}};
    emit_put(&event);
}

void emit_thread_join(uint32_t thread, uint32_t joined)
{
    struct ssan_event event = {.kind = SSAN_EV_thread_join, .thread_join = {thread, joined}};
    emit_put(&event);
}
