/* Memory of a pool: how it is laid out, and which records are taken.
 *
 * Invariant: a record that is free, a page whose key is 0, and all that is free of the slabs is
 * zeroed on the device but for what the library has written, and was so before it became free.
 * Records are taken in turn, so that those drained together lie together. Naive model: allocate and
 * zero at each launch. Cost of a launch: a lock and a few stores. */
#include "capture/observe_pool.h"

#include "capture/observe_claims.h"
#include "capture/observe_streams.h"

#include "base/elapsed.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define RECORDS_MOST  2048u
#define RECORDS_LEAST 16u
#define PAGES_LEAST   64u
#define IMPATIENT_MS  10000u
#define ALIGNMENT     ((uint64_t)PATCH_PAGE_BYTES)

/* Splits `bytes` into records, pages to claim, and a half for windows. False: too little. */
static bool lay_out(struct pool *pool, uint64_t bytes)
{
    uint64_t a_record = sizeof(struct patch_launch) + sizeof(struct patch_flags);
    uint64_t records = bytes / 16 / a_record;
    records = records > RECORDS_MOST ? RECORDS_MOST : records;
    uint64_t rest = records * a_record + sizeof(struct pool_marks) + 4 * ALIGNMENT;
    if (records < RECORDS_LEAST || bytes / 2 <= rest) {
        return false;
    }
    uint64_t pages = (bytes / 2 - rest) / (PATCH_PAGE_BYTES + 2 * sizeof(struct patch_place));
    pages = pages > UINT32_MAX / 4 ? UINT32_MAX / 4 : pages;
    pool->ring_size = 1;
    while (pool->ring_size < pages) {
        pool->ring_size *= 2;
    }
    pool->record_count = (uint32_t)records;
    pool->page_count = (uint32_t)pages;
    return pages >= PAGES_LEAST;
}

/* The parts of the slab one behind the other, from `base` on; answers where they end. The flags
 * stand right before the marks, as on the host. */
static uint64_t set_addresses(struct pool *pool, uint64_t base)
{
    uint64_t next = (base + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    pool->pages = next;
    next += (uint64_t)pool->page_count * PATCH_PAGE_BYTES;
    pool->records = next;
    next += (uint64_t)pool->record_count * sizeof(struct patch_launch);
    pool->ring = next;
    next += (uint64_t)pool->ring_size * sizeof(struct patch_place);
    pool->flags = next;
    next += (uint64_t)pool->record_count * sizeof(struct patch_flags);
    pool->marks = next;
    return next + sizeof(struct pool_marks);
}

static bool alloc_device(struct pool *pool, uint64_t bytes)
{
    for (; lay_out(pool, bytes); bytes /= 2) {
        void *slab = NULL;
        uint64_t used = set_addresses(pool, 0) + ALIGNMENT;
        if (pool->api->alloc_device(pool->context, &slab, bytes) == SANITIZER_OK) {
            pool->slab = (uintptr_t)slab;
            pool->slab_bytes = bytes;
            set_addresses(pool, pool->slab);
            if (pool->slab + bytes > PATCH_ADDRESS ||
                !slabs_add(&pool->slabs, pool->slab + used, bytes - used)) {
                return false;
            }
            pool->first_bytes = pool->slabs.bytes;
            return true;
        }
    }
    return false;
}

static bool alloc_pinned(struct pool *pool, void *pointer, uint64_t bytes)
{
    void *memory = NULL;
    if (pool->api->alloc_host(pool->context, &memory, bytes) != SANITIZER_OK) {
        return false;
    }
    memset(memory, 0, bytes);
    memcpy(pointer, &memory, sizeof memory);
    return true;
}

static bool alloc_host(struct pool *pool)
{
    pool->launches = mem_zalloc(pool->record_count, sizeof *pool->launches);
    pool->free_records = mem_zalloc(pool->record_count, sizeof *pool->free_records);
    uint64_t flag_bytes = pool->record_count * sizeof(struct patch_flags);
    if (!alloc_pinned(pool, &pool->flags_copy, flag_bytes + sizeof(struct pool_marks))) {
        return false;
    }
    pool->marks_copy = (struct pool_marks *)(pool->flags_copy + pool->record_count);
    return pool->launches && pool->free_records &&
           alloc_pinned(pool, &pool->mark_values, POOL_STREAMS * sizeof *pool->mark_values) &&
           alloc_pinned(pool, &pool->ring_copy, pool->ring_size * sizeof *pool->ring_copy) &&
           alloc_pinned(pool, &pool->templates, pool->record_count * sizeof *pool->templates) &&
           alloc_pinned(pool, &pool->records_copy, sizeof *pool->records_copy) &&
           alloc_pinned(pool, &pool->pages_copy, POOL_PAGES_AT_ONCE * PATCH_PAGE_BYTES);
}

/* Writes how everything begins. */
static bool fill(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->record_count; i++) {
        struct patch_launch *record = &pool->templates[i];
        record->pages = pool->pages;
        record->pool = pool->marks + offsetof(struct pool_marks, control);
        record->ring = pool->ring;
        record->flags = pool->flags + i * sizeof(struct patch_flags);
        record->ring_mask = pool->ring_size - 1;
        record->index = i;
        pool->free_records[i] = i;
    }
    pool->free_tail = pool->record_count;
    pool->tail = pool->page_count - PATCH_PAGE_FIRST;
    for (uint32_t i = 0; i < pool->tail; i++) {
        pool->ring_copy[i].page = PATCH_PAGE_FIRST + i;
    }
    pool->marks_copy->control.tail = pool->tail;
    pool->pages_left = (uint32_t)pool->tail;
    for (uint32_t i = 0; i < PATCH_PAGE_WORDS; i++) {
        pool->pages_copy[i] = PATCH_PAGE_SINK;
    }
    /* By its own handle: no stream would mean that of the current context, and there is none yet
     * where the driver's API alone makes this one. */
    const struct sanitizer_api *api = pool->api;
    struct sanitizer_stream *stream = NULL;
    if (api->get_stream_handle(pool->context, CUDA_STREAM_LEGACY, &stream) != SANITIZER_OK) {
        stream = NULL;
    }
    return api->set_device(pool_at(pool->slab), 0, pool->slab_bytes, stream) == SANITIZER_OK &&
           api->copy_to_device_async(pool_at(pool->pages + PATCH_PAGE_LOST * PATCH_PAGE_BYTES),
                                     pool->pages_copy, PATCH_PAGE_BYTES, stream) == SANITIZER_OK &&
           api->copy_to_device_async(pool_at(pool->ring), pool->ring_copy,
                                     pool->ring_size * sizeof *pool->ring_copy,
                                     stream) == SANITIZER_OK &&
           api->copy_to_device_async(pool_at(pool->marks), pool->marks_copy,
                                     sizeof *pool->marks_copy, stream) == SANITIZER_OK &&
           api->copy_to_device_async(pool_at(pool->records), pool->templates,
                                     pool->record_count * sizeof *pool->templates,
                                     stream) == SANITIZER_OK &&
           api->stream_synchronize(stream) == SANITIZER_OK;
}

