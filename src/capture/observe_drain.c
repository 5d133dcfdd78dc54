/* Takes back what launches that have ended own.
 *
 * Invariant: nothing here adds order between the program's streams: all copies go over a stream of
 * our own, and no call waits for work of the program. Which launches have ended is known from
 * observe_streams.c. Cost: three small copies a drain, then what the pages weigh. */
#include "capture/observe_pool.h"

#include "capture/observe_leaves.h"
#include "capture/observe_sites.h"
#include "capture/observe_streams.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLAIM_TRIES 50u /* of half a millisecond, for a claim that is being written */

/* A page of a launch that is being drained. */
struct owned {
    uint32_t launch; /* position in the list of those */
    uint32_t page;
    uint64_t what;
};

struct drain {
    struct pool *pool;
    struct ssan_sink *sink;
    struct sanitizer_stream *stream;
    VEC(uint32_t) done;      /* records of launches that have ended, in order of submission */
    VEC(struct owned) pages; /* theirs */
    bool has_failed;         /* the driver no longer answers */
    bool is_short;           /* of memory: pages were forgotten */
};

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static bool copy_back(struct drain *drain, void *to, uint64_t from, uint64_t bytes)
{
    struct pool *pool = drain->pool;
    drain->has_failed = drain->has_failed ||
                        pool->api->copy_to_host(to, at(from), bytes, drain->stream) != SANITIZER_OK;
    return !drain->has_failed;
}

static bool copy_out(struct drain *drain, uint64_t to, void *from, uint64_t bytes)
{
    struct pool *pool = drain->pool;
    drain->has_failed =
        drain->has_failed ||
        pool->api->copy_to_device_async(at(to), from, bytes, drain->stream) != SANITIZER_OK;
    return !drain->has_failed;
}

static bool is_lost(const struct pool *pool, uint32_t record)
{
    return pool->lost_copy[record] != 0;
}

static int compare_numbers(const void *left, const void *right, void *self)
{
    const struct pool *pool = self;
    uint64_t a = pool->launches[*(const uint32_t *)left].number;
    uint64_t b = pool->launches[*(const uint32_t *)right].number;
    return (a > b) - (a < b);
}

