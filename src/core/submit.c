/* Operations: submission moves the clocks, sets gather bytes, close hands them to the queue.
 * Window: the operations between submission and close, by id; ids are dense. */
#include "core/copy_matrix.h"
#include "core/engine_parts.h"

#include "base/mem.h"

#include <assert.h>

static bool window_push(struct window *window, uint64_t op, struct slot slot)
{
    if (window->head > 64 && window->head * 2 > window->slots.count) {
        size_t left = window->slots.count - window->head;
        for (size_t i = 0; i < left; i++) {
            window->slots.items[i] = window->slots.items[window->head + i];
        }
        window->slots.count = left;
        window->head = 0;
    }
    if (window->head == window->slots.count) {
        window->first_op = op;
    }
    return VEC_PUSH(&window->slots, slot);
}

static void window_close(struct window *window, struct slot *slot)
{
    *slot = (struct slot){.state = SLOT_DONE};
    while (window->head < window->slots.count &&
           window->slots.items[window->head].state == SLOT_DONE) {
        window->head++;
        window->first_op++;
    }
}

static bool is_light(enum ssan_op_kind kind)
{
    return kind == SSAN_op_kind_RECORD || kind == SSAN_op_kind_WAIT;
}

static struct actor *op_actor(struct engine *engine, const struct ssan_ev_op *event,
                              const struct stream *stream)
{
    struct actor *actor = engine_actor(engine, SIDE_OP, event->thread, event->site);
    if (!actor) {
        return NULL;
    }
    actor->op = event->op;
    actor->caller = event->thread;
    actor->stream = event->stream;
    actor->context = stream->context;
    actor->flavour = (uint32_t)stream->flavour;
    struct place_key key = place_key(SIDE_OP, (uint32_t)event->kind, event->site,
                                     (uint32_t)stream->flavour, event->stream);
    actor->place = place_of(&engine->places, key, event->name);
    if (actor->place == 0) {
        actor_drop(&engine->actors, actor);
        return NULL;
    }
    return actor;
}

static void keep_actor(struct engine *engine, struct actor **at, struct actor *actor)
{
    actor_drop(&engine->actors, *at);
    *at = actor_ref(actor);
}

/* Who submitted to the stream last, for each thread (R-HOST-6). */
static bool note_submitter(struct engine *engine, struct stream_facts *facts, struct actor *actor)
{
    for (size_t i = 0; i < facts->submitters.count; i++) {
        if (facts->submitters.items[i].thread == actor->thread) {
            keep_actor(engine, &facts->submitters.items[i].actor, actor);
            return true;
        }
    }
    return VEC_PUSH(&facts->submitters,
                    (struct submitter){.thread = actor->thread, .actor = actor_ref(actor)});
}

/* R-COPY-14, R-COPY-15: a copy between two devices, or by a call that names them, is a legacy
 * action in the contexts of both where it stands in a legacy stream, and an item of its own stream
 * alone elsewhere. */
static void find_barriers(const struct engine *engine, const struct ssan_ev_op *event,
                          const struct stream *stream, struct item *item)
{
    uint32_t dst = copies_context(engine, event->dst), src = copies_context(engine, event->src);
    bool legacy = stream->flavour == SSAN_stream_flavour_LEGACY;
    if (dst == 0 || src == 0 || (dst == src && !copy_matrix_names_devices(event)) ||
        (!legacy && !order_broken(&engine->order, ORDER_R_COPY_15))) {
        return;
    }
    item->barriers[0] = legacy && dst == stream->context ? 0 : dst;
    item->barriers[1] = src == dst || (legacy && src == stream->context) ? 0 : src;
}

/* The op's own words for the call in progress (matrix 4.3). */
static void begin_call(struct engine *engine, struct thread *thread, const struct ssan_ev_op *event,
                       struct item *item)
{
    struct call *call = &thread->call;
    stamp_drop(&engine->clocks, &call->end);
    call->op = event->op;
    call->kind = event->kind;
    if (event->kind != SSAN_op_kind_COPY && event->kind != SSAN_op_kind_MEMSET) {
        return;
    }
    call->form = event->form;
    call->src = SSAN_memory_DEVICE; /* of a memset: not asked */
    uint64_t rows = event->height > 0 ? event->height : 1;
    uint64_t dst_span = event->width + (rows - 1) * event->dst_pitch;
    uint64_t src_span = event->width + (rows - 1) * event->src_pitch;
    call->bytes = copy_matrix_bytes(event);
    call->dst = copies_kind(engine, event->dst, dst_span);
    if (event->kind == SSAN_op_kind_COPY) {
        call->src = copies_kind(engine, event->src, src_span);
        item->side = copies_need_side(engine, call, &item->side_documented);
        find_barriers(engine, event, order_stream(&engine->order, event->stream), item);
    }
}

