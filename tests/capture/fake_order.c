/* The fake driver against a real one: the same calls, all callbacks, line by line.
 *
 * driver_order.txt holds what a driver of CUDA 13.0 told of these calls on an H200: a line for each
 * call, calls inside it in parentheses with their results, in between what was told. This program
 * makes the calls on the fake and compares. A stream is named s1, s2, ... in order of creation,
 * `legacy`, `own` (per-thread) or internal; events likewise e1, e2, ... */
#include "capture/fake/cuda.h"
#include "capture/sanitizer_abi.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sanitizer_api api;
static char line[4096];
static size_t length;
static int depth;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int thread_number;
static FILE *expected;
static int lines, wrong;
static struct {
    const void *handle;
    char name[16];
} streams[64];
static const void *events[16];
static const void *legacy;
static int internal_count;

static void end_line(void)
{
    char want[4096];
    if (!fgets(want, sizeof(want), expected)) {
        strcpy(want, "nothing more\n");
    }
    want[strcspn(want, "\n")] = '\0';
    lines++;
    if (strcmp(want, line) != 0) {
        printf("line %d: expected %s\nline %d: told     %s\n", lines, want, lines, line);
        wrong++;
    }
    length = 0;
    line[0] = '\0';
}

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (length == 0) {
        length = (size_t)sprintf(line, "t%d", thread_number);
    }
    line[length++] = ' ';
    length += (size_t)vsnprintf(line + length, sizeof(line) - length, format, arguments);
    va_end(arguments);
}

/* What is told outside of any call stands on a line of its own. */
static void end_token(void)
{
    if (depth == 0) {
        end_line();
    }
}

static const char *stream_name(const void *handle)
{
    for (size_t i = 0; i < 64; i++) {
        if (streams[i].handle == handle) {
            return streams[i].name;
        }
    }
    return "unknown";
}

static void name_stream(const void *handle, CUstream stream)
{
    static int count;
    static const void *named[16];
    size_t slot = 0;
    while (streams[slot].handle && streams[slot].handle != handle) {
        slot++;
    }
    streams[slot].handle = handle;
    if (!stream && internal_count < 7) {
        internal_count++;
        legacy = internal_count == 2 ? handle : legacy;
        snprintf(streams[slot].name, 16, internal_count == 2 ? "legacy" : "internal%d",
                 internal_count);
    } else if (!stream) {
        strcpy(streams[slot].name, "own");
    } else {
        int i = 0;
        while (i < count && named[i] != stream) { /* a freed one comes back under its name */
            i++;
        }
        named[i] = stream;
        count = i < count ? count : i + 1;
        snprintf(streams[slot].name, 16, "s%d", i + 1);
    }
}

static int event_name(const void *event)
{
    int i = 0;
    while (events[i] && events[i] != event) {
        i++;
    }
    events[i] = event;
    return i + 1;
}

static void on_memory(uint32_t id, const struct sanitizer_memory_data *data)
{
    bool is_host = id == SANITIZER_HOST_MEMORY_ALLOC || id == SANITIZER_HOST_MEMORY_FREE;
    bool is_alloc = id == SANITIZER_HOST_MEMORY_ALLOC || id == SANITIZER_DEVICE_MEMORY_ALLOC;
    if (id == SANITIZER_MEMORY_ALLOC_ASYNC || id == SANITIZER_MEMORY_FREE_ASYNC) {
        add("%s-async:%llu:%s:pool=%d", id == SANITIZER_MEMORY_ALLOC_ASYNC ? "alloc" : "free",
            (unsigned long long)data->size, stream_name(data->handle), data->pool != NULL);
    } else if (id == SANITIZER_MEMORY_FREE_ASYNC_DONE) {
        add("free-async-done");
    } else {
        add("%s-%s:%llu:flags=%x:vis=%u", is_host ? "host" : "dev", is_alloc ? "alloc" : "free",
            (unsigned long long)data->size, data->flags, data->visibility);
    }
}

