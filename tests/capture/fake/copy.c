/* Copies and memsets: the runtime's calls pass through the driver's of the direction. */
#include "capture/fake/fake.h"

#include <string.h>

void fake_run_copy(struct fake_item *item)
{
    const struct sanitizer_memcpy_data *copy = &item->copy;
    for (uint64_t row = 0; row < copy->height; row++) {
        memmove((void *)(uintptr_t)(copy->destination + row * copy->destination_pitch),
                (const void *)(uintptr_t)(copy->source + row * copy->source_pitch), copy->width);
    }
}

void fake_run_set(struct fake_item *item)
{
    const struct sanitizer_memset_data *set = &item->set;
    for (uint64_t row = 0; row < set->height; row++) {
        char *at = (char *)(uintptr_t)(set->address + row * set->pitch);
        for (uint64_t i = 0; i < set->width; i++) {
            memcpy(at + i * set->element_size, &set->value, set->element_size);
        }
    }
}

struct request {
    uint64_t destination, source;
    uint64_t width, height;
    uint64_t destination_pitch, source_pitch;
    int kind; /* enum cuda_copy_kind */
    CUstream stream;
    bool is_async, per_thread, is_2d;
};

static uint64_t extent(uint64_t width, uint64_t height, uint64_t pitch)
{
    return height ? (height - 1) * pitch + width : 0;
}

static uint32_t direction(const struct request *request, enum fake_memory to, enum fake_memory from)
{
    if (request->kind != CUDA_COPY_DEFAULT) {
        return (uint32_t)request->kind + SANITIZER_HOST_TO_HOST;
    }
    bool to_device = to == FAKE_DEVICE || to == FAKE_MANAGED;
    bool from_device = from == FAKE_DEVICE || from == FAKE_MANAGED;
    return to_device     ? from_device ? SANITIZER_DEVICE_TO_DEVICE : SANITIZER_HOST_TO_DEVICE
           : from_device ? SANITIZER_DEVICE_TO_HOST
                         : SANITIZER_HOST_TO_HOST;
}

/* The context of one side: that of its memory on a device. */
static CUcontext side(uint64_t address, enum fake_memory kind, CUcontext otherwise)
{
    struct fake_context *owner = kind == FAKE_DEVICE ? fake_owner(address) : NULL;
    return owner ? (CUcontext)owner : otherwise;
}

/* The part inside the driver: checks, tells, submits, and waits for a synchronous copy. */
static int copy(const struct request *request)
{
    int result = fake_failure();
    bool bad = false;
    enum fake_memory to =
        fake_kind(request->destination,
                  extent(request->width, request->height, request->destination_pitch), &bad);
    enum fake_memory from = fake_kind(
        request->source, extent(request->width, request->height, request->source_pitch), &bad);
    if (!result && bad) {
        result = CUDA_INVALID_VALUE;
    }
    struct fake_stream *stream =
        result ? NULL : fake_stream(request->stream, request->per_thread, &result);
    if (result) {
        return result;
    }
    CUcontext context = (CUcontext)stream->context;
    CUstream handle = fake_handle(stream);
    struct sanitizer_stream *unique = (struct sanitizer_stream *)stream;
    struct fake_item item = {
        .run = fake_run_copy,
        .copy = {.source_context = side(request->source, from, context),
                 .destination_context = side(request->destination, to, context),
                 .source_stream = handle,
                 .source_handle = unique,
                 .destination_stream = handle,
                 .destination_handle = unique,
                 .source = request->source,
                 .destination = request->destination,
                 .size = request->width * request->height,
                 .width = request->width,
                 .height = request->height,
                 .depth = 1,
                 .source_pitch = request->source_pitch,
                 .destination_pitch = request->destination_pitch,
                 .is_async = request->is_async,
                 .direction = direction(request, to, from),
                 .api_context = context,
                 .api_stream = handle,
                 .api_handle = unique}};
    if (fake_capture(stream, SANITIZER_NODE_MEMCPY, &item, NULL)) {
        return 0;
    }
    fake_tell(SANITIZER_MEMCPY, SANITIZER_MEMCPY_STARTING, &item.copy);
    uint64_t number = fake_submit(stream, &item);
    if (!request->is_async) {
        fake_wait(number);
    }
    return 0;
}

struct inner {
    uint32_t id;
    const char *name;
};

