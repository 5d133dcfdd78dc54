/* Breadth-first closure over the edges of a trace.
 *
 * Invariant: steps stand in the order in which they were found, so the first step that reaches an
 * item tells a path of fewest steps. Each item and each join is looked at once. Naive model: search
 * in the graph of all items. Cost: O(items + joins) a walk. */
#include "audit/walk.h"

#include "core/explain_window.h"

bool walk_map_init(struct walk_map *map, const struct history *history, bool documented)
{
    *map = (struct walk_map){.history = history, .documented = documented};
    for (uint32_t i = 0; i < history->calls.count; i++) {
        const struct hist_call *call = &history->calls.items[i];
        if (call->kind == CALL_SYNC && history->syncs.items[call->index].returned != UINT64_MAX &&
            !map_set(&map->returned, history->syncs.items[call->index].returned, i)) {
            return false;
        }
    }
    return true;
}

void walk_map_finish(struct walk_map *map)
{
    map_finish(&map->returned);
}

void walk_init(struct walk *walk, const struct walk_map *map, const struct site *without)
{
    const struct history *history = map->history;
    *walk = (struct walk){.map = map};
    walk->seen = mem_zalloc(history->streams.count + 1, sizeof *walk->seen);
    walk->done = mem_zalloc(history->streams.count + 1, sizeof *walk->done);
    walk->failed = !walk->seen || !walk->done;
    for (size_t i = 0; without && i < without->calls.count; i++) {
        const struct hist_call *call = &history->calls.items[without->calls.items[i]];
        const uint64_t at =
            call->kind == CALL_SYNC ? history->syncs.items[call->index].returned : call->position;
        walk->failed |= !map_set(&walk->without, at, 1);
    }
}

static void see_stream(struct walk *walk, struct step step)
{
    if (!walk->failed && step.until > walk->seen[step.what]) {
        walk->seen[step.what] = step.until;
        walk->failed |= !VEC_PUSH(&walk->steps, step);
    }
}

static void see_host(struct walk *walk, struct step step)
{
    step.host = true;
    step.what = walk->map->history->strict ? step.what : 0;
    const uint64_t *known = map_find(&walk->host_seen, step.what);
    if (!walk->failed && (!known || *known < step.until)) {
        walk->failed |=
            !map_set(&walk->host_seen, step.what, step.until) || !VEC_PUSH(&walk->steps, step);
    }
}

/* A step that is taken for each stream that is seen. */
struct steps_of {
    struct walk *walk;
    struct step step;
};

static void see(void *self, uint32_t stream, uint32_t until)
{
    struct steps_of *of = self;
    of->step.what = stream;
    of->step.until = until;
    see_stream(of->walk, of->step);
}

static void see_barrier(struct walk *walk, struct step step, uint32_t stream, uint64_t position)
{
    struct steps_of of = {walk, step};
    history_each_barrier(walk->map->history, stream, position, see, &of);
}

static void follow_item(struct walk *walk, uint32_t parent, uint32_t index)
{
    const struct history *history = walk->map->history;
    const struct hist_item *item = &history->items.items[index];
    if (item->kind == SSAN_op_kind_WAIT && item->record != HISTORY_NONE &&
        !map_find(&walk->without, item->position)) {
        const struct hist_item *record = &history->items.items[item->record];
        see_stream(walk, (struct step){.parent = parent,
                                       .via = WALK_SYNC,
                                       .call = call_at_position(history, item->position),
                                       .what = record->stream,
                                       .until = record->seq});
    }
    struct steps_of of = {walk, {.parent = parent, .via = WALK_LEGACY}};
    history_each_peer(history, index, see, &of);
    see_host(walk, (struct step){.parent = parent, .what = item->thread, .until = item->position});
}

/* What the newly seen items of a stream waited for. */
static void follow_stream(struct walk *walk, uint32_t index)
{
    const struct step step = walk->steps.items[index];
    const struct hist_stream *stream = &walk->map->history->streams.items[step.what];
    const uint64_t begin = walk->done[step.what];
    if (begin >= step.until) {
        return;
    }
    walk->done[step.what] = step.until;
    for (uint64_t i = begin; i < step.until; i++) {
        follow_item(walk, index, stream->items.items[i]);
    }
    const uint32_t last = stream->items.items[step.until - 1];
    see_barrier(walk, (struct step){.parent = index, .via = WALK_LEGACY}, step.what,
                walk->map->history->items.items[last].position);
}

/* What makes a join: a synchronisation call, a blocking one, or a hand-over. */
static void name_join(const struct walk_map *map, const struct hist_join *join, struct step *step)
{
    const struct history *history = map->history;
    const uint64_t *sync = map_find(&map->returned, join->position);
    if (sync) {
        step->via = WALK_SYNC;
        step->call = (uint32_t)*sync;
        return;
    }
    uint64_t position = join->position;
    if (join->kind == JOIN_ITEM) {
        position = history->items.items[join->object].position;
    } else if (join->kind == JOIN_STREAM) {
        position = join->bound;
    }
    const bool hand_over = join->kind == JOIN_THREAD ||
                           (join->kind == JOIN_ITEM &&
                            history->items.items[join->object].kind == SSAN_op_kind_HOSTFUNC);
    step->via = hand_over ? WALK_HAND_OVER : WALK_CALL;
    step->call = hand_over ? HISTORY_NONE : call_at_position(history, position);
}

