/* The trace judged again without what orders by accident.
 *
 * Taken away together: the barrier of the legacy stream, device-wide joins, and what the returns of
 * blocking copies and memsets join. What is new then rests on nothing else; taken away one by one
 * they tell on which. A blocking call that its own caller relies on (host code behind a copy reads
 * what it copied) is no accident. Order that only observed behaviour gives, as that of cudaFree, is
 * a warning of the trace already and listed from there. Cost: a few re-runs. */
#include "audit/accident.h"

#include <string.h>

#include "audit/altered.h"
#include "core/explain.h"
#include "core/explain_ids.h"
#include "core/explain_window.h"
#include "core/order.h"

#define KIND_COUNT 3  /* of enum audit_rest */
#define FIX_CHECKS 60 /* re-runs for the fixes of accidents, and of what appears */
#define SITES_MAX  60 /* redundant sites that are judged without what orders by accident */

struct accidents {
    struct audit *audit;
    struct rerun *rerun;
    struct map blocking;           /* op -> 1: copies and memsets whose returns join */
    struct map single[KIND_COUNT]; /* keys that are new without one alone, as in `kinds` */
    struct map deliberate;         /* keys that are new without any but blocking calls */
    struct map all;                /* keys that are new without any of them */
    unsigned what;                 /* of enum alteration */
    struct sites *sites;
};

static const struct {
    unsigned alteration, rest;
} kinds[KIND_COUNT] = {
    {ALTER_NO_LEGACY, AUDIT_RESTS_LEGACY},
    {ALTER_NO_DEVICE, AUDIT_RESTS_DEVICE},
    {ALTER_NO_BLOCKING, AUDIT_RESTS_CALL},
};

/* The copy or memset whose return made a join; HISTORY_NONE: another kind of join. */
static uint32_t blocking_item(const struct history *history, const struct hist_join *join)
{
    uint32_t item = HISTORY_NONE;
    if (join->kind == JOIN_ITEM) {
        item = join->object;
    } else if (join->kind == JOIN_STREAM) { /* `bound` is where the item, or the sync, stands */
        const uint32_t call = call_at_position(history, join->bound);
        if (call != HISTORY_NONE && history->calls.items[call].kind == CALL_ITEM) {
            item = history->calls.items[call].index;
        }
    }
    const enum ssan_op_kind kind =
        item == HISTORY_NONE ? SSAN_op_kind_KERNEL : history->items.items[item].kind;
    return kind == SSAN_op_kind_COPY || kind == SSAN_op_kind_MEMSET ? item : HISTORY_NONE;
}

/* What of the three the trace has. False when out of memory. */
static bool survey(struct accidents *accidents)
{
    const struct history *history = accidents->rerun->history;
    bool legacy = false, blocking = false, ok = true;
    for (size_t i = 0; i < history->streams.count; i++) {
        const struct hist_stream *stream = &history->streams.items[i];
        legacy |= stream->flavour == SSAN_stream_flavour_LEGACY;
        blocking |= stream->flavour == SSAN_stream_flavour_BLOCKING ||
                    stream->flavour == SSAN_stream_flavour_PER_THREAD;
    }
    accidents->what |= legacy && blocking ? ALTER_NO_LEGACY : 0;
    for (size_t i = 0; i < history->syncs.count; i++) {
        const bool device = history->syncs.items[i].kind == SSAN_sync_kind_DEVICE;
        accidents->what |= device ? ALTER_NO_DEVICE : 0;
    }
    for (size_t i = 0; ok && i < history->joins.count; i++) {
        const uint32_t item = blocking_item(history, &history->joins.items[i]);
        if (item != HISTORY_NONE) {
            accidents->what |= ALTER_NO_BLOCKING;
            ok = map_set(&accidents->blocking, history->items.items[item].op, 1);
        }
    }
    return ok;
}

/* The keys that are new when `what` goes. */
static enum ssan_status keys_without(struct accidents *accidents, unsigned what, struct map *keys,
                                     struct ssan_error *err)
{
    struct altered altered;
    struct engine *engine = NULL;
    altered_init(&altered, accidents->rerun->source, what, &accidents->blocking);
    enum ssan_status status = rerun_judge(accidents->rerun, &altered.source, NULL, 0, &engine, err);
    if (status == SSAN_OK && !rerun_fresh_keys(accidents->rerun, engine, keys)) {
        status = ssan_no_memory(err);
    }
    engine_destroy(engine);
    altered_finish(&altered);
    return status;
}

