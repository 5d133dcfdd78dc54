/* What host threads do besides submitting: joins, hand-overs, host functions, accesses of their
 * own. A join binds at its entry and takes effect at its return. Inside a host function a thread
 * stands in that operation's place. */
#include "core/engine_parts.h"

static bool note_submits(struct engine *engine, uint32_t id)
{
    struct thread *thread = engine_thread(engine, id);
    if (!thread) {
        return false;
    }
    engine->totals.submitting_threads += !thread->submitted;
    thread->submitted = true;
    return true;
}

/* Binds a sync to what its object is now; false: no such object. */
static bool capture(struct engine *engine, const struct ssan_ev_sync *event,
                    struct pending_sync *sync)
{
    struct order *order = &engine->order;
    switch (event->kind) {
    case SSAN_sync_kind_DEVICE:
        sync->context = event->object;
        if (!order_context(order, event->object)) {
            return false;
        }
        sync->captured = order_capture_context(order, event->object);
        return true;
    case SSAN_sync_kind_STREAM:
    case SSAN_sync_kind_STREAM_QUERY: {
        const struct stream *stream = order_stream(order, event->object);
        if (!stream) {
            return false;
        }
        sync->context = stream->context;
        sync->captured = order_capture_stream(order, event->object);
        return true;
    }
    default:
        if (!order_event(order, event->object)) {
            return false;
        }
        sync->captured = order_capture_event(order, event->object);
        return true;
    }
}

/* Advice and races of the join itself, which do not change what it orders. */
static bool inspect(struct engine *engine, const struct ssan_ev_sync *event,
                    const struct host *host)
{
    struct actor *actor = engine_actor(engine, SIDE_HOST, event->thread, event->site);
    if (!actor) {
        return false;
    }
    actor->place = engine_place(engine, SIDE_HOST, 16 + (uint32_t)event->kind, event->site, 0, 0,
                                event->object);
    bool on_event = event->kind == SSAN_sync_kind_EVENT ||
                    event->kind == SSAN_sync_kind_EVENT_QUERY ||
                    event->kind == SSAN_sync_kind_ELAPSED;
    if (on_event && !order_event(&engine->order, event->object)->recorded) {
        if (event->kind != SSAN_sync_kind_EVENT) { /* R-EVENT-4: a query of one is no mistake */
            actor_drop(&engine->actors, actor);
            return true;
        }
        misuse_unrecorded(engine, 0, event->object, actor);
    } else if (on_event) {
        misuse_event_race(engine, host, event->object, actor);
    } else {
        misuse_join(engine, host, event, actor);
    }
    actor_drop(&engine->actors, actor);
    return true;
}

enum ssan_status on_sync(struct engine *engine, const struct ssan_ev_sync *event,
                         struct ssan_error *err)
{
    if (event->sync != engine->last_sync + 1) {
        return engine_refuse(engine, err, "next sync", event->sync);
    }
    struct host *host = order_host(&engine->order, event->thread);
    if (!host || !note_submits(engine, event->thread)) {
        return engine_refuse(engine, err, "thread", event->thread);
    }
    engine->last_sync = event->sync;
    engine->stopped = (struct stopped){0};
    if (event->kind == SSAN_sync_kind_DEVICE || event->kind == SSAN_sync_kind_STREAM ||
        event->kind == SSAN_sync_kind_EVENT) {
        failures_join(engine, engine_thread(engine, event->thread));
    }
    struct pending_sync sync = {
        .sync = event->sync, .kind = event->kind, .thread = event->thread, .object = event->object};
    if (!engine->drop) {
        if (!capture(engine, event, &sync)) {
            return engine_refuse(engine, err, "object of sync", event->object);
        }
    }
    if ((!engine->drop && !inspect(engine, event, host)) || !VEC_PUSH(&engine->syncs, sync)) {
        stamp_drop(&engine->clocks, &sync.captured);
        return engine_no_memory(engine, err);
    }
    return SSAN_OK;
}

