/* Births and deaths of memory, and what uses it beyond: free in flight, use after free, the
 * program's own pools.
 *
 * A free is checked against the shadow of its buffer at its place in the queue, with the host clock
 * from before the join that real drivers add (R-IMPL-3). Addresses of dead memory stay known until
 * they live again. */
#include "core/engine_parts.h"

/* Beyond this many dead ranges the older half of the time they span is forgotten at once; what uses
 * them then passes as pageable. */
#define MAX_DEAD 65536u

static bool wraps(uint64_t address, uint64_t size)
{
    return size == 0 || address + size < address;
}

static uint32_t alloc_place(struct engine *engine, const struct ssan_ev_alloc *event)
{
    uint32_t name = place_name(&engine->places, event->call);
    return name == 0 ? 0
                     : engine_place(engine, SIDE_ALLOC, (uint32_t)event->memory, event->site, name,
                                    0, event->alloc);
}

enum ssan_status on_alloc(struct engine *engine, const struct ssan_ev_alloc *event,
                          struct ssan_error *err)
{
    if (event->alloc != engine->allocs.count || wraps(event->address, event->size) ||
        !order_context(&engine->order, event->context)) {
        return engine_refuse(engine, err, "allocation", event->alloc);
    }
    struct host *host = order_host(&engine->order, event->thread);
    if (!host) {
        return engine_refuse(engine, err, "thread", event->thread);
    }
    uint32_t place = alloc_place(engine, event);
    struct work *work = place ? queue_add(engine, WORK_ALLOC) : NULL;
    struct buffer *buffer = work ? work->buffer = buffer_create(event, place) : NULL;
    struct actor *actor = engine_actor(engine, SIDE_ALLOC, event->thread, event->site);
    if (!buffer || !actor || !VEC_PUSH(&engine->allocs, buffer)) {
        actor_drop(&engine->actors, actor);
        return engine_no_memory(engine, err);
    }
    buffer_ref(buffer); /* the table's */
    actor->place = place;
    actor->context = event->context;
    work->actor = actor;
    buffer->born = actor_ref(actor);
    if (!spans_put(&engine->front, event->address, event->address + event->size, buffer,
                   &engine->shadows)) {
        return engine_no_memory(engine, err);
    }
    if (is_strict(engine)) { /* one timeline orders every later access behind it anyway */
        order_host_epoch(&engine->order, host);
        work->at = stamp_ref(&host->now);
    }
    engine->totals.allocations++;
    return SSAN_OK;
}

/* A set that holds exactly [begin, end). */
static bool whole(struct bytes *bytes, uint64_t begin, uint64_t end)
{
    return bytes_add_run(bytes, begin, end - begin, 0, 1, 0, 0) && bytes_seal(bytes);
}

bool lifetime_begin(struct engine *engine, struct work *work)
{
    struct buffer *buffer = work->buffer;
    uint64_t end = buffer->address + buffer->size;
    if (!spans_put(&engine->live, buffer->address, end, buffer, &engine->shadows) ||
        !spans_put(&engine->dead, buffer->address, end, NULL, &engine->shadows) ||
        !spans_put(&engine->holes, buffer->address, end, NULL, &engine->shadows)) {
        return false;
    }
    if (work->at.own.tick == 0) {
        return true;
    }
    struct bytes bytes = {0};
    if (!whole(&bytes, buffer->address, end)) {
        return false;
    }
    struct access access = {.actor = work->actor,
                            .access = SSAN_access_WRITE,
                            .carries = true,
                            .at = work->at.own,
                            .begin = {.stamp = &work->at},
                            .bytes = &bytes};
    judge_access(engine, buffer, &access, work);
    bytes_finish(&bytes);
    return true;
}

