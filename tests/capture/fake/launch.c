/* Launches. One module, loaded at the first of them; each kernel is loaded at its own first launch.
 *
 * A CUfunction is the struct fake_kernel itself. */
#include "capture/fake/fake.h"

#include <stdatomic.h>
#include <string.h>

enum { KERNELS = 64 };

#define CODE UINT64_C(0x700000000000) /* where kernels lie, 4 KiB each */

struct sanitizer_launch {
    const void *user;
};

static int module_object;
static struct {
    const struct fake_kernel *kernel;
    const void *user;
} loaded[KERNELS];
static size_t loaded_count;
static bool is_module_loaded;
static atomic_ullong grid_ids = 10;
static _Thread_local const struct fake_item *running;
static uint32_t variable[64];

CUmodule fake_module(void)
{
    return (CUmodule)(void *)&module_object;
}

void fake_access(unsigned int instruction, const void *pointer, uint32_t size,
                 enum fake_access access)
{
    if (running && running->user && fake_is_patched(SANITIZER_AT_GLOBAL_ACCESS)) {
        uint64_t pc = CODE + fake_index(running->kernel) * 4096 + instruction * 16;
        fake_patch_access(running->user, pc, pointer, size, access);
    }
}

static size_t offset_of(const struct fake_kernel *kernel, size_t index)
{
    size_t offset = 0;
    for (size_t i = 0; i <= index; i++) {
        size_t align = kernel->sizes[i] > 8 ? 8 : kernel->sizes[i];
        offset = (offset + align - 1) / align * align;
        if (i < index) {
            offset += kernel->sizes[i];
        }
    }
    return offset;
}

void fake_run_kernel(struct fake_item *item)
{
    void *arguments[8];
    for (size_t i = 0; i < 8 && item->kernel->sizes[i]; i++) {
        arguments[i] = item->arguments + offset_of(item->kernel, i);
    }
    if (item->user && fake_is_patched(SANITIZER_AT_BLOCK_ENTER)) {
        fake_gate_enter(item->user);
    }
    running = item;
    if (item->kernel->body) {
        item->kernel->body(arguments);
    }
    running = NULL;
    if (item->user && fake_is_patched(SANITIZER_AT_GLOBAL_ACCESS)) {
        fake_patch_end(item->user);
    }
}

void fake_set_launch_user(struct sanitizer_launch *launch, const void *user)
{
    launch->user = user;
}

void fake_set_function_user(CUfunction function, const void *user)
{
    for (size_t i = 0; i < loaded_count; i++) {
        if ((CUfunction)(uintptr_t)loaded[i].kernel == function) {
            loaded[i].user = user;
        }
    }
}

/* Lazy loading, told as it happens. Returns the user data that stands for the function. */
static const void *load(const struct fake_kernel *kernel)
{
    CUcontext context = (CUcontext)fake_current();
    if (!is_module_loaded) {
        is_module_loaded = true;
        struct sanitizer_module_data data = {.context = context,
                                             .module = fake_module(),
                                             .library = (CUlibrary)(void *)&module_object};
        data.cubin = fake_cubin(&data.cubin_size);
        fake_tell(SANITIZER_RESOURCE, SANITIZER_MODULE_LOADED, &data);
    }
    for (size_t i = 0; i < loaded_count; i++) {
        if (loaded[i].kernel == kernel) {
            return loaded[i].user;
        }
    }
    size_t slot = loaded_count < KERNELS ? loaded_count++ : KERNELS - 1;
    loaded[slot].kernel = kernel;
    loaded[slot].user = NULL;
    CUfunction function = (CUfunction)(uintptr_t)kernel;
    struct sanitizer_functions_data data = {context, fake_module(), &function, 1};
    fake_tell(SANITIZER_RESOURCE, SANITIZER_FUNCTIONS_LAZY_LOADED, &data);
    fake_tell(SANITIZER_RESOURCE, SANITIZER_FUNCTIONS_LAZY_PATCHED, &data);
    return loaded[slot].user;
}

struct request {
    const struct fake_kernel *kernel;
    struct cuda_dim3 grid, block;
    void **arguments, **extra;
    size_t shared_bytes;
    CUstream stream;
    bool per_thread;
};

