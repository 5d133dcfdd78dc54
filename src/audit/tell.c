/* The report's tables hold what the audit names: the first call of every site, the covers, and both
 * sides of what a load-bearing call protects.
 *
 * Of hazards over one pair of operations and one block the gravest stands, with a count. Equal
 * traces give equal tables. Cost: O(n log n) in what is told, one pass over the trace. */
#include "audit/tell.h"

#include "core/explain_ids.h"
#include "core/explain_nearest.h"
#include "core/explain_side.h"
#include "core/explain_tables.h"
#include "core/explain_window.h"

#define OBJECTS_MAX 16 /* streams or events of one site that are named */

/* A hazard that is told. */
struct told {
    const struct fresh *fresh;
    struct pair pair;
    uint64_t pair_key, block;
    uint64_t count, known; /* instances: added, and there already */
};

struct telling {
    struct audit *audit;
    const struct sites *sites;
    const struct history *history;
    struct details details;
    struct tables tables;
    struct told **told; /* by site */
    size_t *counts;
};

static bool is_same(const struct told *a, const struct told *b)
{
    const struct hazard *one = &a->fresh->hazard, *two = &b->fresh->hazard;
    return a->block == b->block && ((a->pair_key != 0 && a->pair_key == b->pair_key) ||
                                    (one->first.position == two->first.position &&
                                     one->then.position == two->then.position));
}

static bool is_graver(const struct fresh *a, const struct fresh *b)
{
    return a->severity != b->severity
               ? a->severity > b->severity
               : check_info(a->hazard.check)->rank > check_info(b->hazard.check)->rank;
}

/* Groups what a site protects; false when out of memory. */
static bool group(struct telling *telling, size_t index)
{
    const struct site *site = &telling->sites->items.items[index];
    const struct history *history = telling->history;
    struct told *told =
        arena_alloc(&telling->audit->report.arena, (site->fresh.count + 1) * sizeof *told);
    size_t count = 0;
    telling->told[index] = told;
    for (size_t i = 0; told && i < site->fresh.count; i++) {
        const struct fresh *fresh = &site->fresh.items[i];
        struct told one = {.fresh = fresh,
                           .pair = pair_of(history, &fresh->hazard, false),
                           .pair_key = hazard_pair_key(history, &fresh->hazard),
                           .block = hazard_has_block(&fresh->hazard)
                                        ? hazard_block(history, &fresh->hazard)
                                        : UINT64_MAX,
                           .count = fresh->hazard.count,
                           .known = fresh->known};
        size_t at = 0;
        while (at < count && !is_same(&told[at], &one)) {
            at++;
        }
        if (at == count) {
            told[count++] = one;
        } else if (is_graver(fresh, told[at].fresh)) {
            one.count += told[at].count;
            one.known += told[at].known;
            told[at] = one;
        } else {
            told[at].count += one.count;
            told[at].known += one.known;
        }
    }
    telling->counts[index] = count;
    return told != NULL;
}

/* Marks the items whose operands are to be read. */
static bool prepare(struct telling *telling)
{
    const struct miss none = {.event = HISTORY_NONE,
                              .other_event = HISTORY_NONE,
                              .record = HISTORY_NONE,
                              .wait = HISTORY_NONE,
                              .other_record = HISTORY_NONE,
                              .sync = HISTORY_NONE};
    bool ok = true;
    for (size_t i = 0; ok && i < telling->sites->items.count; i++) {
        ok = group(telling, i);
        for (size_t k = 0; ok && k < telling->counts[i]; k++) {
            ok = window_prepare(&telling->details, telling->history, &telling->told[i][k].pair,
                                &none);
        }
    }
    return ok;
}

static bool is_of_event(const struct hist_sync *sync)
{
    return sync->kind == SSAN_sync_kind_EVENT || sync->kind == SSAN_sync_kind_EVENT_QUERY ||
           sync->kind == SSAN_sync_kind_ELAPSED;
}

