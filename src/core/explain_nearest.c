/* Finds the nearest miss of a pair: p on stream P, c on stream C or on the host.
 *
 * The rows of docs/report.md in their order; the first that applies is it. Each row is a question
 * to the records on P behind p and to the waits of C (or of the host) around c, gathered in one
 * walk over both. What is found here is an explanation, never a verdict. */
#include "core/explain_nearest.h"

#include <string.h>

#include "core/explain_order.h"

/* What the waits around c look like. */
struct around {
    uint32_t record; /* first record on P behind p that a wait just before c would bind to */
    bool named;      /* some wait names its event */
    uint32_t early;  /* last wait before c that binds to a record on P before p */
    uint32_t late;   /* first wait behind c that binds to a record on P behind p */
    uint32_t never;  /* last wait before c for an event that was not recorded by then */
    /* Last wait before c whose event was recorded on P behind p, then elsewhere. */
    uint32_t replaced;
    uint32_t replaced_was; /* that record on P */
};

static uint32_t side_item(const struct history *history, const struct side *side)
{
    return side->op ? history_find(&history->item_of, side->op) : HISTORY_NONE;
}

static uint32_t side_host(const struct history *history, const struct side *side)
{
    const size_t at = history_call_at(history, side->position);
    if (side->kind == SIDE_OP || at >= history->calls.count ||
        history->calls.items[at].position != side->position ||
        history->calls.items[at].kind != CALL_HOST) {
        return HISTORY_NONE;
    }
    return history->calls.items[at].index;
}

struct pair pair_of(const struct history *history, const struct hazard *hazard, bool documented)
{
    return (struct pair){
        .hazard = hazard,
        .first_item = side_item(history, &hazard->first),
        .then_item = side_item(history, &hazard->then),
        .first_host = side_host(history, &hazard->first),
        .then_host = side_host(history, &hazard->then),
        .documented = documented,
    };
}

/* The first record on p's stream behind p, before `position`, whose event still stands for work
 * behind p there. */
static uint32_t serving_record(const struct history *history, const struct hist_item *p,
                               uint64_t position)
{
    const struct hist_stream *stream = &history->streams.items[p->stream];
    for (size_t i = p->seq; i < stream->items.count; i++) {
        const struct hist_item *item = &history->items.items[stream->items.items[i]];
        if (item->position >= position) {
            break;
        }
        if (item->kind != SSAN_op_kind_RECORD) {
            continue;
        }
        const uint32_t latest = history_latest_record(history, item->event, position);
        if (latest != HISTORY_NONE && history->items.items[latest].stream == p->stream &&
            history->items.items[latest].seq > p->seq) {
            return stream->items.items[i];
        }
    }
    return HISTORY_NONE;
}

/* A record of `event` on p's stream behind p and before `position`. */
static uint32_t record_behind(const struct history *history, const struct hist_item *p,
                              uint32_t event, uint64_t position)
{
    if (event == HISTORY_NONE) {
        return HISTORY_NONE;
    }
    const struct hist_event *found = &history->events.items[event];
    for (size_t i = 0; i < found->records.count; i++) {
        const struct hist_item *record = &history->items.items[found->records.items[i]];
        if (record->position >= position) {
            break;
        }
        if (record->stream == p->stream && record->seq > p->seq) {
            return found->records.items[i];
        }
    }
    return HISTORY_NONE;
}

/* One wait (an item or a sync: `index`) for `event`, bound to `record`, into what is known around
 * c. */
static void note_wait(const struct history *history, const struct hist_item *p,
                      struct around *around, uint32_t index, uint32_t event, uint32_t record,
                      bool before)
{
    if (around->record != HISTORY_NONE && history->items.items[around->record].event == event) {
        around->named = true;
    }
    if (record == HISTORY_NONE) {
        around->never = before ? index : around->never;
        return;
    }
    const struct hist_item *bound = &history->items.items[record];
    if (bound->stream == p->stream) {
        if (before && bound->seq < p->seq) {
            around->early = index;
        } else if (!before && bound->seq > p->seq && around->late == HISTORY_NONE) {
            around->late = index;
        }
    } else if (before) {
        const uint32_t was = record_behind(history, p, event, bound->position);
        if (was != HISTORY_NONE) {
            around->replaced = index;
            around->replaced_was = was;
        }
    }
}