static void on_resource(uint32_t id, const void *data)
{
    const struct sanitizer_functions_data *functions = data;
    struct sanitizer_stream_data stream;
    struct sanitizer_stream *handle;
    switch (id) {
    case SANITIZER_INIT_FINISHED:
        return;
    case SANITIZER_CONTEXT_CREATION_STARTING:
        add("context-creating");
        break;
    case SANITIZER_CONTEXT_CREATION_FINISHED:
        add("context-created");
        /* Asking for the per-thread stream makes it, and tells of it in here. */
        pthread_mutex_unlock(&lock);
        api.get_stream_handle(sanitizer_context_data(&api, data).context, CUDA_STREAM_PER_THREAD,
                              &handle);
        pthread_mutex_lock(&lock);
        break;
    case SANITIZER_STREAM_CREATED:
        stream = sanitizer_stream_data(&api, data);
        name_stream(stream.handle, stream.stream);
        add("stream-created:%s", stream_name(stream.handle));
        break;
    case SANITIZER_STREAM_DESTROY_STARTING:
        add("stream-destroying:%s", stream_name(sanitizer_stream_data(&api, data).handle));
        break;
    case SANITIZER_STREAM_DESTROY_FINISHED:
        add("stream-destroyed");
        break;
    case SANITIZER_MODULE_LOADED:
        add("module-loaded");
        break;
    case SANITIZER_FUNCTIONS_LAZY_LOADED:
        add("functions-loaded:%u", functions->count);
        break;
    case SANITIZER_FUNCTIONS_LAZY_PATCHED:
        add("functions-patched:%u", functions->count);
        break;
    case SANITIZER_MEMPOOL_CREATED:
        add("pool-created");
        break;
    default:
        on_memory(id, data);
    }
    end_token();
}

static void on_work(uint32_t domain, uint32_t id, const void *data)
{
    static const char *const launch[] = {"", "begin", "after-setup", "end"};
    static const char *const event[] = {"",       "created",     "destroyed",
                                        "record", "stream-wait", "synchronize"};
    const struct sanitizer_launch_data *l = data;
    const struct sanitizer_memcpy_data *c = data;
    const struct sanitizer_memset_data *s = data;
    const struct sanitizer_batch_memop_data *b = data;
    if (domain == SANITIZER_LAUNCH && id == SANITIZER_LAUNCH_BEGIN) {
        add("launch-begin:%s:%u:%u:%s", l->name, l->grid_x, l->block_x, stream_name(l->handle));
    } else if (domain == SANITIZER_LAUNCH) {
        add("launch-%s", launch[id]);
    } else if (domain == SANITIZER_MEMCPY) {
        add("copy:%llux%llu:%llu:%llu:async=%u:direction=%u:%s", (unsigned long long)c->width,
            (unsigned long long)c->height, (unsigned long long)c->destination_pitch,
            (unsigned long long)c->source_pitch, c->is_async, c->direction,
            stream_name(c->api_handle));
    } else if (domain == SANITIZER_MEMSET) {
        add("set:%llux%llu:%llu:%u:%u:async=%u:%s", (unsigned long long)s->width,
            (unsigned long long)s->height, (unsigned long long)s->pitch, s->element_size, s->value,
            s->is_async, stream_name(s->handle));
    } else if (domain == SANITIZER_BATCH_MEMOP) {
        add("write:%llu:type=%u", (unsigned long long)b->value, b->type);
    } else if (domain == SANITIZER_EVENTS) {
        struct sanitizer_event_data e = sanitizer_event_data(&api, data);
        bool has_stream = id == SANITIZER_EVENT_RECORD || id == SANITIZER_EVENT_STREAM_WAIT;
        add("event-%s:e%d%s%s", event[id], event_name(e.event), has_stream ? ":" : "",
            has_stream ? stream_name(e.handle) : "");
        if (id == SANITIZER_EVENT_DESTROYED) { /* its handle may come back as another */
            events[event_name(e.event) - 1] = &events;
        }
    } else if (domain == SANITIZER_SYNCHRONIZE && id == SANITIZER_CONTEXT_SYNCHRONIZED) {
        add("context-synchronized");
    } else if (domain == SANITIZER_SYNCHRONIZE) {
        add("stream-synchronized:%s",
            stream_name(((const struct sanitizer_synchronize_data *)data)->handle));
    } else if (domain == SANITIZER_UVM) {
        add("attach:vis=%u", ((const struct sanitizer_uvm_data *)data)->visibility);
    } else if (domain == SANITIZER_GRAPHS) {
        add("graph-exec:%u", id);
    }
}

