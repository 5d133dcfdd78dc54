/* From source edits to edits of the trace.
 *
 * A changed place changes every pass of the trace over it: each run of calls at that file and line
 * by one thread is one pass. What the inserted statement's variables held there is read off the
 * nearest pass of the call they were taken from: the last one before when that call stands above,
 * else the next one. Cost: O(passes) for each change. */
#include "core/explain_fix.h"

/* The calls at the place of `call`, or the call alone where its place is unknown. */
static const uint32_t *passes_of(const struct history *history, const uint32_t *call, size_t *count)
{
    const uint32_t site = history->calls.items[*call].site;
    const uint32_t *calls = history_calls_of(history, history_site(history, site)->place, count);
    if (!calls) {
        *count = 1;
        return call;
    }
    return calls;
}

/* Whether calls[i] begins a pass: the call before it by the same thread is elsewhere, or its own
 * site comes again. */
static bool begins_pass(const struct history *history, const uint32_t *calls, size_t i,
                        size_t *begin)
{
    const struct hist_call *call = &history->calls.items[calls[i]];
    if (i == 0) {
        *begin = 0;
        return true;
    }
    const struct hist_call *before = &history->calls.items[calls[i - 1]];
    const uint32_t first_site = history->calls.items[calls[*begin]].site;
    bool adjacent = before->thread == call->thread;
    for (uint32_t at = calls[i - 1] + 1; adjacent && at < calls[i]; at++) {
        adjacent = history->calls.items[at].thread != call->thread;
    }
    if (adjacent && call->site != first_site) {
        return false;
    }
    *begin = i;
    return true;
}

/* Whether a call is one like `like`: the same CUDA call, about the same kind of thing. */
static bool is_like(const struct history *history, const struct hist_call *call,
                    const struct hist_item *like)
{
    if (call->kind != CALL_ITEM) {
        return false;
    }
    const struct hist_item *item = &history->items.items[call->index];
    return item->kind == like->kind && item->call == like->call && item->name == like->name;
}

/* The item that the call of `ref` made when the trace passed it next to `position`, seen from the
 * place of `from`. */