static struct around around_nothing(uint32_t record)
{
    return (struct around){.record = record,
                           .early = HISTORY_NONE,
                           .late = HISTORY_NONE,
                           .never = HISTORY_NONE,
                           .replaced = HISTORY_NONE,
                           .replaced_was = HISTORY_NONE};
}

static bool is_event_sync(const struct hist_sync *sync)
{
    return sync->kind == SSAN_sync_kind_EVENT || sync->kind == SSAN_sync_kind_EVENT_QUERY;
}

/* Whether a host wait covers p. */
static bool sync_covers(const struct history *history, const struct hist_sync *sync,
                        const struct hist_item *p)
{
    if (sync->position < p->position) {
        return false;
    }
    if (sync->kind == SSAN_sync_kind_DEVICE) {
        return history->streams.items[p->stream].context == sync->object;
    }
    if (is_event_sync(sync)) {
        return sync->record != HISTORY_NONE &&
               history->items.items[sync->record].stream == p->stream &&
               history->items.items[sync->record].seq > p->seq;
    }
    return (sync->kind == SSAN_sync_kind_STREAM || sync->kind == SSAN_sync_kind_STREAM_QUERY) &&
           sync->object == p->stream;
}

/* The first host wait behind `position` that covers p; `device`: joins of the whole device count.
 */
static uint32_t late_sync(const struct history *history, const struct hist_item *p,
                          uint64_t position, bool device)
{
    for (uint32_t i = 0; i < history->syncs.count; i++) {
        const struct hist_sync *sync = &history->syncs.items[i];
        if (sync->position > position && (device || sync->kind != SSAN_sync_kind_DEVICE) &&
            sync_covers(history, sync, p)) {
            return i;
        }
    }
    return HISTORY_NONE;
}

/* Order between the two would come from the legacy stream, but one of them is exempt (R-STREAM-5).
 */
static bool is_legacy_exempt(const struct history *history, const struct hist_item *p,
                             const struct hist_item *c)
{
    const struct hist_stream *from = &history->streams.items[p->stream];
    const struct hist_stream *to = &history->streams.items[c->stream];
    const bool from_exempt = from->flavour == SSAN_stream_flavour_NON_BLOCKING;
    const bool to_exempt = to->flavour == SSAN_stream_flavour_NON_BLOCKING;
    if (from->context != to->context || (!from_exempt && !to_exempt)) {
        return false;
    }
    if (from->flavour == SSAN_stream_flavour_LEGACY || to->flavour == SSAN_stream_flavour_LEGACY) {
        return true;
    }
    for (uint32_t i = 0; i < history->streams.count; i++) {
        if (history->streams.items[i].flavour == SSAN_stream_flavour_LEGACY &&
            history->streams.items[i].context == from->context &&
            history_items_before(history, i, c->position) >
                history_items_before(history, i, p->position)) {
            return true; /* a legacy item stands between them */
        }
    }
    return false;
}

/* Both are default streams, of two devices (R-STREAM-6, R-PEER-4). */
static bool is_peer_default(const struct history *history, const struct hist_item *p,
                            const struct hist_item *c)
{
    return history_is_default(history, p) && history_is_default(history, c) &&
           history_device_of(history, p) != history_device_of(history, c);
}

static void set_event(const struct history *history, struct miss *miss, uint32_t record)
{
    miss->record = record;
    miss->event = record == HISTORY_NONE ? HISTORY_NONE : history->items.items[record].event;
}

/* The rows that name events, common to waits of streams and of the host. `event_of` a wait is
 * `events[]` by index. */
