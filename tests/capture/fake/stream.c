/* Streams: handles, default ones, waits of the host, host functions, values in memory.
 *
 * Freed streams are handed out again first, as the driver does it: their unique handles come back.
 */
#include "capture/fake/fake.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fake_stream *free_streams;
static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

/* Per-thread default streams of a thread, one for each context it used. */
struct own {
    struct fake_stream *stream;
    struct own *next;
};

static void end_of_thread(void *argument)
{
    for (struct own *own = argument, *next; own; own = next) {
        next = own->next;
        fake_end_stream(own->stream);
        free(own);
    }
}

static void make_key(void)
{
    pthread_key_create(&thread_end, end_of_thread);
}

struct fake_stream *fake_new_stream(struct fake_context *context, bool is_default,
                                    unsigned int flags)
{
    pthread_mutex_lock(&fake_lock);
    struct fake_stream *stream = free_streams;
    if (stream) {
        free_streams = stream->next;
    } else {
        stream = malloc(sizeof(*stream));
    }
    *stream = (struct fake_stream){
        .context = context, .is_default = is_default, .flags = flags, .next = context->streams};
    context->streams = stream;
    pthread_mutex_unlock(&fake_lock);
    return stream;
}

void fake_end_stream(struct fake_stream *stream)
{
    fake_lock_driver();
    fake_tell_stream(SANITIZER_STREAM_DESTROY_STARTING, stream);
    fake_unlock_driver();
    fake_wait(stream->last);
    fake_tell_stream(SANITIZER_STREAM_DESTROY_FINISHED, stream);
    pthread_mutex_lock(&fake_lock);
    struct fake_stream **at = &stream->context->streams;
    while (*at && *at != stream) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = stream->next;
    }
    stream->next = free_streams;
    free_streams = stream;
    pthread_mutex_unlock(&fake_lock);
}

void fake_must_live(const struct fake_stream *stream)
{
    pthread_mutex_lock(&fake_lock);
    const struct fake_stream *freed = free_streams;
    while (freed && freed != stream) {
        freed = freed->next;
    }
    bool is_captured = !freed && stream->capture;
    pthread_mutex_unlock(&fake_lock);
    if (freed || is_captured) {
        fprintf(stderr, "fake driver: put into a stream that is %s\n",
                freed ? "destroyed" : "being captured");
        abort();
    }
}

void fake_end_context_streams(struct fake_context *context)
{
    while (context->streams) {
        fake_end_stream(context->streams);
    }
}

CUstream fake_handle(const struct fake_stream *stream)
{
    return stream->is_default ? NULL : (CUstream)(uintptr_t)stream;
}

static struct fake_stream *own_stream(void)
{
    pthread_once(&thread_end_once, make_key);
    struct fake_context *context = fake_current();
    for (struct own *own = pthread_getspecific(thread_end); own; own = own->next) {
        if (own->stream->context == context) {
            return own->stream;
        }
    }
    struct own *own = malloc(sizeof(*own));
    *own = (struct own){fake_new_stream(context, true, 0), pthread_getspecific(thread_end)};
    pthread_setspecific(thread_end, own);
    fake_tell_stream(SANITIZER_STREAM_CREATED, own->stream);
    return own->stream;
}

struct fake_stream *fake_stream(CUstream argument, bool per_thread, int *error)
{
    struct fake_context *context = fake_current();
    if (!context) {
        *error = CUDA_INVALID_CONTEXT;
        return NULL;
    }
    if (argument == CUDA_STREAM_PER_THREAD || (!argument && per_thread)) {
        return own_stream();
    }
    if (!argument || argument == CUDA_STREAM_LEGACY) {
        return context->legacy;
    }
    struct fake_stream *stream = (struct fake_stream *)(uintptr_t)argument;
    pthread_mutex_lock(&fake_lock);
    struct fake_stream *freed = free_streams;
    while (freed && freed != stream) {
        freed = freed->next;
    }
    pthread_mutex_unlock(&fake_lock);
    if (freed) {
        *error = CUDA_INVALID_HANDLE;
        return NULL;
    }
    return stream;
}

static int create(uint32_t id, const char *name, CUstream *out, unsigned int flags, int priority)
{
    struct cuda_stream_create_params params = {out, flags, priority};
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, id, name, &params, NULL);
    int result = fake_failure();
    if (!result) {
        struct fake_stream *stream = fake_new_stream(fake_current(), false, flags);
        fake_tell_stream(SANITIZER_STREAM_CREATED, stream);
        *out = fake_handle(stream);
    }
    return fake_exit(&call, result);
}

int cuStreamCreate(CUstream *stream, unsigned int flags)
{
    return create(124, "cuStreamCreate", stream, flags, 0);
}

int cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    return create(367, "cuStreamCreateWithPriority", stream, flags, priority);
}

int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return CUDA_OK;
}

static cudaError_t runtime_create(uint32_t id, const char *name, CUstream *stream,
                                  unsigned int flags, int priority)
{
    struct cuda_stream_create_params params = {stream, flags, priority};
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, id, name, &params, NULL);
    fake_runtime();
    return fake_exit(&call, id == 202 ? cuStreamCreateWithPriority(stream, flags, priority)
                                      : cuStreamCreate(stream, flags));
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return runtime_create(129, "cudaStreamCreate", stream, 0, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    return runtime_create(198, "cudaStreamCreateWithFlags", stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
    return runtime_create(202, "cudaStreamCreateWithPriority", stream, flags, priority);
}

int cuStreamDestroy_v2(CUstream argument)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, 326, "cuStreamDestroy_v2", &argument, NULL);
    int result = fake_failure();
    struct fake_stream *stream = result ? NULL : fake_stream(argument, false, &result);
    if (!result) {
        fake_end_stream(stream);
    }
    return fake_exit(&call, result);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 201, "cudaStreamDestroy", &stream, NULL);
    return fake_exit(&call, cuStreamDestroy_v2(stream));
}

static void tell_synchronized(struct fake_stream *stream)
{
    struct sanitizer_synchronize_data data = {.context = (CUcontext)stream->context,
                                              .stream = fake_handle(stream),
                                              .handle = (struct sanitizer_stream *)stream};
    fake_tell(SANITIZER_SYNCHRONIZE, SANITIZER_STREAM_SYNCHRONIZED, &data);
}

/* Waits, or asks; both tell of a stream that has nothing left to do. */
static int wait_or_ask(uint32_t id, const char *name, CUstream argument, bool per_thread, bool asks)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, id, name, &argument, NULL);
    int result = fake_failure();
    struct fake_stream *stream = result ? NULL : fake_stream(argument, per_thread, &result);
    if (!result && asks && !fake_done(stream->last)) {
        result = CUDA_NOT_READY;
    }
    if (!result) {
        fake_wait(stream->last);
        fake_tell_freed();
        tell_synchronized(stream);
    }
    return fake_exit(&call, result);
}

int cuStreamSynchronize(CUstream stream)
{
    return wait_or_ask(126, "cuStreamSynchronize", stream, false, false);
}

int cuStreamQuery(CUstream stream)
{
    return wait_or_ask(125, "cuStreamQuery", stream, false, true);
}

#define RUNTIME(function, id, inner_id, inner, per_thread, asks)                                   \
    cudaError_t function(cudaStream_t stream)                                                      \
    {                                                                                              \
        struct fake_call call;                                                                     \
        fake_enter(&call, SANITIZER_RUNTIME_API, id, #function, &stream, NULL);                    \
        fake_runtime();                                                                            \
        return fake_exit(&call, wait_or_ask(inner_id, inner, stream, per_thread, asks));           \
    }

RUNTIME(cudaStreamSynchronize, 131, 126, "cuStreamSynchronize", false, false)
RUNTIME(cudaStreamSynchronize_ptsz, 239, 440, "cuStreamSynchronize_ptsz", true, false)
RUNTIME(cudaStreamQuery, 132, 125, "cuStreamQuery", false, true)
RUNTIME(cudaStreamQuery_ptsz, 240, 439, "cuStreamQuery_ptsz", true, true)

int cuStreamGetCtx(CUstream argument, CUcontext *context)
{
    int error = 0;
    struct fake_stream *stream = fake_stream(argument, false, &error);
    *context = stream ? (CUcontext)stream->context : NULL;
    return error;
}

int cuStreamGetFlags(CUstream argument, unsigned int *flags)
{
    int error = 0;
    struct fake_stream *stream = fake_stream(argument, false, &error);
    *flags = stream ? stream->flags : 0;
    return error;
}

/* -- host functions: told by the API call alone
 * ---------------------------------------------------*/

static void run_host(struct fake_item *item)
{
    if (item->callback) {
        item->callback(fake_handle(item->stream), 0, item->host_user);
    } else {
        item->host(item->host_user);
    }
}

static atomic_bool overtakes;

void fake_overtake(void)
{
    atomic_store(&overtakes, true);
}

static void *run_early(void *item)
{
    run_host(item);
    return NULL;
}

static void submit_host(struct fake_stream *stream, struct fake_item *item)
{
    pthread_t thread;
    item->stream = stream;
    if (atomic_load(&overtakes) && fake_done(stream->last) &&
        pthread_create(&thread, NULL, run_early, item) == 0) {
        pthread_join(thread, NULL);
        item->run = NULL;
    }
    fake_submit(stream, item);
}

/* The subscriber may have put another function into `params` at the entry: read afterwards. */
static int launch_host(uint32_t id, const char *name, struct cuda_host_func_params *params,
                       bool per_thread)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, id, name, params, NULL);
    int result = fake_failure();
    struct fake_stream *stream = result ? NULL : fake_stream(params->stream, per_thread, &result);
    if (!result) {
        struct fake_item item = {
            .run = run_host, .host = params->function, .host_user = params->user};
        if (!fake_capture(stream, SANITIZER_NODE_HOST, &item, NULL)) {
            submit_host(stream, &item);
        }
    }
    return fake_exit(&call, result);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *user)
{
    struct cuda_host_func_params params = {stream, function, user};
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 284, "cudaLaunchHostFunc", &params, NULL);
    fake_runtime();
    return fake_exit(&call, launch_host(527, "cuLaunchHostFunc", &params, false));
}

cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, void (*function)(void *), void *user)
{
    struct cuda_host_func_params params = {stream, function, user};
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 285, "cudaLaunchHostFunc_ptsz", &params, NULL);
    fake_runtime();
    return fake_exit(&call, launch_host(528, "cuLaunchHostFunc_ptsz", &params, true));
}

cudaError_t cudaStreamAddCallback(cudaStream_t argument, void (*function)(CUstream, int, void *),
                                  void *user, unsigned int flags)
{
    struct cuda_add_callback_params params = {argument, function, user, flags};
    struct fake_call call, inner;
    fake_enter(&call, SANITIZER_RUNTIME_API, 197, "cudaStreamAddCallback", &params, NULL);
    fake_runtime();
    fake_enter(&inner, SANITIZER_DRIVER_API, 346, "cuStreamAddCallback", &params, NULL);
    int result = fake_failure();
    struct fake_stream *stream = result ? NULL : fake_stream(params.stream, false, &result);
    if (!result) {
        struct fake_item item = {
            .run = run_host, .callback = params.function, .host_user = params.user};
        fake_submit(stream, &item);
    }
    return fake_exit(&call, fake_exit(&inner, result));
}

/* -- values in memory: writes are told, waits are not
 * ---------------------------------------------*/

static void write_value(struct fake_item *item)
{
    memcpy((void *)(uintptr_t)item->address, &item->value, item->is_64 ? 8 : 4);
}

static void submit_value(struct fake_stream *stream, uint64_t address, uint64_t value, bool is_64)
{
    struct sanitizer_batch_memop_data data = {.context = (CUcontext)stream->context,
                                              .stream = fake_handle(stream),
                                              .handle = (struct sanitizer_stream *)stream,
                                              .address = address,
                                              .value = value,
                                              .type = is_64};
    fake_tell(SANITIZER_BATCH_MEMOP, SANITIZER_BATCH_MEMOP_WRITE, &data);
    struct fake_item item = {
        .run = write_value, .address = address, .value = value, .is_64 = is_64};
    fake_submit(stream, &item);
}

static int value_32(uint32_t id, const char *name, struct cuda_value32_params *params, bool writes)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, id, name, params, NULL);
    int result = fake_failure();
    struct fake_stream *stream = result ? NULL : fake_stream(params->stream, false, &result);
    if (!result && writes) {
        submit_value(stream, params->address, params->value, false);
    } else if (!result) {
        fake_submit(stream, &(struct fake_item){.run = NULL});
    }
    return fake_exit(&call, result);
}

int cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                            unsigned int flags)
{
    struct cuda_value32_params params = {stream, address, value, flags};
    return value_32(663, "cuStreamWriteValue32_v2", &params, true);
}

int cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags)
{
    struct cuda_value32_params params = {stream, address, value, flags};
    return value_32(659, "cuStreamWaitValue32_v2", &params, false);
}

int cuStreamBatchMemOp_v2(CUstream argument, unsigned int count,
                          struct cuda_mem_op_params *operations, unsigned int flags)
{
    struct cuda_batch_params params = {argument, count, operations, flags};
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, 667, "cuStreamBatchMemOp_v2", &params, NULL);
    int result = fake_failure();
    struct fake_stream *stream = result ? NULL : fake_stream(argument, false, &result);
    for (unsigned int i = 0; !result && i < count; i++) {
        uint32_t operation = operations[i].operation;
        if (operation == CUDA_MEM_OP_WRITE_32 || operation == CUDA_MEM_OP_WRITE_64) {
            submit_value(stream, operations[i].address, operations[i].value,
                         operation == CUDA_MEM_OP_WRITE_64);
        }
    }
    return fake_exit(&call, result);
}
