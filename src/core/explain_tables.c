/* Makes the report's tables.
 *
 * Findings mark what they name; building adds what those operations name (streams, events, blocks)
 * and puts all in a fixed order: operations as issued, streams and events by creation, blocks of
 * findings first and then by allocation. So equal traces give equal tables, whatever hash maps do.
 * Cost: O(n log n) in what is shown. */
#include "core/explain_tables.h"

#include "core/explain_edges.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "core/explain_label.h"

static bool want(struct map *of, uint64_t key, bool *fresh)
{
    *fresh = map_find(of, key) == NULL;
    return !*fresh || map_set(of, key, UINT32_MAX);
}

bool tables_want_call(struct tables *tables, uint32_t call)
{
    bool fresh;
    if (call == HISTORY_NONE) {
        return true;
    }
    return want(&tables->call_of, call, &fresh) && (!fresh || VEC_PUSH(&tables->calls, call));
}

bool tables_want_block(struct tables *tables, uint64_t key)
{
    bool fresh;
    return want(&tables->block_of, key, &fresh) && (!fresh || VEC_PUSH(&tables->blocks, key));
}

bool tables_want_stream(struct tables *tables, uint32_t stream)
{
    bool fresh;
    if (stream == HISTORY_NONE) {
        return true;
    }
    return want(&tables->stream_of, stream, &fresh) &&
           (!fresh || VEC_PUSH(&tables->streams, stream));
}

bool tables_want_event(struct tables *tables, uint32_t event)
{
    bool fresh;
    if (event == HISTORY_NONE) {
        return true;
    }
    return want(&tables->event_of, event, &fresh) && (!fresh || VEC_PUSH(&tables->events, event));
}

static int found_in(const struct map *of, uint64_t key)
{
    const uint32_t index = history_find(of, key);
    return index == HISTORY_NONE ? -1 : (int)index;
}

int tables_op(const struct tables *tables, uint32_t call)
{
    return call == HISTORY_NONE ? -1 : found_in(&tables->call_of, call);
}

int tables_block(const struct tables *tables, uint64_t key)
{
    return found_in(&tables->block_of, key);
}

int tables_stream(const struct tables *tables, uint32_t stream)
{
    return stream == HISTORY_NONE ? -1 : found_in(&tables->stream_of, stream);
}

int tables_event(const struct tables *tables, uint32_t event)
{
    return event == HISTORY_NONE ? -1 : found_in(&tables->event_of, event);
}

uint64_t block_begin(const struct history *history, uint64_t key)
{
    return key & BLOCK_PAGEABLE ? key & ~BLOCK_PAGEABLE : history->allocs.items[key].address;
}