static void see_context(struct walk *walk, struct step step, uint32_t context, uint64_t bound)
{
    struct steps_of of = {walk, step};
    history_each_of_context(walk->map->history, context, bound, see, &of);
}

static void see_whole_stream(struct walk *walk, struct step step, uint32_t stream, uint64_t bound)
{
    const struct history *history = walk->map->history;
    step.what = stream;
    step.until = history_items_before(history, stream, bound);
    see_stream(walk, step);
    if (history->streams.items[stream].flavour == SSAN_stream_flavour_LEGACY) {
        see_barrier(walk, step, stream, bound); /* R-HOST-3 */
    }
}

static void follow_join(struct walk *walk, uint32_t parent, const struct hist_join *join)
{
    const struct history *history = walk->map->history;
    struct step step = {.parent = parent};
    name_join(walk->map, join, &step);
    if (step.via == WALK_SYNC && !history->syncs.items[history->calls.items[step.call].index].ok) {
        return; /* R-HOST-7 */
    }
    switch (join->kind) {
    case JOIN_ITEM:
        step.what = history->items.items[join->object].stream;
        step.until = history->items.items[join->object].seq;
        see_stream(walk, step);
        break;
    case JOIN_STREAM:
        see_whole_stream(walk, step, join->object, join->bound);
        break;
    case JOIN_CONTEXT:
        see_context(walk, step, join->object, join->bound);
        break;
    case JOIN_THREAD:
        step.what = join->object;
        step.until = join->bound;
        see_host(walk, step);
        break;
    }
}

/* The joins that a host thread made up to where it is seen. */
static void follow_host(struct walk *walk, uint32_t index)
{
    const struct history *history = walk->map->history;
    const struct step step = walk->steps.items[index];
    const uint64_t *done = map_find(&walk->host_done, step.what);
    size_t i = history_join_at(history, done ? *done : 0);
    if (done && *done >= step.until) {
        return;
    }
    walk->failed |= !map_set(&walk->host_done, step.what, step.until);
    for (; i < history->joins.count && history->joins.items[i].position < step.until; i++) {
        const struct hist_join *join = &history->joins.items[i];
        const bool other = history->strict ? join->thread != step.what : join->strict_only;
        if (!other && !(walk->map->documented && join->observed_only) &&
            !map_find(&walk->without, join->position)) {
            follow_join(walk, index, join);
        }
    }
}

void walk_from_item(struct walk *walk, uint32_t index)
{
    const struct hist_item *item = &walk->map->history->items.items[index];
    const struct step root = {.parent = HISTORY_NONE, .what = item->stream, .until = item->seq - 1};
    see_stream(walk, root);
    follow_item(walk, HISTORY_NONE, index);
    see_barrier(walk, (struct step){.parent = HISTORY_NONE, .via = WALK_LEGACY}, item->stream,
                item->position);
}

void walk_from_host(struct walk *walk, uint32_t thread, uint64_t position)
{
    see_host(walk, (struct step){.parent = HISTORY_NONE, .what = thread, .until = position});
}

void walk_from_sync(struct walk *walk, uint32_t index)
{
    const struct history *history = walk->map->history;
    const struct hist_call *call = &history->calls.items[index];
    struct step root = {.parent = HISTORY_NONE};
    uint32_t record = HISTORY_NONE;
    if (call->kind == CALL_ITEM) {
        record = history->items.items[call->index].record;
    } else {
        const struct hist_sync *sync = &history->syncs.items[call->index];
        record = sync->record;
        if (sync->kind == SSAN_sync_kind_DEVICE) {
            see_context(walk, root, sync->object, sync->position);
        } else if ((sync->kind == SSAN_sync_kind_STREAM ||
                    sync->kind == SSAN_sync_kind_STREAM_QUERY) &&
                   sync->object != HISTORY_NONE) {
            see_whole_stream(walk, root, sync->object, sync->position);
        }
    }
    if (record != HISTORY_NONE) {
        root.what = history->items.items[record].stream;
        root.until = history->items.items[record].seq;
        see_stream(walk, root);
    }
}

void walk_run(struct walk *walk)
{
    while (!walk->failed && walk->next < walk->steps.count) {
        const uint32_t index = (uint32_t)walk->next++;
        if (walk->steps.items[index].host) {
            follow_host(walk, index);
        } else {
            follow_stream(walk, index);
        }
    }
}

uint32_t walk_find(const struct walk *walk, uint32_t stream, uint64_t seq)
{
    for (uint32_t i = 0; i < walk->steps.count; i++) {
        const struct step *step = &walk->steps.items[i];
        if (!step->host && step->what == stream && step->until >= seq) {
            return i;
        }
    }
    return HISTORY_NONE;
}

void walk_finish(struct walk *walk)
{
    mem_free(walk->seen);
    mem_free(walk->done);
    VEC_FREE(&walk->steps);
    map_finish(&walk->host_seen);
    map_finish(&walk->host_done);
    map_finish(&walk->without);
}
