/* Slabs for windows, by what the program leaves.
 *
 * Invariant: what is taken beside the first slab is at most 1/SHARE of what was free when it was
 * taken, and GROWTH_MOST in all, or what the user allows. It is given back before the program takes
 * more than half of what it was left, or asks how much is free. Memory that a launch in flight uses
 * can't be: that of a program whose kernels run for ever stays. */
#include "capture/observe_growth.h"

#define SLAB_LEAST  (UINT64_C(64) << 20)
#define SLAB_USUAL  (UINT64_C(256) << 20)
#define GROWTH_MOST (UINT64_C(4) << 30)
#define SHARE       16u
#define PAUSE_MS    1000u  /* behind a refusal */
#define CALM_MS     10000u /* behind memory that was given back */

/* Bytes to add; 0: none. Lock held. */
static uint64_t find_bytes(const struct pool *pool, uint64_t free_bytes)
{
    uint64_t guards = 2 * SLABS_GUARD * (uint64_t)PATCH_PAGE_BYTES * (pool->slabs.count - 1);
    uint64_t extra = pool->slabs.bytes - pool->first_bytes + guards;
    uint64_t most = pool->most_bytes ? pool->most_bytes - pool->slab_bytes : GROWTH_MOST;
    uint64_t bytes = 2 * pool->wanted_pages * PATCH_PAGE_BYTES;
    bytes = bytes < pool->slabs.bytes ? pool->slabs.bytes : bytes; /* more each time */
    bytes = bytes < SLAB_USUAL ? SLAB_USUAL : bytes;
    most = most > extra ? most - extra : 0;
    most = !pool->most_bytes && most > free_bytes / SHARE ? free_bytes / SHARE : most;
    bytes = bytes > most ? most : bytes;
    return bytes < SLAB_LEAST ? 0 : bytes;
}

static bool add_slab(struct pool *pool, uint64_t bytes)
{
    struct sanitizer_stream *stream = atomic_load(&pool->stream);
    void *slab = NULL;
    bool is_added = false;
    if (pool->api->alloc_device(pool->context, &slab, bytes) != SANITIZER_OK) {
        return false;
    }
    if ((uintptr_t)slab + bytes <= PATCH_ADDRESS &&
        pool->api->set_device(slab, 0, bytes, stream) == SANITIZER_OK &&
        pool->api->stream_synchronize(stream) == SANITIZER_OK) {
        pthread_mutex_lock(&pool->lock);
        is_added = slabs_add(&pool->slabs, (uintptr_t)slab, bytes);
        if (is_added) {
            pool->slabs.items[pool->slabs.count - 1].since = pool->launch_count;
        }
        pthread_mutex_unlock(&pool->lock);
    }
    if (!is_added) {
        pool->api->free_device(pool->context, slab);
    }
    return is_added;
}

/* Ends a wait for what was asked. Lock held. */
static void answer(struct pool *pool)
{
    pool->drains++;
    pthread_cond_broadcast(&pool->freed);
}

static void grow(struct pool *pool, growth_memory_info *info)
{
    size_t free_bytes = 0, total_bytes = 0;
    uint64_t bytes = 0;
    if (info && info(&free_bytes, &total_bytes) == CUDA_OK) {
        pthread_mutex_lock(&pool->lock);
        bytes = find_bytes(pool, free_bytes);
        pthread_mutex_unlock(&pool->lock);
    }
    bool has_grown = bytes > 0 && add_slab(pool, bytes);
    pthread_mutex_lock(&pool->lock);
    pool->wanted_pages = 0;
    pool->calm_until_ms = has_grown ? 0 : pool_now_ms() + PAUSE_MS;
    if (has_grown) {
        pool->left_bytes = free_bytes - bytes;
        pool->taken_bytes = 0;
    }
    answer(pool);
    pthread_mutex_unlock(&pool->lock);
}

/* While a launch is in flight nothing is freed: that would wait for it. */
static void shrink(struct pool *pool)
{
    uint64_t base = 0;
    do {
        pthread_mutex_lock(&pool->lock);
        base = pool->running == 0 ? slabs_remove(&pool->slabs) : 0;
        pthread_mutex_unlock(&pool->lock);
        if (base) {
            pool->api->free_device(pool->context, pool_at(base));
        }
    } while (base);
    pthread_mutex_lock(&pool->lock);
    if (pool->slabs.count <= 1 && pool->wants_release) {
        pool->wants_release = false;
        pool->calm_until_ms = pool_now_ms() + CALM_MS;
        answer(pool);
    }
    pthread_mutex_unlock(&pool->lock);
}

void growth_run(struct pool *pool, growth_memory_info *info)
{
    if (growth_has_to_shrink(pool)) {
        shrink(pool);
    } else if (growth_is_wanted(pool)) {
        grow(pool, info);
    }
}

/* Lock held. */
static bool wants(struct pool *pool)
{
    if (pool->wanted_pages > 0 && pool_now_ms() < pool->calm_until_ms) {
        pool->wanted_pages = 0;
    }
    return pool->wanted_pages > 0 && !pool->wants_release;
}

bool growth_is_wanted(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool is_wanted = wants(pool);
    pthread_mutex_unlock(&pool->lock);
    return is_wanted;
}

bool growth_is_urgent(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool is_urgent = wants(pool) && pool_is_short(pool);
    pthread_mutex_unlock(&pool->lock);
    return is_urgent;
}

bool growth_before_alloc(struct pool *pool, uint64_t bytes)
{
    pthread_mutex_lock(&pool->lock);
    pool->taken_bytes =
        bytes > UINT64_MAX - pool->taken_bytes ? UINT64_MAX : pool->taken_bytes + bytes;
    if (pool->slabs.count > 1 && pool->taken_bytes > pool->left_bytes / 2 &&
        !atomic_load(&pool->has_failed)) { /* else launches stay in flight for good */
        pool->wants_release = true;
    }
    bool is_wanted = pool->wants_release;
    pthread_mutex_unlock(&pool->lock);
    return is_wanted;
}

bool growth_has_to_shrink(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool has_to = pool->wants_release;
    pthread_mutex_unlock(&pool->lock);
    return has_to;
}

void growth_give_up(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->wants_release = false;
    if (pool->wanted_pages > 0) {
        pool->wanted_pages = 0;
        pool->calm_until_ms = pool_now_ms() + PAUSE_MS;
    }
    pthread_mutex_unlock(&pool->lock);
}
