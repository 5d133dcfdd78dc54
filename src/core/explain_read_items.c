/* Items of streams for the history, and what the return of a call joins (copies, memsets).
 *
 * The matrix of copies stands here a second time, in the short form that near misses need: which
 * return joins what, in which reading. Verdicts come from the engine's. Cost: O(log blocks) an
 * item. */
#include "core/explain_read_parts.h"

/* What the return of a copy joins (matrix 4.3); width and height in bytes and rows. */
static struct returning copy_returns(const struct ssan_ev_op *ev, enum ssan_memory dst,
                                     enum ssan_memory src)
{
    const bool small = ev->width * (ev->height ? ev->height : 1) <= UINT64_C(65536);
    const bool managed = dst == SSAN_memory_MANAGED || src == SSAN_memory_MANAGED;
    const bool dst_host = dst != SSAN_memory_DEVICE && dst != SSAN_memory_MANAGED;
    const bool src_host = src != SSAN_memory_DEVICE && src != SSAN_memory_MANAGED;
    const bool pageable = src == SSAN_memory_PAGEABLE;
    if (ev->form == SSAN_form_ASYNC) {
        if (dst_host && src_host) {
            return (struct returning){.item = true};
        }
        return (struct returning){.item = dst == SSAN_memory_PAGEABLE && !managed,
                                  .item_observed = true};
    }
    if (dst_host) {
        return (struct returning){.item = true};
    }
    if (managed) {
        return (struct returning){.item = true, .item_observed = true};
    }
    if (src_host && pageable) {
        return (struct returning){.prior = true, .prior_observed = small};
    }
    if (src_host) {
        return (struct returning){.item = true, .item_observed = small};
    }
    return (struct returning){0};
}

static struct returning memset_returns(const struct ssan_ev_op *ev, enum ssan_memory dst)
{
    const bool locked = dst == SSAN_memory_PINNED || dst == SSAN_memory_REGISTERED;
    const bool managed = dst == SSAN_memory_MANAGED;
    return (struct returning){.item = ev->form == SSAN_form_SYNC && (locked || managed),
                              .item_observed = managed};
}

/* Bytes that a copy's operand spans. */
static uint64_t span_bytes(uint64_t width, uint64_t height, uint64_t pitch)
{
    return height > 1 && pitch < UINT64_C(1) << 40 && height < UINT64_C(1) << 20
               ? pitch * (height - 1) + width
               : width;
}

static bool note_copy(struct reader_state *state, const struct ssan_ev_op *ev,
                      struct hist_item *item, uint32_t index)
{
    const enum ssan_memory dst = read_memory_of(state, ev->dst);
    const bool copy = ev->kind == SSAN_op_kind_COPY;
    const enum ssan_memory src = copy ? read_memory_of(state, ev->src) : dst;
    const struct returning returns = copy ? copy_returns(ev, dst, src) : memset_returns(ev, dst);
    item->pageable_source = copy && src == SSAN_memory_PAGEABLE && dst == SSAN_memory_DEVICE;
    if (!read_add_operand(state, ev->dst, span_bytes(ev->width, ev->height, ev->dst_pitch),
                          ev->site, item->call, false) ||
        (copy && !read_add_operand(state, ev->src, span_bytes(ev->width, ev->height, ev->src_pitch),
                                   ev->site, item->call, true))) {
        return false;
    }
    if (!returns.item && !returns.prior) {
        return true;
    }
    return map_set(&state->returning_of, index, state->returnings.count) &&
           VEC_PUSH(&state->returnings, returns);
}

bool read_op(struct reader_state *state, const struct ssan_ev_op *ev)
{
    struct history *history = state->history;
    const uint32_t index = (uint32_t)history->items.count;
    const uint32_t stream = history_find(&history->stream_of, ev->stream);
    if (stream == HISTORY_NONE) {
        return true;
    }
    struct hist_stream *owner = &history->streams.items[stream];
    struct hist_item item = {
        .op = ev->op,
        .position = state->position,
        .stream = stream,
        .seq = (uint32_t)owner->items.count + 1,
        .record = HISTORY_NONE,
        .thread = ev->thread,
        .site = ev->site,
        .call = read_intern(state, ev->call),
        .name = read_intern(state, ev->name),
        .event = HISTORY_NONE,
        .kind = ev->kind,
        .form = ev->form,
    };
    if (!item.call || !item.name) {
        return false;
    }
    if (ev->kind == SSAN_op_kind_RECORD || ev->kind == SSAN_op_kind_WAIT) {
        item.event = history_find(&history->event_of, ev->event);
        item.record = history_latest_record(history, item.event, state->position);
    }
    if ((ev->kind == SSAN_op_kind_COPY || ev->kind == SSAN_op_kind_MEMSET) &&
        !note_copy(state, ev, &item, index)) {
        return false;
    }
    if (!map_set(&history->item_of, ev->op, index) || !VEC_PUSH(&history->items, item) ||
        !VEC_PUSH(&owner->items, index) ||
        !read_add_call(state, CALL_ITEM, index, ev->thread, ev->site)) {
        return false;
    }
    if (item.event == HISTORY_NONE) {
        return true;
    }
    struct hist_event *event = &history->events.items[item.event];
    return ev->kind == SSAN_op_kind_RECORD ? VEC_PUSH(&event->records, index)
                                           : VEC_PUSH(&event->waits, index);
}

bool read_op_return(struct reader_state *state, const struct ssan_ev_op_return *ev)
{
    const uint32_t index = history_find(&state->history->item_of, ev->op);
    const uint32_t found =
        index == HISTORY_NONE ? HISTORY_NONE : history_find(&state->returning_of, index);
    if (found == HISTORY_NONE) {
        return true;
    }
    const struct hist_item *item = &state->history->items.items[index];
    const struct returning returns = state->returnings.items[found];
    bool ok = true;
    if (returns.item) {
        ok = read_add_join(state, (struct hist_join){.kind = JOIN_ITEM,
                                                     .object = index,
                                                     .thread = item->thread,
                                                     .observed_only = returns.item_observed});
    }
    if (ok && returns.prior) {
        ok = read_add_join(state, (struct hist_join){.kind = JOIN_STREAM,
                                                     .object = item->stream,
                                                     .bound = item->position,
                                                     .thread = item->thread,
                                                     .observed_only = returns.prior_observed});
    }
    return ok;
}
