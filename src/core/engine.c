/* Dispatches events. Each handler validates ids first, so that a damaged trace is a status and
 * never a crash; after the first error the engine takes nothing more. */
#include "core/engine_parts.h"

#include "base/mem.h"

#include <string.h>

#define DEFAULT_SHADOW_BYTES (UINT64_C(1) << 30)

enum ssan_status engine_refuse(struct engine *engine, struct ssan_error *err, const char *what,
                               uint64_t id)
{
    if (engine->order.failed) { /* it is not the trace that lacks something */
        return engine_no_memory(engine, err);
    }
    engine->broken = SSAN_FORMAT;
    return ssan_fail(err, SSAN_FORMAT, engine->position, "event %llu of the trace: no %s %llu",
                     (unsigned long long)engine->position, what, (unsigned long long)id);
}

enum ssan_status engine_no_memory(struct engine *engine, struct ssan_error *err)
{
    engine->broken = SSAN_NO_MEMORY;
    return ssan_fail(err, SSAN_NO_MEMORY, engine->position, "out of memory at event %llu",
                     (unsigned long long)engine->position);
}

struct thread *engine_thread_slow(struct engine *engine, uint32_t thread)
{
    if (thread > ORDER_MAX_THREADS) {
        return NULL;
    }
    if (!VEC_RESERVE(&engine->threads, (size_t)thread + 1)) {
        engine->order.failed = true;
        return NULL;
    }
    while (engine->threads.count <= thread) {
        engine->threads.items[engine->threads.count++] = (struct thread){0};
    }
    return &engine->threads.items[thread];
}

struct actor *engine_actor(struct engine *engine, enum side_kind kind, uint32_t thread,
                           uint32_t site)
{
    struct actor *actor = actor_create(&engine->actors);
    if (actor) {
        actor->kind = (uint32_t)kind;
        actor->position = engine->position;
        actor->thread = thread;
        actor->site = site;
    }
    return actor;
}

uint32_t engine_place(struct engine *engine, enum side_kind kind, uint32_t what, uint32_t site,
                      uint32_t name, uint32_t flavour, uint32_t instead)
{
    struct place_key key = place_key(kind, what, site, flavour, instead);
    key.name = name;
    uint32_t place = place_intern(&engine->places, key);
    engine->shadows.failed = engine->shadows.failed || place == 0;
    return place;
}

struct engine *engine_create(const struct engine_options *options)
{
    struct engine *engine = mem_zalloc(1, sizeof *engine);
    if (!engine) {
        return NULL;
    }
    engine->options = *options;
    engine->order.clocks = &engine->clocks;
    engine->order.mutant = options->mutant;
    engine->order.strict = options->threads == THREADS_STRICT;
    engine->actors.clocks = &engine->clocks;
    engine->shadows.actors = &engine->actors;
    engine->shadows.level = 1;
    engine->shadows.limit =
        options->shadow_limit_bytes ? options->shadow_limit_bytes : DEFAULT_SHADOW_BYTES;
    engine->pageable.refs = 1;
    engine->pageable.memory = SSAN_memory_PAGEABLE;
    /* ids begin at 1: slot 0 of each table stays empty */
    if (!VEC_PUSH(&engine->streams, (struct stream_facts){0}) ||
        !VEC_PUSH(&engine->records, (struct recorded){0}) ||
        !VEC_PUSH(&engine->allocs, (struct buffer *)NULL)) {
        engine_destroy(engine);
        return NULL;
    }
    return engine;
}

static enum ssan_status on_stream_create(struct engine *engine,
                                         const struct ssan_ev_stream_create *event,
                                         struct ssan_error *err)
{
    if (event->stream != engine->streams.count) {
        return engine_refuse(engine, err, "next stream", event->stream);
    }
    if (!VEC_PUSH(&engine->streams, (struct stream_facts){0})) {
        return engine_no_memory(engine, err);
    }
    if (!order_stream_create(&engine->order, event)) {
        return engine_refuse(engine, err, "context", event->context);
    }
    engine->totals.streams++;
    return SSAN_OK;
}