enum ssan_status on_sync_return(struct engine *engine, const struct ssan_ev_sync_return *event,
                                struct ssan_error *err)
{
    size_t at = 0;
    while (at < engine->syncs.count && engine->syncs.items[at].sync != event->sync) {
        at++;
    }
    if (at == engine->syncs.count) {
        return engine_refuse(engine, err, "sync in progress", event->sync);
    }
    struct pending_sync sync = engine->syncs.items[at];
    engine->syncs.items[at] = engine->syncs.items[--engine->syncs.count];
    struct host *host = order_host(&engine->order, sync.thread);
    if (order_broken(&engine->order, ORDER_R_EVENT_3) && sync.kind == SSAN_sync_kind_EVENT &&
        order_event(&engine->order, sync.object)) { /* the mutant binds at the return */
        stamp_drop(&engine->clocks, &sync.captured);
        sync.captured = order_capture_event(&engine->order, sync.object);
    }
    if (host && !engine->drop && event->ok == 0 && !order_broken(&engine->order, ORDER_R_HOST_7)) {
        /* R-HOST-7: a join that failed still orders lifetimes, but certifies no results */
        order_publish(host); /* a tick that only those take who come behind this return */
        struct epoch back = order_host_epoch(&engine->order, host);
        struct times covered = {0};
        times_join_stamp(&engine->clocks, &covered, &sync.captured);
        if (!late_add(engine, back, &covered, true)) {
            stamp_drop(&engine->clocks, &sync.captured);
            return engine_no_memory(engine, err);
        }
    } else if (host && !engine->drop) {
        order_join(&engine->order, host, sync.kind, &sync.captured);
    }
    stamp_drop(&engine->clocks, &sync.captured);
    return host ? SSAN_OK : engine_no_memory(engine, err);
}

static struct times *object_clock(struct engine *engine, uint64_t object)
{
    const uint64_t *found = map_find(&engine->object_index, object);
    if (found) {
        return &engine->objects.items[*found - 1].released;
    }
    if (!VEC_PUSH(&engine->objects, (struct object_clock){0}) ||
        !map_set(&engine->object_index, object, engine->objects.count)) {
        engine->order.failed = true;
        return NULL;
    }
    return &engine->objects.items[engine->objects.count - 1].released;
}

/* The past and present of a thread inside a host function: its operation's beginning, what it
 * acquired, its tick. */
static void add_inner(struct engine *engine, const struct thread *thread, struct times *into)
{
    const struct slot *slot = window_find(&engine->window, thread->callback);
    if (!slot || slot->state != SLOT_OPEN) {
        return;
    }
    struct stamp now = stamp_ref(&slot->work->at);
    now.own.tick = slot->work->first_tick + thread->segment;
    times_join_stamp(&engine->clocks, into, &now);
    stamp_drop(&engine->clocks, &now);
    times_join(&engine->clocks, into, &thread->acquired);
}

static enum ssan_status release(struct engine *engine, uint32_t id, uint64_t object,
                                struct ssan_error *err)
{
    struct thread *thread = engine_thread(engine, id);
    struct host *host = order_host(&engine->order, id);
    struct times *released = object_clock(engine, object);
    if (!thread || !host || !released) {
        return engine_refuse(engine, err, "thread", id);
    }
    if (thread->callback != 0) { /* R-HF-3: a release inside a host function splits its tick */
        add_inner(engine, thread, released);
        thread->segment += thread->segment < HOSTFUNC_TICKS - 1;
        return SSAN_OK;
    }
    times_join_stamp(&engine->clocks, released, &host->now);
    order_publish(host);
    return SSAN_OK;
}

static enum ssan_status acquire(struct engine *engine, uint32_t id, uint64_t object,
                                struct ssan_error *err)
{
    struct thread *thread = engine_thread(engine, id);
    struct host *host = order_host(&engine->order, id);
    struct times *released = object_clock(engine, object);
    if (!thread || !host || !released) {
        return engine_refuse(engine, err, "thread", id);
    }
    times_join(&engine->clocks, thread->callback != 0 ? &thread->acquired : &host->now.past,
               released);
    return SSAN_OK;
}

/* Thread `to` comes behind the present of thread `from`; one timeline has that order already. */
static enum ssan_status follow(struct engine *engine, uint32_t to, uint32_t from,
                               struct ssan_error *err)
{
    if (!order_host(&engine->order, to) || !order_host(&engine->order, from)) {
        return engine_refuse(engine, err, "thread", to);
    }
    struct host *behind = order_host(&engine->order, to);
    struct host *before = order_host(&engine->order, from);
    if (behind != before) {
        times_join_stamp(&engine->clocks, &behind->now.past, &before->now);
        order_publish(before);
    }
    return SSAN_OK;
}

static enum ssan_status join_thread(struct engine *engine, const struct ssan_ev_thread_join *event,
                                    struct ssan_error *err)
{
    enum ssan_status status = follow(engine, event->thread, event->joined, err);
    if (status == SSAN_OK && is_strict(engine)) {
        order_host(&engine->order, event->joined)->ended = true;
    }
    return status;
}