/* Tells the caller that something goes on while fixes are checked. */
static bool tell_step(void *self)
{
    const struct rerun *rerun = self;
    rerun->options->step(rerun->options->step_self, rerun->runs);
    return false;
}

/* Judges an altered trace and explains what it has. */
static enum ssan_status explain_altered(struct rerun *rerun, struct altered *altered,
                                        struct report *report, struct ssan_error *err)
{
    const struct audit_options *options = rerun->options;
    const struct explain_options how = {
        .order_documented = options->order_documented,
        .threads_strict = options->engine.threads == THREADS_STRICT,
        .max_checks = FIX_CHECKS,
        .stop = options->step ? tell_step : NULL,
        .stop_self = rerun,
    };
    struct engine *engine = NULL;
    enum ssan_status status = rerun_judge(rerun, &altered->source, NULL, 0, &engine, err);
    if (status == SSAN_OK) {
        status = explain(report, engine, &altered->source, &how, err);
    }
    engine_destroy(engine);
    return status;
}

static bool is_blocking(const struct accidents *accidents, const struct finding_side *side)
{
    const struct report *report = &accidents->audit->accidental;
    return side->op >= 0 && report->ops[side->op].op != 0 &&
           map_find(&accidents->blocking, report->ops[side->op].op);
}

/* Whether a finding of the altered trace is order that holds by accident in the one as it is. */
static bool is_accident(const struct accidents *accidents, const struct finding *finding)
{
    const bool own =
        is_blocking(accidents, &finding->first) || is_blocking(accidents, &finding->then);
    return finding->severity != SEVERITY_ADVICE && finding->first.op >= 0 &&
           finding->then.op >= 0 && map_find(&accidents->all, finding->key) &&
           (!own || map_find(&accidents->deliberate, finding->key));
}

/* How often the trace made the call of an operation; 0: unknown. */
static size_t times_made(const struct accidents *accidents, const struct report_op *op)
{
    const struct history *history = accidents->rerun->history;
    const uint32_t item = op->op ? history_find(&history->item_of, op->op) : HISTORY_NONE;
    size_t count = 0, times = 0;
    if (item == HISTORY_NONE) {
        return 0;
    }
    const uint32_t site = history->items.items[item].site;
    const uint32_t *calls = history_calls_of(history, history_site(history, site)->place, &count);
    for (size_t i = 0; i < count; i++) {
        times += history->calls.items[calls[i]].site == site;
    }
    return times;
}

/* Whether a fix records on the legacy stream in front of each of many later operations, though the
 * first one comes less often: a barrier each time. */
static bool repeats_barrier(const struct accidents *accidents, const struct report *in,
                            const struct finding *finding, const struct fix *fix)
{
    const struct report_op *first = &in->ops[finding->first.op], *then = &in->ops[finding->then.op];
    if (!fix || first->stream < 0 ||
        in->streams[first->stream].flavour != SSAN_stream_flavour_LEGACY ||
        times_made(accidents, first) >= times_made(accidents, then)) {
        return false;
    }
    for (size_t i = 0; i < fix->edit_count; i++) {
        const struct source_edit *edit = &fix->edits[i];
        if (edit->insert_before && edit->line == then->at.line &&
            strncmp(edit->insert_before, "cudaEventRecord(", strlen("cudaEventRecord(")) == 0) {
            return true;
        }
    }
    return false;
}

static void add(struct accidents *accidents, const struct report *in, const struct finding *finding,
                const struct fix *fix, unsigned rests)
{
    struct audit *audit = accidents->audit;
    if (repeats_barrier(accidents, in, finding, fix)) {
        fix = NULL;
    }
    audit->accidents[audit->accident_count++] =
        (struct audit_accident){.in = in, .finding = finding, .fix = fix, .rests = rests};
}

static unsigned rests_of(const struct accidents *accidents, uint64_t key)
{
    unsigned rests = 0;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        rests |= map_find(&accidents->single[i], key) ? kinds[i].rest : 0;
    }
    return rests;
}

/* Room for all findings of both reports, folded ones too. */
static size_t room_of(const struct report *report)
{
    size_t room = 0;
    for (size_t i = 0; report && i < report->finding_count; i++) {
        room += 1 + report->findings[i]->folded_count;
    }
    return room;
}

/* Order that only observed behaviour of calls gives. */
static void list_observed(struct accidents *accidents, const struct report *report)
{
    for (size_t i = 0; report && i < report->finding_count; i++) {
        const struct finding *finding = report->findings[i];
        if (finding->ordered_by && !finding->suppressed_by &&
            !order_is_asked_for(finding->ordered_by)) {
            add(accidents, report, finding, finding->fix, AUDIT_RESTS_CALL);
        }
    }
}