static enum ssan_status on_event_create(struct engine *engine, uint32_t event,
                                        struct ssan_error *err)
{
    if (event != engine->records.count) {
        return engine_refuse(engine, err, "next event", event);
    }
    if (!VEC_PUSH(&engine->records, (struct recorded){0}) ||
        !order_event_create(&engine->order, event)) {
        return engine_no_memory(engine, err);
    }
    engine->totals.events++;
    return SSAN_OK;
}

static enum ssan_status on_destroy(struct engine *engine, const struct ssan_event *event,
                                   struct ssan_error *err)
{
    if (event->kind == SSAN_EV_stream_destroy) {
        uint32_t stream = event->stream_destroy.stream;
        if (!order_stream(&engine->order, stream)) {
            return engine_refuse(engine, err, "live stream", stream);
        }
        order_stream_destroy(&engine->order, stream);
        return SSAN_OK;
    }
    uint32_t id = event->event_destroy.event;
    if (!order_event(&engine->order, id)) {
        return engine_refuse(engine, err, "live event", id);
    }
    order_event_destroy(&engine->order, id);
    actor_drop(&engine->actors, engine->records.items[id].actor);
    engine->records.items[id].actor = NULL;
    return SSAN_OK;
}

static enum ssan_status on_fault(struct engine *engine, const struct ssan_ev_fault *event,
                                 struct ssan_error *err)
{
    const struct slot *slot = window_find(&engine->window, event->op);
    failures_fault(engine, slot && slot->work ? slot->work->actor : NULL);
    for (size_t i = 0; i < engine->order.contexts.count; i++) {
        /* a fault of an operation that has closed, or of none, may be in any context */
        struct context *context = &engine->order.contexts.items[i];
        bool here = !slot || !slot->work || slot->work->actor->context == i;
        if (here && context->dead_position == 0) {
            context->dead_position = engine->position;
        }
    }
    engine->totals.faulted = true;
    engine->dead_position = engine->dead_position ? engine->dead_position : engine->position;
    return SSAN_OK;
}

static enum ssan_status on_call(struct engine *engine, const struct ssan_ev_call *event,
                                struct ssan_error *err)
{
    const struct engine_watch *watch = engine->options.watch;
    const struct host *host = order_host(&engine->order, event->thread);
    if (!host) {
        return engine_refuse(engine, err, "thread", event->thread);
    }
    if (watch) {
        watch->call(watch->self, event, &host->now);
    }
    return SSAN_OK;
}

/* Events that only count. */
static enum ssan_status on_count(struct engine *engine, const struct ssan_event *event,
                                 struct ssan_error *err)
{
    switch (event->kind) {
    case SSAN_EV_exit:
        engine->totals.exited = true;
        break;
    case SSAN_EV_progress_forced:
        engine->totals.progress_forced = true;
        break;
    case SSAN_EV_lost:
        if ((uint32_t)event->lost.what >= ssan_loss_count) {
            return engine_refuse(engine, err, "kind of loss", (uint64_t)event->lost.what);
        }
        engine->totals.lost[event->lost.what] += event->lost.count;
        break;
    default: /* names, sites, modules, lines and the process are for explain and report */
        break;
    }
    return SSAN_OK;
}

static enum ssan_status on_memory(struct engine *engine, const struct ssan_event *event,
                                  struct ssan_error *err)
{
    switch (event->kind) {
    case SSAN_EV_alloc:
        return on_alloc(engine, &event->alloc, err);
    case SSAN_EV_free:
        return on_free(engine, &event->free, err);
    case SSAN_EV_pool_alloc:
        return on_pool_alloc(engine, &event->pool_alloc, err);
    case SSAN_EV_pool_free:
        return on_pool_free(engine, &event->pool_free, err);
    default:
        return on_ignore(engine, &event->ignore, err);
    }
}

