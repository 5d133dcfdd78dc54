/* Takes back what launches that have ended own.
 *
 * Invariant: nothing here adds order between the program's streams: all copies go over a stream of
 * our own, and no call waits for work of the program. Which launches have ended is known from
 * observe_streams.c. Cost: three small copies a drain and one for each launch that is learnt from,
 * then what the pages weigh. */
#include "capture/observe_owned.h"

#include "capture/observe_claims.h"
#include "capture/observe_hints.h"
#include "capture/observe_leaves.h"
#include "capture/observe_sites.h"
#include "capture/observe_streams.h"
#include "capture/observe_windows.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PASS_PAGES 16384u /* of the launches of one drain, but for the last of them */

static bool is_lost(const struct pool *pool, uint32_t record)
{
    return pool->flags_copy[record].lost != 0;
}

static int compare_numbers(const void *left, const void *right, void *self)
{
    const struct pool *pool = self;
    uint64_t a = pool->launches[*(const uint32_t *)left].number;
    uint64_t b = pool->launches[*(const uint32_t *)right].number;
    return (a > b) - (a < b);
}

/* Lists the launches that have ended, as far as the copied marks tell: all, or as many as have
 * PASS_PAGES; what these own is free again before the others are looked at. */
static void find_done(struct drain *drain)
{
    struct pool *pool = drain->pool;
    uint64_t pages = 0;
    uint32_t i = 0;
    bool has_more = false;
    pthread_mutex_lock(&pool->lock);
    streams_look(pool);
    for (uint32_t left = pool->running; i < pool->record_count && left > 0; i++) {
        uint32_t index = (pool->looked_from + i) % pool->record_count;
        struct pool_launch *launch = &pool->launches[index];
        if (!launch->is_running) {
            continue;
        }
        left--;
        if (streams_have_ended(pool, launch)) {
            if (pages >= PASS_PAGES) {
                has_more = true;
                break;
            }
            launch->is_done = VEC_PUSH(&drain->done, index);
            pages += launch->is_done ? launch->pages.count + windows_pages_of(launch) : 0;
        }
    }
    pool->looked_from = (pool->looked_from + i) % pool->record_count;
    atomic_store(&pool->has_more, has_more);
    pthread_mutex_unlock(&pool->lock);
    if (drain->done.count > 1) {
        qsort_r(drain->done.items, drain->done.count, sizeof *drain->done.items, compare_numbers,
                pool);
    }
}

/* Pages of a part of the list, as they lie in pages_copy. */
struct batch {
    VEC(struct owned) leaves;
};

static bool is_empty(const uint32_t *page)
{
    const char *bytes = (const char *)page;
    return *page == 0 && memcmp(bytes, bytes + 4, PATCH_PAGE_BYTES - 4) == 0;
}

#define GAP 16u /* pages that are copied along in less time than a copy of its own takes */
_Static_assert(GAP < SLABS_GUARD, "a copy stays in its slab");

/* A page that holds a bit. Of a window, which is the program's memory, or claimed for wherever an
 * access went. */
static void note_page(struct pool *pool, struct pool_launch *launch, const struct owned *owned)
{
    const uint64_t end = pool->pages + (uint64_t)pool->page_count * PATCH_PAGE_BYTES;
    windows_note(launch, owned->what);
    if (owned->address >= pool->pages && owned->address < end && !launch->has_strayed) {
        launch->has_strayed =
            pool_owned(pool, launch, pool_leaf_address(owned->what), pool_leaf_bytes(owned->what));
    }
}

/* Copies pages from position `from` of the list on, as many as there is room for; answers how many.
 * Neighbours are copied in one go, with few pages of others between. */