static void on_callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
    const struct sanitizer_api_data *call = data;
    pthread_mutex_lock(&lock);
    if (domain == SANITIZER_RESOURCE) {
        on_resource(id, data);
    } else if (domain > SANITIZER_RESOURCE) {
        on_work(domain, id, data);
    } else if (call->site == SANITIZER_API_ENTER) {
        add("%s(", call->function);
        depth++;
    } else {
        add(")=%d", *call->result);
        depth--;
        end_token();
    }
    pthread_mutex_unlock(&lock);
}

static void host_function(void *user)
{
    pthread_mutex_lock(&lock);
    add("host");
    pthread_mutex_unlock(&lock);
}

static void stream_callback(CUstream stream, int status, void *user)
{
    pthread_mutex_lock(&lock);
    add("callback");
    pthread_mutex_unlock(&lock);
}

static const struct fake_kernel k = {"_Z1kPii", NULL, {8, 4}, 0};
static const struct fake_kernel spin = {"_Z4spinx", NULL, {8}, 0};
static const struct fake_kernel own_kernel = {"_Z2kpPi", NULL, {8}, 0};
static char *d, *d2, *pinned, *managed;
static char pageable[1 << 20];
static cudaStream_t s, n;

static void launch(const struct fake_kernel *kernel, unsigned int grid, unsigned int block,
                   size_t shared, cudaStream_t stream)
{
    int count = 32;
    void *arguments[] = {&d, &count};
    cudaLaunchKernel(kernel, (struct cuda_dim3){grid, 1, 1}, (struct cuda_dim3){block, 1, 1},
                     arguments, shared, stream);
}

static void copies(void)
{
    cudaMemcpy(d, pageable, 4096, CUDA_COPY_HOST_TO_DEVICE);
    cudaMemcpy(d, pageable, 1 << 20, CUDA_COPY_HOST_TO_DEVICE);
    cudaMemcpy(d, pinned, 4096, CUDA_COPY_HOST_TO_DEVICE);
    cudaMemcpy(pageable, d, 4096, CUDA_COPY_DEVICE_TO_HOST);
    cudaMemcpy(pinned, d, 4096, CUDA_COPY_DEVICE_TO_HOST);
    cudaMemcpy(d2, d, 4096, CUDA_COPY_DEVICE_TO_DEVICE);
    cudaMemcpy(pageable + 16384, pageable, 4096, CUDA_COPY_HOST_TO_HOST);
    cudaMemcpy(d, managed, 4096, CUDA_COPY_DEFAULT);
    cudaMemcpy(d, pageable, 0, CUDA_COPY_HOST_TO_DEVICE);
    cudaMemcpy(NULL, pageable, 4096, CUDA_COPY_HOST_TO_DEVICE);
    cudaMemcpy(d, pageable, (size_t)1 << 33, CUDA_COPY_HOST_TO_DEVICE);
    cudaMemcpy(d, pageable, 64, 77);
    cudaMemcpyAsync(d, pageable, 4096, CUDA_COPY_HOST_TO_DEVICE, s);
    cudaMemcpyAsync(d, pinned, 4096, CUDA_COPY_HOST_TO_DEVICE, s);
    cudaMemcpyAsync(pageable, d, 4096, CUDA_COPY_DEVICE_TO_HOST, s);
    cudaMemcpyAsync(pinned, d, 4096, CUDA_COPY_DEVICE_TO_HOST, s);
    cudaMemcpyAsync(d2, d, 4096, CUDA_COPY_DEVICE_TO_DEVICE, s);
    cudaMemcpyAsync(pinned + 16384, pinned, 4096, CUDA_COPY_HOST_TO_HOST, s);
    cudaMemcpyAsync(pinned, d, 4096, CUDA_COPY_DEVICE_TO_HOST, NULL);
    cudaMemcpyAsync(pinned, d, 4096, CUDA_COPY_DEVICE_TO_HOST, cudaStreamPerThread);
    cudaMemcpyAsync(d, pinned, (size_t)1 << 33, CUDA_COPY_HOST_TO_DEVICE, s);
    cudaMemcpy2D(d, 512, pageable, 256, 100, 3, CUDA_COPY_HOST_TO_DEVICE);
    cudaMemcpy2DAsync(d2, 512, d, 256, 100, 3, CUDA_COPY_DEVICE_TO_DEVICE, s);
    cuMemcpyHtoD_v2((CUdeviceptr)d, pageable, 64);
    cuMemcpyDtoHAsync_v2(pinned, (CUdeviceptr)d, 64, s);
    cudaMemset(d, 7, 4096);
    cudaMemsetAsync(d, 7, 4096, s);
    cudaMemset(pinned, 0, 4096);
    cudaMemset2D(d, 512, 3, 100, 4);
    cuMemsetD32Async((CUdeviceptr)d, 3, 100, s);
    cudaMemset(d, 0, 0);
    cudaMemset((void *)(uintptr_t)16, 0, 64);
}

