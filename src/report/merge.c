/* Several processes of one run as one report: tables one behind the other, ids numbered on.
 *
 * Invariant: every index of the appended part moves by the table sizes before it, and no two
 * streams, events, buffers or operations share an id. Findings are copied, strings and device lines
 * are borrowed. Cost: linear in the part. */
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How far the indices and ordinals of the appended part move. */
struct shift {
    struct arena *arena;
    int stream, event, buffer, op;
    uint32_t stream_ordinal, event_ordinal, thread;
    unsigned place;
};

static int moved(int index, int by)
{
    return index < 0 ? index : index + by;
}

/* The old table with room for more behind it; NULL when out of memory. */
static void *grown(struct arena *arena, const void *old, size_t count, size_t more, size_t size)
{
    char *table = arena_alloc(arena, (count + more + 1) * size);
    if (table && old) {
        memcpy(table, old, count * size);
    } else if (table) {
        memset(table, 0, count * size);
    }
    return table;
}

/* A table with `more` behind it, which is counted; NULL when out of memory. */
static void *appended(struct arena *arena, const void *old, size_t *count, const void *more,
                      size_t more_count, size_t size)
{
    char *table = grown(arena, old, *count, more_count, size);
    if (table && more_count > 0) {
        memcpy(table + *count * size, more, more_count * size);
        *count += more_count;
    }
    return table;
}

/* "s1.2" (a stream's) and "h1.3" (a thread's, any other letter too) with their first number moved;
 * NULL when out of memory. */
static const char *moved_id(const struct shift *shift, const char *id)
{
    char text[64];
    char *rest;
    unsigned long number;
    uint32_t by;
    if (!id || !id[0]) {
        return "";
    }
    number = strtoul(id + 1, &rest, 10);
    by = id[0] == 's' ? shift->stream_ordinal : shift->thread;
    snprintf(text, sizeof text, "%c%lu%s", id[0], number + by, rest);
    return arena_strdup(shift->arena, text);
}

static bool merge_ops(struct report *into, const struct report *more, const struct shift *shift)
{
    size_t i;
    struct report_op *ops =
        grown(shift->arena, into->ops, into->op_count, more->op_count, sizeof *ops);
    if (!ops) {
        return false;
    }
    for (i = 0; i < more->op_count; i++) {
        struct report_op op = more->ops[i];
        char label[80];
        snprintf(label, sizeof label, "%u:%s", shift->place, op.label ? op.label : "");
        op.id = moved_id(shift, op.id);
        op.label = arena_strdup(shift->arena, label);
        op.stream = moved(op.stream, shift->stream);
        op.event = moved(op.event, shift->event);
        op.src.buffer = moved(op.src.buffer, shift->buffer);
        op.dst.buffer = moved(op.dst.buffer, shift->buffer);
        op.thread += op.thread > 0 ? shift->thread : 0;
        if (!op.id || !op.label) {
            return false;
        }
        ops[into->op_count + i] = op;
    }
    into->ops = ops;
    into->op_count += more->op_count;
    return true;
}

static struct finding *moved_finding(const struct shift *shift, const struct finding *old)
{
    struct finding *copy = arena_alloc(shift->arena, sizeof *copy);
    struct finding **folded = arena_alloc(shift->arena, (old->folded_count + 1) * sizeof *folded);
    int *window = arena_alloc(shift->arena, (old->window_count + 1) * sizeof *window);
    size_t i;
    if (!copy || !folded || !window) {
        return NULL;
    }
    *copy = *old;
    copy->buffer = moved(old->buffer, shift->buffer);
    copy->stream = moved(old->stream, shift->stream);
    copy->event = moved(old->event, shift->event);
    copy->first.op = moved(old->first.op, shift->op);
    copy->then.op = moved(old->then.op, shift->op);
    copy->nearest.event = moved(old->nearest.event, shift->event);
    copy->nearest.other_event = moved(old->nearest.other_event, shift->event);
    copy->nearest.record = moved(old->nearest.record, shift->op);
    copy->nearest.wait = moved(old->nearest.wait, shift->op);
    copy->nearest.other_record = moved(old->nearest.other_record, shift->op);
    for (i = 0; i < old->window_count; i++) {
        window[i] = moved(old->window[i], shift->op);
    }
    for (i = 0; i < old->folded_count; i++) {
        folded[i] = moved_finding(shift, old->folded[i]);
        if (!folded[i]) {
            return NULL;
        }
    }
    copy->window = window;
    copy->folded = folded;
    return copy;
}