static size_t copy_pages(struct drain *drain, size_t from, struct batch *batch)
{
    struct pool *pool = drain->pool;
    const struct owned *pages = drain->pages.items;
    size_t next = from;
    uint64_t used = 0;
    while (next < drain->pages.count && used < POOL_PAGES_AT_ONCE && !drain->has_failed) {
        uint64_t first = pages[next].address, end = first;
        size_t begin = next;
        while (next < drain->pages.count && pages[next].address - end <= GAP * PATCH_PAGE_BYTES &&
               used + (pages[next].address - first) / PATCH_PAGE_BYTES < POOL_PAGES_AT_ONCE) {
            end = pages[next++].address + PATCH_PAGE_BYTES;
        }
        owned_copy_back(drain, pool->pages_copy + used * PATCH_PAGE_WORDS, first, end - first);
        for (size_t i = begin; i < next && !drain->has_failed; i++) {
            struct owned owned = pages[i];
            owned.copy = (uint32_t)(used + (pages[i].address - first) / PATCH_PAGE_BYTES);
            if ((owned.what & 7) != PATCH_KIND_DIRECTORY &&
                !is_empty(pool->pages_copy + (size_t)owned.copy * PATCH_PAGE_WORDS)) {
                drain->is_short = !VEC_PUSH(&batch->leaves, owned) || drain->is_short;
                note_page(pool, &pool->launches[drain->done.items[owned.launch]], &owned);
            }
        }
        used += (end - first) / PATCH_PAGE_BYTES;
    }
    return next - from;
}

/* Tells the leaves [from, to) of a batch, all of one launch; `record` is a copy of its record. */
static void tell_launch(struct drain *drain, const struct batch *batch, size_t from, size_t to,
                        const struct patch_launch *record)
{
    struct pool *pool = drain->pool;
    const struct pool_launch *launch =
        &pool->launches[drain->done.items[batch->leaves.items[from].launch]];
    struct observe_sites sites = {launch->kernel, record};
    struct observe_leaves out = {drain->sink, launch->op, observe_sites_find, &sites};
    VEC(struct observe_leaf) leaves = {0};
    for (size_t i = from; i < to; i++) {
        const struct owned *owned = &batch->leaves.items[i];
        struct observe_leaf leaf = {owned->what,
                                    pool->pages_copy + (size_t)owned->copy * PATCH_PAGE_WORDS};
        drain->is_short = !VEC_PUSH(&leaves, leaf) || drain->is_short;
    }
    observe_leaves_tell(&out, leaves.items, leaves.count);
    VEC_FREE(&leaves);
}

/* Of one launch behind one another, its kinds, then by address. */
static int compare_leaves(const void *left, const void *right)
{
    const struct owned *a = left, *b = right;
    if (a->launch != b->launch) {
        return a->launch < b->launch ? -1 : 1;
    }
    uint64_t x = (a->what & 7) << 61 | a->what >> 3, y = (b->what & 7) << 61 | b->what >> 3;
    return (x > y) - (x < y);
}

static void tell_batch(struct drain *drain, struct batch *batch)
{
    struct pool *pool = drain->pool;
    qsort(batch->leaves.items, batch->leaves.count, sizeof *batch->leaves.items, compare_leaves);
    for (size_t from = 0, to = 0; from < batch->leaves.count && !drain->has_failed; from = to) {
        uint32_t launch = batch->leaves.items[from].launch;
        uint32_t index = drain->done.items[launch];
        const struct patch_launch *record = NULL;
        while (to < batch->leaves.count && batch->leaves.items[to].launch == launch) {
            to++;
        }
        if (pool->launches[index].kernel &&
            observe_kernel_has_lines(pool->launches[index].kernel) &&
            owned_copy_back(drain, pool->records_copy, pool_user(pool, index),
                            sizeof(struct patch_launch))) {
            record = pool->records_copy;
        }
        tell_launch(drain, batch, from, to, record);
    }
}

static void tell_pages(struct drain *drain)
{
    struct batch batch = {{0}};
    for (size_t at_page = 0; at_page < drain->pages.count && !drain->has_failed;) {
        batch.leaves.count = 0;
        at_page += copy_pages(drain, at_page, &batch);
        if (batch.leaves.count) {
            tell_batch(drain, &batch);
        }
    }
    VEC_FREE(&batch.leaves);
}

static void tell_lost(struct ssan_sink *sink, uint64_t op)
{
    struct ssan_event event = {.kind = SSAN_EV_lost, .lost = {SSAN_loss_ACCESSES, op, 1}};
    ssan_put(sink, &event);
}

/* The program has no memory there: alone it faults, or finds what is another's. Once a kernel. */
static void tell_stray(struct ssan_sink *sink, const struct pool_launch *launch)
{
    char text[256];
    if (!launch->has_strayed || !launch->kernel ||
        atomic_exchange(&launch->kernel->has_strayed, true)) {
        return;
    }
    snprintf(text, sizeof text,
             "%s accesses memory that is none of the program's, where records of this tool are: "
             "what it does alone was not seen (an illegal address, mostly)",
             launch->kernel->name[0] ? launch->kernel->name : "a kernel");
    struct ssan_event event = {.kind = SSAN_EV_unsupported, .unsupported = {ssan_str(text), 0, 0}};
    ssan_put(sink, &event);
}

