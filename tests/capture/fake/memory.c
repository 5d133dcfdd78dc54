/* Memory of the fake driver: blocks in three arenas of host memory, registered ranges, one pool.
 *
 * A freed block is handed out again to the next request of its size, as real allocators do it: the
 * same addresses come back. */
#include "capture/fake/fake.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCKS = 4096, ARENA = 64 << 20, GRAIN = 512 };

struct block {
    uint64_t address, size;
    enum fake_memory kind;
    bool is_alive, is_pooled, is_hidden;
    struct fake_context *context;
};

static struct block blocks[BLOCKS];
static size_t block_count;
static struct {
    char *base;
    size_t used;
} arenas[FAKE_MANAGED + 1];
static int pool_object;
static bool has_pool;

static uint64_t rounded(uint64_t size)
{
    return (size + GRAIN - 1) / GRAIN * GRAIN;
}

/* Under the lock. */
static struct block *take(size_t size, enum fake_memory kind, struct fake_context *context)
{
    struct block *block = NULL;
    for (size_t i = 0; i < block_count && !block; i++) {
        if (!blocks[i].is_alive && blocks[i].kind == kind &&
            rounded(blocks[i].size) == rounded(size)) {
            block = &blocks[i];
        }
    }
    if (!block) {
        if (!arenas[kind].base) {
            void *base = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            arenas[kind].base = base == MAP_FAILED ? NULL : base;
        }
        if (!arenas[kind].base || size > ARENA - arenas[kind].used || block_count == BLOCKS) {
            return NULL;
        }
        block = &blocks[block_count++];
        block->address = (uint64_t)(uintptr_t)arenas[kind].base + arenas[kind].used;
        arenas[kind].used += rounded(size);
    }
    *block = (struct block){block->address, size, kind, true, false, false, context};
    return block;
}

/* Under the lock: the living block at `address`. */
static struct block *find(uint64_t address)
{
    for (size_t i = 0; i < block_count; i++) {
        if (blocks[i].is_alive && blocks[i].address == address) {
            return &blocks[i];
        }
    }
    return NULL;
}

enum fake_memory fake_kind(uint64_t address, uint64_t size, bool *bad)
{
    enum fake_memory kind = FAKE_PAGEABLE;
    pthread_mutex_lock(&fake_lock);
    for (size_t i = 0; i < block_count; i++) {
        const struct block *block = &blocks[i];
        if (block->is_alive && address >= block->address &&
            address < block->address + block->size) {
            kind = block->kind;
            *bad |= size > block->address + block->size - address;
        }
    }
    if (kind == FAKE_PAGEABLE) { /* a dead place of an arena belongs to nobody */
        for (int i = FAKE_DEVICE; i <= FAKE_MANAGED; i++) {
            *bad |= arenas[i].base && address >= (uint64_t)(uintptr_t)arenas[i].base &&
                    address < (uint64_t)(uintptr_t)arenas[i].base + ARENA;
        }
        *bad |= address < 4096;
    }
    pthread_mutex_unlock(&fake_lock);
    return kind;
}

void *fake_allocate(size_t size)
{
    pthread_mutex_lock(&fake_lock);
    struct block *block = take(size, FAKE_DEVICE, NULL);
    if (block) {
        block->is_hidden = true;
    }
    pthread_mutex_unlock(&fake_lock);
    return block ? (void *)(uintptr_t)block->address : NULL;
}

struct fake_context *fake_owner(uint64_t address)
{
    struct fake_context *owner = NULL;
    pthread_mutex_lock(&fake_lock);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if (blocks[i].is_alive &&
            address - (uint64_t)(uintptr_t)blocks[i].address < blocks[i].size) {
            owner = blocks[i].context;
        }
    }
    pthread_mutex_unlock(&fake_lock);
    return owner;
}

void fake_end_context_memory(const struct fake_context *context)
{
    pthread_mutex_lock(&fake_lock);
    for (size_t i = 0; i < block_count; i++) {
        blocks[i].is_alive &= blocks[i].context != context;
    }
    pthread_mutex_unlock(&fake_lock);
}

