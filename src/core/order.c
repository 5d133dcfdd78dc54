/* Streams, events and host joins on clocks: the recipe of docs/model.md. Sources are cited in
 * order.def, in the words of docs/model.md; each rule here names its entry there. Cost: O(1) for an
 * item whose host, legacy stream and event have not moved since the stream's last item, else one
 * join. */
#include "core/order.h"

#include <assert.h>
#include <string.h>

static_assert(ORDER_COUNT <= UINT8_MAX, "clocks keep a rule in one byte");

/* Spare chains tried before a new one is made. */
#define SPARE_TRIES 16u

/* Grows a table of zeroed elements so that `index` exists. */
#define GROW_TO(order, table, index)                                                               \
    (VEC_RESERVE((table), (size_t)(index) + 1)                                                     \
         ? (memset((table)->items + (table)->count, 0,                                             \
                   ((table)->count > (size_t)(index) ? 0 : (size_t)(index) + 1 - (table)->count) * \
                       sizeof *(table)->items),                                                    \
            (table)->count =                                                                       \
                (table)->count > (size_t)(index) ? (table)->count : (size_t)(index) + 1,           \
            true)                                                                                  \
         : ((order)->failed = true, false))

struct host *order_host_slow(struct order *order, uint32_t index)
{
    if (index > ORDER_MAX_THREADS || !GROW_TO(order, &order->hosts, index)) {
        return NULL;
    }
    return &order->hosts.items[index];
}

struct context *order_context(struct order *order, uint32_t context)
{
    if (context > ORDER_MAX_CONTEXTS || !GROW_TO(order, &order->contexts, context)) {
        return NULL;
    }
    return &order->contexts.items[context];
}

/* A chain whose last tick `beg` covers, so that whoever takes its next tick may skip the ones
 * before. `host` takes a side tick at the return: its clock must cover them too. */
static uint32_t take_chain(struct order *order, const struct times *beg, const struct host *host,
                           bool documented)
{
    size_t tries = order->spare.count < SPARE_TRIES ? order->spare.count : SPARE_TRIES;
    for (size_t i = 0; i < tries; i++) {
        size_t at = order->spare.count - 1 - i;
        uint32_t chain = order->spare.items[at];
        struct epoch last = {.chain = chain, .tick = order->chains.items[chain].last};
        if (last.tick < UINT32_MAX / 2 && clock_covers(beg->doc, last) &&
            (!host || stamp_covers(&host->now, !documented, last))) {
            order->spare.items[at] = order->spare.items[--order->spare.count];
            return chain;
        }
    }
    if (!VEC_PUSH(&order->chains, (struct chain){0})) {
        order->failed = true;
        return 0;
    }
    return (uint32_t)(order->chains.count - 1);
}

static void spare_chain(struct order *order, uint32_t chain)
{
    if (!VEC_PUSH(&order->spare, chain)) {
        order->failed = true;
    }
}

/* Advances `own` by `ticks`, on a fresh chain where it has none or would overflow. Returns its
 * first new tick. */
static uint32_t advance(struct order *order, struct stamp *stamp, uint32_t ticks)
{
    if (stamp->own.tick > UINT32_MAX - ticks) {
        times_set(order->clocks, &stamp->past, stamp->own);
        stamp->own = (struct epoch){0};
    }
    if (stamp->own.tick == 0) {
        uint32_t chain = take_chain(order, &stamp->past, NULL, true);
        if (order->failed) {
            return 0;
        }
        stamp->own = (struct epoch){.chain = chain, .tick = order->chains.items[chain].last};
    }
    uint32_t first = stamp->own.tick + 1;
    stamp->own.tick += ticks;
    order->chains.items[stamp->own.chain].last = stamp->own.tick;
    return first;
}

struct epoch order_host_epoch(struct order *order, struct host *host)
{
    if (host->published || host->now.own.tick == 0) {
        advance(order, &host->now, 1);
        host->published = false;
    }
    return host->now.own;
}