static void tell_closed(struct ssan_sink *sink, uint64_t op)
{
    struct ssan_event event = {.kind = SSAN_EV_op_closed, .op_closed = {op}};
    ssan_put(sink, &event);
}

/* Zeroes the pages, neighbours in one go, and puts those of the pool back into the ring. Memory of
 * windows is given back with the records. */
static void free_pages(struct drain *drain)
{
    struct pool *pool = drain->pool;
    const struct owned *pages = drain->pages.items;
    size_t count = drain->pages.count;
    uint64_t tail = pool->tail, end = pool->pages + (uint64_t)pool->page_count * PATCH_PAGE_BYTES;
    for (size_t from = 0, to = 0; from < count && !drain->has_failed; from = to) {
        uint64_t first = pages[from].address;
        while (to < count && pages[to].address - first == (to - from) * PATCH_PAGE_BYTES) {
            if (pages[to].address >= pool->pages && pages[to].address < end) {
                uint32_t page = (uint32_t)((pages[to].address - pool->pages) / PATCH_PAGE_BYTES);
                pool->ring_copy[tail++ % pool->ring_size] = (struct patch_place){0, 0, page};
            }
            to++;
        }
        (void)owned_answered(drain, "sanitizerMemset",
                             pool->api->set_device(pool_at(first), 0,
                                                   (to - from) * PATCH_PAGE_BYTES, drain->stream));
    }
    if (tail != pool->tail && owned_copy_places(drain, pool->tail, tail, true)) {
        pool->tail = tail;
    }
    owned_count(pool);
}

static bool is_record_touched(const struct pool *pool, uint32_t index)
{
    const struct pool_launch *launch = &pool->launches[index];
    return pool->resets_all || launch->pages.count > 0 || launch->window_count > 0 ||
           is_lost(pool, index);
}

/* Its windows go: the template is as at the beginning again. */
static void reset_template(struct pool *pool, uint32_t index)
{
    struct patch_launch *record = &pool->templates[index];
    if (pool->launches[index].has_guesses) {
        memset(record->sites, 0, sizeof record->sites);
        pool->launches[index].has_guesses = false;
    }
    memset(record->windows, 0, sizeof record->windows);
    record->window_count = 0;
}

/* Writes the records of launches that touched them as they began, neighbours in one go. */
static void reset_records(struct drain *drain)
{
    struct pool *pool = drain->pool;
    for (size_t from = 0, to = 0; from < drain->done.count && !drain->has_failed; from = to) {
        const uint32_t *done = drain->done.items;
        bool is_touched = is_record_touched(pool, done[from]);
        to = from + 1;
        while (is_touched && to < drain->done.count && done[to] == done[to - 1] + 1) {
            to++;
        }
        for (size_t i = from; i < to; i++) {
            reset_template(pool, done[i]);
            memset(&pool->flags_copy[done[i]], 0, sizeof pool->flags_copy[0]);
        }
        if (is_touched) {
            owned_copy_out(drain, pool_user(pool, done[from]), &pool->templates[done[from]],
                           (to - from) * sizeof(struct patch_launch));
            owned_copy_out(drain, pool->flags + done[from] * sizeof(struct patch_flags),
                           &pool->flags_copy[done[from]], (to - from) * sizeof(struct patch_flags));
        }
    }
}

/* Gives the records back. */
static void free_records(struct drain *drain)
{
    struct pool *pool = drain->pool;
    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < drain->done.count; i++) {
        uint32_t index = drain->done.items[i];
        struct pool_launch *launch = &pool->launches[index];
        launch->pages.count = 0;
        if (!drain->has_failed) {
            windows_free(pool, launch);
        }
        launch->is_running = false;
        pool->running--;
        claims_give_back(pool, launch);
        pool->free_records[pool->free_tail++ % pool->record_count] = index;
    }
    pool->drains++;
    pthread_cond_broadcast(&pool->freed);
    pthread_mutex_unlock(&pool->lock);
}