/* The driver's call for a runtime's, [2D or default kind][per-thread][async], and by direction. */
static struct inner inner_of(const struct request *request)
{
    static const struct inner by_kind[5][2][2] = {
        {{{288, "cuMemcpy2DUnaligned_v2"}, {289, "cuMemcpy2DAsync_v2"}},
         {{406, "cuMemcpy2DUnaligned_v2_ptds"}, {424, "cuMemcpy2DAsync_v2_ptsz"}}},
        {{{276, "cuMemcpyHtoD_v2"}, {277, "cuMemcpyHtoDAsync_v2"}},
         {{397, "cuMemcpyHtoD_v2_ptds"}, {421, "cuMemcpyHtoDAsync_v2_ptsz"}}},
        {{{278, "cuMemcpyDtoH_v2"}, {279, "cuMemcpyDtoHAsync_v2"}},
         {{398, "cuMemcpyDtoH_v2_ptds"}, {422, "cuMemcpyDtoHAsync_v2_ptsz"}}},
        {{{280, "cuMemcpyDtoD_v2"}, {281, "cuMemcpyDtoDAsync_v2"}},
         {{399, "cuMemcpyDtoD_v2_ptds"}, {423, "cuMemcpyDtoDAsync_v2_ptsz"}}},
        {{{305, "cuMemcpy"}, {306, "cuMemcpyAsync"}},
         {{408, "cuMemcpy_ptds"}, {418, "cuMemcpyAsync_ptsz"}}},
    };
    return by_kind[request->is_2d ? 0 : request->kind][request->per_thread][request->is_async];
}

static int driver_copy(const struct request *request)
{
    struct inner inner = inner_of(request);
    struct cuda_driver_copy_params params = {request->destination, request->source, request->width,
                                             request->stream};
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, inner.id, inner.name, &params, NULL);
    return fake_exit(&call, copy(request));
}

static cudaError_t runtime_copy(uint32_t id, const char *name, void *destination,
                                const void *source, size_t size, int kind, CUstream stream,
                                bool is_async, bool per_thread)
{
    struct cuda_copy_params params = {destination, source, size, (uint32_t)kind, stream};
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, id, name, &params, NULL);
    fake_runtime();
    if (kind < 0 || kind > CUDA_COPY_DEFAULT) {
        return fake_exit(&call, 21);
    }
    if (size == 0) {
        return fake_exit(&call, 0);
    }
    struct request request = {.destination = (uint64_t)(uintptr_t)destination,
                              .source = (uint64_t)(uintptr_t)source,
                              .width = size,
                              .height = 1,
                              .destination_pitch = size,
                              .source_pitch = size,
                              .kind = kind,
                              .stream = stream,
                              .is_async = is_async,
                              .per_thread = per_thread};
    return fake_exit(&call, driver_copy(&request));
}

cudaError_t cudaMemcpy(void *destination, const void *source, size_t size, int kind)
{
    return runtime_copy(31, "cudaMemcpy", destination, source, size, kind, NULL, false, false);
}

cudaError_t cudaMemcpy_ptds(void *destination, const void *source, size_t size, int kind)
{
    return runtime_copy(215, "cudaMemcpy_ptds", destination, source, size, kind, NULL, false, true);
}

cudaError_t cudaMemcpyAsync(void *destination, const void *source, size_t size, int kind,
                            cudaStream_t stream)
{
    return runtime_copy(41, "cudaMemcpyAsync", destination, source, size, kind, stream, true,
                        false);
}

cudaError_t cudaMemcpyAsync_ptsz(void *destination, const void *source, size_t size, int kind,
                                 cudaStream_t stream)
{
    return runtime_copy(225, "cudaMemcpyAsync_ptsz", destination, source, size, kind, stream, true,
                        true);
}

static cudaError_t runtime_copy_2d(uint32_t id, const char *name, struct cuda_copy_2d_params params,
                                   bool is_async)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, id, name, &params, NULL);
    fake_runtime();
    struct request request = {.destination = (uint64_t)(uintptr_t)params.destination,
                              .source = (uint64_t)(uintptr_t)params.source,
                              .width = params.width,
                              .height = params.height,
                              .destination_pitch = params.destination_pitch,
                              .source_pitch = params.source_pitch,
                              .kind = (int)params.kind,
                              .stream = params.stream,
                              .is_async = is_async,
                              .is_2d = true};
    return fake_exit(&call, driver_copy(&request));
}

cudaError_t cudaMemcpy2D(void *destination, size_t destination_pitch, const void *source,
                         size_t source_pitch, size_t width, size_t height, int kind)
{
    return runtime_copy_2d(32, "cudaMemcpy2D",
                           (struct cuda_copy_2d_params){destination, destination_pitch, source,
                                                        source_pitch, width, height, (uint32_t)kind,
                                                        NULL},
                           false);
}

cudaError_t cudaMemcpy2DAsync(void *destination, size_t destination_pitch, const void *source,
                              size_t source_pitch, size_t width, size_t height, int kind,
                              cudaStream_t stream)
{
    return runtime_copy_2d(44, "cudaMemcpy2DAsync",
                           (struct cuda_copy_2d_params){destination, destination_pitch, source,
                                                        source_pitch, width, height, (uint32_t)kind,
                                                        stream},
                           true);
}