static uint32_t item_near(const struct history *history, uint32_t ref, const struct hist_call *from)
{
    const struct hist_item *like = &history->items.items[ref];
    const struct place there = history_place(history, like->site),
                       here = history_place(history, from->site);
    size_t count, low = 0;
    const uint32_t *calls =
        history_calls_of(history, history_site(history, like->site)->place, &count);
    for (size_t high = count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (history->calls.items[calls[middle]].position < from->position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    uint32_t before = HISTORY_NONE, behind = HISTORY_NONE;
    for (size_t i = low; before == HISTORY_NONE && i-- > 0;) {
        if (is_like(history, &history->calls.items[calls[i]], like)) {
            before = history->calls.items[calls[i]].index;
        }
    }
    for (size_t i = low; behind == HISTORY_NONE && i < count; i++) {
        if (is_like(history, &history->calls.items[calls[i]], like)) {
            behind = history->calls.items[calls[i]].index;
        }
    }
    const uint32_t prefer =
        history_same_function(there, here) && there.line >= here.line ? behind : before;
    const uint32_t other = prefer == before ? behind : before;
    return prefer != HISTORY_NONE ? prefer : other != HISTORY_NONE ? other : ref;
}

static uint32_t stream_near(const struct history *history, uint32_t ref,
                            const struct hist_call *from)
{
    return history->items.items[item_near(history, ref, from)].stream;
}

static bool add(struct placed_edits *edits, struct edit edit)
{
    return VEC_PUSH(edits, (struct placed_edit){edit, edits->count});
}

/* The id of a stream that a statement of `thread` before `position` uses. A per-thread default
 * stream has no name in another thread. */
static uint32_t used_stream(const struct history *history, struct placed_edits *edits,
                            uint32_t stream, uint32_t thread, uint64_t position)
{
    const struct hist_stream *used = &history->streams.items[stream];
    edits->impossible |=
        used->destroyed < position ||
        (used->flavour == SSAN_stream_flavour_PER_THREAD && used->thread != thread);
    return used->id;
}

/* The last item that a stream was given before `position`; 0: none. */
static uint64_t last_op(const struct history *history, uint32_t stream, uint64_t position)
{
    const uint32_t items = history_items_before(history, stream, position);
    return items == 0
               ? 0
               : history->items.items[history->streams.items[stream].items.items[items - 1]].op;
}

/* Waits for a new event: it stands for P's last item before the latest pass of the place that
 * records it. */
static bool add_new_wait(const struct history *history, const struct change *change,
                         const struct hist_call *at, struct placed_edits *edits)
{
    size_t count, begin = 0;
    uint64_t position = at->position;
    uint32_t thread = at->thread;
    const uint32_t *passes = passes_of(history, &change->record_call, &count);
    if (change->record_call != change->call) {
        position = 0;
        for (size_t i = 0; i < count && history->calls.items[passes[i]].position <= at->position;
             i++) {
            if (begins_pass(history, passes, i, &begin)) {
                position = history->calls.items[passes[i]].position;
                thread = history->calls.items[passes[i]].thread;
            }
        }
    }
    const uint32_t from = stream_near(history, change->from, at);
    const uint64_t op = last_op(history, from, position);
    const uint32_t to =
        used_stream(history, edits, stream_near(history, change->to, at), at->thread, at->position);
    (void)used_stream(history, edits, from, thread, position);
    if (op == 0) {
        return true; /* nothing recorded: the wait orders nothing */
    }
    return add(edits, (struct edit){.before = at->position,
                                    .kind = EDIT_WAIT_ITEM,
                                    .thread = at->thread,
                                    .stream = to,
                                    .op = op});
}

/* The id of the event of an item like `ref`, which a statement before `at` uses. */
static uint32_t used_event(const struct history *history, struct placed_edits *edits, uint32_t ref,
                           const struct hist_call *at)
{
    const uint32_t item = item_near(history, ref, at);
    const struct hist_event *event = &history->events.items[history->items.items[item].event];
    edits->impossible |= event->destroyed < at->position;
    return event->id;
}

/* One change at one pass. */
static bool add_change(const struct history *history, const struct change *change,
                       const struct hist_call *at, struct placed_edits *edits)
{
    struct edit edit = {.before = at->position, .thread = at->thread};
    switch (change->kind) {
    case CHANGE_DROP:
        return true; /* not by pass: see place_drops */
    case CHANGE_WAIT:
        edit.kind = EDIT_WAIT_LATEST;
        edit.stream = used_stream(history, edits, stream_near(history, change->to, at), at->thread,
                                  at->position);
        edit.event = used_event(history, edits, change->event, at);
        break;
    case CHANGE_RECORD:
        edit.kind = EDIT_RECORD;
        edit.stream = used_stream(history, edits, stream_near(history, change->from, at),
                                  at->thread, at->position);
        edit.event = used_event(history, edits, change->event, at);
        break;
    case CHANGE_WAIT_NEW:
        return add_new_wait(history, change, at, edits);
    case CHANGE_JOIN_STREAM:
        edit.kind = EDIT_HOST_JOIN_STREAM;
        edit.stream = used_stream(history, edits, stream_near(history, change->from, at),
                                  at->thread, at->position);
        break;
    case CHANGE_JOIN_DEVICE:
        edit.kind = EDIT_HOST_JOIN;
        edit.op = last_op(history, stream_near(history, change->from, at), at->position);
        return edit.op == 0 || add(edits, edit);
    case CHANGE_JOIN_EVENT:
        edit.kind = EDIT_HOST_JOIN_EVENT;
        edit.event = used_event(history, edits, change->event, at);
        break;
    }
    return add(edits, edit);
}

/* Drops what stands at a place: records, waits and frees like the one that is taken out. */
static bool place_drops(const struct history *history, const struct change *change,
                        struct placed_edits *edits)
{
    size_t count;
    const struct hist_call *origin = &history->calls.items[change->call];
    const uint32_t *calls = passes_of(history, &change->call, &count);
    for (size_t i = 0; i < count; i++) {
        const struct hist_call *at = &history->calls.items[calls[i]];
        bool like = origin->kind == at->kind;
        if (like && at->kind == CALL_ITEM) {
            like = is_like(history, at, &history->items.items[origin->index]);
        } else if (like && at->kind == CALL_HOST) {
            like = history->hosts.items[at->index].kind == history->hosts.items[origin->index].kind;
        }
        if (like && !add(edits, (struct edit){.before = at->position, .kind = EDIT_DROP})) {
            return false;
        }
    }
    return true;
}

bool fix_place(const struct history *history, const struct proposal *proposal,
               struct placed_edits *edits)
{
    for (size_t i = 0; i < proposal->change_count; i++) {
        const struct change *change = &proposal->changes[i];
        size_t count, begin = 0;
        if (change->kind == CHANGE_DROP) {
            if (!place_drops(history, change, edits)) {
                return false;
            }
            continue;
        }
        const uint32_t *calls = passes_of(history, &change->call, &count);
        for (size_t k = 0; k < count; k++) {
            if (begins_pass(history, calls, k, &begin) &&
                !add_change(history, change, &history->calls.items[calls[k]], edits)) {
                return false;
            }
        }
    }
    return true;
}