void fake_release_block(void *pointer)
{
    pthread_mutex_lock(&fake_lock);
    struct block *block = find((uint64_t)(uintptr_t)pointer);
    if (block) {
        block->is_alive = false;
    }
    pthread_mutex_unlock(&fake_lock);
}

static struct sanitizer_memory_data data_of(const struct block *block, uint32_t flags,
                                            uint32_t visibility)
{
    return (struct sanitizer_memory_data){.address = block->address,
                                          .size = block->size,
                                          .context = (CUcontext)block->context,
                                          .device = block->context->device,
                                          .flags = flags,
                                          .permissions = 7,
                                          .visibility = visibility};
}

/* What the driver's allocating calls share; *pointer is set on success. */
static int allocate(uint32_t id, const char *name, void **pointer, size_t size, unsigned int flags,
                    enum fake_memory kind)
{
    struct cuda_alloc_params params = {pointer, size, flags};
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, id, name, &params, NULL);
    int result = fake_failure();
    if (!result) {
        pthread_mutex_lock(&fake_lock);
        struct block *block = take(size, kind, fake_current());
        struct block copy = block ? *block : (struct block){0};
        pthread_mutex_unlock(&fake_lock);
        result = block ? CUDA_OK : CUDA_OUT_OF_MEMORY;
        if (block) {
            uint32_t memory =
                kind == FAKE_PINNED    ? SANITIZER_MEMORY_HOST_MAPPED | SANITIZER_MEMORY_HOST_PINNED
                : kind == FAKE_MANAGED ? SANITIZER_MEMORY_MANAGED | SANITIZER_MEMORY_HOST_MAPPED
                                       : 0;
            struct sanitizer_memory_data data = data_of(&copy, memory, SANITIZER_VISIBLE_GLOBAL);
            fake_tell(SANITIZER_RESOURCE,
                      kind == FAKE_PINNED ? SANITIZER_HOST_MEMORY_ALLOC
                                          : SANITIZER_DEVICE_MEMORY_ALLOC,
                      &data);
            *pointer = (void *)(uintptr_t)copy.address;
        }
    }
    return fake_exit(&call, result);
}

static cudaError_t runtime_allocate(uint32_t id, const char *name, void **pointer, size_t size,
                                    unsigned int flags, enum fake_memory kind)
{
    struct cuda_alloc_params params = {pointer, size, flags};
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, id, name, &params, NULL);
    fake_runtime();
    int result = kind == FAKE_DEVICE ? allocate(243, "cuMemAlloc_v2", pointer, size, flags, kind)
                 : kind == FAKE_PINNED
                     ? allocate(39, "cuMemHostAlloc", pointer, size, flags, kind)
                     : allocate(371, "cuMemAllocManaged", pointer, size, flags, kind);
    return fake_exit(&call, result);
}

cudaError_t cudaMalloc(void **pointer, size_t size)
{
    return runtime_allocate(20, "cudaMalloc", pointer, size, 0, FAKE_DEVICE);
}

cudaError_t cudaMallocHost(void **pointer, size_t size)
{
    return runtime_allocate(25, "cudaMallocHost", pointer, size, 0, FAKE_PINNED);
}

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int flags)
{
    return runtime_allocate(27, "cudaHostAlloc", pointer, size, flags, FAKE_PINNED);
}

cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned int flags)
{
    return runtime_allocate(206, "cudaMallocManaged", pointer, size, flags, FAKE_MANAGED);
}

int cuMemAlloc_v2(CUdeviceptr *pointer, size_t size)
{
    return allocate(243, "cuMemAlloc_v2", (void **)pointer, size, 0, FAKE_DEVICE);
}

int cuMemHostAlloc(void **pointer, size_t size, unsigned int flags)
{
    return allocate(39, "cuMemHostAlloc", pointer, size, flags, FAKE_PINNED);
}