void order_publish(struct host *host)
{
    host->published = true;
}

bool order_stream_create(struct order *order, const struct ssan_ev_stream_create *event)
{
    struct context *context = order_context(order, event->context);
    if (!context || !GROW_TO(order, &order->streams, event->stream)) {
        return false;
    }
    struct stream *stream = &order->streams.items[event->stream];
    stream->live = stream->known = true;
    stream->context = event->context;
    stream->flavour = event->flavour;
    stream->owner = event->owner;
    if (event->flavour == SSAN_stream_flavour_LEGACY) {
        context->legacy = event->stream;
        stream->tail.past = context->foreign;
        context->foreign = (struct times){0};
    } else if (context->legacy != 0 && order_broken(order, ORDER_R_STREAM_8)) {
        stream->seen_legacy = stamp_ref(&order->streams.items[context->legacy].tail);
    }
    return true;
}

/* R-STREAM-4: which streams the legacy stream waits for, and which wait for it. */
static bool is_blocking(const struct order *order, const struct stream *stream)
{
    switch (stream->flavour) {
    case SSAN_stream_flavour_BLOCKING:
        return true;
    case SSAN_stream_flavour_PER_THREAD:
        return !order_broken(order, ORDER_R_STREAM_4);
    case SSAN_stream_flavour_NON_BLOCKING: /* R-STREAM-5 */
        return order_broken(order, ORDER_R_STREAM_5);
    default:
        return false;
    }
}

/* ALL and BLK are brought up to date only when somebody asks: one join for each stream that moved
 * since. */
static void flush(struct order *order, struct context *context, bool blocking)
{
    struct times *into = blocking ? &context->blocking : &context->all;
    size_t count = blocking ? context->dirty_blocking.count : context->dirty_all.count;
    const uint32_t *ids = blocking ? context->dirty_blocking.items : context->dirty_all.items;
    for (size_t i = 0; i < count; i++) {
        struct stream *stream = &order->streams.items[ids[i]];
        bool *dirty = blocking ? &stream->dirty_blocking : &stream->dirty_all;
        if (*dirty) {
            times_join_stamp(order->clocks, into, &stream->tail);
        }
        *dirty = false;
    }
    context->dirty_blocking.count = blocking ? 0 : context->dirty_blocking.count;
    context->dirty_all.count = blocking ? context->dirty_all.count : 0;
}

static void mark_dirty(struct order *order, struct stream *stream, uint32_t id)
{
    struct context *context = &order->contexts.items[stream->context];
    if (!stream->dirty_all) {
        stream->dirty_all = VEC_PUSH(&context->dirty_all, id);
        order->failed = order->failed || !stream->dirty_all;
    }
    if (!stream->dirty_blocking && is_blocking(order, stream)) {
        stream->dirty_blocking = VEC_PUSH(&context->dirty_blocking, id);
        order->failed = order->failed || !stream->dirty_blocking;
    }
}

/* past |= now, unless it was taken before. */
static void take_seen(struct order *order, struct times *past, struct stamp *seen,
                      const struct stamp *now)
{
    if (stamp_same(seen, now)) {
        return;
    }
    times_join_stamp(order->clocks, past, now);
    struct stamp old = *seen;
    *seen = stamp_ref(now);
    stamp_drop(order->clocks, &old);
}

/* R-STREAM-3: an item of the legacy stream comes behind all blocking streams of its context. */
static void take_blocking(struct order *order, struct times *past, struct context *context)
{
    flush(order, context, true);
    times_join(order->clocks, past, &context->blocking);
}