static enum ssan_status dispatch(struct engine *engine, const struct ssan_event *event,
                                 struct ssan_error *err)
{
    switch (event->kind) {
    case SSAN_EV_op:
        return on_op(engine, &event->op, err);
    case SSAN_EV_op_return:
        return on_op_return(engine, event->op_return.op, err);
    case SSAN_EV_set:
        return on_set(engine, &event->set, err);
    case SSAN_EV_set_leaf:
        return on_set_leaf(engine, &event->set_leaf, err);
    case SSAN_EV_op_closed:
        return on_op_closed(engine, event->op_closed.op, err);
    case SSAN_EV_sync:
        return on_sync(engine, &event->sync, err);
    case SSAN_EV_sync_return:
        return on_sync_return(engine, &event->sync_return, err);
    case SSAN_EV_host_access:
        return on_host_access(engine, &event->host_access, err);
    case SSAN_EV_stream_create:
        return on_stream_create(engine, &event->stream_create, err);
    case SSAN_EV_event_create:
        return on_event_create(engine, event->event_create.event, err);
    case SSAN_EV_stream_destroy:
    case SSAN_EV_event_destroy:
        return on_destroy(engine, event, err);
    case SSAN_EV_alloc:
    case SSAN_EV_free:
    case SSAN_EV_pool_alloc:
    case SSAN_EV_pool_free:
    case SSAN_EV_ignore:
        return on_memory(engine, event, err);
    case SSAN_EV_thread_start:
    case SSAN_EV_thread_join:
    case SSAN_EV_release:
    case SSAN_EV_acquire:
        return on_thread(engine, event, err);
    case SSAN_EV_callback_begin:
        return on_callback(engine, event->callback_begin.thread, event->callback_begin.op, true,
                           err);
    case SSAN_EV_callback_end:
        return on_callback(engine, event->callback_end.thread, event->callback_end.op, false, err);
    case SSAN_EV_fault:
        return on_fault(engine, &event->fault, err);
    case SSAN_EV_call:
        return on_call(engine, &event->call, err);
    case SSAN_EV_failed:
        return on_failed(engine, &event->failed, err);
    case SSAN_EV_asked:
        return on_asked(engine, &event->asked, err);
    default:
        return on_count(engine, event, err);
    }
}

/* Dropped by an edit: operations and syncs keep their ids, all else is as if it had not been. */
static bool is_skipped(const struct engine *engine, enum ssan_event_kind kind)
{
    return engine->drop && kind != SSAN_EV_op && kind != SSAN_EV_sync &&
           kind != SSAN_EV_sync_return;
}

enum ssan_status engine_feed(struct engine *engine, const struct ssan_event *event,
                             struct ssan_error *err)
{
    if (engine->broken != SSAN_OK) {
        return ssan_fail(err, engine->broken, engine->position, "%s",
                         engine->broken == SSAN_FORMAT ? "the trace is damaged" : "out of memory");
    }
    edits_apply(engine);
    enum ssan_status status =
        is_skipped(engine, event->kind) ? SSAN_OK : dispatch(engine, event, err);
    if (status != SSAN_OK) {
        return status;
    }
    if ((queue_is_ready(engine) && !queue_run(engine, false)) || engine->order.failed ||
        engine->clocks.failed || engine->shadows.failed) {
        return engine_no_memory(engine, err);
    }
    engine->position++;
    return SSAN_OK;
}

enum ssan_status engine_finish(struct engine *engine, struct ssan_error *err)
{
    for (size_t i = engine->window.head; i < engine->window.slots.count; i++) {
        engine->totals.open_operations += engine->window.slots.items[i].state == SLOT_OPEN;
    }
    if (!queue_run(engine, true)) {
        return engine_no_memory(engine, err);
    }
    if (engine->totals.exited) {
        failures_exit(engine);
        misuse_pending(engine);
    }
    return engine->shadows.failed ? engine_no_memory(engine, err) : SSAN_OK;
}

const struct hazard *engine_hazards(const struct engine *engine, size_t *count)
{
    /* sorting is a cache: the hazards themselves stay as they are */
    return hazards_sorted((struct hazards *)&engine->hazards, count);
}