/* Frees what lies at `pointer` and is of a kind that `kinds` allows; waits for the device first. */
static int release(uint32_t id, const char *name, void *pointer, unsigned int kinds, uint32_t told)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_DRIVER_API, id, name, &pointer, NULL);
    int result = fake_failure();
    if (!result && pointer) {
        fake_wait(fake_last());
        pthread_mutex_lock(&fake_lock);
        struct block *block = find((uint64_t)(uintptr_t)pointer);
        bool is_right = block && kinds & 1u << block->kind && !block->is_hidden;
        struct block copy = is_right ? *block : (struct block){0};
        pthread_mutex_unlock(&fake_lock);
        if (is_right) { /* told before anybody can have the place again */
            struct sanitizer_memory_data data = data_of(&copy, 0, 0);
            fake_tell(SANITIZER_RESOURCE, told, &data);
            fake_release_block(pointer);
        } else {
            result = CUDA_INVALID_VALUE;
        }
    }
    return fake_exit(&call, result);
}

static int release_device(void *pointer)
{
    return release(245, "cuMemFree_v2", pointer, 1u << FAKE_DEVICE | 1u << FAKE_MANAGED,
                   SANITIZER_DEVICE_MEMORY_FREE);
}

int cuMemFree_v2(CUdeviceptr pointer)
{
    return release_device((void *)(uintptr_t)pointer);
}

int cuMemFreeHost(void *pointer)
{
    return release(38, "cuMemFreeHost", pointer, 1u << FAKE_PINNED, SANITIZER_HOST_MEMORY_FREE);
}

cudaError_t cudaFree(void *pointer)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 22, "cudaFree", &pointer, NULL);
    fake_runtime();
    return fake_exit(&call, release_device(pointer));
}

cudaError_t cudaFreeHost(void *pointer)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 26, "cudaFreeHost", &pointer, NULL);
    fake_runtime();
    return fake_exit(&call, cuMemFreeHost(pointer));
}

cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned int flags)
{
    struct cuda_host_register_params params = {pointer, size, flags};
    struct fake_call call, inner;
    fake_enter(&call, SANITIZER_RUNTIME_API, 152, "cudaHostRegister", &params, NULL);
    fake_runtime();
    fake_enter(&inner, SANITIZER_DRIVER_API, 379, "cuMemHostRegister_v2", &params, NULL);
    int result = fake_failure();
    if (!result) {
        pthread_mutex_lock(&fake_lock);
        struct block *block = &blocks[block_count++];
        *block = (struct block){(uint64_t)(uintptr_t)pointer,
                                size,
                                FAKE_REGISTERED,
                                true,
                                false,
                                false,
                                fake_current()};
        struct block copy = *block;
        pthread_mutex_unlock(&fake_lock);
        struct sanitizer_memory_data data =
            data_of(&copy, SANITIZER_MEMORY_HOST_MAPPED | SANITIZER_MEMORY_HOST_PINNED,
                    SANITIZER_VISIBLE_GLOBAL);
        fake_tell(SANITIZER_RESOURCE, SANITIZER_HOST_MEMORY_ALLOC, &data);
    }
    return fake_exit(&call, fake_exit(&inner, result));
}

cudaError_t cudaHostUnregister(void *pointer)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, 153, "cudaHostUnregister", &pointer, NULL);
    fake_runtime();
    return fake_exit(&call, release(302, "cuMemHostUnregister", pointer, 1u << FAKE_REGISTERED,
                                    SANITIZER_HOST_MEMORY_FREE));
}

/* -- stream-ordered: told with the stream and without a context
 * -----------------------------------*/

static void tell_pooled(uint32_t id, const struct block *block, struct fake_stream *stream,
                        uint32_t visibility)
{
    struct sanitizer_memory_data data = data_of(block, 0, visibility);
    data.context = NULL;
    data.stream = fake_handle(stream);
    data.handle = (struct sanitizer_stream *)stream;
    data.pool = block->is_pooled ? (CUmemoryPool)(void *)&pool_object : NULL;
    fake_tell(SANITIZER_RESOURCE, id, &data);
}

static struct block freed;
static struct fake_stream *freed_in;

