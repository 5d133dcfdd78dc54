/* Items of streams for the history, and what the return of a call joins (copies, memsets), in the
 * short form that near misses need. Cost: O(log blocks) an item. */
#include "core/explain_read_parts.h"

#include "core/copy_matrix.h"

/* What the return of a copy or memset joins, by the matrix. */
static struct returning copy_returns(const struct ssan_ev_op *ev, enum ssan_memory dst,
                                     enum ssan_memory src)
{
    const struct copy_shape shape = {
        .is_memset = ev->kind == SSAN_op_kind_MEMSET,
        .form = ev->form,
        .dst = dst,
        .src = src,
        .bytes = copy_matrix_bytes(ev),
    };
    const struct copy_effect documented = copy_matrix_effect(&shape, true);
    const struct copy_effect observed = copy_matrix_effect(&shape, false);
    return (struct returning){
        .item = documented.host_sync || observed.host_sync,
        .item_observed = !documented.host_sync && observed.host_sync,
        .prior = documented.joins_prior || observed.joins_prior,
        .prior_observed = !documented.joins_prior && observed.joins_prior,
    };
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
    const struct returning returns = copy_returns(ev, dst, src);
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

/* R-COPY-14, by the contexts of both ends. */
static bool note_peer(struct reader_state *state, const struct ssan_ev_op *ev, uint32_t stream,
                      uint32_t index)
{
    struct history *history = state->history;
    const uint32_t dst = read_block_of(state, ev->dst), src = read_block_of(state, ev->src);
    if (ev->kind != SSAN_op_kind_COPY || dst == HISTORY_NONE || src == HISTORY_NONE ||
        history->streams.items[stream].flavour != SSAN_stream_flavour_LEGACY) {
        return true;
    }
    const struct hist_alloc *to = &history->allocs.items[dst], *from = &history->allocs.items[src];
    if (to->memory != SSAN_memory_DEVICE || from->memory != SSAN_memory_DEVICE ||
        (to->context == from->context && !copy_matrix_names_devices(ev))) {
        return true;
    }
    return VEC_PUSH(&history->peers, (struct hist_peer){index, {to->context, from->context}});
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
        (!note_copy(state, ev, &item, index) || !note_peer(state, ev, stream, index))) {
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