/* What a call waits with and for; HISTORY_NONE where it doesn't apply. */
static void objects_of(const struct history *history, uint32_t index, uint32_t *stream,
                       uint32_t *event)
{
    const struct hist_call *call = &history->calls.items[index];
    *stream = *event = HISTORY_NONE;
    if (call->kind == CALL_ITEM) {
        *stream = history->items.items[call->index].stream;
        *event = history->items.items[call->index].event;
        return;
    }
    const struct hist_sync *sync = &history->syncs.items[call->index];
    if (is_of_event(sync)) {
        *event = sync->object;
    } else if (sync->kind != SSAN_sync_kind_DEVICE) {
        *stream = sync->object;
    }
}

static bool want_hazard(struct telling *telling, const struct told *told)
{
    struct tables *tables = &telling->tables;
    const struct history *history = telling->history;
    const struct hazard *hazard = &told->fresh->hazard;
    return side_want(tables, &hazard->first, told->pair.first_item) &&
           side_want(tables, &hazard->then, told->pair.then_item) &&
           (told->block == UINT64_MAX || tables_want_block(tables, told->block)) &&
           tables_want_stream(tables, hazard->stream
                                          ? history_find(&history->stream_of, hazard->stream)
                                          : HISTORY_NONE) &&
           tables_want_event(tables, hazard->event ? history_find(&history->event_of, hazard->event)
                                                   : HISTORY_NONE);
}

static bool want_site(struct telling *telling, size_t index)
{
    const struct site *site = &telling->sites->items.items[index];
    struct tables *tables = &telling->tables;
    bool ok = tables_want_call(tables, site->calls.items[0]);
    for (size_t i = 0; ok && i < site->calls.count && i < OBJECTS_MAX; i++) {
        uint32_t stream, event;
        objects_of(telling->history, site->calls.items[i], &stream, &event);
        ok = tables_want_stream(tables, stream) && tables_want_event(tables, event);
    }
    for (size_t i = 0; ok && i < site->covers.count; i++) {
        ok = tables_want_call(tables, site->covers.items[i].call);
    }
    for (size_t i = 0; ok && i < telling->counts[index]; i++) {
        ok = want_hazard(telling, &telling->told[index][i]);
    }
    return ok;
}

static struct finding *make_finding(struct telling *telling, const struct told *told)
{
    struct tables *tables = &telling->tables;
    const struct history *history = telling->history;
    const struct hazard *hazard = &told->fresh->hazard;
    struct finding *finding = arena_alloc(&telling->audit->report.arena, sizeof *finding);
    if (!finding) {
        return NULL;
    }
    *finding = (struct finding){
        .check = hazard->check,
        .severity = told->fresh->severity,
        .sureness = hazard->sureness,
        .ordered_by = told->fresh->severity == SEVERITY_WARNING ? hazard->ordered_by : NULL,
        .buffer = told->block == UINT64_MAX ? -1 : tables_block(tables, told->block),
        .stream = hazard->stream
                      ? tables_stream(tables, history_find(&history->stream_of, hazard->stream))
                      : -1,
        .event = hazard->event
                     ? tables_event(tables, history_find(&history->event_of, hazard->event))
                     : -1,
        .count = told->count,
    };
    return side_fill(tables, &finding->first, &hazard->first, told->pair.first_item) &&
                   side_fill(tables, &finding->then, &hazard->then, told->pair.then_item) &&
                   (told->block == UINT64_MAX || side_fill_bytes(tables, finding, hazard))
               ? finding
               : NULL;
}

static void add_distinct(int *list, size_t *count, int value)
{
    for (size_t i = 0; i < *count; i++) {
        if (list[i] == value) {
            return;
        }
    }
    if (value >= 0 && *count < OBJECTS_MAX) {
        list[(*count)++] = value;
    }
}