static bool event_rows(const struct history *history, const struct around *around, bool host,
                       struct miss *miss)
{
    uint32_t wait = HISTORY_NONE;
    if (around->record != HISTORY_NONE && !around->named) {
        set_event(history, miss, around->record);
        miss->kind =
            around->early == HISTORY_NONE ? NEAREST_RECORDED_NOT_WAITED : NEAREST_WRONG_EVENT;
        wait = around->early;
    } else if (around->early != HISTORY_NONE) {
        miss->kind = NEAREST_RECORDED_EARLY;
        wait = around->early;
    } else if (around->late != HISTORY_NONE) {
        miss->kind = NEAREST_WAITED_LATE;
        wait = around->late;
    } else if (around->never != HISTORY_NONE) {
        miss->kind = NEAREST_NEVER_RECORDED;
        set_event(history, miss, around->record);
        wait = around->never;
    } else if (around->replaced != HISTORY_NONE) {
        miss->kind = NEAREST_RE_RECORDED;
        set_event(history, miss, around->replaced_was);
        wait = around->replaced;
    } else {
        return false;
    }
    if (wait == HISTORY_NONE) {
        return true;
    }
    const uint32_t bound =
        host ? history->syncs.items[wait].record : history->items.items[wait].record;
    const uint32_t event =
        host ? history->syncs.items[wait].object : history->items.items[wait].event;
    *(host ? &miss->sync : &miss->wait) = wait;
    if (miss->kind == NEAREST_WRONG_EVENT || miss->kind == NEAREST_RE_RECORDED) {
        miss->other_event = event;
        miss->other_record = bound;
    } else if (miss->kind != NEAREST_NEVER_RECORDED) {
        set_event(history, miss, bound);
    } else {
        miss->event = event;
    }
    return true;
}

/* Whether anybody waits for the event of a record while that record is its latest. */
static bool is_waited_for(const struct history *history, uint32_t record)
{
    const struct hist_event *event = &history->events.items[history->items.items[record].event];
    for (size_t i = 0; i < event->waits.count; i++) {
        if (history->items.items[event->waits.items[i]].record == record) {
            return true;
        }
    }
    for (size_t i = 0; i < history->syncs.count; i++) {
        if (is_event_sync(&history->syncs.items[i]) && history->syncs.items[i].record == record) {
            return true;
        }
    }
    return false;
}

/* The last wait of p's stream before c for a record on the stream of c; HISTORY_NONE: none. */
static uint32_t wait_of_first(const struct history *history, const struct hist_item *p,
                              const struct hist_item *c)
{
    const struct hist_stream *from = &history->streams.items[p->stream];
    for (size_t i = history_items_before(history, p->stream, c->position); i-- > 0;) {
        const struct hist_item *item = &history->items.items[from->items.items[i]];
        if (item->kind == SSAN_op_kind_WAIT && item->record != HISTORY_NONE &&
            history->items.items[item->record].stream == c->stream) {
            return from->items.items[i];
        }
    }
    return HISTORY_NONE;
}

static void nearest_of_streams(const struct history *history, const struct pair *pair,
                               struct miss *miss)
{
    const struct hist_item *p = &history->items.items[pair->first_item];
    const struct hist_item *c = &history->items.items[pair->then_item];
    const struct hist_stream *to = &history->streams.items[c->stream];
    struct around around = around_nothing(serving_record(history, p, c->position));
    for (size_t i = 0; i < to->items.count; i++) {
        const uint32_t index = to->items.items[i];
        const struct hist_item *item = &history->items.items[index];
        if (item->kind == SSAN_op_kind_WAIT) {
            note_wait(history, p, &around, index, item->event, item->record,
                      item->position < c->position);
        }
    }
    if (event_rows(history, &around, false, miss)) {
        return;
    }
    miss->sync = late_sync(history, p, c->position, false);
    if (miss->sync != HISTORY_NONE) {
        miss->kind = NEAREST_HOST_LATE;
    } else if (p->pageable_source && p->form == SSAN_form_SYNC) {
        miss->kind =
            NEAREST_PAGEABLE_STAGING; /* R-COPY-8: says more than that the stream is exempt */
    } else if (is_legacy_exempt(history, p, c)) {
        miss->kind = NEAREST_LEGACY_EXEMPT;
    } else if (history->strict && p->thread != c->thread) {
        miss->kind = NEAREST_HOST_THREADS;
    } else if (is_peer_default(history, p, c)) {
        miss->kind = NEAREST_PEER_DEFAULT;
    } else {
        miss->wait = wait_of_first(history, p, c);
        miss->reversed = miss->wait != HISTORY_NONE;
    }
}