/* Nothing was taken back: pool_give_up is to tell of them. */
static void leave_done(struct drain *drain)
{
    struct pool *pool = drain->pool;
    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < drain->done.count; i++) {
        pool->launches[drain->done.items[i]].is_done = false;
    }
    pthread_mutex_unlock(&pool->lock);
}

/* Its kernel's later launches are to fare better. */
static void learn(struct drain *drain, uint32_t index)
{
    struct pool *pool = drain->pool;
    const struct pool_launch *launch = &pool->launches[index];
    if (!launch->kernel) {
        return;
    }
    windows_learn(launch);
    claims_learn(pool, launch, is_lost(pool, index));
    if (launch->is_to_learn && owned_copy_back(drain, pool->records_copy, pool_user(pool, index),
                                               sizeof(struct patch_launch))) {
        hints_learn(launch, pool->records_copy);
    }
}

static void run_drain(struct drain *drain)
{
    struct pool *pool = drain->pool;
    /* Flags that tell of losses and of windows come along, again once it is known which launches
     * have ended: both they and the claims of a launch were written before it did. */
    uint64_t bytes = pool->record_count * sizeof(struct patch_flags) + sizeof(struct pool_marks);
    if (!owned_copy_back(drain, pool->flags_copy, pool->flags, bytes)) {
        return;
    }
    find_done(drain);
    if (drain->done.count > 0) {
        (void)owned_copy_back(drain, pool->flags_copy, pool->flags, bytes);
    }
    owned_count(pool);
    if (drain->has_failed) {
        leave_done(drain);
        return;
    }
    if (drain->done.count == 0) {
        return;
    }
    owned_read_claims(drain);
    owned_list(drain);
    tell_pages(drain);
    for (size_t i = 0; i < drain->done.count; i++) {
        uint32_t index = drain->done.items[i];
        if (is_lost(pool, index) || pool->launches[index].is_short || drain->has_failed ||
            drain->is_short) {
            tell_lost(drain->sink, pool->launches[index].op);
        }
        tell_stray(drain->sink, &pool->launches[index]);
        tell_closed(drain->sink, pool->launches[index].op);
        learn(drain, index);
    }
    free_pages(drain);
    reset_records(drain);
    pool->marks_copy->control.tail = pool->tail;
    owned_copy_out(drain,
                   pool->marks + offsetof(struct pool_marks, control) +
                       offsetof(struct patch_pool, tail),
                   &pool->marks_copy->control.tail, sizeof pool->tail);
    if (!drain->has_failed) {
        (void)owned_answered(drain, "sanitizerStreamSynchronize",
                             pool->api->stream_synchronize(drain->stream));
    }
    free_records(drain);
}

uint32_t pool_drain(struct pool *pool, struct ssan_sink *sink)
{
    struct drain drain = {.pool = pool, .sink = sink, .stream = atomic_load(&pool->stream)};
    if (pthread_mutex_trylock(&pool->drain_lock) != 0) {
        return 0;
    }
    if (!atomic_load(&pool->has_failed) && pool_in_flight(pool) > 0) {
        run_drain(&drain);
        atomic_store(&pool->has_failed, drain.has_failed);
    }
    pthread_mutex_unlock(&pool->drain_lock);
    VEC_FREE(&drain.pages);
    uint32_t count = (uint32_t)drain.done.count;
    VEC_FREE(&drain.done);
    return count;
}

uint32_t pool_in_flight(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    uint32_t count = pool->running;
    pthread_mutex_unlock(&pool->lock);
    return count;
}

bool pool_has_below(struct pool *pool, uint64_t below)
{
    bool has = false;
    pthread_mutex_lock(&pool->lock);
    for (uint32_t i = 0; i < pool->record_count && pool->running > 0 && !has; i++) {
        has = pool->launches[i].is_running && pool->launches[i].number < below;
    }
    pthread_mutex_unlock(&pool->lock);
    return has;
}

void pool_give_up(struct pool *pool, struct ssan_sink *sink)
{
    pthread_mutex_lock(&pool->lock);
    for (uint32_t i = 0; i < pool->record_count; i++) {
        struct pool_launch *launch = &pool->launches[i];
        if (launch->is_running && !launch->is_done) {
            launch->is_running = false;
            pool->running--;
            claims_give_back(pool, launch);
            tell_lost(sink, launch->op);
        }
    }
    pthread_mutex_unlock(&pool->lock);
}