static bool merge_findings(struct report *into, const struct report *more,
                           const struct shift *shift)
{
    struct finding **findings = grown(shift->arena, into->findings, into->finding_count,
                                      more->finding_count, sizeof *findings);
    size_t i;
    if (!findings) {
        return false;
    }
    for (i = 0; i < more->finding_count; i++) {
        findings[into->finding_count + i] = moved_finding(shift, more->findings[i]);
        if (!findings[into->finding_count + i]) {
            return false;
        }
    }
    into->findings = findings;
    into->finding_count += more->finding_count;
    return true;
}

/* A name that is a number ("stream #2") with the number it now has; false when out of memory. */
static bool renumber(struct arena *arena, const char **name, enum name_from from, uint64_t number)
{
    const char *sign = from == NAME_ORDINAL && *name ? strrchr(*name, '#') : NULL;
    char text[64];
    if (!sign || sign - *name > 32) {
        return true;
    }
    snprintf(text, sizeof text, "%.*s#%" PRIu64, (int)(sign - *name), *name, number);
    *name = arena_strdup(arena, text);
    return *name != NULL;
}

static bool merge_tables(struct report *into, const struct report *more, const struct shift *shift)
{
    struct report_stream *streams =
        grown(shift->arena, into->streams, into->stream_count, more->stream_count, sizeof *streams);
    struct report_event *events =
        grown(shift->arena, into->events, into->event_count, more->event_count, sizeof *events);
    struct report_buffer *buffers =
        grown(shift->arena, into->buffers, into->buffer_count, more->buffer_count, sizeof *buffers);
    struct report_edge *edges =
        grown(shift->arena, into->edges, into->edge_count, more->edge_count, sizeof *edges);
    size_t i;
    bool good = streams && events && buffers && edges;
    for (i = 0; good && i < more->stream_count; i++) {
        struct report_stream *stream = &streams[into->stream_count++];
        *stream = more->streams[i];
        stream->ordinal += shift->stream_ordinal;
        good = renumber(shift->arena, &stream->name, stream->name_from, stream->ordinal);
    }
    for (i = 0; good && i < more->event_count; i++) {
        struct report_event *event = &events[into->event_count++];
        *event = more->events[i];
        event->ordinal += shift->event_ordinal;
        good = renumber(shift->arena, &event->name, event->name_from, event->ordinal);
    }
    for (i = 0; good && i < more->buffer_count; i++) {
        struct report_buffer *buffer = &buffers[into->buffer_count++];
        *buffer = more->buffers[i];
        good = renumber(shift->arena, &buffer->name, buffer->name_from, into->buffer_count);
    }
    if (!good) {
        return false;
    }
    for (i = 0; i < more->edge_count; i++) {
        struct report_edge edge = more->edges[i];
        edge.from = moved(edge.from, shift->op);
        edge.to = moved(edge.to, shift->op);
        edges[into->edge_count++] = edge;
    }
    into->device_count =
        into->device_count > more->device_count ? into->device_count : more->device_count;
    into->streams = streams;
    into->events = events;
    into->buffers = buffers;
    into->edges = edges;
    return true;
}