static void launches(void)
{
    launch(&k, 2, 32, 0, s);
    launch(&k, 1, 32, 0, NULL);
    launch(&k, 1, 32, 0, cudaStreamPerThread);
    launch(&k, 1, 4096, 0, s);
    launch(&k, 1, 32, 1 << 20, s);
    int count = 32;
    void *arguments[] = {&d, &count};
    struct cuda_runtime_launch_config config = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .stream = s};
    cudaLaunchKernelExC(&config, &k, arguments);
    cudaLaunchCooperativeKernel(&k, config.grid, config.block, arguments, 0, s);
    cuLaunchKernel((CUfunction)(uintptr_t)&k, 1, 1, 1, 32, 1, 1, 0, s, arguments, NULL);
}

static void waits(void)
{
    cudaEvent_t e, f, u;
    float ms;
    cudaEventCreate(&e);
    cudaEventCreateWithFlags(&f, CUDA_EVENT_DISABLE_TIMING);
    cudaEventCreate(&u);
    cudaStreamWaitEvent(s, u, 0);
    cudaEventSynchronize(u);
    cudaEventQuery(u);
    fake_hold();
    launch(&spin, 1, 1, 0, n);
    cudaEventRecord(e, n);
    cudaEventQuery(e);
    cudaStreamQuery(n);
    cudaEventElapsedTime(&ms, e, e);
    cudaStreamWaitEvent(s, e, 0);
    cudaEventSynchronize(e);
    cudaEventQuery(e);
    cudaEventRecord(f, NULL);
    cudaStreamWaitEvent(NULL, e, 0);
    cudaEventRecord(f, cudaStreamPerThread);
    cudaStreamSynchronize(n);
    cudaStreamSynchronize(NULL);
    cudaStreamSynchronize(cudaStreamLegacy);
    cudaStreamSynchronize(cudaStreamPerThread);
    cudaStreamQuery(s);
    cudaDeviceSynchronize();
    cuCtxSynchronize();
    cudaEventElapsedTime(&ms, e, f);
    cudaEventElapsedTime(&ms, e, e);
    cudaEventDestroy(u);
    cudaEventRecordWithFlags(e, s, 0);
    cuEventRecord(e, s);
    cudaLaunchHostFunc(s, host_function, NULL);
    cudaStreamAddCallback(s, stream_callback, NULL, 0);
    cudaStreamSynchronize(s);
    cudaStream_t t;
    cudaStreamCreate(&t);
    cudaStreamDestroy(t);
    cudaStreamCreateWithPriority(&t, CUDA_STREAM_NON_BLOCKING, 0);
    cudaStreamDestroy(t);
    cuStreamCreate(&t, 1);
    cuStreamDestroy_v2(t);
    fake_release();
}