/* in(s) of docs/model.md: what the legacy barrier adds to an item of `stream`. */
static void take_legacy(struct order *order, struct stream *stream, const struct item *item)
{
    struct context *context = &order->contexts.items[stream->context];
    if (order_broken(order, ORDER_R_STREAM_3)) {
        return;
    }
    if (stream->flavour == SSAN_stream_flavour_LEGACY) {
        /* R-STREAM-7: every enqueued legacy item counts, records too */
        if (!(item->record && order_broken(order, ORDER_R_STREAM_7))) {
            take_blocking(order, &stream->tail.past, context);
        }
    } else if (is_blocking(order, stream) && context->legacy != 0) {
        take_seen(order, &stream->tail.past, &stream->seen_legacy,
                  &order->streams.items[context->legacy].tail);
    } else if (is_blocking(order, stream) && context->foreign.doc) {
        times_join(order->clocks, &stream->tail.past, &context->foreign);
    }
}

/* R-COPY-14, before: a copy between two devices in a legacy stream comes behind the legacy and the
 * blocking streams of both. */
static void take_barriers(struct order *order, struct times *past, const struct item *item)
{
    for (size_t i = 0; i < 2; i++) {
        struct context *context =
            item->barriers[i] ? &order->contexts.items[item->barriers[i]] : NULL;
        if (!context || order_broken(order, ORDER_R_COPY_14)) {
            continue;
        }
        take_blocking(order, past, context);
        if (context->legacy != 0) {
            times_join_stamp(order->clocks, past, &order->streams.items[context->legacy].tail);
        } else {
            times_join(order->clocks, past, &context->foreign);
        }
    }
}

/* R-COPY-14, behind: what follows in those streams, and who joins those contexts, comes behind it.
 */
static void put_barriers(struct order *order, const struct stamp *end, const struct item *item)
{
    for (size_t i = 0; i < 2; i++) {
        struct context *context =
            item->barriers[i] ? &order->contexts.items[item->barriers[i]] : NULL;
        if (!context || order_broken(order, ORDER_R_COPY_14)) {
            continue;
        }
        if (context->legacy != 0) {
            struct stream *legacy = &order->streams.items[context->legacy];
            times_join_stamp(order->clocks, &legacy->tail.past, end);
        } else {
            times_join_stamp(order->clocks, &context->foreign, end);
        }
        times_join_stamp(order->clocks, &context->all, end);
    }
}

/* The no-edge rules: their mutants add the edge that must not be there. */
static void take_mutants(struct order *order, struct stream *stream)
{
    if (order_broken(order, ORDER_R_STREAM_2)) {
        struct context *own = &order->contexts.items[stream->context];
        flush(order, own, false);
        times_join(order->clocks, &stream->tail.past, &own->all);
    }
    if (order_broken(order, ORDER_R_STREAM_6) && stream->flavour == SSAN_stream_flavour_LEGACY) {
        for (size_t i = 0; i < order->streams.count; i++) {
            times_join_stamp(order->clocks, &stream->tail.past, &order->streams.items[i].tail);
        }
    }
    if (order_broken(order, ORDER_R_STREAM_11) &&
        stream->flavour == SSAN_stream_flavour_PER_THREAD) {
        for (size_t i = 0; i < order->streams.count; i++) {
            const struct stream *other = &order->streams.items[i];
            if (other->flavour == SSAN_stream_flavour_PER_THREAD && other->known) {
                times_join_stamp(order->clocks, &stream->tail.past, &other->tail);
            }
        }
    }
}

void order_submit(struct order *order, uint32_t id, struct host *host, struct item *item)
{
    struct stream *stream = &order->streams.items[id];
    if (order_broken(order, ORDER_R_STREAM_1)) { /* items of a stream lose their order */
        stamp_drop(order->clocks, &stream->tail);
        stamp_drop(order->clocks, &stream->seen_host);
        stamp_drop(order->clocks, &stream->seen_legacy);
    }
    struct times *past = &stream->tail.past;
    if (host && !order_broken(order, ORDER_R_HOST_9)) { /* R-HOST-9: program order to submission */
        take_seen(order, past, &stream->seen_host, &host->now);
        order_publish(host);
    }
    take_legacy(order, stream, item);
    take_barriers(order, past, item);
    if (item->wait && !order_broken(order, ORDER_R_EVENT_5)) { /* R-EVENT-5 */
        times_join_stamp(order->clocks, past, item->wait);
    }
    if (order->mutant != 0) {
        take_mutants(order, stream);
    }
    if (item->side) {
        uint32_t chain = take_chain(order, past, host, item->side_documented);
        if (order->failed) {
            return;
        }
        uint32_t tick = ++order->chains.items[chain].last;
        item->side_epoch = (struct epoch){.chain = chain, .tick = tick};
        times_set(order->clocks, past, item->side_epoch);
        spare_chain(order, chain);
    }
    item->first_tick = advance(order, &stream->tail, item->ticks);
    put_barriers(order, &stream->tail, item);
    mark_dirty(order, stream, id);
}

