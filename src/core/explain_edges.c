/* Edges of a report; see explain_edges.h. */
#include "core/explain_edges.h"

#include <string.h>

static bool add_edge(struct report *report, size_t *room, struct report_edge edge)
{
    if (report->edge_count == *room) {
        const size_t more = *room ? 2 * *room : 16;
        struct report_edge *edges = arena_alloc(&report->arena, more * sizeof *edges);
        if (!edges) {
            return false;
        }
        memcpy(edges, report->edges ? report->edges : edges, report->edge_count * sizeof *edges);
        report->edges = edges;
        *room = more;
    }
    report->edges[report->edge_count++] = edge;
    return true;
}

static bool barrier_between(const struct report_stream *from, const struct report_stream *to)
{
    const bool exempt = from->flavour == SSAN_stream_flavour_NON_BLOCKING ||
                        to->flavour == SSAN_stream_flavour_NON_BLOCKING;
    const bool legacy = from->flavour == SSAN_stream_flavour_LEGACY;
    return !exempt && legacy != (to->flavour == SSAN_stream_flavour_LEGACY);
}

bool edges_fill(struct tables *tables)
{
    struct report *report = tables->report;
    const struct history *history = tables->history;
    size_t room = 0;
    int *last = arena_alloc(&report->arena, (report->stream_count + 1) * sizeof *last);
    if (!last) {
        return false;
    }
    for (size_t i = 0; i < report->stream_count; i++) {
        last[i] = -1;
    }
    bool ok = true;
    for (int i = 0; ok && i < (int)report->op_count; i++) {
        const struct report_op *op = &report->ops[i];
        const struct hist_call *call = &history->calls.items[tables->calls.items[i]];
        uint32_t record = HISTORY_NONE;
        if (call->kind == CALL_ITEM) {
            const struct hist_item *item = &history->items.items[call->index];
            record = item->kind == SSAN_op_kind_WAIT ? item->record : HISTORY_NONE;
        } else if (call->kind == CALL_SYNC) {
            record = history->syncs.items[call->index].record;
        }
        if (op->stream >= 0 && last[op->stream] >= 0) {
            ok = add_edge(report, &room, (struct report_edge){last[op->stream], i, "stream"});
        }
        for (int s = 0; ok && op->stream >= 0 && s < (int)report->stream_count; s++) {
            if (s != op->stream && last[s] >= 0 &&
                barrier_between(&report->streams[s], &report->streams[op->stream])) {
                ok = add_edge(report, &room, (struct report_edge){last[s], i, "legacy"});
            }
        }
        const int from =
            record == HISTORY_NONE
                ? -1
                : tables_op(tables,
                            call_at_position(history, history->items.items[record].position));
        if (ok && from >= 0) {
            ok = add_edge(report, &room,
                          (struct report_edge){from, i, op->stream >= 0 ? "event" : "host"});
        }
        if (op->stream >= 0) {
            last[op->stream] = i;
        }
    }
    return ok;
}