static struct work *op_work(struct engine *engine, const struct actor *actor,
                            const struct stamp *end, const struct item *item,
                            const struct host *host)
{
    struct work *work = queue_add(engine, WORK_OP);
    if (!work) {
        return NULL;
    }
    work->actor = actor_ref((struct actor *)actor);
    work->at = stamp_ref(end);
    work->first_tick = item->first_tick;
    work->side = item->side_epoch;
    if (is_strict(engine)) {
        work->host = stamp_ref(&host->now);
    }
    return work;
}

static void tell_item(const struct engine *engine, uint64_t op, const struct stamp *end,
                      const struct item *item)
{
    struct stamp begin = *end;
    begin.own.tick = item->first_tick - 1;
    engine->options.watch->item(engine->options.watch->self, op, &begin, &end->own);
}

/* Everything behind the checks of on_op; false when out of memory. No actor: a record or wait that
 * nothing will name. */
static bool submit(struct engine *engine, const struct ssan_ev_op *event, struct actor *actor,
                   struct thread *thread, struct host *host)
{
    struct event_state *record =
        is_light(event->kind) ? order_event(&engine->order, event->event) : NULL;
    struct item item = {.ticks = event->kind == SSAN_op_kind_HOSTFUNC ? HOSTFUNC_TICKS : 1,
                        .record = event->kind == SSAN_op_kind_RECORD};
    struct stamp bound = {0};
    if (event->kind == SSAN_op_kind_WAIT && record->recorded) {
        bound = order_capture_event(&engine->order, event->event);
        item.wait = &bound;
    }
    begin_call(engine, thread, event, &item);
    if (is_strict(engine)) {
        actor->submitted = order_host_epoch(&engine->order, host);
    }
    order_submit(&engine->order, event->stream, host, &item);
    stamp_drop(&engine->clocks, &bound);
    if (engine->order.failed || engine->clocks.failed) {
        return false;
    }
    const struct stamp *end = &engine->order.streams.items[event->stream].tail;
    if (event->kind == SSAN_op_kind_COPY || event->kind == SSAN_op_kind_MEMSET) {
        thread->call.end = stamp_ref(end);
        thread->call.first_tick = item.first_tick;
        thread->call.side = item.side_epoch;
    }
    if (engine->options.watch) {
        tell_item(engine, event->op, end, &item);
    }
    if (engine->options.edit_count > 0) {
        edits_save(engine, event->op, end);
    }
    struct stream_facts *facts = &engine->streams.items[event->stream];
    struct slot slot = {.state = SLOT_LIGHT};
    if (event->kind == SSAN_op_kind_RECORD) {
        order_record(&engine->order, event->event, event->stream);
        keep_actor(engine, &engine->records.items[event->event].actor, actor);
    } else if (!is_light(event->kind)) {
        keep_actor(engine, &facts->last, actor);
        facts->last_tick = end->own;
        slot.state = SLOT_OPEN;
        slot.work = op_work(engine, actor, end, &item, host);
    }
    if (is_strict(engine) && !note_submitter(engine, facts, actor)) {
        return false;
    }
    return (slot.state == SLOT_LIGHT || slot.work) && window_push(&engine->window, event->op, slot);
}

/* A wait for an event never recorded: no item, no barrier, advice (R-EVENT-4). */
static bool is_void_wait(struct engine *engine, const struct ssan_ev_op *event)
{
    return event->kind == SSAN_op_kind_WAIT && !order_event(&engine->order, event->event)->recorded;
}