static bool list_all(struct accidents *accidents)
{
    struct audit *audit = accidents->audit;
    const struct report *report = &audit->accidental, *base = accidents->rerun->options->report;
    audit->accidents = arena_alloc(&audit->report.arena, (room_of(report) + room_of(base) + 1) *
                                                             sizeof *audit->accidents);
    if (!audit->accidents) {
        return false;
    }
    for (size_t i = 0; i < report->finding_count; i++) {
        const struct finding *top = report->findings[i];
        if (is_accident(accidents, top)) {
            add(accidents, report, top, top->fix, rests_of(accidents, top->key));
            continue;
        }
        for (size_t k = 0; k < top->folded_count;
             k++) { /* the first tells the others of its edge */
            if (is_accident(accidents, top->folded[k])) {
                add(accidents, report, top->folded[k], top->fix,
                    rests_of(accidents, top->folded[k]->key));
                break;
            }
        }
    }
    list_observed(accidents, base);
    return true;
}

/* Explains the trace without any of them. */
static enum ssan_status explain_all(struct accidents *accidents, struct ssan_error *err)
{
    struct altered altered;
    unsigned what = accidents->what;
    if (what & ALTER_NO_LEGACY) {
        what = (what & ~(unsigned)ALTER_NO_LEGACY) | ALTER_LEGACY_APART;
    }
    altered_init(&altered, accidents->rerun->source, what, &accidents->blocking);
    const enum ssan_status status =
        explain_altered(accidents->rerun, &altered, &accidents->audit->accidental, err);
    altered_finish(&altered);
    return status;
}

static enum ssan_status find(struct accidents *accidents, struct ssan_error *err)
{
    const unsigned what = accidents->what, rest = what & ~(unsigned)ALTER_NO_BLOCKING;
    enum ssan_status status = SSAN_OK;
    if (what != 0) {
        status = keys_without(accidents, what, &accidents->all, err);
    }
    if (status == SSAN_OK && accidents->all.count > 0) {
        for (size_t i = 0; status == SSAN_OK && i < KIND_COUNT; i++) {
            if (what & kinds[i].alteration) {
                status = keys_without(accidents, kinds[i].alteration, &accidents->single[i], err);
            }
        }
        if (status == SSAN_OK && rest != 0) {
            status = keys_without(accidents, rest, &accidents->deliberate, err);
        }
        if (status == SSAN_OK) {
            status = explain_all(accidents, err);
        }
    }
    return status == SSAN_OK && !list_all(accidents) ? ssan_no_memory(err) : status;
}

/* Whether the order of operations that need order for themselves hangs on `what` and on the site:
 * a key that is new without both, and in `known` not. Of blocking calls their own order counts with
 * `own` only. */
static bool has_other_keys(const struct accidents *accidents, const struct engine *engine,
                           const struct map *known, bool own)
{
    const struct rerun *rerun = accidents->rerun;
    size_t count;
    const struct hazard *hazards = engine_hazards(engine, &count);
    for (size_t i = 0; i < count; i++) {
        const struct hazard *hazard = &hazards[i];
        const uint64_t key = hazard_key(rerun->history, hazard);
        const bool blocking = map_find(&accidents->blocking, hazard->first.op) ||
                              map_find(&accidents->blocking, hazard->then.op);
        if (rerun_severity(rerun, hazard) != SEVERITY_ADVICE && !map_find(&rerun->known, key) &&
            !map_find(known, key) && (own || !blocking)) {
            return true;
        }
    }
    return false;
}

/* Judges the trace without `what` and without a site. */
static enum ssan_status judge_without(struct accidents *accidents, unsigned what, struct site *site,
                                      struct ssan_error *err)
{
    struct rerun *rerun = accidents->rerun;
    const bool own = !(what & ALTER_NO_BLOCKING);
    struct altered altered;
    struct drops drops = {0};
    struct engine *engine = NULL;
    altered_init(&altered, rerun->source, what, &accidents->blocking);
    enum ssan_status status =
        drops_add_site(&drops, rerun->history, site) ? SSAN_OK : ssan_no_memory(err);
    if (status == SSAN_OK) {
        drops_sort(&drops);
        status = rerun_judge(rerun, &altered.source, drops.items, drops.count, &engine, err);
    }
    if (status == SSAN_OK) {
        const struct map *known = own ? &accidents->deliberate : &accidents->all;
        site->by_accident |= has_other_keys(accidents, engine, known, own);
    }
    engine_destroy(engine);
    altered_finish(&altered);
    VEC_FREE(&drops);
    return status;
}