enum ssan_status on_free(struct engine *engine, const struct ssan_ev_free *event,
                         struct ssan_error *err)
{
    if (event->alloc >= engine->allocs.count || !engine->allocs.items[event->alloc]) {
        return engine_refuse(engine, err, "live allocation", event->alloc);
    }
    struct buffer *buffer = engine->allocs.items[event->alloc];
    struct host *host = order_host(&engine->order, event->thread);
    if (!host) {
        return engine_refuse(engine, err, "thread", event->thread);
    }
    uint32_t name = place_name(&engine->places, event->call);
    uint32_t place = engine_place(engine, SIDE_FREE, 0, event->site, name, 0, event->alloc);
    struct work *work = name && place ? queue_add(engine, WORK_FREE) : NULL;
    if (!work) {
        return engine_no_memory(engine, err);
    }
    work->buffer = buffer; /* takes over the table's reference */
    engine->allocs.items[event->alloc] = NULL;
    work->actor = engine_actor(engine, SIDE_FREE, event->thread, event->site);
    if (!work->actor || !spans_put(&engine->front, buffer->address, buffer->address + buffer->size,
                                   NULL, &engine->shadows)) {
        return engine_no_memory(engine, err);
    }
    work->actor->place = place;
    work->actor->context = buffer->context;
    order_host_epoch(&engine->order, host);
    work->at = stamp_ref(&host->now); /* before the join below */
    order_join_free(&engine->order, host,
                    order_free_joins_all(buffer->memory) ? 0 : buffer->context);
    work->host = stamp_ref(&host->now);
    return SSAN_OK;
}

/* How sure a pair with a free is: a free conflicts with an access whatever its direction. */
static enum sureness free_sureness(bool may, bool rounded)
{
    return rounded ? SURENESS_POSSIBLE : may ? SURENESS_FOOTPRINT : SURENESS_EXACT;
}

/* R-IMPL-4: every access that the free is not ordered behind. Drivers wait for the whole context
 * before they free ordinary memory (R-IMPL-3): what that wait covers is a matter of portability,
 * the rest is an error. */
static void free_in_flight(struct engine *engine, struct work *work, const struct bytes *all)
{
    struct buffer *buffer = work->buffer;
    struct moment before = {.stamp = &work->at};
    struct times late = late_closure(engine, &before, true);
    before.extra = &late;
    struct moment behind = {.stamp = &work->host};
    struct times later = late_closure(engine, &behind, true);
    behind.extra = &later;
    struct cell_list *near = &engine->shadows.near;
    near->count = 0;
    if (!cells_near(&buffer->shadow.cells, 0, UINT64_MAX, near)) {
        engine->shadows.failed = true;
    }
    for (size_t i = 0; i < near->count; i++) {
        const struct cell *cell = near->items[i];
        struct epoch at = cell_epoch(cell->key);
        if (moment_covers(&before, false, at) || order_broken(&engine->order, ORDER_R_IMPL_4)) {
            continue;
        }
        struct verdict verdict = {
            .check = CHECK_FREE_IN_FLIGHT,
            .sureness = free_sureness(cell_may(cell->key), cell_rounded(cell->key) != 0)};
        bool observed = moment_covers(&before, true, at);
        judge_readings(&verdict, observed || moment_covers(&behind, true, at),
                       observed ? moment_rule(&before, at) : (uint32_t)ORDER_R_IMPL_4);
        judge_bytes(engine, &verdict, buffer, cell->actor, cell_access(cell->key), &cell->bytes,
                    work->actor, SSAN_access_WRITE, all);
    }
    times_drop(&engine->clocks, &late);
    times_drop(&engine->clocks, &later);
}

static bool forget_old_dead(struct engine *engine)
{
    if (engine->dead.count <= MAX_DEAD) {
        return true;
    }
    uint64_t oldest = UINT64_MAX, newest = 0;
    for (size_t i = 0; i < engine->dead.count; i++) {
        uint64_t position = engine->dead.items[i].buffer->dead->position;
        oldest = position < oldest ? position : oldest;
        newest = position > newest ? position : newest;
    }
    uint64_t middle = oldest + (newest - oldest) / 2 + 1;
    for (size_t i = engine->dead.count; i > 0; i--) {
        const struct span *span = &engine->dead.items[i - 1];
        if (span->buffer->dead->position < middle &&
            !spans_put(&engine->dead, span->begin, span->end, NULL, &engine->shadows)) {
            return false;
        }
    }
    return true;
}