void order_stream_destroy(struct order *order, uint32_t id)
{
    struct stream *stream = &order->streams.items[id];
    struct context *context = &order->contexts.items[stream->context];
    if (order_broken(order, ORDER_R_STREAM_13)) {
        stream->dirty_blocking = false; /* the mutant: its pending work leaves the barrier */
    }
    flush(order, context, true); /* R-STREAM-13: pending work stays in BLK and ALL */
    flush(order, context, false);
    if (context->legacy == id) {
        return; /* default streams are never destroyed by a program; keep LEG */
    }
    if (stream->tail.own.tick != 0) {
        spare_chain(order, stream->tail.own.chain);
    }
    stamp_drop(order->clocks, &stream->tail);
    stamp_drop(order->clocks, &stream->seen_host);
    stamp_drop(order->clocks, &stream->seen_legacy);
    stream->live = false;
}

bool order_event_create(struct order *order, uint32_t event)
{
    if (!GROW_TO(order, &order->events, event)) {
        return false;
    }
    order->events.items[event].live = true;
    return true;
}

void order_event_destroy(struct order *order, uint32_t event)
{
    /* R-EVENT-12: waits already enqueued have taken the record's clock and keep it */
    struct event_state *state = &order->events.items[event];
    stamp_drop(order->clocks, &state->at);
    state->live = state->recorded = false;
}

void order_record(struct order *order, uint32_t event, uint32_t stream)
{
    struct event_state *state = &order->events.items[event];
    if (state->recorded && order_broken(order, ORDER_R_EVENT_2)) {
        return; /* the mutant: the first record stays */
    }
    /* R-EVENT-1: a snapshot of the stream up to and with the record; R-EVENT-2: it replaces the one
     * before */
    stamp_drop(order->clocks, &state->at);
    state->at = stamp_ref(&order->streams.items[stream].tail);
    state->recorded = true;
    state->stream = stream;
}

struct stamp order_capture_stream(struct order *order, uint32_t id)
{
    struct stream *stream = &order->streams.items[id];
    struct stamp captured = stamp_ref(&stream->tail);
    if (stream->flavour == SSAN_stream_flavour_LEGACY && !order_broken(order, ORDER_R_HOST_3)) {
        take_blocking(order, &captured.past, &order->contexts.items[stream->context]);
    }
    return captured;
}

struct stamp order_capture_event(struct order *order, uint32_t event)
{
    const struct event_state *state = &order->events.items[event];
    if (state->recorded && order_broken(order, ORDER_R_EVENT_1)) {
        return stamp_ref(&order->streams.items[state->stream].tail);
    }
    return stamp_ref(&state->at);
}

struct stamp order_capture_context(struct order *order, uint32_t id)
{
    struct context *context = &order->contexts.items[id];
    flush(order, context, false);
    return (struct stamp){.past = times_ref(&context->all)};
}

