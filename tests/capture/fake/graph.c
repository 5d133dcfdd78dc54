/* Graphs: a capture collects nodes and tells nobody; a launch tells of each node. */
#include "capture/fake/fake.h"

#include <stdlib.h>

bool fake_capture(struct fake_stream *stream, uint32_t type, const struct fake_item *item,
                  const struct sanitizer_launch_data *launch)
{
    struct fake_graph *graph = stream->capture;
    if (!graph) {
        return false;
    }
    if (item) {
        struct fake_node *node = calloc(1, sizeof(*node));
        node->type = type;
        node->item = *item;
        if (launch) {
            node->launch = *launch;
        }
        *graph->last = node;
        graph->last = &node->next;
    }
    return true;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t argument, int mode)
{
    struct {
        CUstream stream;
        int mode;
    } params = {argument, mode};
    struct fake_call call, inner;
    fake_enter(&call, SANITIZER_RUNTIME_API, 315, "cudaStreamBeginCapture", &params, NULL);
    fake_runtime();
    fake_enter(&inner, SANITIZER_DRIVER_API, 539, "cuStreamBeginCapture_v2", &params, NULL);
    int result = fake_failure();
    struct fake_stream *stream = result ? NULL : fake_stream(argument, false, &result);
    if (!result) {
        struct fake_graph *graph = calloc(1, sizeof(*graph));
        graph->last = &graph->first;
        pthread_mutex_lock(&fake_lock);
        stream->capture = graph;
        pthread_mutex_unlock(&fake_lock);
    }
    return fake_exit(&call, fake_exit(&inner, result));
}

cudaError_t cudaStreamEndCapture(cudaStream_t argument, cudaGraph_t *graph)
{
    struct {
        CUstream stream;
        CUgraph *graph;
    } params = {argument, graph};
    struct fake_call call, inner;
    fake_enter(&call, SANITIZER_RUNTIME_API, 319, "cudaStreamEndCapture", &params, NULL);
    fake_enter(&inner, SANITIZER_DRIVER_API, 497, "cuStreamEndCapture", &params, NULL);
    int result = fake_failure();
    struct fake_stream *stream = result ? NULL : fake_stream(argument, false, &result);
    if (!result) {
        *graph = (CUgraph)stream->capture;
        struct fake_graph *ended = stream->capture;
        pthread_mutex_lock(&fake_lock);
        for (struct fake_stream *other = stream->context->streams; other; other = other->next) {
            other->capture = other->capture == ended ? NULL : other->capture;
        }
        pthread_mutex_unlock(&fake_lock);
    }
    return fake_exit(&call, fake_exit(&inner, result));
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    struct {
        CUgraphExec *exec;
        CUgraph graph;
        unsigned long long flags;
    } params = {exec, graph, flags};
    struct fake_call call, inner;
    fake_enter(&call, SANITIZER_RUNTIME_API, 443, "cudaGraphInstantiate", &params, NULL);
    fake_enter(&inner, SANITIZER_DRIVER_API, 643, "cuGraphInstantiateWithFlags", &params, NULL);
    int result = fake_failure();
    if (!result) {
        struct sanitizer_graph_exec_data data = {.graph = graph,
                                                 .exec = (CUgraphExec)(void *)graph};
        fake_tell(SANITIZER_GRAPHS, SANITIZER_GRAPH_EXEC_CREATING, &data);
        struct fake_stream *own = fake_new_stream(fake_current(), true, 0);
        ((struct fake_graph *)graph)->own = own;
        fake_tell_stream(SANITIZER_STREAM_CREATED, own);
        for (struct fake_node *node = ((struct fake_graph *)graph)->first; node;
             node = node->next) {
            if (node->type == SANITIZER_NODE_KERNEL) {
                struct sanitizer_launch_data launch = node->launch;
                launch.stream = NULL;
                launch.handle = (struct sanitizer_stream *)own;
                launch.launch = NULL;
                fake_tell(SANITIZER_LAUNCH, SANITIZER_LAUNCH_AFTER_SYSCALL_SETUP, &launch);
            }
        }
        fake_tell(SANITIZER_GRAPHS, SANITIZER_GRAPH_EXEC_CREATED, &data);
        *exec = data.exec;
    }
    return fake_exit(&call, fake_exit(&inner, result));
}