bool lifetime_end(struct engine *engine, struct work *work)
{
    struct buffer *buffer = work->buffer;
    uint64_t begin = buffer->address, end = begin + buffer->size;
    struct bytes all = {0};
    if (!whole(&all, begin, end)) {
        return false;
    }
    free_in_flight(engine, work, &all);
    bytes_finish(&all);
    shadow_clear(&buffer->shadow, &engine->shadows);
    buffer->dead = actor_ref(work->actor);
    /* only the parts that are still this generation's: a damaged trace may have reused some */
    for (uint64_t at = begin; at < end;) {
        const struct span *span = spans_find(&engine->live, at);
        if (!span || span->begin >= end) {
            break;
        }
        uint64_t from = span->begin > at ? span->begin : at;
        uint64_t to = span->end < end ? span->end : end;
        if (span->buffer == buffer) {
            bool keep = buffer->memory != SSAN_memory_REGISTERED; /* pageable again */
            if (!spans_put(&engine->live, from, to, NULL, &engine->shadows) ||
                (keep && !spans_put(&engine->dead, from, to, buffer, &engine->shadows))) {
                return false;
            }
        }
        at = to;
    }
    return spans_put(&engine->holes, begin, end, NULL, &engine->shadows) && forget_old_dead(engine);
}

void lifetime_use_after_free(struct engine *engine, const struct spans *spans,
                             const struct access *access)
{
    for (uint64_t at = access->bytes->begin; at < access->bytes->end;) {
        const struct span *span = spans_find(spans, at);
        if (!span || span->begin >= access->bytes->end) {
            return;
        }
        struct bytes gone = {0};
        if (!whole(&gone, span->begin, span->end)) {
            engine->shadows.failed = true;
            return;
        }
        struct verdict verdict = {.check = CHECK_USE_AFTER_FREE,
                                  .severity = SEVERITY_ERROR,
                                  .documented = SEVERITY_ERROR,
                                  .sureness = free_sureness(access->may, false)};
        judge_bytes(engine, &verdict, span->buffer, span->buffer->dead, SSAN_access_WRITE, &gone,
                    access->actor, access->access, access->bytes);
        bytes_finish(&gone);
        at = span->end;
    }
}

enum ssan_status on_pool_alloc(struct engine *engine, const struct ssan_ev_pool_alloc *event,
                               struct ssan_error *err)
{
    if (wraps(event->address, event->size)) {
        return SSAN_OK; /* the program's own words: nothing to mark */
    }
    struct work *work = queue_add(engine, WORK_FILL);
    if (!work || !map_set(&engine->pool_blocks, event->address, event->size)) {
        return engine_no_memory(engine, err);
    }
    work->address = event->address;
    work->size = event->size;
    return SSAN_OK;
}

enum ssan_status on_pool_free(struct engine *engine, const struct ssan_ev_pool_free *event,
                              struct ssan_error *err)
{
    const uint64_t *size = map_find(&engine->pool_blocks, event->address);
    const struct span *span = spans_find(&engine->front, event->address);
    if (!size || !span || span->begin > event->address) {
        return SSAN_OK; /* a block that was never announced */
    }
    struct ssan_ev_alloc hole = {.alloc = span->buffer->id,
                                 .context = span->buffer->context,
                                 .memory = span->buffer->memory,
                                 .address = span->buffer->address,
                                 .size = span->buffer->size};
    uint32_t place = engine_place(engine, SIDE_FREE, 1, event->site, 0, 0, 0);
    struct work *work = place ? queue_add(engine, WORK_HOLE) : NULL;
    struct buffer *buffer = work ? work->buffer = buffer_create(&hole, span->buffer->place) : NULL;
    if (!buffer) {
        return engine_no_memory(engine, err);
    }
    work->actor = engine_actor(engine, SIDE_FREE, event->thread, event->site);
    if (!work->actor) {
        return engine_no_memory(engine, err);
    }
    work->actor->place = place;
    buffer->dead = actor_ref(work->actor);
    work->address = event->address;
    work->size = *size;
    map_remove(&engine->pool_blocks, event->address);
    return SSAN_OK;
}

bool lifetime_hole(struct engine *engine, struct work *work)
{
    return spans_put(&engine->holes, work->address, work->address + work->size, work->buffer,
                     &engine->shadows);
}

enum ssan_status on_ignore(struct engine *engine, const struct ssan_ev_ignore *event,
                           struct ssan_error *err)
{
    if (wraps(event->address, event->size)) {
        return SSAN_OK;
    }
    struct work *work = queue_add(engine, WORK_IGNORE);
    if (!work) {
        return engine_no_memory(engine, err);
    }
    work->address = event->address;
    work->size = event->size;
    work->on = event->on != 0;
    return SSAN_OK;
}