void order_join(struct order *order, struct host *host, enum ssan_sync_kind kind,
                const struct stamp *captured)
{
    static const enum order_rule rules[ssan_sync_kind_count] = {
        [SSAN_sync_kind_DEVICE] = ORDER_R_HOST_1,
        [SSAN_sync_kind_STREAM] = ORDER_R_HOST_2,
        [SSAN_sync_kind_EVENT] = ORDER_R_EVENT_9,
        [SSAN_sync_kind_STREAM_QUERY] = ORDER_R_STREAM_14,
        [SSAN_sync_kind_EVENT_QUERY] = ORDER_R_EVENT_10,
        [SSAN_sync_kind_ELAPSED] = ORDER_R_EVENT_11,
    };
    bool broken = order_broken(order, rules[kind]);
    if (kind == SSAN_sync_kind_ELAPSED && !broken) { /* R-EVENT-11: in the observed reading only */
        times_join_stamp_observed(order->clocks, &host->now.past, captured, ORDER_R_EVENT_11);
    } else if (kind == SSAN_sync_kind_ELAPSED || !broken) {
        times_join_stamp(order->clocks, &host->now.past, captured);
    }
    if (order_broken(order, ORDER_R_HOST_5)) { /* the mutant: every thread gains the join */
        for (size_t i = 0; i < order->hosts.count; i++) {
            times_join_stamp(order->clocks, &order->hosts.items[i].now.past, captured);
        }
    }
}

void order_join_free(struct order *order, struct host *host, uint32_t context)
{
    if (order_broken(order, ORDER_R_IMPL_3)) {
        return;
    }
    uint32_t end = context ? context + 1 : (uint32_t)order->contexts.count;
    for (uint32_t i = context; i < end; i++) {
        struct stamp all = order_capture_context(order, i);
        times_join_stamp_observed(order->clocks, &host->now.past, &all, ORDER_R_IMPL_3);
        stamp_drop(order->clocks, &all);
    }
}

bool order_is_joined(const struct order *order, struct epoch at)
{
    for (size_t i = 0; i < order->hosts.count; i++) {
        if (stamp_covers(&order->hosts.items[i].now, true, at)) {
            return true;
        }
    }
    return false;
}

bool order_is_common(const struct order *order, struct epoch at)
{
    for (size_t i = 1; i < order->hosts.count; i++) {
        const struct stamp *now = &order->hosts.items[i].now;
        bool seen = !order->hosts.items[i].ended && (now->own.tick != 0 || now->past.doc);
        if (seen && !stamp_covers(now, false, at)) {
            return false;
        }
    }
    return true;
}

uint64_t order_bytes(const struct order *order)
{
    uint64_t bytes =
        order->hosts.room * sizeof(struct host) + order->streams.room * sizeof(struct stream) +
        order->events.room * sizeof(struct event_state) +
        order->contexts.room * sizeof(struct context) + order->chains.room * sizeof(struct chain) +
        order->spare.room * sizeof(uint32_t);
    for (size_t i = 0; i < order->contexts.count; i++) {
        const struct context *context = &order->contexts.items[i];
        bytes += (context->dirty_all.room + context->dirty_blocking.room) * sizeof(uint32_t);
    }
    return bytes;
}

void order_finish(struct order *order)
{
    for (size_t i = 0; i < order->hosts.count; i++) {
        stamp_drop(order->clocks, &order->hosts.items[i].now);
    }
    for (size_t i = 0; i < order->streams.count; i++) {
        stamp_drop(order->clocks, &order->streams.items[i].tail);
        stamp_drop(order->clocks, &order->streams.items[i].seen_host);
        stamp_drop(order->clocks, &order->streams.items[i].seen_legacy);
    }
    for (size_t i = 0; i < order->events.count; i++) {
        stamp_drop(order->clocks, &order->events.items[i].at);
    }
    for (size_t i = 0; i < order->contexts.count; i++) {
        struct context *context = &order->contexts.items[i];
        times_drop(order->clocks, &context->foreign);
        times_drop(order->clocks, &context->all);
        times_drop(order->clocks, &context->blocking);
        VEC_FREE(&context->dirty_all);
        VEC_FREE(&context->dirty_blocking);
    }
    VEC_FREE(&order->hosts);
    VEC_FREE(&order->streams);
    VEC_FREE(&order->events);
    VEC_FREE(&order->contexts);
    VEC_FREE(&order->chains);
    VEC_FREE(&order->spare);
}