enum ssan_status on_thread(struct engine *engine, const struct ssan_event *event,
                           struct ssan_error *err)
{
    switch (event->kind) {
    case SSAN_EV_thread_start:
        return follow(engine, event->thread_start.thread, event->thread_start.parent, err);
    case SSAN_EV_thread_join:
        return join_thread(engine, &event->thread_join, err);
    case SSAN_EV_release:
        return release(engine, event->release.thread, event->release.object, err);
    default:
        return acquire(engine, event->acquire.thread, event->acquire.object, err);
    }
}

enum ssan_status on_callback(struct engine *engine, uint32_t id, uint64_t op, bool begin,
                             struct ssan_error *err)
{
    struct thread *thread = engine_thread(engine, id);
    const struct slot *slot = window_find(&engine->window, op);
    if (!thread || !slot || slot->state != SLOT_OPEN || thread->callback != (begin ? 0 : op)) {
        return engine_refuse(engine, err, "open host function", op);
    }
    if (begin && order_broken(&engine->order, ORDER_R_HF_5)) {
        times_join_stamp(&engine->clocks, &thread->acquired, &engine->last_callback);
    }
    if (!begin) {
        if (order_broken(&engine->order, ORDER_R_HF_5)) {
            stamp_drop(&engine->clocks, &engine->last_callback);
            engine->last_callback = stamp_ref(&slot->work->at);
        }
        if (order_broken(&engine->order, ORDER_R_HF_3)) {
            struct host *host = order_host(&engine->order, id);
            times_join_stamp(&engine->clocks, &host->now.past, &slot->work->at);
        }
        if (thread->acquired.obs &&
            !late_add(engine, slot->work->at.own, &thread->acquired, false)) {
            return engine_no_memory(engine, err);
        }
        thread->segment = 0;
    }
    thread->callback = begin ? op : 0;
    return SSAN_OK;
}

static bool add_inner_access(struct engine *engine, const struct thread *thread, struct work *work,
                             const struct ssan_ev_host_access *event, struct actor *take_actor)
{
    take_actor->op = thread->callback;
    take_actor->context = work->actor->context;
    take_actor->stream = work->actor->stream;
    take_actor->flavour = work->actor->flavour;
    take_actor->caller = work->actor->caller;
    take_actor->submitted = work->actor->submitted;
    struct inner_access inner = {
        .actor = take_actor,
        .access = event->access,
        .address = event->address,
        .size = event->size,
        .tick = work->first_tick + thread->segment,
        .acquired = times_ref(&thread->acquired),
    };
    if (VEC_PUSH(&work->inner, inner)) {
        return true;
    }
    actor_drop(&engine->actors, take_actor);
    times_drop(&engine->clocks, &inner.acquired);
    return false;
}

enum ssan_status on_host_access(struct engine *engine, const struct ssan_ev_host_access *event,
                                struct ssan_error *err)
{
    struct thread *thread = engine_thread(engine, event->thread);
    struct host *host = order_host(&engine->order, event->thread);
    if (!thread || !host) {
        return engine_refuse(engine, err, "thread", event->thread);
    }
    if (event->size > UINT64_MAX - event->address) {
        return engine_refuse(engine, err, "sane host access of thread", event->thread);
    }
    engine->totals.host_accesses = true;
    engine->totals.accesses++;
    if (event->size == 0) {
        return SSAN_OK;
    }
    bool inside = thread->callback != 0 && !order_broken(&engine->order, ORDER_R_HF_2);
    const struct slot *slot = inside ? window_find(&engine->window, thread->callback) : NULL;
    if (inside && (!slot || slot->state != SLOT_OPEN)) {
        return engine_refuse(engine, err, "open host function", thread->callback);
    }
    struct actor *actor = engine_actor(engine, SIDE_HOST, event->thread, event->site);
    if (!actor) {
        return engine_no_memory(engine, err);
    }
    actor->place =
        engine_place(engine, SIDE_HOST, (uint32_t)event->access, event->site, 0, 0, event->thread);
    if (inside) {
        return add_inner_access(engine, thread, slot->work, event, actor)
                   ? SSAN_OK
                   : engine_no_memory(engine, err);
    }
    struct work *work = queue_add(engine, WORK_HOST);
    if (!work) {
        actor_drop(&engine->actors, actor);
        return engine_no_memory(engine, err);
    }
    work->actor = actor;
    work->access = event->access;
    work->address = event->address;
    work->size = event->size;
    order_host_epoch(&engine->order, host);
    work->at = stamp_ref(&host->now);
    return SSAN_OK;
}
