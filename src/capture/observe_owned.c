/* Claims are read from the ring as far as the device has counted; windows are listed where the
 * flags of their launch say that an instruction was in them, or where one was guessed to be. Cost:
 * a copy of the ring's new part. */
#include "capture/observe_owned.h"

#include "capture/observe_windows.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define FILLER      32u /* pages */
#define CLAIM_TRIES 50u /* of half a millisecond, for a claim that is being written */

bool owned_answered(struct drain *drain, const char *call, uint32_t result)
{
    if (result != SANITIZER_OK && !drain->has_failed) {
        drain->has_failed = true;
        drain->pool->failed_call = call;
        drain->pool->failure = result;
    }
    return !drain->has_failed;
}

bool owned_copy_back(struct drain *drain, void *to, uint64_t from, uint64_t bytes)
{
    const struct sanitizer_api *api = drain->pool->api;
    return !drain->has_failed &&
           owned_answered(drain, "sanitizerMemcpyDeviceToHost",
                          api->copy_to_host(to, pool_at(from), bytes, drain->stream));
}

bool owned_copy_out(struct drain *drain, uint64_t to, void *from, uint64_t bytes)
{
    const struct sanitizer_api *api = drain->pool->api;
    return !drain->has_failed &&
           owned_answered(drain, "sanitizerMemcpyHostToDeviceAsync",
                          api->copy_to_device_async(pool_at(to), from, bytes, drain->stream));
}

bool owned_copy_places(struct drain *drain, uint64_t from, uint64_t to, bool is_out)
{
    struct pool *pool = drain->pool;
    while (from < to) {
        uint64_t first = from % pool->ring_size;
        uint64_t count = to - from < pool->ring_size - first ? to - from : pool->ring_size - first;
        uint64_t there = pool->ring + first * sizeof(struct patch_place);
        uint64_t bytes = count * sizeof(struct patch_place);
        bool copied = is_out ? owned_copy_out(drain, there, &pool->ring_copy[first], bytes)
                             : owned_copy_back(drain, &pool->ring_copy[first], there, bytes);
        if (!copied) {
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

void owned_count(struct pool *pool)
{
    atomic_store(&pool->pages_left, (uint32_t)(pool->tail - pool->marks_copy->control.head));
}

void owned_read_claims(struct drain *drain)
{
    struct pool *pool = drain->pool;
    uint64_t head = pool->marks_copy->control.head;
    unsigned tries = 0;
    if (!owned_copy_places(drain, pool->head_seen, head, false)) {
        return;
    }
    while (pool->head_seen < head) {
        struct patch_place *place = &pool->ring_copy[pool->head_seen % pool->ring_size];
        if (place->what == 0 && tries < CLAIM_TRIES) {
            struct timespec pause = {0, 500000};
            nanosleep(&pause, NULL);
            tries++;
            if (!owned_copy_places(drain, pool->head_seen, head, false)) {
                return;
            }
            continue;
        }
        if (place->what != 0 && place->launch < pool->record_count) {
            struct pool_page page = {place->what, place->page};
            drain->is_short =
                !VEC_PUSH(&pool->launches[place->launch].pages, page) || drain->is_short;
        } else {
            doubt_running(pool); /* and its page is leaked */
        }
        pool->head_seen++;
        tries = 0;
    }
}

/* Lists the pages of windows that an instruction was in, or may have been; of the others few, as no
 * leaves: what lies between is copied and zeroed in one go. */
static void list_windows(struct drain *drain, uint32_t launch)
{
    struct pool *pool = drain->pool;
    uint32_t index = drain->done.items[launch];
    const struct pool_launch *done = &pool->launches[index];
    for (uint32_t i = 0; i < done->window_count; i++) {
        const struct pool_window *window = &done->windows[i];
        for (uint32_t kind = 1; kind <= PATCH_KINDS; kind++) {
            uint64_t leaf = windows_pages(window->first, kind);
            uint64_t count = windows_pages(window->count, kind);
            uint32_t touched = pool->flags_copy[index].touched[i] | window->guessed;
            bool is_touched = touched >> kind & 1;
            if (!window->pages[kind - 1] || (!is_touched && count > FILLER)) {
                continue;
            }
            for (uint64_t j = 0; j < count; j++) {
                struct owned owned = {window->pages[kind - 1] + j * PATCH_PAGE_BYTES,
                                      is_touched ? (leaf + j) << 3 | kind : PATCH_KIND_DIRECTORY,
                                      launch, 0};
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
        list_windows(drain, (uint32_t)i);
    }
    if (drain->pages.count > 1) {
        qsort(drain->pages.items, drain->pages.count, sizeof *drain->pages.items, compare_pages);
    }
}