static bool merge_unsupported(struct run_info *into, const struct run_info *more,
                              struct arena *arena)
{
    const char **names = grown(arena, into->unsupported, into->unsupported_count,
                               more->unsupported_count, sizeof *names);
    uint64_t *counts = grown(arena, into->unsupported_counts, into->unsupported_count,
                             more->unsupported_count, sizeof *counts);
    struct place *at = grown(arena, into->unsupported_at, into->unsupported_count,
                             more->unsupported_count, sizeof *at);
    size_t i, k;
    if (!names || !counts || !at) {
        return false;
    }
    for (i = 0; i < more->unsupported_count; i++) {
        for (k = 0; k < into->unsupported_count; k++) {
            if (strcmp(names[k], more->unsupported[i]) == 0) {
                break;
            }
        }
        if (k == into->unsupported_count) {
            at[k] = more->unsupported_at ? more->unsupported_at[i] : (struct place){0};
            names[into->unsupported_count++] = more->unsupported[i];
        }
        counts[k] += more->unsupported_counts[i];
    }
    into->unsupported = names;
    into->unsupported_counts = counts;
    into->unsupported_at = at;
    return true;
}

/* The first one tells, but one that was planned gives way to one that was not. */
static void merge_fault(struct run_info *into, const struct run_info *more)
{
    if (more->fault.text && (!into->fault.text || (into->fault.planned && !more->fault.planned))) {
        into->fault = more->fault;
    }
}

static bool merge_lists(struct run_info *into, const struct run_info *more, struct arena *arena)
{
    const char **reasons = appended(arena, into->reasons, &into->reason_count, more->reasons,
                                    more->reason_count, sizeof *reasons);
    into->reasons = reasons ? reasons : into->reasons;
    struct run_failure *failures = appended(arena, into->failures, &into->failure_count,
                                            more->failures, more->failure_count, sizeof *failures);
    into->failures = failures ? failures : into->failures;
    struct run_failure *refused = appended(arena, into->refused, &into->refused_count,
                                           more->refused, more->refused_count, sizeof *refused);
    into->refused = refused ? refused : into->refused;
    struct run_missed *missed = appended(arena, into->missed, &into->missed_count, more->missed,
                                         more->missed_count, sizeof *missed);
    into->missed = missed ? missed : into->missed;
    return reasons && failures && refused && missed;
}

static bool merge_run(struct run_info *into, const struct run_info *more, struct arena *arena)
{
    size_t i;
    for (i = 0; i < ssan_loss_count; i++) {
        into->lost[i] += more->lost[i];
    }
    into->open_operations += more->open_operations;
    into->rounded_sets += more->rounded_sets;
    into->trace_bytes += more->trace_bytes;
    into->cut |= more->cut;
    into->observed = into->observed ? into->observed : more->observed;
    into->accesses = more->accesses < into->accesses ? more->accesses : into->accesses;
    if (more->submitting_threads > into->submitting_threads) {
        into->submitting_threads = more->submitting_threads;
    }
    merge_fault(into, more);
    return merge_unsupported(into, more, arena) && merge_lists(into, more, arena);
}

static void merge_totals(struct engine_totals *into, const struct engine_totals *more)
{
    into->operations += more->operations;
    into->streams += more->streams;
    into->events += more->events;
    into->buffers += more->buffers;
    into->accesses += more->accesses;
    into->allocations += more->allocations;
    into->footprints += more->footprints;
    into->host_accesses |= more->host_accesses;
}

bool report_merge(struct report *into, const struct report *more, unsigned place)
{
    struct shift shift = {
        .arena = &into->arena,
        .stream = (int)into->stream_count,
        .event = (int)into->event_count,
        .buffer = (int)into->buffer_count,
        .op = (int)into->op_count,
        .stream_ordinal = (uint32_t)into->totals.streams,
        .event_ordinal = (uint32_t)into->totals.events,
        .thread = 0,
        .place = place,
    };
    size_t i;
    for (i = 0; i < into->op_count; i++) {
        if (into->ops[i].thread > shift.thread) {
            shift.thread = into->ops[i].thread;
        }
    }
    into->spare_streams = into->spare_buffers = 0; /* the tables grow over them */
    if (!merge_ops(into, more, &shift) || !merge_findings(into, more, &shift) ||
        !merge_tables(into, more, &shift) || !merge_run(&into->run, &more->run, &into->arena)) {
        return false;
    }
    merge_totals(&into->totals, &more->totals);
    return true;
}