static void copy_arguments(const struct request *request, char *to, size_t room)
{
    if (request->extra) { /* pairs of a name and a value */
        const void *buffer = NULL;
        size_t size = 0;
        for (void **at = request->extra; *at != CUDA_LAUNCH_END; at += 2) {
            if (at[0] == CUDA_LAUNCH_BUFFER_POINTER) {
                buffer = at[1];
            } else if (at[0] == CUDA_LAUNCH_BUFFER_SIZE) {
                size = *(size_t *)at[1];
            }
        }
        memcpy(to, buffer, size < room ? size : room);
        return;
    }
    for (size_t i = 0; request->arguments && i < 8 && request->kernel->sizes[i]; i++) {
        memcpy(to + offset_of(request->kernel, i), request->arguments[i],
               request->kernel->sizes[i]);
    }
}

/* The part inside the driver's lock. */
static int launch_locked(const struct request *request)
{
    int result = fake_failure();
    struct cuda_dim3 grid = request->grid, block = request->block;
    if (!result && (block.x * block.y * block.z > 1024 || request->shared_bytes > 100000)) {
        result = CUDA_INVALID_VALUE;
    }
    struct fake_stream *stream =
        result ? NULL : fake_stream(request->stream, request->per_thread, &result);
    if (result) {
        return result;
    }
    struct fake_item item = {.run = fake_run_kernel, .kernel = request->kernel};
    copy_arguments(request, item.arguments, sizeof(item.arguments));
    struct sanitizer_launch handle = {NULL};
    struct sanitizer_launch_data data = {.context = (CUcontext)stream->context,
                                         .stream = fake_handle(stream),
                                         .handle = (struct sanitizer_stream *)stream,
                                         .module = fake_module(),
                                         .function = (CUfunction)(uintptr_t)request->kernel,
                                         .name = request->kernel->name,
                                         .grid_x = grid.x,
                                         .grid_y = grid.y,
                                         .grid_z = grid.z,
                                         .block_x = block.x,
                                         .block_y = block.y,
                                         .block_z = block.z,
                                         .grid_id = atomic_fetch_add(&grid_ids, 1),
                                         .launch = &handle,
                                         .device = stream->context->device};
    if (fake_capture(stream, SANITIZER_NODE_KERNEL, &item, &data)) {
        return 0;
    }
    handle.user = load(request->kernel);
    fake_tell(SANITIZER_LAUNCH, SANITIZER_LAUNCH_BEGIN, &data);
    fake_tell(SANITIZER_LAUNCH, SANITIZER_LAUNCH_AFTER_SYSCALL_SETUP, &data);
    item.user = handle.user;
    fake_submit(stream, &item);
    fake_tell(SANITIZER_LAUNCH, SANITIZER_LAUNCH_END, &data);
    return 0;
}

static int launch(const struct request *request)
{
    fake_lock_driver();
    int result = launch_locked(request);
    fake_unlock_driver();
    return result;
}

static int driver_launch(uint32_t id, const char *name, const struct request *request)
{
    struct cuda_driver_launch_params params = {(CUfunction)(uintptr_t)request->kernel,
                                               request->grid.x,
                                               request->grid.y,
                                               request->grid.z,
                                               request->block.x,
                                               request->block.y,
                                               request->block.z,
                                               (unsigned int)request->shared_bytes,
                                               request->stream,
                                               request->arguments,
                                               request->extra};
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, id, name, &params, request->kernel->name);
    return fake_exit(&call, launch(request));
}

static cudaError_t runtime_launch(uint32_t id, const char *name, uint32_t inner_id,
                                  const char *inner, struct cuda_launch_params params,
                                  bool per_thread)
{
    const struct fake_kernel *kernel = params.function;
    if (params.stream == CUDA_STREAM_PER_THREAD && fake_current()) {
        int error = 0;
        fake_stream(params.stream, per_thread, &error); /* the launch syntax asks for it first */
    }
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, id, name, &params, kernel->name);
    fake_runtime();
    struct request request = {kernel, params.grid,         params.block,  params.arguments,
                              NULL,   params.shared_bytes, params.stream, per_thread};
    return fake_exit(&call, driver_launch(inner_id, inner, &request));
}