enum ssan_status on_op(struct engine *engine, const struct ssan_ev_op *event,
                       struct ssan_error *err)
{
    if (event->op != engine->last_op + 1) {
        return engine_refuse(engine, err, "next operation", event->op);
    }
    const struct stream *stream = order_stream(&engine->order, event->stream);
    if (!stream) {
        return engine_refuse(engine, err, "live stream", event->stream);
    }
    if (is_light(event->kind) && !order_event(&engine->order, event->event)) {
        return engine_refuse(engine, err, "live event", event->event);
    }
    struct thread *thread = engine_thread(engine, event->thread);
    struct host *host = thread ? order_host(&engine->order, event->thread) : NULL;
    if (!host) {
        return engine_refuse(engine, err, "thread", event->thread);
    }
    engine->last_op = event->op;
    engine->stopped = (struct stopped){0};
    engine->totals.operations++;
    engine->totals.submitting_threads += !thread->submitted;
    thread->submitted = true;
    if (engine->drop) {
        return window_push(&engine->window, event->op, (struct slot){.state = SLOT_LIGHT})
                   ? SSAN_OK
                   : engine_no_memory(engine, err);
    }
    if (event->form == SSAN_form_SYNC) {
        failures_join(engine, thread);
    }
    bool fine = true;
    bool is_void = is_void_wait(engine, event);
    /* records and waits stand in no hazard but those of strict threads and of void waits */
    bool nameless = is_light(event->kind) && !is_void && !is_strict(engine);
    struct actor *actor = nameless ? NULL : op_actor(engine, event, stream);
    if (!actor && !nameless) {
        return engine_no_memory(engine, err);
    }
    if (is_void) {
        misuse_unrecorded(engine, event->stream, event->event, actor);
    } else if (event->kind == SSAN_op_kind_WAIT && is_strict(engine)) {
        misuse_event_race(engine, host, event->event, actor);
    }
    if (is_void && !order_broken(&engine->order, ORDER_R_EVENT_4)) {
        thread->call.op = event->op;
        thread->call.kind = event->kind;
        fine = window_push(&engine->window, event->op, (struct slot){.state = SLOT_LIGHT});
    } else {
        fine = submit(engine, event, actor, thread, host);
    }
    actor_drop(&engine->actors, actor);
    return fine ? SSAN_OK : engine_no_memory(engine, err);
}

/* The odd ones of the numbers that way_of gives: `may` accesses. */
#define MAY_WAYS 0xaaaaaaaau

/* The bytes that an open operation has gathered for one way of access; NULL when it isn't open or
 * out of memory. */
static struct bytes *way_of(struct engine *engine, uint64_t op, enum ssan_access access,
                            enum ssan_set_sureness sureness, bool *open)
{
    struct slot *slot = window_find(&engine->window, op);
    *open = slot && slot->state == SLOT_OPEN;
    if (!*open) {
        return NULL;
    }
    uint32_t way = (uint32_t)access * 2 + (sureness == SSAN_set_sureness_MAY ? 1 : 0);
    struct work *work = slot->work;
    if ((work->used >> way & 1) == 0) {
        engine->totals.footprints += (way & 1) && (work->used & MAY_WAYS) == 0;
        work->ways[way] = way_create(engine);
        work->used |= work->ways[way] ? 1u << way : 0;
    }
    return work->used >> way & 1 ? work->ways[way] : NULL;
}

/* Long sets that arrive in small parts are sealed as they grow, so that they stay near their final
 * size: each time as much has come as was there. */
static bool tidy(struct bytes *bytes)
{
    return bytes->count < BYTES_SEAL_FROM || bytes->count < bytes->full || bytes_seal(bytes);
}

enum ssan_status on_set(struct engine *engine, const struct ssan_ev_set *event,
                        struct ssan_error *err)
{
    bool open = false;
    struct bytes *bytes = way_of(engine, event->op, event->access, event->sureness, &open);
    if (!open) {
        return engine_refuse(engine, err, "open operation", event->op);
    }
    for (uint32_t i = 0; bytes && i < event->runs.count; i++) {
        const struct ssan_run *run = &event->runs.ptr[i];
        uint64_t end;
        if (!ssan_run_end(run, &end)) {
            return engine_refuse(engine, err, "sane run of operation", event->op);
        }
        if (!bytes_add_run(bytes, run->address, run->length, run->stride, run->count, event->site,
                           event->width)) {
            return engine_no_memory(engine, err);
        }
    }
    engine->totals.accesses++;
    return bytes && tidy(bytes) ? SSAN_OK : engine_no_memory(engine, err);
}

enum ssan_status on_set_leaf(struct engine *engine, const struct ssan_ev_set_leaf *event,
                             struct ssan_error *err)
{
    if (ssan_leaf_count(event) == 0) {
        return engine_refuse(engine, err, "sane leaf of operation", event->op);
    }
    bool open = false;
    struct bytes *bytes = way_of(engine, event->op, event->access, event->sureness, &open);
    if (!open) {
        return engine_refuse(engine, err, "open operation", event->op);
    }
    engine->totals.accesses++;
    bool fits = bytes && bytes_add_leaves(bytes, event, event->site, event->width) && tidy(bytes);
    return fits ? SSAN_OK : engine_no_memory(engine, err);
}

enum ssan_status on_op_closed(struct engine *engine, uint64_t op, struct ssan_error *err)
{
    struct slot *slot = window_find(&engine->window, op);
    if (!slot) {
        return engine_refuse(engine, err, "open operation", op);
    }
    if (slot->state == SLOT_OPEN) {
        slot->work->closed = true;
    }
    window_close(&engine->window, slot);
    return SSAN_OK;
}
