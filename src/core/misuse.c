/* Misuse and races of calls: events never recorded, records and waits or submissions and joins of
 * threads that nothing orders (strict threads only), work that nobody waited for. None of them has
 * bytes. */
#include "core/engine_parts.h"

void misuse_unrecorded(struct engine *engine, uint32_t stream, uint32_t event, struct actor *then)
{
    struct verdict verdict = {.check = CHECK_EVENT_UNRECORDED,
                              .severity = SEVERITY_ADVICE,
                              .documented = SEVERITY_ADVICE};
    judge_plain(engine, &verdict, NULL, then, stream, event);
}

/* A verdict of `check` when `host` is not behind the call that made `first`; false when it is. */
static bool is_apart(struct engine *engine, const struct host *host, const struct actor *first,
                     enum check check, struct verdict *verdict)
{
    struct moment now = {.stamp = &host->now};
    if (!first || moment_covers(&now, false, first->submitted)) {
        return false;
    }
    struct times late = late_closure(engine, &now, false);
    now.extra = &late;
    bool apart = !moment_covers(&now, false, first->submitted);
    *verdict = (struct verdict){.check = check};
    judge_readings(verdict, moment_covers(&now, true, first->submitted),
                   moment_rule(&now, first->submitted));
    times_drop(&engine->clocks, &late);
    return apart;
}

void misuse_event_race(struct engine *engine, const struct host *host, uint32_t event,
                       struct actor *then)
{
    const struct actor *record = engine->records.items[event].actor;
    struct verdict verdict;
    if (is_strict(engine) && !order_broken(&engine->order, ORDER_R_EVENT_14) &&
        is_apart(engine, host, record, CHECK_EVENT_RACE, &verdict)) {
        judge_plain(engine, &verdict, record, then, then->stream, event);
    }
}

/* Whether a join of `event` covers the stream. */
static bool is_covered(struct engine *engine, const struct ssan_ev_sync *event, uint32_t id)
{
    const struct stream *stream = &engine->order.streams.items[id];
    if (event->kind == SSAN_sync_kind_DEVICE) {
        return stream->context == event->object;
    }
    if (id == event->object) {
        return true;
    }
    const struct stream *joined = order_stream(&engine->order, event->object);
    return joined->flavour == SSAN_stream_flavour_LEGACY && joined->context == stream->context &&
           stream->flavour != SSAN_stream_flavour_NON_BLOCKING;
}

void misuse_join(struct engine *engine, const struct host *host, const struct ssan_ev_sync *event,
                 struct actor *then)
{
    if (!is_strict(engine) || order_broken(&engine->order, ORDER_R_HOST_6)) {
        return;
    }
    for (uint32_t id = 1; id < engine->streams.count; id++) {
        const struct stream_facts *facts = &engine->streams.items[id];
        if (facts->submitters.count == 0 || !is_covered(engine, event, id)) {
            continue;
        }
        for (size_t i = 0; i < facts->submitters.count; i++) {
            const struct submitter *submitter = &facts->submitters.items[i];
            struct verdict verdict;
            if (submitter->thread != then->thread &&
                is_apart(engine, host, submitter->actor, CHECK_SUBMIT_RACE, &verdict)) {
                judge_plain(engine, &verdict, submitter->actor, then, id, 0);
            }
        }
    }
}

void misuse_pending(struct engine *engine)
{
    if (engine->stopped.told) {
        return;
    }
    for (uint32_t id = 1; id < engine->streams.count; id++) {
        const struct stream_facts *facts = &engine->streams.items[id];
        uint32_t context = engine->order.streams.items[id].context;
        if (!facts->last || engine->order.contexts.items[context].dead_position != 0 ||
            order_is_joined(&engine->order, facts->last_tick)) {
            continue;
        }
        struct verdict verdict = {.check = CHECK_PENDING_AT_EXIT,
                                  .severity = SEVERITY_ADVICE,
                                  .documented = SEVERITY_ADVICE};
        struct actor *last = facts->last;
        uint32_t place = last->place;
        last->place = engine_place(engine, SIDE_OP, 64, 0, 0, 0, id); /* one for each stream */
        judge_plain(engine, &verdict, NULL, last, id, 0);
        last->place = place;
    }
}
