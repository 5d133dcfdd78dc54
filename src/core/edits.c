/* A proposed fix applied while the trace is read: added waits, records and joins, dropped events
 * (docs/report.md). The edges are the ones that the calls themselves would make. Cost: a walk along
 * the sorted edits, and O(log edits) for each item. */
#include "core/engine_parts.h"

#include <stdlib.h>

static bool names_item(const struct edit *edit)
{
    return edit->kind == EDIT_WAIT_ITEM || edit->kind == EDIT_HOST_JOIN;
}

static int by_op(const void *left, const void *right)
{
    const struct saved_item *a = left, *b = right;
    return (a->op > b->op) - (a->op < b->op);
}

/* Lists the items that edits name, sorted, before their ends are known; the last entry stands for
 * none and marks the list as made. */
static bool list_named(struct engine *engine)
{
    for (size_t i = 0; i < engine->options.edit_count; i++) {
        const struct edit *edit = &engine->options.edits[i];
        if (names_item(edit) && !VEC_PUSH(&engine->saved, (struct saved_item){.op = edit->op})) {
            return false;
        }
    }
    if (!VEC_PUSH(&engine->saved, (struct saved_item){.op = UINT64_MAX})) {
        return false;
    }
    qsort(engine->saved.items, engine->saved.count, sizeof *engine->saved.items, by_op);
    return true;
}

/* The first entry of an item; NULL when no edit names it. Its end is empty, and waiting for it
 * orders nothing, until the item was submitted. */
static struct saved_item *find_saved(const struct engine *engine, uint64_t op)
{
    size_t low = 0, high = engine->saved.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (engine->saved.items[middle].op < op) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < engine->saved.count && engine->saved.items[low].op == op
               ? &engine->saved.items[low]
               : NULL;
}

void edits_save(struct engine *engine, uint64_t op, const struct stamp *end)
{
    if (engine->saved.count == 0 && !list_named(engine)) {
        engine->order.failed = true;
        return;
    }
    struct saved_item *item = find_saved(engine, op);
    if (item) {
        stamp_drop(&engine->clocks, &item->end);
        item->end = stamp_ref(end);
    }
}

static void add_item(struct engine *engine, const struct edit *edit, const struct stamp *wait,
                     bool record)
{
    if (!order_stream(&engine->order, edit->stream)) {
        return;
    }
    struct host *host =
        edit->thread != 0 || !is_strict(engine) ? order_host(&engine->order, edit->thread) : NULL;
    struct item item = {.wait = wait, .record = record, .ticks = 1};
    order_submit(&engine->order, edit->stream, host, &item);
    if (record && order_event(&engine->order, edit->event)) {
        order_record(&engine->order, edit->event, edit->stream);
        actor_drop(&engine->actors, engine->records.items[edit->event].actor);
        engine->records.items[edit->event].actor = NULL;
    }
}

static void join(struct engine *engine, const struct edit *edit, enum ssan_sync_kind kind,
                 const struct stamp *captured)
{
    struct host *host = order_host(&engine->order, edit->thread);
    if (host) {
        order_join(&engine->order, host, kind, captured);
    }
}

static void apply(struct engine *engine, const struct edit *edit)
{
    struct order *order = &engine->order;
    const struct event_state *event = order_event(order, edit->event);
    struct stamp captured = {0};
    switch (edit->kind) {
    case EDIT_WAIT_ITEM:
        if (find_saved(engine, edit->op)) {
            add_item(engine, edit, &find_saved(engine, edit->op)->end, false);
        }
        break;
    case EDIT_WAIT_LATEST:
        if (event && event->recorded) {
            captured = order_capture_event(order, edit->event);
            add_item(engine, edit, &captured, false);
        }
        break;
    case EDIT_RECORD:
        add_item(engine, edit, NULL, true);
        break;
    case EDIT_HOST_JOIN:
        if (find_saved(engine, edit->op)) {
            join(engine, edit, SSAN_sync_kind_EVENT, &find_saved(engine, edit->op)->end);
        }
        break;
    case EDIT_HOST_JOIN_STREAM:
        if (order_stream(order, edit->stream)) {
            captured = order_capture_stream(order, edit->stream);
            join(engine, edit, SSAN_sync_kind_STREAM, &captured);
        }
        break;
    case EDIT_HOST_JOIN_EVENT:
        if (event && event->recorded) {
            captured = order_capture_event(order, edit->event);
            join(engine, edit, SSAN_sync_kind_EVENT, &captured);
        }
        break;
    case EDIT_DROP:
        engine->drop = true;
        break;
    }
    stamp_drop(&engine->clocks, &captured);
}

void edits_apply_slow(struct engine *engine)
{
    engine->drop = false;
    while (engine->next_edit < engine->options.edit_count &&
           engine->options.edits[engine->next_edit].before <= engine->position) {
        apply(engine, &engine->options.edits[engine->next_edit++]);
    }
}
