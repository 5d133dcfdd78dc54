/* Claims are read from the ring as far as the device has counted; windows are listed where their
 * record says that an instruction was in them. Cost: a small copy for each ring's new part and for
 * each launch that has windows. */
#include "capture/observe_owned.h"

#include "capture/observe_windows.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define CLAIM_TRIES 50u /* of half a millisecond, for a claim that is being written */

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

bool owned_copy_back(struct drain *drain, void *to, uint64_t from, uint64_t bytes)
{
    struct pool *pool = drain->pool;
    drain->has_failed = drain->has_failed ||
                        pool->api->copy_to_host(to, at(from), bytes, drain->stream) != SANITIZER_OK;
    return !drain->has_failed;
}

/* Copies claims [from, to) of the ring, which may go around its end. */
static bool copy_claims(struct drain *drain, uint64_t from, uint64_t to)
{
    struct pool *pool = drain->pool;
    while (from < to) {
        uint64_t first = from % pool->ring_size;
        uint64_t count = to - from < pool->ring_size - first ? to - from : pool->ring_size - first;
        if (!owned_copy_back(drain, &pool->claims_copy[first],
                             pool->claims + first * sizeof(struct patch_claim),
                             count * sizeof(struct patch_claim))) {
            return false;
        }
        from += count;
    }
    return true;
}

/* A claim is given up: whose it is is not known, but that launch has not ended, else it were
 * written. */
static void doubt_running(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    for (uint32_t i = 0; i < pool->record_count; i++) {
        struct pool_launch *launch = &pool->launches[i];
        launch->is_short = launch->is_short || (launch->is_running && !launch->is_done);
    }
    pthread_mutex_unlock(&pool->lock);
}

/* How far claims are: of the position the device counts the lowest 32 bits. */
static uint64_t claims_head(const struct pool *pool)
{
    return pool->head_seen +
           (uint32_t)((uint32_t)pool->marks_copy->control.head - (uint32_t)pool->head_seen);
}

void owned_count(struct pool *pool)
{
    uint64_t owned = claims_head(pool) - pool->given;
    atomic_store(&pool->pages_left,
                 owned < pool->page_count ? pool->page_count - (uint32_t)owned : 0);
}

void owned_read_claims(struct drain *drain)
{
    struct pool *pool = drain->pool;
    uint64_t head = claims_head(pool);
    unsigned tries = 0;
    if (!copy_claims(drain, pool->head_seen, head)) {
        return;
    }
    while (pool->head_seen < head) {
        const struct patch_claim *claim = &pool->claims_copy[pool->head_seen % pool->ring_size];
        bool is_written = claim->place >> 32 == (uint32_t)pool->head_seen;
        uint64_t index = (claim->key >> 35) - 1;
        uint32_t slot = (uint32_t)claim->place;
        if (!is_written && tries < CLAIM_TRIES) {
            struct timespec pause = {0, 500000};
            nanosleep(&pause, NULL);
            tries++;
            if (!copy_claims(drain, pool->head_seen, head)) {
                return;
            }
            continue;
        }
        if (is_written && index < pool->record_count && slot < pool->page_count) {
            uint64_t leaf = (uint32_t)claim->key, kind = claim->key >> 32 & 7;
            struct pool_page page = {leaf << 3 | kind, slot};
            drain->is_short = !VEC_PUSH(&pool->launches[index].pages, page) || drain->is_short;
        } else {
            doubt_running(pool); /* and its page is leaked */
        }
        pool->head_seen++;
        tries = 0;
    }
}

/* Lists the pages of windows of which an instruction says that it was in them. */
static void list_windows(struct drain *drain, uint32_t launch)
{
    struct pool *pool = drain->pool;
    uint32_t index = drain->done.items[launch];
    const struct pool_launch *done = &pool->launches[index];
    const size_t from = offsetof(struct patch_launch, windows);
    if (done->window_count == 0 ||
        !owned_copy_back(drain, (char *)pool->records_copy + from,
                         pool->records + index * sizeof(struct patch_launch) + from,
                         done->window_count * sizeof(struct patch_window))) {
        return;
    }
    for (uint32_t i = 0; i < done->window_count; i++) {
        const struct pool_window *window = &done->windows[i];
        for (uint32_t kind = 1; kind <= PATCH_KINDS; kind++) {
            if (!window->pages[kind - 1] || !(pool->records_copy->windows[i].touched >> kind & 1)) {
                continue;
            }
            uint64_t leaf = windows_pages(window->first, kind);
            for (uint64_t j = 0; j < windows_pages(window->count, kind); j++) {
                struct owned owned = {window->pages[kind - 1] + j * PATCH_PAGE_BYTES,
                                      (leaf + j) << 3 | kind, launch, 0};
                drain->is_short = !VEC_PUSH(&drain->pages, owned) || drain->is_short;
            }
        }
    }
}

static int compare_pages(const void *left, const void *right)
{
    const struct owned *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

void owned_list(struct drain *drain)
{
    struct pool *pool = drain->pool;
    for (size_t i = 0; i < drain->done.count; i++) {
        struct pool_launch *launch = &pool->launches[drain->done.items[i]];
        for (size_t j = 0; j < launch->pages.count; j++) {
            const struct pool_page *page = &launch->pages.items[j];
            struct owned owned = {pool->pages + (uint64_t)page->page * PATCH_PAGE_BYTES, page->what,
                                  (uint32_t)i, 0};
            drain->is_short = !VEC_PUSH(&drain->pages, owned) || drain->is_short;
        }
        if (launch->window_count > 0 && launch->kernel) {
            windows_learn(launch);
        }
        list_windows(drain, (uint32_t)i);
    }
    if (drain->pages.count > 1) {
        qsort(drain->pages.items, drain->pages.count, sizeof *drain->pages.items, compare_pages);
    }
}