void fake_tell_freed(void)
{
    pthread_mutex_lock(&fake_lock);
    struct block copy = freed;
    struct fake_stream *stream = freed_in;
    freed_in = NULL;
    pthread_mutex_unlock(&fake_lock);
    if (stream) {
        struct sanitizer_memory_data data = data_of(&copy, 0, 0);
        data.context = NULL;
        fake_tell(SANITIZER_RESOURCE, SANITIZER_MEMORY_FREE_ASYNC_DONE, &data);
    }
}

cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t argument)
{
    struct cuda_alloc_async_params params = {pointer, size, argument};
    struct fake_call call, inner;
    fake_enter(&call, SANITIZER_RUNTIME_API, 373, "cudaMallocAsync", &params, NULL);
    fake_runtime();
    fake_enter(&inner, SANITIZER_DRIVER_API, 598, "cuMemAllocAsync", &params, NULL);
    int result = fake_failure();
    struct fake_stream *stream = result ? NULL : fake_stream(argument, false, &result);
    if (!result) {
        struct sanitizer_mempool_data pool = {(CUmemoryPool)(void *)&pool_object, 0, 0};
        if (!has_pool) {
            has_pool = true;
            fake_tell(SANITIZER_RESOURCE, SANITIZER_MEMPOOL_CREATED, &pool);
        }
        pthread_mutex_lock(&fake_lock);
        struct block *block = take(size, FAKE_DEVICE, fake_current());
        block->is_pooled = true;
        struct block copy = *block;
        pthread_mutex_unlock(&fake_lock);
        tell_pooled(SANITIZER_MEMORY_ALLOC_ASYNC, &copy, stream, SANITIZER_VISIBLE_GLOBAL);
        *pointer = (void *)(uintptr_t)copy.address;
        fake_submit(stream, &(struct fake_item){.run = NULL});
    }
    return fake_exit(&call, fake_exit(&inner, result));
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t argument)
{
    struct cuda_free_async_params params = {pointer, argument};
    struct fake_call call, inner;
    fake_enter(&call, SANITIZER_RUNTIME_API, 375, "cudaFreeAsync", &params, NULL);
    fake_runtime();
    fake_enter(&inner, SANITIZER_DRIVER_API, 600, "cuMemFreeAsync", &params, NULL);
    int result = fake_failure();
    struct fake_stream *stream = result ? NULL : fake_stream(argument, false, &result);
    if (!result) {
        pthread_mutex_lock(&fake_lock);
        struct block *block = find((uint64_t)(uintptr_t)pointer);
        struct block copy = block ? *block : (struct block){0};
        if (block) {
            block->is_alive = false;
        }
        if (block && !block->is_pooled) {
            freed = copy;
            freed_in = stream;
        }
        pthread_mutex_unlock(&fake_lock);
        if (block) {
            tell_pooled(SANITIZER_MEMORY_FREE_ASYNC, &copy, stream, 0);
            fake_submit(stream, &(struct fake_item){.run = NULL});
        } else {
            result = CUDA_INVALID_VALUE;
        }
    }
    return fake_exit(&call, fake_exit(&inner, result));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t argument, void *pointer, size_t size,
                                     unsigned int flags)
{
    struct cuda_attach_params params = {argument, pointer, size, flags};
    struct fake_call call, inner;
    fake_enter(&call, SANITIZER_RUNTIME_API, 208, "cudaStreamAttachMemAsync", &params, NULL);
    fake_runtime();
    fake_enter(&inner, SANITIZER_DRIVER_API, 377, "cuStreamAttachMemAsync", &params, NULL);
    int result = fake_failure();
    struct fake_stream *stream = result ? NULL : fake_stream(argument, false, &result);
    if (!result) {
        struct sanitizer_uvm_data data = {.context = (CUcontext)stream->context,
                                          .visibility = SANITIZER_VISIBLE_STREAM,
                                          .stream = fake_handle(stream),
                                          .handle = (struct sanitizer_stream *)stream,
                                          .address = (uint64_t)(uintptr_t)pointer};
        fake_tell(SANITIZER_UVM, SANITIZER_UVM_ATTACH, &data);
    }
    return fake_exit(&call, fake_exit(&inner, result));
}