int cuMemcpyHtoD_v2(CUdeviceptr destination, const void *source, size_t size)
{
    struct request request = {.destination = destination,
                              .source = (uint64_t)(uintptr_t)source,
                              .width = size,
                              .height = 1,
                              .destination_pitch = size,
                              .source_pitch = size,
                              .kind = CUDA_COPY_HOST_TO_DEVICE};
    return driver_copy(&request);
}

int cuMemcpyDtoHAsync_v2(void *destination, CUdeviceptr source, size_t size, CUstream stream)
{
    struct request request = {.destination = (uint64_t)(uintptr_t)destination,
                              .source = source,
                              .width = size,
                              .height = 1,
                              .destination_pitch = size,
                              .source_pitch = size,
                              .kind = CUDA_COPY_DEVICE_TO_HOST,
                              .stream = stream,
                              .is_async = true};
    return driver_copy(&request);
}

/* -- memsets
 * --------------------------------------------------------------------------------------*/

static int set(uint32_t id, const char *name, struct sanitizer_memset_data data, CUstream argument,
               bool per_thread)
{
    struct cuda_memset_params params = {(void *)(uintptr_t)data.address, (int32_t)data.value,
                                        data.width, argument};
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, id, name, &params, NULL);
    int result = fake_failure();
    bool bad = false;
    enum fake_memory kind = fake_kind(
        data.address, extent(data.width * data.element_size, data.height, data.pitch), &bad);
    if (!result && (bad || kind == FAKE_PAGEABLE)) {
        result = CUDA_INVALID_VALUE;
    }
    struct fake_stream *stream = result ? NULL : fake_stream(argument, per_thread, &result);
    if (!result) {
        data.context = (CUcontext)stream->context;
        data.stream = fake_handle(stream);
        data.handle = (struct sanitizer_stream *)stream;
        struct fake_item item = {.run = fake_run_set, .set = data};
        if (!fake_capture(stream, SANITIZER_NODE_MEMSET, &item, NULL)) {
            fake_tell(SANITIZER_MEMSET, SANITIZER_MEMSET_STARTING, &data);
            fake_submit(stream, &item);
        }
    }
    return fake_exit(&call, result);
}

static cudaError_t runtime_set(uint32_t id, const char *name, uint32_t inner_id, const char *inner,
                               struct cuda_memset_params params, bool is_async, bool per_thread)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, id, name, &params, NULL);
    fake_runtime();
    if (params.size == 0) {
        return fake_exit(&call, 0);
    }
    struct sanitizer_memset_data data = {.address = (uint64_t)(uintptr_t)params.pointer,
                                         .width = params.size,
                                         .height = 1,
                                         .element_size = 1,
                                         .value = (uint32_t)params.value & 0xff,
                                         .is_async = is_async};
    return fake_exit(&call, set(inner_id, inner, data, params.stream, per_thread));
}

cudaError_t cudaMemset(void *pointer, int value, size_t size)
{
    return runtime_set(49, "cudaMemset", 249, "cuMemsetD8_v2",
                       (struct cuda_memset_params){pointer, value, size, NULL}, false, false);
}

cudaError_t cudaMemset_ptds(void *pointer, int value, size_t size)
{
    return runtime_set(233, "cudaMemset_ptds", 411, "cuMemsetD8_v2_ptds",
                       (struct cuda_memset_params){pointer, value, size, NULL}, false, true);
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t size, cudaStream_t stream)
{
    return runtime_set(51, "cudaMemsetAsync", 216, "cuMemsetD8Async",
                       (struct cuda_memset_params){pointer, value, size, stream}, true, false);
}

cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height)
{
    struct {
        void *pointer;
        size_t pitch;
        int value;
        size_t width, height;
    } params = {pointer, pitch, value, width, height};
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 50, "cudaMemset2D", &params, NULL);
    fake_runtime();
    struct sanitizer_memset_data data = {.address = (uint64_t)(uintptr_t)pointer,
                                         .width = width,
                                         .height = height,
                                         .pitch = pitch,
                                         .element_size = 1,
                                         .value = (uint32_t)value & 0xff};
    return fake_exit(&call, set(252, "cuMemsetD2D8_v2", data, NULL, false));
}

int cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count, CUstream stream)
{
    struct sanitizer_memset_data data = {.address = pointer,
                                         .width = count,
                                         .height = 1,
                                         .element_size = 4,
                                         .value = value,
                                         .is_async = true};
    return set(220, "cuMemsetD32Async", data, stream, false);
}