static int by_number(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static int by_key(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static bool copies(const struct hist_item *item)
{
    return item->kind == SSAN_op_kind_COPY || item->kind == SSAN_op_kind_MEMSET;
}

static bool want_of_call(struct tables *tables, const struct hist_call *call)
{
    const struct history *history = tables->history;
    if (call->kind == CALL_ITEM) {
        const struct hist_item *item = &history->items.items[call->index];
        const struct detail *detail = details_find(tables->details, call->index);
        bool ok =
            tables_want_stream(tables, item->stream) && tables_want_event(tables, item->event);
        if (ok && detail && copies(item)) {
            ok = tables_want_block(tables, block_key(history, detail->dst, item->position));
        }
        if (ok && detail && item->kind == SSAN_op_kind_COPY) {
            ok = tables_want_block(tables, block_key(history, detail->src, item->position));
        }
        return ok;
    }
    if (call->kind == CALL_SYNC) {
        const struct hist_sync *sync = &history->syncs.items[call->index];
        const bool event = sync->kind == SSAN_sync_kind_EVENT ||
                           sync->kind == SSAN_sync_kind_EVENT_QUERY ||
                           sync->kind == SSAN_sync_kind_ELAPSED;
        return !event || tables_want_event(tables, sync->object);
    }
    if (call->kind == CALL_HOST) {
        const struct hist_host *host = &history->hosts.items[call->index];
        return tables_want_block(tables, host->alloc != HISTORY_NONE
                                             ? host->alloc
                                             : block_key(history, host->address, host->position));
    }
    return true;
}

static struct place place_of(const struct tables *tables, uint32_t site)
{
    return history_place(tables->history, site);
}

static bool fill_stream(const struct tables *tables, uint32_t index, struct report_stream *row)
{
    const struct hist_stream *stream = &tables->history->streams.items[index];
    const struct label label = label_stream(tables->history, &tables->report->arena, index);
    *row = (struct report_stream){
        .ordinal = stream->ordinal,
        .name = label.text,
        .name_from = label.from,
        .flavour = stream->flavour,
        .device = history_device(tables->history, stream->context),
        .created = place_of(tables, stream->site),
    };
    return label.text != NULL;
}

/* Rows for other streams that have items; their names may be those of others. */
static bool fill_spare_streams(struct tables *tables)
{
    struct report *report = tables->report;
    size_t at = report->stream_count;
    for (uint32_t i = 0; i < tables->history->streams.count; i++) {
        if (tables->history->streams.items[i].items.count > 0 && tables_stream(tables, i) < 0 &&
            !fill_stream(tables, i, &report->streams[at++])) {
            return false;
        }
    }
    report->spare_streams = at - report->stream_count;
    return true;
}

static bool fill_streams(struct tables *tables)
{
    struct report *report = tables->report;
    const size_t count = tables->streams.count;
    const size_t spare = tables->spare ? tables->history->streams.count : 0;
    if (count > 0) {
        qsort(tables->streams.items, count, sizeof *tables->streams.items, by_number);
    }
    report->streams = arena_alloc(&report->arena, (count + spare + 1) * sizeof *report->streams);
    const char ***names = mem_zalloc(count + 1, sizeof *names);
    bool ok = report->streams && names;
    for (size_t i = 0; ok && i < count; i++) {
        names[i] = &report->streams[i].name;
        ok = fill_stream(tables, tables->streams.items[i], &report->streams[i]) &&
             map_set(&tables->stream_of, tables->streams.items[i], i);
    }
    report->stream_count = ok ? count : 0;
    ok = ok && label_distinct(&report->arena, names, count) &&
         (!tables->spare || fill_spare_streams(tables));
    mem_free(names);
    return ok;
}

static bool fill_events(struct tables *tables)
{
    struct report *report = tables->report;
    const size_t count = tables->events.count;
    if (count > 0) {
        qsort(tables->events.items, count, sizeof *tables->events.items, by_number);
    }
    report->events = arena_alloc(&report->arena, (count + 1) * sizeof *report->events);
    const char ***names = mem_zalloc(count + 1, sizeof *names);
    bool ok = report->events && names;
    for (size_t i = 0; ok && i < count; i++) {
        const struct hist_event *event = &tables->history->events.items[tables->events.items[i]];
        const struct label label =
            label_event(tables->history, &report->arena, tables->events.items[i]);
        report->events[i] = (struct report_event){
            .ordinal = event->ordinal,
            .name = label.text,
            .name_from = label.from,
            .created = place_of(tables, event->site),
        };
        names[i] = &report->events[i].name;
        ok = label.text && map_set(&tables->event_of, tables->events.items[i], i);
    }
    report->event_count = ok ? count : 0;
    ok = ok && label_distinct(&report->arena, names, count);
    mem_free(names);
    return ok;
}

static struct report_buffer block_row(const struct tables *tables, uint64_t key)
{
    if (key & BLOCK_PAGEABLE) {
        return (struct report_buffer){.memory = SSAN_memory_PAGEABLE,
                                      .generation = 1,
                                      .device = -1,
                                      .address = key & ~BLOCK_PAGEABLE};
    }
    const struct hist_alloc *alloc = &tables->history->allocs.items[key];
    return (struct report_buffer){
        .memory = alloc->memory,
        .address = alloc->address,
        .size_bytes = alloc->size,
        .generation = alloc->generation,
        .alloc = alloc->id,
        .device = alloc->memory == SSAN_memory_DEVICE
                      ? history_device(tables->history, alloc->context)
                      : -1,
        .call = alloc->call[0] ? alloc->call : NULL,
        .allocated = place_of(tables, alloc->site),
        .freed = alloc->freed == UINT64_MAX ? (struct place){.file = NULL}
                                            : place_of(tables, alloc->free_site),
    };
}

static bool fill_block(struct tables *tables, uint64_t key, size_t i)
{
    struct report *report = tables->report;
    const struct label label = label_block(tables->history, &report->arena, key, (uint32_t)i + 1);
    report->buffers[i] = block_row(tables, key);
    report->buffers[i].name = label.text;
    report->buffers[i].name_from = label.from;
    return label.text != NULL;
}

/* Rows for what nobody has asked for yet; their names may be those of others. */
static bool fill_spare(struct tables *tables)
{
    struct report *report = tables->report;
    size_t at = report->buffer_count;
    for (size_t i = 0; i < tables->history->allocs.count; i++) {
        if (tables_block(tables, i) < 0 && !fill_block(tables, i, at++)) {
            return false;
        }
    }
    report->spare_buffers = at - report->buffer_count;
    return true;
}

static bool fill_blocks(struct tables *tables, size_t of_findings)
{
    struct report *report = tables->report;
    const size_t count = tables->blocks.count;
    const size_t spare = tables->spare ? tables->history->allocs.count : 0;
    if (count > of_findings) {
        qsort(tables->blocks.items + of_findings, count - of_findings, sizeof *tables->blocks.items,
              by_key);
    }
    report->buffers = arena_alloc(&report->arena, (count + spare + 1) * sizeof *report->buffers);
    const char ***names = mem_zalloc(count + 1, sizeof *names);
    bool ok = report->buffers && names;
    for (size_t i = 0; ok && i < count; i++) {
        const uint64_t key = tables->blocks.items[i];
        names[i] = &report->buffers[i].name;
        ok = fill_block(tables, key, i) && map_set(&tables->block_of, key, i);
    }
    report->buffer_count = ok ? count : 0;
    ok = ok && label_distinct(&report->arena, names, count) &&
         (!tables->spare || fill_spare(tables));
    mem_free(names);
    return ok;
}

static const char *text_of(struct report *report, char kind, uint32_t owner, uint32_t seq)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%c%u.%u", kind, owner, seq);
    const char *copy = text.failed ? NULL : arena_strdup(&report->arena, strbuf_text(&text));
    strbuf_finish(&text);
    return copy;
}

static struct buffer_span no_span(void)
{
    return (struct buffer_span){.buffer = -1};
}

static struct buffer_span span_of(const struct tables *tables, uint64_t key, uint64_t address,
                                  uint64_t size)
{
    const uint64_t begin = block_begin(tables->history, key);
    return (struct buffer_span){tables_block(tables, key), address - begin, address - begin + size};
}

/* Bytes from a copy operand's first to behind its last. */
static uint64_t operand_bytes(const struct detail *detail, uint64_t pitch)
{
    return detail->height > 1 ? pitch * (detail->height - 1) + detail->width : detail->width;
}

static void set_stack(struct report_op *op, const struct tables *tables, uint32_t site)
{
    const struct hist_site *found = history_site(tables->history, site);
    op->at = history_place(tables->history, site);
    if (found->frame_count > 0) {
        op->stack = &found->frames[found->user];
        op->stack_count = found->frame_count - found->user;
        op->inside = found->frames;
        op->inside_count = found->user;
        op->library =
            found->of_library && found->user > 0 ? found->frames[found->user - 1].function : NULL;
    }
}

static bool fill_item(struct tables *tables, struct report_op *op, uint32_t index,
                      const char *const *prefixes)
{
    static const enum report_op_kind kinds[] = {
        [SSAN_op_kind_KERNEL] = ROP_KERNEL, [SSAN_op_kind_COPY] = ROP_COPY,
        [SSAN_op_kind_MEMSET] = ROP_MEMSET, [SSAN_op_kind_RECORD] = ROP_RECORD,
        [SSAN_op_kind_WAIT] = ROP_WAIT,     [SSAN_op_kind_HOSTFUNC] = ROP_HOSTFUNC,
    };
    struct report *report = tables->report;
    const struct history *history = tables->history;
    const struct hist_item *item = &history->items.items[index];
    const struct detail *detail = details_find(tables->details, index);
    op->kind = kinds[item->kind];
    op->stream = tables_stream(tables, item->stream);
    op->thread = item->thread;
    op->seq = item->seq;
    op->op = item->op;
    op->name = item->name[0] ? item->name : NULL;
    op->call = item->call[0] ? item->call : NULL;
    op->event = tables_event(tables, item->event);
    op->id = text_of(report, 's', history->streams.items[item->stream].ordinal, item->seq);
    op->label = op->id;
    const char *prefix = op->stream >= 0 ? prefixes[op->stream] : NULL;
    if (prefix) {
        struct strbuf text = {0};
        strbuf_printf(&text, "%s%u", prefix, item->seq);
        op->label = text.failed ? NULL : arena_strdup(&report->arena, strbuf_text(&text));
        strbuf_finish(&text);
    }
    set_stack(op, tables, item->site);
    if (detail) {
        memcpy(op->grid, detail->grid, sizeof op->grid);
        memcpy(op->block, detail->block, sizeof op->block);
        if (copies(item)) {
            op->dst = span_of(tables, block_key(history, detail->dst, item->position), detail->dst,
                              operand_bytes(detail, detail->dst_pitch));
        }
        if (item->kind == SSAN_op_kind_COPY) {
            op->src = span_of(tables, block_key(history, detail->src, item->position), detail->src,
                              operand_bytes(detail, detail->src_pitch));
        }
    }
    return op->id && op->label;
}

static bool fill_host(struct tables *tables, struct report_op *op, const struct hist_host *host)
{
    const struct history *history = tables->history;
    const bool block = host->alloc != HISTORY_NONE;
    op->kind = host->kind;
    op->thread = host->thread;
    op->seq = host->seq;
    op->id = op->label = text_of(tables->report, 'h', host->thread, host->seq);
    op->call = host->call && host->call[0] ? host->call : NULL;
    op->dst =
        span_of(tables, block ? host->alloc : block_key(history, host->address, host->position),
                host->address, host->size);
    set_stack(op, tables, host->site);
    return op->id != NULL;
}

static bool fill_sync(struct tables *tables, struct report_op *op, const struct hist_sync *sync)
{
    op->kind = ROP_SYNC;
    op->thread = sync->thread;
    op->seq = sync->seq;
    op->call = sync->call[0] ? sync->call : NULL;
    op->id = op->label = text_of(tables->report, 'j', sync->thread, sync->seq);
    if (sync->kind != SSAN_sync_kind_DEVICE && sync->kind != SSAN_sync_kind_STREAM &&
        sync->kind != SSAN_sync_kind_STREAM_QUERY) {
        op->event = tables_event(tables, sync->object);
    }
    set_stack(op, tables, sync->site);
    return op->id != NULL;
}

static bool fill_failed(struct tables *tables, struct report_op *op,
                        const struct hist_failed *failed)
{
    op->kind = ROP_FAILED;
    op->thread = failed->thread;
    op->seq = failed->seq;
    op->call = failed->call[0] ? failed->call : NULL;
    op->name = failed->name[0] ? failed->name : NULL;
    op->error = failed->error;
    op->id = op->label = text_of(tables->report, 'f', failed->thread, failed->seq);
    set_stack(op, tables, failed->site);
    return op->id != NULL;
}

static bool fill_ops(struct tables *tables)
{
    struct report *report = tables->report;
    const struct history *history = tables->history;
    const size_t count = tables->calls.count;
    const char **prefixes = mem_zalloc(report->stream_count + 1, sizeof *prefixes);
    report->ops = arena_alloc(&report->arena, (count + 1) * sizeof *report->ops);
    bool ok = prefixes && report->ops && label_prefixes(report, prefixes);
    for (size_t i = 0; ok && i < count; i++) {
        const struct hist_call *call = &history->calls.items[tables->calls.items[i]];
        struct report_op *op = &report->ops[i];
        *op = (struct report_op){.stream = -1,
                                 .event = -1,
                                 .position = call->position,
                                 .src = no_span(),
                                 .dst = no_span()};
        switch (call->kind) {
        case CALL_ITEM:
            ok = fill_item(tables, op, call->index, prefixes);
            break;
        case CALL_HOST:
            ok = fill_host(tables, op, &history->hosts.items[call->index]);
            break;
        case CALL_SYNC:
            ok = fill_sync(tables, op, &history->syncs.items[call->index]);
            break;
        case CALL_FAILED:
            ok = fill_failed(tables, op, &history->failed.items[call->index]);
            break;
        case CALL_CREATE:
            break; /* never wanted */
        }
        ok = ok && map_set(&tables->call_of, tables->calls.items[i], i);
    }
    report->op_count = ok ? count : 0;
    mem_free(prefixes);
    return ok;
}

bool tables_build(struct tables *tables)
{
    const size_t of_findings = tables->blocks.count;
    bool ok = true;
    if (tables->calls.count > 0) {
        qsort(tables->calls.items, tables->calls.count, sizeof *tables->calls.items, by_number);
    }
    for (size_t i = 0; ok && i < tables->calls.count; i++) {
        ok = want_of_call(tables, &tables->history->calls.items[tables->calls.items[i]]);
    }
    return ok && fill_streams(tables) && fill_events(tables) && fill_blocks(tables, of_findings) &&
           fill_ops(tables) && edges_fill(tables);
}

void tables_finish(struct tables *tables)
{
    VEC_FREE(&tables->calls);
    VEC_FREE(&tables->blocks);
    VEC_FREE(&tables->streams);
    VEC_FREE(&tables->events);
    map_finish(&tables->call_of);
    map_finish(&tables->block_of);
    map_finish(&tables->stream_of);
    map_finish(&tables->event_of);
}
