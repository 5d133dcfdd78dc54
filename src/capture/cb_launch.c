/* Kernels: an op when the driver accepts the launch, accesses by observe.h. A launch that fails
 * never comes here. */
#include "capture/dispatch.h"

#include "capture/emit.h"
#include "capture/gate.h"
#include "capture/observe.h"

uint64_t item_put(struct thread *thread, struct ssan_ev_op *op, struct sanitizer_stream *handle,
                  const struct sanitizer_launch_data *launch)
{
    uint64_t id = op->stream ? emit_op(op) : 0;
    thread->accepted++;
    if (!id) {
        emit_lost(SSAN_loss_OPERATIONS, 0);
    }
    if (id) {
        handle = handle ? handle : handles_of_stream(op->stream);
        thread->behind_kernel = handles_behind_kernel(handle, op->kind);
        gate_item(op->stream, id, handle, launch);
    }
    return id;
}

static void on_begin(const struct sanitizer_launch_data *data)
{
    struct thread *thread = calls_thread();
    struct caller caller = calls_caller(thread);
    struct ssan_ev_op op = {.kind = SSAN_op_kind_KERNEL, .form = SSAN_form_ASYNC};
    const char *name;
    op.call = ssan_str(calls_name(thread));
    op.grid_x = data->grid_x;
    op.grid_y = data->grid_y;
    op.grid_z = data->grid_z;
    op.block_x = data->block_x;
    op.block_y = data->block_y;
    op.block_z = data->block_z;
    op.thread = caller.thread;
    op.site = caller.site;
    emit_lock();
    name = handles_kernel_name(data->function, data->name);
    op.name = ssan_str(name);
    op.stream = handles_stream(data->context, data->stream, data->handle, caller);
    thread->launch = item_put(thread, &op, data->handle, data);
    emit_unlock();
    if (thread->launch) {
        gate_launch(data);
    }
    if (thread->launch && !observe_launch(thread->launch, name, data)) {
        emit_closed(thread->launch);
        thread->launch = 0;
    }
}

void on_launch(uint32_t id, const struct sanitizer_launch_data *data)
{
    struct thread *thread;
    if (id == SANITIZER_LAUNCH_BEGIN) {
        on_begin(data);
    } else if (id == SANITIZER_LAUNCH_END) {
        thread = calls_thread();
        if (thread->launch) {
            observe_launch_end();
            thread->launch = 0;
        }
    }
}

static void count_node(struct graph_facts *graph, const struct sanitizer_graph_node_data *node)
{
    switch (node->type) {
    case SANITIZER_NODE_KERNEL:
        if (graph->kernels++ == 0) {
            emit_lock();
            graph->kernel = handles_kernel_name(node->data.launch.function, node->data.launch.name);
            emit_unlock();
        }
        break;
    case SANITIZER_NODE_MEMCPY:
        graph->copies++;
        break;
    case SANITIZER_NODE_MEMSET:
        graph->memsets++;
        break;
    default:
        graph->others++;
        break;
    }
}

void on_graph(uint32_t id, const void *data)
{
    const struct sanitizer_graph_node_data *node = data;
    if (id != SANITIZER_GRAPH_NODE_LAUNCH_BEGIN) {
        return;
    }
    if (node->type == SANITIZER_NODE_KERNEL) {
        observe_graph_node(node);
        gate_node(&node->data.launch);
    }
    if (!node->is_upload) {
        count_node(&calls_thread()->graph, node);
    }
}
