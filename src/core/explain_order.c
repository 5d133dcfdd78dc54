/* Backwards closure over streams, events, the legacy barrier and host joins.
 *
 * A stream is "seen" up to a number of items, a host thread up to a position; raising either pulls
 * in what its new part waited for. Each item and join is looked at once for each question, so a
 * question costs O(items + joins). */
#include "core/explain_order.h"

#include <string.h>

struct walk {
    const struct history *history;
    bool documented, strict, failed;
    uint32_t *seen;                  /* by stream */
    uint32_t *done;                  /* by stream: items whose waits were followed */
    VEC(uint32_t) dirty;             /* streams with done < seen */
    struct map host_seen, host_done; /* thread -> position (0 for all threads unless strict) */
    VEC(uint32_t) dirty_hosts;
};

static void raise_stream(struct walk *walk, uint32_t stream, uint32_t count)
{
    if (count > walk->seen[stream]) {
        walk->seen[stream] = count;
        walk->failed |= !VEC_PUSH(&walk->dirty, stream);
    }
}

static void raise_host(struct walk *walk, uint32_t thread, uint64_t position)
{
    const uint32_t key = walk->strict ? thread : 0;
    const uint64_t *known = map_find(&walk->host_seen, key);
    if (!known || *known < position) {
        walk->failed |=
            !map_set(&walk->host_seen, key, position) || !VEC_PUSH(&walk->dirty_hosts, key);
    }
}

static void see(void *self, uint32_t stream, uint32_t until)
{
    raise_stream(self, stream, until);
}

static void raise_barrier(struct walk *walk, uint32_t stream, uint64_t position)
{
    history_each_barrier(walk->history, stream, position, see, walk);
}

static void follow_item(struct walk *walk, uint32_t index)
{
    const struct hist_item *item = &walk->history->items.items[index];
    if (item->kind == SSAN_op_kind_WAIT && item->record != HISTORY_NONE) {
        const struct hist_item *record = &walk->history->items.items[item->record];
        raise_stream(walk, record->stream, record->seq);
    }
    history_each_peer(walk->history, index, see, walk);
    raise_host(walk, item->thread, item->position);
}

/* Follows what the newly seen items of a stream waited for. */
static void follow_stream(struct walk *walk, uint32_t stream)
{
    const struct hist_stream *own = &walk->history->streams.items[stream];
    const uint32_t until = walk->seen[stream];
    if (walk->done[stream] >= until) {
        return;
    }
    for (uint32_t i = walk->done[stream]; i < until; i++) {
        follow_item(walk, own->items.items[i]);
    }
    walk->done[stream] = until;
    raise_barrier(walk, stream, walk->history->items.items[own->items.items[until - 1]].position);
}

static void follow_join(struct walk *walk, const struct hist_join *join)
{
    const struct history *history = walk->history;
    switch (join->kind) {
    case JOIN_ITEM: {
        const struct hist_item *item = &history->items.items[join->object];
        raise_stream(walk, item->stream, item->seq);
        break;
    }
    case JOIN_STREAM:
        raise_stream(walk, join->object, history_items_before(history, join->object, join->bound));
        if (history->streams.items[join->object].flavour == SSAN_stream_flavour_LEGACY) {
            raise_barrier(walk, join->object, join->bound); /* R-HOST-3 */
        }
        break;
    case JOIN_CONTEXT:
        history_each_of_context(history, join->object, join->bound, see, walk);
        break;
    case JOIN_THREAD:
        raise_host(walk, join->object, join->bound);
        break;
    }
}

/* Follows the joins that a host thread made up to where it is seen. */
static void follow_host(struct walk *walk, uint32_t thread)
{
    const struct history *history = walk->history;
    const uint64_t *seen = map_find(&walk->host_seen, thread);
    const uint64_t *done = map_find(&walk->host_done, thread);
    const uint64_t until = seen ? *seen : 0;
    const size_t begin = history_join_at(history, done ? *done : 0);
    for (size_t i = begin; i < history->joins.count && history->joins.items[i].position < until;
         i++) {
        const struct hist_join *join = &history->joins.items[i];
        if ((walk->strict && join->thread != thread) || (walk->documented && join->observed_only) ||
            (!walk->strict && join->strict_only)) {
            continue;
        }
        follow_join(walk, join);
    }
    walk->failed |= !map_set(&walk->host_done, thread, until);
}

static bool walk_begin(struct walk *walk, const struct history *history, bool documented,
                       uint32_t *seen)
{
    *walk = (struct walk){
        .history = history, .strict = history->strict, .documented = documented, .seen = seen};
    memset(seen, 0, history->streams.count * sizeof *seen);
    walk->done = mem_zalloc(history->streams.count + 1, sizeof *walk->done);
    return walk->done != NULL;
}

static void walk_run(struct walk *walk)
{
    while (!walk->failed && (walk->dirty.count > 0 || walk->dirty_hosts.count > 0)) {
        if (walk->dirty.count > 0) {
            follow_stream(walk, walk->dirty.items[--walk->dirty.count]);
        } else {
            follow_host(walk, walk->dirty_hosts.items[--walk->dirty_hosts.count]);
        }
    }
}

static bool walk_end(struct walk *walk)
{
    walk_run(walk);
    mem_free(walk->done);
    VEC_FREE(&walk->dirty);
    VEC_FREE(&walk->dirty_hosts);
    map_finish(&walk->host_seen);
    map_finish(&walk->host_done);
    return !walk->failed;
}

bool order_before_item(const struct history *history, uint32_t item, bool documented,
                       uint32_t *seen)
{
    struct walk walk;
    const struct hist_item *from = &history->items.items[item];
    if (!walk_begin(&walk, history, documented, seen)) {
        return false;
    }
    raise_stream(&walk, from->stream, from->seq - 1);
    follow_item(&walk, item);
    raise_barrier(&walk, from->stream, from->position);
    return walk_end(&walk);
}

bool order_before_host(const struct history *history, uint32_t thread, uint64_t position,
                       bool documented, uint32_t *seen)
{
    struct walk walk;
    if (!walk_begin(&walk, history, documented, seen)) {
        return false;
    }
    raise_host(&walk, thread, position);
    return walk_end(&walk);
}

bool order_hands_over(const struct history *history, uint32_t from, uint64_t before, uint32_t to,
                      uint64_t behind)
{
    struct walk walk;
    uint32_t *seen = mem_zalloc(history->streams.count + 1, sizeof *seen);
    if (!seen || !walk_begin(&walk, history, false, seen)) {
        mem_free(seen);
        return false;
    }
    walk.strict = true;
    raise_host(&walk, to, behind);
    walk_run(&walk);
    const uint64_t *known = map_find(&walk.host_seen, from);
    const bool ordered = known && *known > before;
    const bool ok = walk_end(&walk);
    mem_free(seen);
    return ok && ordered;
}