static void memory(void)
{
    static int registered[4096];
    void *x;
    cudaMalloc(&x, 1000);
    cudaFree(x);
    cudaMalloc(&x, 32 << 20);
    cudaFree(x);
    cudaHostAlloc(&x, 5000, CUDA_HOST_ALLOC_MAPPED);
    cudaFreeHost(x);
    cudaHostRegister(registered, sizeof(registered), 0);
    cudaHostUnregister(registered);
    cudaMallocManaged(&x, 4096, 1);
    cudaStreamAttachMemAsync(s, x, 0, 4);
    cudaFree(x);
    cudaMalloc(&x, (size_t)1 << 50);
    cudaFree((void *)(uintptr_t)4096);
    cudaFree(NULL);
    cudaMallocAsync(&x, 4096, s);
    cudaFreeAsync(x, s);
    cudaMalloc(&x, 4096);
    cudaFreeAsync(x, s);
    cudaStreamSynchronize(s);
    cuStreamWriteValue32_v2(s, (CUdeviceptr)d, 5, 0);
    cuStreamWaitValue32_v2(s, (CUdeviceptr)d, 5, 0);
    struct cuda_mem_op_params batch[2] = {
        {.operation = CUDA_MEM_OP_WRITE_32, .address = (CUdeviceptr)d, .value = 9},
        {.operation = CUDA_MEM_OP_WAIT_32, .address = (CUdeviceptr)d, .value = 9}};
    cuStreamBatchMemOp_v2(s, 2, batch, 0);
    cudaStreamSynchronize(s);
    cudaProfilerStart();
    cudaProfilerStop();
}

static void graphs(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t e;
    cudaEventCreate(&e);
    cudaStreamBeginCapture(s, 0);
    launch(&k, 1, 32, 0, s);
    cudaMemcpyAsync(d2, d, 64, CUDA_COPY_DEVICE_TO_DEVICE, s);
    cudaMemsetAsync(d, 0, 64, s);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(n, e, 0);
    launch(&k, 1, 32, 0, n);
    cudaEventRecord(e, n);
    cudaStreamWaitEvent(s, e, 0);
    cudaLaunchHostFunc(s, host_function, NULL);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphExecDestroy(exec);
}

static void *second_thread(void *unused)
{
    cudaMemcpy(d, pageable, 4096, CUDA_COPY_HOST_TO_DEVICE);
    launch(&k, 1, 32, 0, cudaStreamPerThread);
    cudaStreamSynchronize(cudaStreamPerThread);
    return NULL;
}

static void per_thread(void)
{
    cudaMemcpy_ptds(pageable, d, 4096, CUDA_COPY_DEVICE_TO_HOST);
    void *arguments[] = {&d};
    cudaLaunchKernel_ptsz(&own_kernel, (struct cuda_dim3){1, 1, 1}, (struct cuda_dim3){32, 1, 1},
                          arguments, 0, NULL);
    cudaMemcpyAsync_ptsz(d, pageable, 64, CUDA_COPY_HOST_TO_DEVICE, NULL);
    cudaMemset_ptds(d, 0, 64);
    cudaStreamSynchronize_ptsz(NULL);
    cudaStreamQuery_ptsz(NULL);
}

int main(int count, char **words)
{
    struct ssan_error err = {0};
    expected = count == 3 ? fopen(words[2], "r") : NULL;
    if (!expected || sanitizer_load(words[1], &api, &err) ||
        sanitizer_subscribe(&api, on_callback, NULL, &err)) {
        fprintf(stderr, "%s\n", expected ? err.text : "fake_order LIBRARY EXPECTED");
        return 2;
    }
    api.enable_all_domains(1, api.subscriber);
    thread_number = 1;
    cudaFree(NULL);
    cudaMalloc((void **)&d, 1 << 20);
    cudaMalloc((void **)&d2, 1 << 20);
    cudaHostAlloc((void **)&pinned, 1 << 20, 0);
    cudaMallocManaged((void **)&managed, 1 << 20, 1);
    cudaStreamCreate(&s);
    cudaStreamCreateWithFlags(&n, CUDA_STREAM_NON_BLOCKING);
    copies();
    launches();
    waits();
    memory();
    graphs();
    thread_number = 2;
    pthread_t thread;
    pthread_create(&thread, NULL, second_thread, NULL);
    pthread_join(thread, NULL);
    thread_number = 1;
    per_thread();
    cudaFree(d);
    cudaFreeHost(pinned);
    cudaStreamDestroy(s);
    launch(&spin, 1, 1, 0, n);
    printf("%d lines, %d differ\n", lines, wrong);
    return wrong || lines < 100;
}