/* Lists the launches that have ended, as far as the copied marks tell. */
static void find_done(struct drain *drain)
{
    struct pool *pool = drain->pool;
    pthread_mutex_lock(&pool->lock);
    streams_look(pool);
    for (uint32_t i = 0, left = pool->running; i < pool->record_count && left > 0; i++) {
        struct pool_launch *launch = &pool->launches[i];
        if (!launch->is_running) {
            continue;
        }
        left--;
        if (streams_have_ended(pool, launch) && VEC_PUSH(&drain->done, i)) {
            launch->is_done = true;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    if (drain->done.count > 1) {
        qsort_r(drain->done.items, drain->done.count, sizeof *drain->done.items, compare_numbers,
                pool);
    }
}

/* Copies places [from, to) of the ring, which may go around its end. */
static bool copy_places(struct drain *drain, uint64_t from, uint64_t to, bool is_out)
{
    struct pool *pool = drain->pool;
    while (from < to) {
        uint64_t first = from % pool->ring_size;
        uint64_t count = to - from < pool->ring_size - first ? to - from : pool->ring_size - first;
        uint64_t there = pool->ring + first * sizeof(struct patch_place);
        uint64_t bytes = count * sizeof(struct patch_place);
        bool copied = is_out ? copy_out(drain, there, &pool->ring_copy[first], bytes)
                             : copy_back(drain, &pool->ring_copy[first], there, bytes);
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

/* Hands the pages that were claimed since the last drain to their launches. */
static void read_claims(struct drain *drain)
{
    struct pool *pool = drain->pool;
    uint64_t head = pool->marks_copy->control.head;
    unsigned tries = 0;
    if (!copy_places(drain, pool->head_seen, head, false)) {
        return;
    }
    while (pool->head_seen < head) {
        struct patch_place *place = &pool->ring_copy[pool->head_seen % pool->ring_size];
        if (place->what == 0 && tries < CLAIM_TRIES) {
            struct timespec pause = {0, 500000};
            nanosleep(&pause, NULL);
            tries++;
            if (!copy_places(drain, pool->head_seen, head, false)) {
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

static int compare_pages(const void *left, const void *right)
{
    const struct owned *a = left, *b = right;
    return (a->page > b->page) - (a->page < b->page);
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

static void list_pages(struct drain *drain)
{
    for (size_t i = 0; i < drain->done.count; i++) {
        struct pool_launch *launch = &drain->pool->launches[drain->done.items[i]];
        for (size_t j = 0; j < launch->pages.count; j++) {
            struct owned owned = {(uint32_t)i, launch->pages.items[j].page,
                                  launch->pages.items[j].what};
            drain->is_short = !VEC_PUSH(&drain->pages, owned) || drain->is_short;
        }
    }
    if (drain->pages.count > 1) {
        qsort(drain->pages.items, drain->pages.count, sizeof *drain->pages.items, compare_pages);
    }
}

/* Pages of a part of the list, as they lie in pages_copy. */
struct batch {
    VEC(struct owned) leaves; /* `page`: position in pages_copy */
};

/* Copies pages from position `from` of the list on, as many as there is room for; answers how many.
 * Neighbours are copied in one go, with few pages of others between. */
static size_t copy_pages(struct drain *drain, size_t from, struct batch *batch)
{
    struct pool *pool = drain->pool;
    const struct owned *pages = drain->pages.items;
    size_t next = from;
    uint32_t used = 0;
    while (next < drain->pages.count && used < POOL_PAGES_AT_ONCE && !drain->has_failed) {
        uint32_t first = pages[next].page, end = first;
        size_t begin = next;
        while (next < drain->pages.count && pages[next].page - end <= 3 &&
               used + pages[next].page - first < POOL_PAGES_AT_ONCE) {
            end = pages[next++].page + 1;
        }
        copy_back(drain, pool->pages_copy + (size_t)used * PATCH_PAGE_WORDS,
                  pool->pages + (uint64_t)first * PATCH_PAGE_BYTES,
                  (uint64_t)(end - first) * PATCH_PAGE_BYTES);
        for (size_t i = begin; i < next; i++) {
            struct owned owned = pages[i];
            owned.page = used + pages[i].page - first;
            if ((owned.what & 7) != PATCH_KIND_DIRECTORY) {
                drain->is_short = !VEC_PUSH(&batch->leaves, owned) || drain->is_short;
            }
        }
        used += end - first;
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
                                    pool->pages_copy + (size_t)owned->page * PATCH_PAGE_WORDS};
        drain->is_short = !VEC_PUSH(&leaves, leaf) || drain->is_short;
    }
    observe_leaves_tell(&out, leaves.items, leaves.count);
    VEC_FREE(&leaves);
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
            copy_back(drain, pool->records_copy,
                      pool->records + index * sizeof(struct patch_launch),
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

static void tell_closed(struct ssan_sink *sink, uint64_t op)
{
    struct ssan_event event = {.kind = SSAN_EV_op_closed, .op_closed = {op}};
    ssan_put(sink, &event);
}

/* Zeroes the pages and puts them back into the ring. */
static void free_pages(struct drain *drain)
{
    struct pool *pool = drain->pool;
    const struct owned *pages = drain->pages.items;
    size_t count = drain->pages.count;
    for (size_t from = 0, to = 0; from < count && !drain->has_failed; from = to) {
        while (to < count && pages[to].page - pages[from].page == to - from) {
            pool->ring_copy[(pool->tail + to) % pool->ring_size] =
                (struct patch_place){0, 0, pages[to].page};
            to++;
        }
        drain->has_failed =
            pool->api->set_device(at(pool->pages + (uint64_t)pages[from].page * PATCH_PAGE_BYTES),
                                  0, (to - from) * PATCH_PAGE_BYTES, drain->stream) != SANITIZER_OK;
    }
    if (count && copy_places(drain, pool->tail, pool->tail + count, true)) {
        pool->tail += count;
        atomic_store(&pool->pages_left, (uint32_t)(pool->tail - pool->marks_copy->control.head));
    }
}

/* Writes the records of launches that touched them as they began, neighbours in one go. */
static void reset_records(struct drain *drain)
{
    struct pool *pool = drain->pool;
    for (size_t from = 0, to = 0; from < drain->done.count && !drain->has_failed; from = to) {
        const uint32_t *done = drain->done.items;
        bool is_touched = pool->resets_all || pool->launches[done[from]].pages.count > 0 ||
                          is_lost(pool, done[from]);
        to = from + 1;
        while (is_touched && to < drain->done.count && done[to] == done[to - 1] + 1) {
            to++;
        }
        if (is_touched) {
            copy_out(drain, pool->records + done[from] * sizeof(struct patch_launch),
                     &pool->templates[done[from]], (to - from) * sizeof(struct patch_launch));
        }
        for (size_t i = from; i < to; i++) {
            if (is_lost(pool, done[i])) {
                pool->lost_copy[done[i]] = 0;
                copy_out(drain, pool->lost + done[i] * sizeof(uint64_t), &pool->lost_copy[done[i]],
                         sizeof(uint64_t));
            }
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
        launch->is_running = false;
        pool->running--;
        pool->free_records[pool->free_tail++ % pool->record_count] = index;
    }
    pool->drains++;
    pthread_cond_broadcast(&pool->freed);
    pthread_mutex_unlock(&pool->lock);
}

static void run_drain(struct drain *drain)
{
    struct pool *pool = drain->pool;
    /* Words that tell of losses come along, again once it is known which launches have ended: both
     * they and the claims of a launch were written before it did. */
    uint64_t bytes = pool->record_count * sizeof(uint64_t) + sizeof(struct pool_marks);
    if (!copy_back(drain, pool->lost_copy, pool->lost, bytes)) {
        return;
    }
    find_done(drain);
    if (drain->done.count > 0) {
        (void)copy_back(drain, pool->lost_copy, pool->lost, bytes);
    }
    atomic_store(&pool->pages_left, (uint32_t)(pool->tail - pool->marks_copy->control.head));
    if (drain->done.count == 0 || drain->has_failed) {
        return;
    }
    read_claims(drain);
    list_pages(drain);
    tell_pages(drain);
    for (size_t i = 0; i < drain->done.count; i++) {
        uint32_t index = drain->done.items[i];
        if (is_lost(pool, index) || pool->launches[index].is_short || drain->has_failed ||
            drain->is_short) {
            tell_lost(drain->sink, pool->launches[index].op);
        }
        tell_closed(drain->sink, pool->launches[index].op);
    }
    free_pages(drain);
    reset_records(drain);
    pool->marks_copy->control.tail = pool->tail;
    copy_out(drain,
             pool->marks + offsetof(struct pool_marks, control) + offsetof(struct patch_pool, tail),
             &pool->marks_copy->control.tail, sizeof pool->tail);
    drain->has_failed =
        drain->has_failed || pool->api->stream_synchronize(drain->stream) != SANITIZER_OK;
    free_records(drain);
}

uint32_t pool_drain(struct pool *pool, struct ssan_sink *sink)
{
    struct drain drain = {.pool = pool, .sink = sink, .stream = atomic_load(&pool->stream)};
    if (pthread_mutex_trylock(&pool->drain_lock) != 0) {
        return 0;
    }
    if (!pool->has_failed && pool_in_flight(pool) > 0) {
        run_drain(&drain);
        pool->has_failed = drain.has_failed;
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
            tell_lost(sink, launch->op);
        }
    }
    pthread_mutex_unlock(&pool->lock);
}