/* Whether order by accident may be why a site is redundant. */
static bool is_doubtful(const struct accidents *accidents, const struct site *site)
{
    const struct history *history = accidents->rerun->history;
    if (site->fresh.count > 0 || site->why != AUDIT_COVERED) {
        return site->fresh.count == 0 &&
               (site->why == AUDIT_NEEDED_COVERED || site->why == AUDIT_NO_CONFLICT);
    }
    for (size_t i = 0; i < site->covers.count; i++) {
        const struct found_cover *cover = &site->covers.items[i];
        bool device = false;
        if (cover->kind == AUDIT_COVER_SYNC && cover->call != HISTORY_NONE) {
            const struct hist_call *call = &history->calls.items[cover->call];
            device = call->kind == CALL_SYNC &&
                     history->syncs.items[call->index].kind == SSAN_sync_kind_DEVICE;
        }
        if (device || cover->kind == AUDIT_COVER_LEGACY || cover->kind == AUDIT_COVER_CALL) {
            return true;
        }
    }
    return false;
}

/* Sets by_accident of the redundant sites. */
static enum ssan_status judge_covers(struct accidents *accidents, struct ssan_error *err)
{
    const unsigned rest = accidents->what & ~(unsigned)ALTER_NO_BLOCKING;
    enum ssan_status status = SSAN_OK;
    size_t judged = 0;
    for (size_t i = 0; status == SSAN_OK && i < accidents->sites->items.count; i++) {
        struct site *site = &accidents->sites->items.items[i];
        if (!is_doubtful(accidents, site) || judged == SITES_MAX) {
            continue;
        }
        judged++;
        if (rest != 0) {
            status = judge_without(accidents, rest, site, err);
        }
        if (status == SSAN_OK && !site->by_accident && rest != accidents->what) {
            status = judge_without(accidents, accidents->what, site, err);
        }
    }
    return status;
}

enum ssan_status accidents_find(struct audit *audit, struct rerun *rerun, struct sites *sites,
                                struct ssan_error *err)
{
    struct accidents accidents = {.audit = audit, .rerun = rerun, .sites = sites};
    enum ssan_status status = survey(&accidents) ? find(&accidents, err) : ssan_no_memory(err);
    status = status == SSAN_OK ? judge_covers(&accidents, err) : status;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        map_finish(&accidents.single[i]);
    }
    map_finish(&accidents.deliberate);
    map_finish(&accidents.all);
    map_finish(&accidents.blocking);
    return status;
}

/* Whether the trace as it is has a finding of this id that is as grave. */
static bool is_known(const struct report *report, const struct finding *finding)
{
    for (size_t i = 0; report && i < report->finding_count; i++) {
        const struct finding *top = report->findings[i];
        bool known = strcmp(top->id, finding->id) == 0 && top->severity >= finding->severity;
        for (size_t k = 0; k < top->folded_count; k++) {
            known |= strcmp(top->folded[k]->id, finding->id) == 0 &&
                     top->folded[k]->severity >= finding->severity;
        }
        if (known) {
            return true;
        }
    }
    return false;
}

/* Leaves in a report what the trace as it is has not. */
static void keep_appeared(struct report *report, const struct report *base)
{
    size_t kept = 0;
    for (size_t i = 0; i < report->finding_count; i++) {
        struct finding *finding = report->findings[i];
        bool appears = !is_known(base, finding);
        for (size_t k = 0; k < finding->folded_count; k++) {
            appears |= !is_known(base, finding->folded[k]);
        }
        if (appears) {
            report->findings[kept++] = finding;
        }
    }
    report->finding_count = kept;
}

enum ssan_status assumption_judge(struct audit *audit, struct rerun *rerun, struct ssan_error *err)
{
    struct altered altered;
    const unsigned assume = rerun->options->assume;
    audit->assume = assume;
    if (assume == 0) {
        return SSAN_OK;
    }
    altered_init(&altered, rerun->source,
                 (assume & AUDIT_ASSUME_NON_BLOCKING ? ALTER_NON_BLOCKING : 0) |
                     (assume & AUDIT_ASSUME_PER_THREAD ? ALTER_PER_THREAD : 0),
                 NULL);
    const enum ssan_status status = explain_altered(rerun, &altered, &audit->assumed, err);
    altered_finish(&altered);
    keep_appeared(&audit->assumed, rerun->options->report);
    return status;
}