static void nearest_of_host(const struct history *history, const struct pair *pair,
                            struct miss *miss)
{
    const struct hist_item *p = &history->items.items[pair->first_item];
    const uint64_t position = pair->hazard->then.position;
    struct around around = around_nothing(serving_record(history, p, position));
    if (p->pageable_source && pair->documented) {
        miss->kind = NEAREST_PAGEABLE_STAGING; /* an order there is, but only by staging */
        return;
    }
    for (uint32_t i = 0; i < history->syncs.count; i++) {
        const struct hist_sync *sync = &history->syncs.items[i];
        if (is_event_sync(sync)) {
            note_wait(history, p, &around, i, sync->object, sync->record,
                      sync->position < position);
        }
    }
    if (event_rows(history, &around, true, miss)) {
        return;
    }
    miss->sync = late_sync(history, p, position, true);
    if (miss->sync != HISTORY_NONE) {
        miss->kind = NEAREST_HOST_LATE;
    } else if (history->strict && p->thread != pair->hazard->then.thread) {
        miss->kind = NEAREST_HOST_THREADS;
    }
}

/* Whether the hazard is about an order between two operations, and not about one call or a dead
 * block. */
static bool misses_order(const struct history *history, const struct pair *pair)
{
    const struct hazard *hazard = pair->hazard;
    if (check_info(hazard->check)->family == FAMILY_MISUSE || pair->first_item == HISTORY_NONE) {
        return false;
    }
    if (pair->then_item == HISTORY_NONE) {
        return hazard->then.kind != SIDE_OP;
    }
    return history->items.items[pair->first_item].stream !=
           history->items.items[pair->then_item].stream;
}

bool nearest_find(const struct history *history, const struct pair *pair, struct miss *miss)
{
    const struct hazard *hazard = pair->hazard;
    *miss = (struct miss){.kind = NEAREST_NONE,
                          .event = HISTORY_NONE,
                          .other_event = HISTORY_NONE,
                          .record = HISTORY_NONE,
                          .wait = HISTORY_NONE,
                          .other_record = HISTORY_NONE,
                          .sync = HISTORY_NONE};
    if (hazard->check == CHECK_EVENT_RACE || hazard->check == CHECK_SUBMIT_RACE ||
        (history->strict && pair->first_item == HISTORY_NONE &&
         check_info(hazard->check)->family == FAMILY_RACE)) {
        miss->known = true;
        miss->kind = NEAREST_HOST_THREADS;
        miss->event =
            hazard->event ? history_find(&history->event_of, hazard->event) : HISTORY_NONE;
        return true;
    }
    if (!misses_order(history, pair)) {
        return true;
    }
    const struct hist_item *p = &history->items.items[pair->first_item];
    uint32_t *seen = mem_zalloc(history->streams.count + 1, sizeof *seen);
    if (!seen) {
        return false;
    }
    const bool ok = pair->then_item != HISTORY_NONE
                        ? order_before_item(history, pair->then_item, pair->documented, seen)
                        : order_before_host(history, hazard->then.thread, hazard->then.position,
                                            pair->documented, seen);
    miss->known = true;
    miss->seen_seq = seen[p->stream];
    miss->needed_seq = p->seq;
    mem_free(seen);
    if (pair->then_item != HISTORY_NONE) {
        nearest_of_streams(history, pair, miss);
    } else {
        nearest_of_host(history, pair, miss);
    }
    miss->elsewhere =
        miss->kind == NEAREST_RECORDED_NOT_WAITED && is_waited_for(history, miss->record);
    return ok;
}