/* Tells of one node, and runs it where this is no upload. */
static void tell_node(struct fake_graph *graph, struct fake_node *node, struct fake_stream *stream,
                      bool is_upload)
{
    struct sanitizer_graph_node_data data = {.exec = (CUgraphExec)graph,
                                             .launch_id = graph->launches,
                                             .node = (CUgraphNode)(void *)node,
                                             .type = node->type,
                                             .is_upload = is_upload};
    if (node->type == SANITIZER_NODE_KERNEL) {
        data.data.launch = node->launch;
        data.data.launch.launch = NULL;
        data.data.launch.api_context = (CUcontext)stream->context;
        data.data.launch.api_stream = fake_handle(stream);
        data.data.launch.api_handle = (struct sanitizer_stream *)stream;
    } else if (node->type == SANITIZER_NODE_MEMCPY) {
        data.data.copy = node->item.copy;
    } else if (node->type == SANITIZER_NODE_MEMSET) {
        data.data.set = node->item.set;
    }
    fake_tell(SANITIZER_GRAPHS, SANITIZER_GRAPH_NODE_LAUNCH_BEGIN, &data);
    if (!is_upload) {
        fake_submit(stream, &node->item);
    }
    fake_tell(SANITIZER_GRAPHS, SANITIZER_GRAPH_NODE_LAUNCH_END, &data);
}

static int launch(uint32_t id, const char *name, struct cuda_graph_launch_params *params,
                  bool is_upload)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, id, name, params, NULL);
    int result = fake_failure();
    struct fake_stream *stream = result ? NULL : fake_stream(params->stream, false, &result);
    if (!result) {
        struct fake_graph *graph = (struct fake_graph *)params->graph;
        graph->launches += !is_upload;
        struct sanitizer_graph_launch_data data = {.context = (CUcontext)stream->context,
                                                   .stream = fake_handle(stream),
                                                   .handle = (struct sanitizer_stream *)stream,
                                                   .exec = params->graph,
                                                   .is_upload = is_upload};
        fake_tell(SANITIZER_GRAPHS, SANITIZER_GRAPH_LAUNCH_BEGIN, &data);
        for (struct fake_node *node = graph->first; node; node = node->next) {
            tell_node(graph, node, stream, is_upload);
        }
        fake_tell(SANITIZER_GRAPHS, SANITIZER_GRAPH_LAUNCH_END, &data);
    }
    return fake_exit(&call, result);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    struct cuda_graph_launch_params params = {exec, stream};
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 311, "cudaGraphLaunch", &params, NULL);
    return fake_exit(&call, launch(514, "cuGraphLaunch", &params, false));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    struct cuda_graph_launch_params params = {exec, stream};
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 348, "cudaGraphUpload", &params, NULL);
    return fake_exit(&call, launch(580, "cuGraphUpload", &params, true));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    struct fake_call call, inner;
    fake_enter(&call, SANITIZER_RUNTIME_API, 313, "cudaGraphExecDestroy", &exec, NULL);
    fake_enter(&inner, SANITIZER_DRIVER_API, 516, "cuGraphExecDestroy", &exec, NULL);
    struct sanitizer_graph_exec_data data = {.exec = exec};
    fake_tell(SANITIZER_GRAPHS, SANITIZER_GRAPH_EXEC_DESTROYING, &data);
    struct fake_graph *graph = (struct fake_graph *)exec;
    fake_end_stream(graph->own);
    for (struct fake_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        free(node);
    }
    free(graph);
    return fake_exit(&call, fake_exit(&inner, 0));
}