static bool fill_objects(struct telling *telling, struct audit_site *out, const struct site *site)
{
    struct arena *arena = &telling->audit->report.arena;
    int *streams = arena_alloc(arena, OBJECTS_MAX * sizeof *streams);
    int *events = arena_alloc(arena, OBJECTS_MAX * sizeof *events);
    for (size_t i = 0; streams && events && i < site->calls.count && i < OBJECTS_MAX; i++) {
        uint32_t stream, event;
        objects_of(telling->history, site->calls.items[i], &stream, &event);
        add_distinct(streams, &out->stream_count, tables_stream(&telling->tables, stream));
        add_distinct(events, &out->event_count, tables_event(&telling->tables, event));
    }
    out->streams = streams;
    out->events = events;
    return streams && events;
}

static bool fill_site(struct telling *telling, struct audit_site *out, size_t index)
{
    const struct site *site = &telling->sites->items.items[index];
    struct arena *arena = &telling->audit->report.arena;
    const size_t count = telling->counts[index];
    struct finding **protects = arena_alloc(arena, (count + 1) * sizeof *protects);
    uint64_t *known = arena_alloc(arena, (count + 1) * sizeof *known);
    struct audit_cover *covers = arena_alloc(arena, (site->covers.count + 1) * sizeof *covers);
    *out = (struct audit_site){
        .op = tables_op(&telling->tables, site->calls.items[0]),
        .is_wait = site->is_wait,
        .load_bearing = site->fresh.count > 0,
        .together = site->together,
        .by_accident = site->by_accident,
        .calls = site->calls.count,
        .blocked_ns = site->blocked_ns,
        .protects = protects,
        .known = known,
        .more_count = site->fresh.more,
        .why = (enum audit_why)site->why,
        .covers = covers,
    };
    bool ok = protects && known && covers && fill_objects(telling, out, site);
    for (size_t i = 0; ok && i < count; i++) {
        protects[i] = make_finding(telling, &telling->told[index][i]);
        known[i] = telling->told[index][i].known;
        out->protect_count += protects[i] != NULL;
        ok = protects[i] != NULL;
    }
    for (size_t i = 0; ok && i < site->covers.count; i++) {
        covers[out->cover_count++] = (struct audit_cover){
            .kind = (enum audit_cover_kind)site->covers.items[i].kind,
            .op = tables_op(&telling->tables, site->covers.items[i].call),
        };
    }
    return ok;
}

static bool fill(struct telling *telling)
{
    struct audit *audit = telling->audit;
    const size_t count = telling->sites->items.count;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        ok = want_site(telling, i);
    }
    audit->sites = arena_alloc(&audit->report.arena, (count + 1) * sizeof *audit->sites);
    ok = ok && audit->sites && tables_build(&telling->tables);
    for (size_t i = 0; ok && i < count; i++) {
        ok = fill_site(telling, &audit->sites[i], i);
        audit->site_count += ok;
        audit->load_bearing += ok && audit->sites[i].load_bearing;
        audit->redundant += ok && !audit->sites[i].load_bearing;
        audit->together += ok && audit->sites[i].together;
    }
    return ok;
}

enum ssan_status tell(struct audit *audit, const struct sites *sites, struct history *history,
                      struct ssan_source *source, struct ssan_error *err)
{
    struct telling telling = {.audit = audit, .sites = sites, .history = history};
    enum ssan_status status = SSAN_OK;
    telling.tables =
        (struct tables){.report = &audit->report, .history = history, .details = &telling.details};
    telling.told = mem_zalloc(sites->items.count + 1, sizeof *telling.told);
    telling.counts = mem_zalloc(sites->items.count + 1, sizeof *telling.counts);
    if (!telling.told || !telling.counts || !prepare(&telling)) {
        status = ssan_no_memory(err);
    } else if (!source->rewind(source)) {
        status = ssan_fail(err, SSAN_IO, 0, "the trace can't be read a second time");
    } else {
        status = details_read(&telling.details, history, source, err);
    }
    if (status == SSAN_OK && !fill(&telling)) {
        status = ssan_no_memory(err);
    }
    mem_free(telling.told);
    mem_free(telling.counts);
    tables_finish(&telling.tables);
    details_finish(&telling.details);
    return status;
}
