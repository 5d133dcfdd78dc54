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
#include "core/explain_window.h"
#include "core/order.h"

#define KIND_COUNT 3  /* of enum audit_rest */
#define FIX_CHECKS 60 /* re-runs for the fixes of accidents, and of what appears */

struct accidents {
    struct audit *audit;
    struct rerun *rerun;
    struct map blocking;           /* op -> 1: copies and memsets whose returns join */
    struct map single[KIND_COUNT]; /* keys that are new without one alone, as in `kinds` */
    struct map deliberate;         /* keys that are new without any but blocking calls */
    struct map all;                /* keys that are new without any of them */
    unsigned what;                 /* of enum alteration */
};

static const struct {
    unsigned alteration, rest;
} kinds[KIND_COUNT] = {
    {ALTER_NO_LEGACY, AUDIT_RESTS_LEGACY},
    {ALTER_NO_DEVICE, AUDIT_RESTS_DEVICE},
    {ALTER_NO_BLOCKING, AUDIT_RESTS_CALL},
};

static enum ssan_status no_memory(struct ssan_error *err)
{
    return ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory");
}

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
        status = no_memory(err);
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

static void add(struct accidents *accidents, const struct report *in, const struct finding *finding,
                const struct fix *fix, unsigned rests)
{
    struct audit *audit = accidents->audit;
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
    return status == SSAN_OK && !list_all(accidents) ? no_memory(err) : status;
}

enum ssan_status accidents_find(struct audit *audit, struct rerun *rerun, struct ssan_error *err)
{
    struct accidents accidents = {.audit = audit, .rerun = rerun};
    const enum ssan_status status = survey(&accidents) ? find(&accidents, err) : no_memory(err);
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
