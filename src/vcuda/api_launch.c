/* Kernel launches: configuration, checks, parameters; and host functions. */
#include "vcuda/api.h"
#include "ssan/compiler_abi.h"
#include "vcuda/emit.h"
#include "trace/funcname.h"
#include "vcuda/handle.h"
#include "vcuda/limits.h"
#include "vcuda/program.h"
#include "vcuda/queue.h"
#include "vcuda/site.h"

#include <string.h>

struct configuration {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    uint32_t site;
};

#define CONFIGURATIONS 8

/* Arguments of a launch may themselves launch, so configurations nest. */
static _Thread_local struct configuration configurations[CONFIGURATIONS];
static _Thread_local unsigned configuration_count;
/* A configuration was popped, and where it was pushed: for the launch that follows. */
static _Thread_local bool popped;
static _Thread_local uint32_t popped_site;

static unsigned push(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream,
                     const void *frame)
{
    if (configuration_count == CONFIGURATIONS) {
        call_set_last_error(cudaErrorLaunchFailure);
        return 1; /* no launch is made then */
    }
    emit_open();
    configurations[configuration_count++] =
        (struct configuration){grid, block, shared_bytes, stream, site_capture(frame)};
    return 0;
}

EXPORTED unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                              cudaStream_t stream)
{
    return push(grid, block, shared_bytes, stream, __builtin_frame_address(0));
}

EXPORTED unsigned __cudaPushCallConfiguration_ptsz(dim3 grid, dim3 block, size_t shared_bytes,
                                                   cudaStream_t stream)
{
    return push(grid, block, shared_bytes, stream ? stream : cudaStreamPerThread,
                __builtin_frame_address(0));
}

EXPORTED cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
                                                void *stream_out)
{
    const struct configuration *top;
    if (configuration_count == 0) {
        return cudaErrorMissingConfiguration;
    }
    top = &configurations[--configuration_count];
    *grid = top->grid;
    *block = top->block;
    *shared_bytes = top->shared_bytes;
    *(cudaStream_t *)stream_out = top->stream;
    popped_site = top->site;
    popped = true;
    return cudaSuccess;
}

bool api_launch_begin(struct call *call, const void *stub, const void *frame)
{
    *call = (struct call){.name = "cudaLaunchKernel", .frame = frame, .stub = stub};
    if (popped) {
        call->site = popped_site;
        call->discards = true;
        popped = false;
    }
    return call_begin_as(call);
}

static cudaError_t check_limits(const struct kernel *kernel, const struct launch_request *request)
{
    const dim3 grid = request->grid, block = request->block;
    const size_t shared_bytes = request->shared_bytes;
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    uint64_t shared = kernel->code->shared_bytes + (uint64_t)shared_bytes;
    uint64_t most = kernel->most_shared_bytes
                        ? kernel->code->shared_bytes + kernel->most_shared_bytes
                        : LIMIT_SHARED_BYTES;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0 || grid.x > LIMIT_GRID_X ||
        grid.y > LIMIT_GRID_YZ || grid.z > LIMIT_GRID_YZ || block.x > LIMIT_BLOCK_XY ||
        block.y > LIMIT_BLOCK_XY || block.z > LIMIT_BLOCK_Z || threads > LIMIT_THREADS) {
        return cudaErrorInvalidConfiguration;
    }
    if (kernel->code->max_threads && threads > kernel->code->max_threads) {
        return cudaErrorLaunchOutOfResources;
    }
    if (shared_bytes > UINT32_MAX || shared > most) {
        return cudaErrorInvalidValue;
    }
    return request->cooperative &&
                   (uint64_t)grid.x * grid.y * grid.z >
                       LIMIT_MULTIPROCESSORS * api_active_blocks(kernel, threads, shared_bytes)
               ? cudaErrorCooperativeLaunchTooLarge
               : cudaSuccess;
}

static bool copy_params(struct launch *launch, void **args)
{
    const struct ptx_kernel *code = launch->kernel;
    launch->params = mem_zalloc(1, code->param_bytes);
    if (!launch->params) {
        return false;
    }
    for (size_t i = 0; i < code->param_count; i++) {
        memcpy((char *)launch->params + code->params[i].offset, args[i],
               code->params[i].size_bytes);
    }
    return true;
}

cudaError_t api_launch(struct call *call, const struct launch_request *request)
{
    const dim3 grid = request->grid, block = request->block;
    struct kernel *kernel;
    struct stream *stream;
    struct op *op;
    cudaError_t error = program_find_kernel(call, request->stub, &kernel);
    if (error == cudaSuccess) {
        error = check_limits(kernel, request);
    }
    if (error == cudaSuccess) {
        error = handle_find_stream(call, request->stream, request->per_thread, &stream);
    }
    if (error == cudaSuccess && stream->ordinal != call->ordinal) {
        error = cudaErrorInvalidResourceHandle; /* R-STREAM-15 */
    }
    if (error == cudaSuccess && kernel->code->param_count > 0 && !request->args) {
        error = cudaErrorInvalidValue;
    }
    if (error != cudaSuccess) {
        return error;
    }
    op = queue_create(SSAN_op_kind_KERNEL, stream);
    if (!op) {
        return cudaErrorMemoryAllocation;
    }
    op->launch =
        (struct launch){.module = kernel->module,
                        .kernel = kernel->code,
                        .grid = {grid.x, grid.y, grid.z},
                        .block = {block.x, block.y, block.z},
                        .shared_bytes = (uint32_t)request->shared_bytes,
                        .cooperative = request->cooperative,
                        .reach = device.contexts[stream->ordinal].peers | 1u << stream->ordinal};
    if (!copy_params(&op->launch, request->args)) {
        queue_drop(op);
        return cudaErrorMemoryAllocation;
    }
    return api_submit(call, op, NULL, SSAN_form_ASYNC, kernel->name, NULL, 0);
}

cudaError_t api_hostfunc(struct call *call, cudaStream_t handle, bool per_thread,
                         const struct hostfunc *hostfunc)
{
    struct stream *stream;
    struct op *op;
    const void *function;
    cudaError_t error = handle_find_stream(call, handle, per_thread, &stream);
    if (hostfunc->callback) {
        memcpy(&function, &hostfunc->callback, sizeof function);
    } else {
        memcpy(&function, &hostfunc->function, sizeof function);
    }
    if (error == cudaSuccess && !function) {
        error = cudaErrorInvalidValue;
    }
    if (error != cudaSuccess) {
        return error;
    }
    op = queue_create(SSAN_op_kind_HOSTFUNC, stream);
    if (!op) {
        return cudaErrorMemoryAllocation;
    }
    op->hostfunc = *hostfunc;
    return api_submit(call, op, NULL, SSAN_form_ASYNC,
                      emit_is_on() ? funcname_find(function) : NULL, NULL, 0);
}