struct pool *pool_create(const struct sanitizer_api *api, CUcontext context, uint64_t bytes)
{
    struct pool *pool = mem_zalloc(1, sizeof *pool);
    if (!pool) {
        return NULL;
    }
    pool->api = api;
    pool->context = context;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_mutex_init(&pool->drain_lock, NULL);
    condition_init(&pool->freed);
    pool->most_bytes = bytes;
    if (!alloc_device(pool, bytes && bytes < POOL_BYTES ? bytes : POOL_BYTES) ||
        !alloc_host(pool) || !fill(pool)) {
        pool_destroy(pool);
        return NULL;
    }
    return pool;
}

static void free_pinned(struct pool *pool, void *memory)
{
    if (memory) {
        pool->api->free_host(pool->context, memory);
    }
}

void pool_destroy(struct pool *pool)
{
    if (!pool) {
        return;
    }
    free_pinned(pool, pool->ring_copy);
    free_pinned(pool, pool->mark_values);
    free_pinned(pool, pool->flags_copy);
    free_pinned(pool, pool->templates);
    free_pinned(pool, pool->records_copy);
    free_pinned(pool, pool->pages_copy);
    for (uint32_t i = 1; i < pool->slabs.count; i++) {
        pool->api->free_device(pool->context, pool_at(pool->slabs.items[i].base));
    }
    slabs_finish(&pool->slabs);
    if (pool->slab) {
        pool->api->free_device(pool->context, pool_at(pool->slab));
    }
    for (uint32_t i = 0; pool->launches && i < pool->record_count; i++) {
        VEC_FREE(&pool->launches[i].pages);
    }
    mem_free(pool->launches);
    mem_free(pool->free_records);
    pthread_cond_destroy(&pool->freed);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->drain_lock);
    mem_free(pool);
}