size_t engine_hazard_count(const struct engine *engine)
{
    return engine->hazards.items.count;
}

const struct engine_totals *engine_totals(const struct engine *engine)
{
    return &engine->totals;
}

uint64_t engine_bytes(const struct engine *engine)
{
    return sizeof *engine + engine->clocks.bytes + order_bytes(&engine->order) +
           engine->actors.bytes + engine->shadows.bytes + queue_bytes(engine) +
           places_bytes(&engine->places) + hazards_bytes(&engine->hazards) +
           engine->window.slots.room * sizeof(struct slot) +
           engine->streams.room * sizeof(struct stream_facts) +
           engine->records.room * sizeof(struct recorded) +
           engine->allocs.room * sizeof(struct buffer *) +
           engine->threads.room * sizeof(struct thread) +
           (engine->front.room + engine->live.room + engine->dead.room + engine->holes.room) *
               sizeof(struct span) +
           (engine->front.count + engine->dead.count + engine->holes.count) * sizeof(struct buffer);
}

/* Everything that holds clocks. */
static void finish_clocks(struct engine *engine)
{
    for (size_t i = 0; i < engine->threads.count; i++) {
        times_drop(&engine->clocks, &engine->threads.items[i].acquired);
        stamp_drop(&engine->clocks, &engine->threads.items[i].call.end);
    }
    for (size_t i = 0; i < engine->syncs.count; i++) {
        stamp_drop(&engine->clocks, &engine->syncs.items[i].captured);
    }
    for (size_t i = 0; i < engine->objects.count; i++) {
        times_drop(&engine->clocks, &engine->objects.items[i].released);
    }
    for (size_t i = 0; i < engine->late.count; i++) {
        times_drop(&engine->clocks, &engine->late.items[i].acquired);
    }
    for (size_t i = 0; i < engine->saved.count; i++) {
        stamp_drop(&engine->clocks, &engine->saved.items[i].end);
    }
    stamp_drop(&engine->clocks, &engine->last_callback);
    order_finish(&engine->order);
}

/* Everything that holds actors. */
static void finish_actors(struct engine *engine)
{
    failures_finish(engine);
    for (size_t i = 0; i < engine->records.count; i++) {
        actor_drop(&engine->actors, engine->records.items[i].actor);
    }
    for (size_t i = 0; i < engine->streams.count; i++) {
        struct stream_facts *facts = &engine->streams.items[i];
        actor_drop(&engine->actors, facts->last);
        for (size_t k = 0; k < facts->submitters.count; k++) {
            actor_drop(&engine->actors, facts->submitters.items[k].actor);
        }
        VEC_FREE(&facts->submitters);
    }
}

void engine_destroy(struct engine *engine)
{
    if (!engine) {
        return;
    }
    queue_finish(engine);
    finish_clocks(engine);
    finish_actors(engine);
    spans_finish(&engine->front, &engine->shadows);
    spans_finish(&engine->live, &engine->shadows);
    spans_finish(&engine->dead, &engine->shadows);
    spans_finish(&engine->holes, &engine->shadows);
    for (size_t i = 0; i < engine->allocs.count; i++) {
        buffer_drop(engine->allocs.items[i], &engine->shadows);
    }
    shadow_clear(&engine->pageable.shadow, &engine->shadows);
    shadow_owner_finish(&engine->shadows);
    actors_finish(&engine->actors);
    clocks_finish(&engine->clocks);
    hazards_finish(&engine->hazards);
    places_finish(&engine->places);
    ranges_finish(&engine->ignored);
    map_finish(&engine->pool_blocks);
    map_finish(&engine->object_index);
    VEC_FREE(&engine->window.slots);
    VEC_FREE(&engine->threads);
    VEC_FREE(&engine->records);
    VEC_FREE(&engine->streams);
    VEC_FREE(&engine->allocs);
    VEC_FREE(&engine->syncs);
    VEC_FREE(&engine->objects);
    VEC_FREE(&engine->saved);
    VEC_FREE(&engine->late);
    mem_free(engine);
}