cudaError_t cudaLaunchKernel(const void *function, struct cuda_dim3 grid, struct cuda_dim3 block,
                             void **arguments, size_t shared_bytes, cudaStream_t stream)
{
    return runtime_launch(
        211, "cudaLaunchKernel", 307, "cuLaunchKernel",
        (struct cuda_launch_params){function, grid, block, arguments, shared_bytes, stream}, false);
}

cudaError_t cudaLaunchKernel_ptsz(const void *function, struct cuda_dim3 grid,
                                  struct cuda_dim3 block, void **arguments, size_t shared_bytes,
                                  cudaStream_t stream)
{
    return runtime_launch(
        214, "cudaLaunchKernel_ptsz", 442, "cuLaunchKernel_ptsz",
        (struct cuda_launch_params){function, grid, block, arguments, shared_bytes, stream}, true);
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, struct cuda_dim3 grid,
                                        struct cuda_dim3 block, void **arguments,
                                        size_t shared_bytes, cudaStream_t stream)
{
    return runtime_launch(
        269, "cudaLaunchCooperativeKernel", 477, "cuLaunchCooperativeKernel",
        (struct cuda_launch_params){function, grid, block, arguments, shared_bytes, stream}, false);
}

/* The driver's form has no name of the kernel to tell. */
cudaError_t cudaLaunchKernelExC(const struct cuda_runtime_launch_config *config,
                                const void *function, void **arguments)
{
    struct cuda_runtime_launch_ex_params params = {config, function, arguments};
    const struct fake_kernel *kernel = function;
    struct fake_call call, inner;
    fake_enter(&call, SANITIZER_RUNTIME_API, 430, "cudaLaunchKernelExC", &params, kernel->name);
    fake_runtime();
    struct cuda_launch_config driver_config = {config->grid.x,
                                               config->grid.y,
                                               config->grid.z,
                                               config->block.x,
                                               config->block.y,
                                               config->block.z,
                                               (unsigned int)config->shared_bytes,
                                               config->stream,
                                               config->attributes,
                                               config->attribute_count};
    struct cuda_launch_ex_params driver_params = {&driver_config, (CUfunction)(uintptr_t)kernel,
                                                  arguments, NULL};
    fake_enter(&inner, SANITIZER_DRIVER_API, 652, "cuLaunchKernelEx", &driver_params, NULL);
    struct request request = {kernel, config->grid,         config->block,  arguments,
                              NULL,   config->shared_bytes, config->stream, false};
    return fake_exit(&call, fake_exit(&inner, launch(&request)));
}

int cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                   unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                   void **arguments, void **extra)
{
    struct request request = {(const struct fake_kernel *)(uintptr_t)function,
                              {grid_x, grid_y, grid_z},
                              {block_x, block_y, block_z},
                              arguments,
                              extra,
                              shared_bytes,
                              stream,
                              false};
    return driver_launch(307, "cuLaunchKernel", &request);
}

/* -- questions about kernels, allowed in callbacks
 * -------------------------------------------------*/

int cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    const struct fake_kernel *kernel = (const struct fake_kernel *)(uintptr_t)function;
    if (index >= 8 || !kernel->sizes[index]) {
        return CUDA_INVALID_VALUE;
    }
    *offset = offset_of(kernel, index);
    *size = kernel->sizes[index];
    return 0;
}

int cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size)
{
    return cuFuncGetParamInfo((CUfunction)(void *)kernel, index, offset, size);
}

int cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    *function = (CUfunction)(void *)kernel;
    return 0;
}

int cuFuncGetName(const char **name, CUfunction function)
{
    *name = ((const struct fake_kernel *)(uintptr_t)function)->name;
    return 0;
}

int cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule module, const char *name)
{
    struct cuda_global_params params = {address, size, module, name};
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, 241, "cuModuleGetGlobal_v2", &params, NULL);
    if (strcmp(name, "variable") != 0) {
        return fake_exit(&call, 500);
    }
    if (address) {
        *address = (uint64_t)(uintptr_t)variable;
    }
    if (size) {
        *size = sizeof(variable);
    }
    return fake_exit(&call, 0);
}