uint64_t pool_begin(struct pool *pool, uint64_t op, struct observed_kernel *kernel,
                    struct sanitizer_stream *handle, uint32_t *stream)
{
    uint64_t user = 0;
    *stream = POOL_STREAMS;
    pthread_mutex_lock(&pool->lock);
    uint32_t number = streams_find(pool, handle, true);
    if (number < POOL_STREAMS && pool->begun_count < POOL_BEGUN &&
        pool->free_head != pool->free_tail) {
        uint32_t index = pool->free_records[pool->free_head++ % pool->record_count];
        struct pool_launch *launch = &pool->launches[index];
        launch->op = op;
        launch->kernel = kernel;
        launch->stream = number;
        launch->number = pool->launch_count++;
        launch->is_running = true;
        launch->is_done = false;
        launch->is_short = false;
        launch->is_to_learn = false;
        launch->has_strayed = false;
        launch->lacks_windows = false;
        launch->touched = 0;
        launch->window_count = 0;
        claims_promise(pool, launch);
        pool->running++;
        pool->begun[pool->begun_count++] = launch->number;
        *stream = pool->streams[number].wants_mark ? number : POOL_STREAMS;
        user = pool_user(pool, index);
    }
    pthread_mutex_unlock(&pool->lock);
    return user;
}

/* Lock held. */
static void forget_begun(struct pool *pool, uint64_t number)
{
    for (uint32_t i = 0; i < pool->begun_count; i++) {
        if (pool->begun[i] == number) {
            pool->begun[i] = pool->begun[--pool->begun_count];
            return;
        }
    }
}

void pool_taken(struct pool *pool, uint64_t user)
{
    uint32_t index = pool_record(pool, user);
    pthread_mutex_lock(&pool->lock);
    const struct pool_launch *launch = &pool->launches[index];
    struct pool_stream *stream = &pool->streams[launch->stream];
    forget_begun(pool, launch->number);
    stream->next = launch->number + 1 > stream->next ? launch->number + 1 : stream->next;
    pthread_mutex_unlock(&pool->lock);
}

void pool_cancel(struct pool *pool, uint64_t user)
{
    uint32_t index = pool_record(pool, user);
    pthread_mutex_lock(&pool->lock);
    struct pool_launch *launch = &pool->launches[index];
    if (launch->is_running && !launch->is_done) {
        launch->is_running = false;
        pool->running--;
        claims_give_back(pool, launch);
        pool->free_records[pool->free_tail++ % pool->record_count] = index;
        forget_begun(pool, launch->number);
    }
    pthread_mutex_unlock(&pool->lock);
}

/* A slab that is newer may be where a block of the program's was, which the launch has accessed.
 * One that was given back is no matter: that waits for all launches. */
bool pool_owned(struct pool *pool, const struct pool_launch *launch, uint64_t address,
                uint64_t bytes)
{
    const uint64_t end = address + bytes;
    pthread_mutex_lock(&pool->lock);
    bool is_ours = address >= pool->slab && end <= pool->slab + pool->slab_bytes;
    for (uint32_t i = 1; i < pool->slabs.count && !is_ours; i++) {
        const struct slab *slab = &pool->slabs.items[i];
        is_ours = launch->number >= slab->since && address >= slab->base && end <= slab->end;
    }
    pthread_mutex_unlock(&pool->lock);
    return is_ours;
}

uint64_t pool_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Launches in flight may need nearly all pages, or have nearly all memory for windows. Lock held.
 */
static bool is_short_of_memory(const struct pool *pool)
{
    return pool->promised > pool->page_count - pool->page_count / 4 ||
           (pool_is_short(pool) && pool->short_pages * PATCH_PAGE_BYTES <= pool->slabs.bytes);
}

bool pool_is_pressed(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    uint32_t free_records = (uint32_t)(pool->free_tail - pool->free_head);
    bool is_tight = pool->pages_left < pool->page_count / 4 ||
                    (is_short_of_memory(pool) && pool_now_ms() >= pool->impatient_until_ms);
    bool is_pressed = free_records < pool->record_count / 8 || (pool->running > 0 && is_tight);
    is_pressed =
        is_pressed && pool->stuck_at != pool->drains + 1 && !atomic_load(&pool->has_failed);
    pthread_mutex_unlock(&pool->lock);
    return is_pressed;
}

void pool_give_up_waiting(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->stuck_at = pool->drains + 1;
    if (is_short_of_memory(pool)) { /* kernels that run on and on may own it */
        pool->impatient_until_ms = pool_now_ms() + IMPATIENT_MS;
    }
    pthread_mutex_unlock(&pool->lock);
}

void pool_wait(struct pool *pool, unsigned milliseconds)
{
    struct timespec until = time_in_ms(milliseconds);
    pthread_mutex_lock(&pool->lock);
    uint64_t drains = pool->drains;
    while (pool->drains == drains &&
           pthread_cond_timedwait(&pool->freed, &pool->lock, &until) != ETIMEDOUT) {
    }
    pthread_mutex_unlock(&pool->lock);
}
