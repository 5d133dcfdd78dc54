/* A trace into a model: model_events.c takes what an event tells, then the engine works out the
 * order and tells it (engine_watch). The engine gets no byte sets, so that no time goes into
 * hazards. */
#include "explore/model_read.h"

#include "base/mem.h"

#include <stdlib.h>

#define ROW_BYTES_MAX (UINT64_C(512) << 20)

/* How many items of a stream the stamp covers, at least `from`. */
static uint32_t covered(const struct stream_ends *stream, const struct stamp *stamp, uint32_t from)
{
    size_t low = from, high = stream->ends.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stamp_covers(stamp, true, stream->ends.items[middle])) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (uint32_t)low;
}

/* A row of what the stamp covers; `least` (may be NULL) is a row that it covers all of. */
static bool make_row(struct reading *reading, const struct stamp *stamp,
                     const struct model_row *least, struct model_row *row)
{
    uint32_t streams = (uint32_t)reading->streams.count;
    uint64_t size = streams * sizeof *row->counts;
    reading->row_bytes += size;
    if (reading->row_bytes > ROW_BYTES_MAX) {
        reading->status = SSAN_UNSUPPORTED;
        return false;
    }
    row->counts = arena_alloc(&reading->model->arena, size + 1);
    if (!row->counts) {
        reading->status = SSAN_NO_MEMORY;
        return false;
    }
    row->streams = streams;
    for (uint32_t i = 0; i < streams; i++) {
        uint32_t from = least && i < least->streams ? least->counts[i] : 0;
        row->counts[i] = covered(&reading->streams.items[i], stamp, from);
    }
    return true;
}

static void watch_item(void *self, uint64_t op, const struct stamp *begin, const struct epoch *end)
{
    struct reading *reading = self;
    struct model_item *item = &reading->model->items.items[reading->model->items.count - 1];
    struct stream_ends *stream = &reading->streams.items[item->id.stream];
    item->is_void = false;
    if (make_row(reading, begin, stream->last, &item->before)) {
        /* the row goes where the item goes, so the bound is a copy */
        if (!stream->last) {
            stream->last = arena_alloc(&reading->model->arena, sizeof *stream->last);
        }
        if (stream->last) {
            *stream->last = item->before;
        }
    }
    if (!VEC_PUSH(&stream->ends, *end)) {
        reading->status = SSAN_NO_MEMORY;
    }
}

static void watch_call(void *self, const struct ssan_ev_call *event, const struct stamp *now)
{
    struct reading *reading = self;
    struct model *model = reading->model;
    struct model_call *call = &model->calls.items[model->calls.count - 1];
    const struct model_row *least =
        model->calls.count > 1 ? &model->calls.items[model->calls.count - 2].joined : NULL;
    make_row(reading, now, least, &call->joined);
}

/* Behind the engine: a void item stands in its stream's numbers too. */
static bool settle_op(struct reading *reading)
{
    const struct model_item *item = &reading->model->items.items[reading->model->items.count - 1];
    struct stream_ends *stream = &reading->streams.items[item->id.stream];
    if (!item->is_void) {
        return true;
    }
    struct epoch last =
        stream->ends.count > 0 ? stream->ends.items[stream->ends.count - 1] : (struct epoch){0};
    return VEC_PUSH(&stream->ends, last);
}

/* Whether a set lies in memory that the host sees, even in part. */
static bool is_host_visible(const struct model *model, const struct bytes *set, uint64_t position)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct model_alloc *alloc =
            model_alloc_at(model, bytes_pieces(set)[i].begin, position);
        if (!alloc || alloc->memory != SSAN_memory_DEVICE) {
            return true;
        }
    }
    return false;
}

static int compare_allocs(const void *left, const void *right)
{
    const struct model_alloc *a = left, *b = right;
    if (a->address != b->address) {
        return a->address < b->address ? -1 : 1;
    }
    return a->born < b->born ? -1 : 1;
}

/* After the last event. */
static bool settle(struct model *model)
{
    uint64_t reach = 0;
    if (model->allocs.count > 0) {
        qsort(model->allocs.items, model->allocs.count, sizeof *model->allocs.items,
              compare_allocs);
    }
    for (size_t i = 0; i < model->allocs.count; i++) {
        struct model_alloc *alloc = &model->allocs.items[i];
        reach = alloc->address + alloc->size > reach ? alloc->address + alloc->size : reach;
        alloc->reach = reach;
    }
    for (size_t i = 0; i < model->items.count; i++) {
        struct model_item *item = &model->items.items[i];
        for (unsigned way = 0; way < ssan_access_count; way++) {
            struct bytes *set = &item->ways[way];
            if (!bytes_seal(set)) {
                return false;
            }
            bool visible = is_host_visible(model, set, item->submitted);
            item->host_reads |= visible && way != SSAN_access_WRITE;
            item->host_writes |= visible && way != SSAN_access_READ;
        }
        item->touched = model_hash_touched(model, item);
    }
    return true;
}

static enum ssan_status feed(struct reading *reading, const struct ssan_event *event,
                             struct ssan_error *err)
{
    enum ssan_status status = SSAN_OK;
    if (!model_take(reading, event)) {
        status = reading->status ? reading->status : SSAN_NO_MEMORY;
    }
    if (!status && event->kind != SSAN_EV_set && event->kind != SSAN_EV_set_leaf &&
        event->kind != SSAN_EV_host_access) {
        status = engine_feed(reading->engine, event, err);
        if (status) {
            return status;
        }
    }
    if (!status && event->kind == SSAN_EV_op && !settle_op(reading)) {
        status = SSAN_NO_MEMORY;
    }
    status = status ? status : reading->status;
    if (status == SSAN_UNSUPPORTED) {
        return ssan_fail(err, status, reading->position,
                         "the program has too many items and streams to keep their order");
    }
    if (status == SSAN_FORMAT) {
        return ssan_fail(err, status, reading->position, "an id of a thread or stream is damaged");
    }
    reading->position++;
    return status ? ssan_fail(err, status, reading->position, "out of memory") : SSAN_OK;
}

static void finish_reading(struct reading *reading)
{
    for (size_t i = 0; i < reading->streams.count; i++) {
        VEC_FREE(&reading->streams.items[i].ends);
    }
    VEC_FREE(&reading->streams);
    VEC_FREE(&reading->threads);
    VEC_FREE(&reading->alive);
    map_finish(&reading->alloc_ids);
    engine_destroy(reading->engine);
}

enum ssan_status model_read(struct model *model, struct ssan_source *source, struct ssan_error *err)
{
    struct reading reading = {.model = model};
    const struct engine_watch watch = {&reading, watch_item, watch_call};
    const struct engine_options options = {.watch = &watch};
    enum ssan_status status = SSAN_OK;
    enum ssan_next next = SSAN_NEXT_EVENT;
    reading.engine = engine_create(&options);
    if (!reading.engine || !model_add_stream(&reading, 0)) {
        status = ssan_no_memory(err);
    }
    while (!status && next == SSAN_NEXT_EVENT) {
        struct ssan_event event;
        next = ssan_next(source, &event, err);
        if (next == SSAN_NEXT_EVENT) {
            status = feed(&reading, &event, err);
        } else if (next == SSAN_NEXT_ERROR) {
            status = err ? err->status : SSAN_FORMAT;
        }
    }
    if (!status && !settle(model)) {
        status = ssan_no_memory(err);
    }
    finish_reading(&reading);
    return status;
}
