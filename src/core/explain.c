/* From hazards to findings.
 *
 * The trace is read twice for the words (history, then details of what is shown) and once for each
 * fix that is checked. Hazards of one key are one finding; a finding that another one's fix removes
 * folds into it. All that the report keeps lies in its arena. Cost: O(trace) with hazards, one
 * cheap pass without; plus O(trace) for each re-check. */
#include "core/explain.h"

#include <stdlib.h>
#include <string.h>

#include "core/explain_check.h"
#include "core/explain_failures.h"
#include "core/explain_fix_told.h"
#include "core/explain_ids.h"
#include "core/explain_label.h"
#include "core/explain_read.h"
#include "core/explain_side.h"
#include "core/explain_tables.h"
#include "core/explain_window.h"

/* All that one call of explain() holds. */
struct explainer {
    struct report *report;
    const struct engine *engine;
    struct ssan_source *source;
    const struct explain_options *options;
    struct history history;
    struct details details;
    struct tables tables;
    struct checker checker;
    struct window *windows; /* by work */
    const char **ids;       /* by work */
};

static enum ssan_status no_memory(struct ssan_error *err)
{
    return ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory while explaining findings");
}

/* Facts that the engine's totals tell, with or without a second look at the trace. */
static void fill_totals(struct report *report, const struct engine *engine,
                        const struct explain_options *options)
{
    const struct engine_totals *totals = engine_totals(engine);
    struct run_info *run = &report->run;
    report->totals = *totals;
    run->order_documented = options->order_documented;
    run->threads_strict = options->threads_strict;
    run->submitting_threads = totals->submitting_threads;
    run->has_exit = totals->exited;
    run->cut = !totals->exited;
    run->open_operations = totals->open_operations;
    run->rounded_sets = totals->rounded_sets;
    memcpy(run->lost, totals->lost, sizeof run->lost);
}

static void judge_complete(struct report *report)
{
    struct run_info *run = &report->run;
    uint64_t lost = 0;
    for (size_t i = 0; i < ssan_loss_count; i++) {
        lost += run->lost[i];
    }
    run->complete = lost == 0 && run->unsupported_count == 0 && !run->cut &&
                    run->open_operations == 0 && (!run->fault.text || run->fault.planned) &&
                    !run->infeasible && (report->totals.operations > 0 || run->failure_count > 0);
}

static bool fill_run(struct report *report, const struct history *history)
{
    struct run_info *run = &report->run;
    struct arena *arena = &report->arena;
    report->device_count = history_count_devices(history);
    const char **command = arena_alloc(arena, (history->command.count + 1) * sizeof *command);
    const char **names = arena_alloc(arena, (history->unsupported.count + 1) * sizeof *names);
    uint64_t *counts = arena_alloc(arena, (history->unsupported.count + 1) * sizeof *counts);
    struct place *at = arena_alloc(arena, (history->unsupported.count + 1) * sizeof *at);
    if (!command || !names || !counts || !at) {
        return false;
    }
    for (size_t i = 0; i < history->command.count; i++) {
        command[i] = history->command.items[i].text;
    }
    for (size_t i = 0; i < history->unsupported.count; i++) {
        names[i] = history->unsupported.items[i].call;
        counts[i] = history->unsupported.items[i].count;
        at[i] = history_place(history, history->unsupported.items[i].site);
    }
    run->command = command;
    run->unsupported = names;
    run->unsupported_counts = counts;
    run->unsupported_at = at;
    run->unsupported_count = history->unsupported.count;
    run->source = history->producer;
    run->accesses = history->accesses;
    run->host = history->host_scope == SSAN_host_scope_OFF && report->totals.host_accesses
                    ? SSAN_host_scope_ANNOTATED
                    : history->host_scope;
    run->schedule = history->schedule;
    run->altered = history->altered;
    run->observed = history->observed;
    run->infeasible = history->infeasible;
    run->has_exit = history->exited;
    run->exit_code = (int)history->exit_code;
    run->cut = history->cut || !history->exited;
    return explain_failures(run, arena, history);
}

/* Whether a hazard tells better than the one that stands: graver, then earlier. */
static bool tells_better(const struct explainer *explainer, const struct hazard *hazard,
                         const struct work *work)
{
    const enum severity severity = effective_severity(explainer->options, hazard);
    return severity != work->severity ? severity > work->severity
                                      : hazard->then.position < work->hazard->then.position;
}

static int compare_works(const void *left, const void *right)
{
    const struct hazard *a = ((const struct work *)left)->hazard;
    const struct hazard *b = ((const struct work *)right)->hazard;
    if (a->then.position != b->then.position) {
        return a->then.position < b->then.position ? -1 : 1;
    }
    const int rank = check_info(b->check)->rank - check_info(a->check)->rank;
    if (rank != 0) {
        return rank;
    }
    if (a->first.position != b->first.position) {
        return a->first.position > b->first.position
                   ? -1
                   : 1; /* the latest first: it covers the others */
    }
    return a->alloc < b->alloc ? -1 : a->alloc > b->alloc;
}

/* Groups the hazards by key, in order of the findings. */
static bool make_works(struct explainer *explainer)
{
    struct checker *checker = &explainer->checker;
    size_t count;
    const struct hazard *hazards = engine_hazards(explainer->engine, &count);
    checker->works = arena_alloc(&explainer->report->arena, (count + 1) * sizeof *checker->works);
    if (!checker->works) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = hazard_key(&explainer->history, &hazards[i]);
        const uint32_t known = history_find(&checker->work_of, key);
        if (known == HISTORY_NONE) {
            checker->works[checker->work_count] = (struct work){
                .hazard = &hazards[i],
                .key = key,
                .pair_key = hazard_pair_key(&explainer->history, &hazards[i]),
                .count = hazards[i].count,
                .severity = effective_severity(explainer->options, &hazards[i]),
            };
            if (!map_set(&checker->work_of, key, checker->work_count++)) {
                return false;
            }
            continue;
        }
        struct work *work = &checker->works[known];
        work->count += hazards[i].count;
        if (tells_better(explainer, &hazards[i], work)) {
            work->hazard = &hazards[i];
            work->severity = effective_severity(explainer->options, &hazards[i]);
        }
    }
    qsort(checker->works, checker->work_count, sizeof *checker->works, compare_works);
    for (size_t i = 0; i < checker->work_count; i++) {
        if (!map_set(&checker->work_of, checker->works[i].key, i)) {
            return false;
        }
    }
    return true;
}

/* Nearest misses, proposals and ids of all works. */
static bool explain_works(struct explainer *explainer)
{
    struct report *report = explainer->report;
    struct checker *checker = &explainer->checker;
    const struct history *history = &explainer->history;
    struct fix_maker maker = {
        .history = history, .arena = &report->arena, .devices = report->device_count};
    struct map equals = {0};
    bool ok = true;
    explainer->ids =
        arena_alloc(&report->arena, (checker->work_count + 1) * sizeof *explainer->ids);
    for (size_t i = 0; ok && explainer->ids && i < checker->work_count; i++) {
        struct work *work = &checker->works[i];
        const char *name = NULL;
        bool failed = false;
        work->pair = pair_of(history, work->hazard, work->hazard->ordered_by != NULL);
        ok = nearest_find(history, &work->pair, &work->miss);
        if (!ok) {
            break;
        }
        work->proposal_count =
            fix_propose(&maker, &work->pair, &work->miss, work->proposals, &failed);
        if (hazard_has_block(work->hazard)) {
            const struct label label =
                label_block(history, &report->arena, hazard_block(history, work->hazard), 0);
            failed |= !label.text;
            name = label.from == NAME_ORDINAL ? NULL : label.text;
        }
        const uint64_t identity = hazard_identity(history, work->hazard, name);
        const uint64_t *known = map_find(&equals, identity);
        const uint32_t ordinal = known ? (uint32_t)*known : 0;
        explainer->ids[i] = id_text(&report->arena, identity, ordinal);
        ok = !failed && explainer->ids[i] && map_set(&equals, identity, (uint64_t)ordinal + 1);
    }
    map_finish(&equals);
    return ok && explainer->ids;
}

/* Marks what the findings name, blocks in their order; windows only of those that are told. */
static bool want_all(struct explainer *explainer)
{
    struct checker *checker = &explainer->checker;
    const struct history *history = &explainer->history;
    explainer->windows = arena_alloc(&explainer->report->arena,
                                     (checker->work_count + 1) * sizeof *explainer->windows);
    bool ok = explainer->windows != NULL;
    for (size_t i = 0; ok && i < checker->work_count; i++) {
        const struct work *work = &checker->works[i];
        const struct hazard *hazard = work->hazard;
        ok = side_want(&explainer->tables, &hazard->first, work->pair.first_item) &&
             side_want(&explainer->tables, &hazard->then, work->pair.then_item) &&
             (!hazard_has_block(hazard) ||
              tables_want_block(&explainer->tables, hazard_block(history, hazard))) &&
             tables_want_stream(&explainer->tables,
                                hazard->stream ? history_find(&history->stream_of, hazard->stream)
                                               : HISTORY_NONE) &&
             tables_want_event(&explainer->tables,
                               hazard->event ? history_find(&history->event_of, hazard->event)
                                             : HISTORY_NONE) &&
             tables_want_event(&explainer->tables, work->miss.event) &&
             tables_want_event(&explainer->tables, work->miss.other_event);
        if (ok && work->folded_into == i) {
            explainer->windows[i] =
                window_select(&explainer->details, history, &work->pair, &work->miss);
            for (size_t k = 0; ok && k < explainer->windows[i].count; k++) {
                ok = tables_want_call(&explainer->tables, explainer->windows[i].calls[k]);
            }
        }
    }
    return ok;
}

static int op_of_item(const struct explainer *explainer, uint32_t item)
{
    const struct history *history = &explainer->history;
    return item == HISTORY_NONE
               ? -1
               : tables_op(&explainer->tables,
                           call_at_position(history, history->items.items[item].position));
}

static void fill_nearest(struct explainer *explainer, struct finding *finding,
                         const struct miss *miss)
{
    const struct history *history = &explainer->history;
    struct nearest *nearest = &finding->nearest;
    finding->has_missing = miss->known;
    finding->seen_seq = miss->seen_seq;
    finding->needed_seq = miss->needed_seq;
    nearest->kind = miss->kind;
    nearest->event = tables_event(&explainer->tables, miss->event);
    nearest->other_event = tables_event(&explainer->tables, miss->other_event);
    nearest->record = op_of_item(explainer, miss->record);
    nearest->other_record = op_of_item(explainer, miss->other_record);
    nearest->wait = op_of_item(explainer, miss->wait);
    nearest->reversed = miss->reversed;
    nearest->elsewhere = miss->elsewhere;
    if (miss->sync != HISTORY_NONE) {
        const uint64_t position = history->syncs.items[miss->sync].position;
        nearest->wait = tables_op(&explainer->tables, call_at_position(history, position));
    }
}

static bool fill_window(struct explainer *explainer, struct finding *finding,
                        const struct window *window)
{
    int *ops = arena_alloc(&explainer->report->arena, (window->count + 1) * sizeof *ops);
    for (size_t i = 0; ops && i < window->count; i++) {
        ops[i] = tables_op(&explainer->tables, window->calls[i]);
    }
    finding->window = ops;
    finding->window_count = window->count;
    return ops != NULL;
}

static struct finding *make_finding(struct explainer *explainer, size_t index)
{
    const struct work *work = &explainer->checker.works[index];
    const struct hazard *hazard = work->hazard;
    const struct history *history = &explainer->history;
    struct finding *finding = arena_alloc(&explainer->report->arena, sizeof *finding);
    if (!finding) {
        return NULL;
    }
    *finding = (struct finding){
        .id = explainer->ids[index],
        .key = work->key,
        .check = hazard->check,
        .severity = work->severity,
        .sureness = hazard->sureness,
        .count = work->count,
        .buffer = -1,
        .stream = -1,
        .event = -1,
        .ordered_by = hazard->ordered_by,
    };
    if (hazard->stream) {
        finding->stream =
            tables_stream(&explainer->tables, history_find(&history->stream_of, hazard->stream));
    }
    if (hazard->event) {
        finding->event =
            tables_event(&explainer->tables, history_find(&history->event_of, hazard->event));
    }
    if (hazard_has_block(hazard)) {
        finding->buffer = tables_block(&explainer->tables, hazard_block(history, hazard));
        if (!side_fill_bytes(&explainer->tables, finding, hazard)) {
            return NULL;
        }
    }
    fill_nearest(explainer, finding, &work->miss);
    return side_fill(&explainer->tables, &finding->first, &hazard->first, work->pair.first_item) &&
                   side_fill(&explainer->tables, &finding->then, &hazard->then,
                             work->pair.then_item) &&
                   (work->folded_into != index ||
                    (fix_tell(&explainer->report->arena, &explainer->checker, index, explainer->ids,
                              &finding->fix) &&
                     fill_window(explainer, finding, &explainer->windows[index])))
               ? finding
               : NULL;
}

/* Top-level findings in order, each with those folded into it. */
static bool make_findings(struct explainer *explainer)
{
    struct report *report = explainer->report;
    const struct checker *checker = &explainer->checker;
    const size_t count = checker->work_count;
    struct finding **all = arena_alloc(&report->arena, (count + 1) * sizeof *all);
    struct finding **folded = arena_alloc(&report->arena, (count + 1) * sizeof *folded);
    report->findings = arena_alloc(&report->arena, (count + 1) * sizeof *report->findings);
    if (!all || !folded || !report->findings) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        all[i] = make_finding(explainer, i);
        if (!all[i]) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (checker->works[i].folded_into != i) {
            continue;
        }
        all[i]->folded = folded;
        for (size_t k = 0; k < count; k++) {
            if (k != i && checker->works[k].folded_into == i) {
                *folded++ = all[k];
                all[i]->folded_count++;
            }
        }
        report->findings[report->finding_count++] = all[i];
    }
    return true;
}

/* Findings of a trace that can't be read again: sites and names are unknown. */
static bool make_bare_findings(struct explainer *explainer)
{
    struct checker *checker = &explainer->checker;
    bool ok = make_works(explainer) && explain_works(explainer);
    for (size_t i = 0; ok && i < checker->work_count; i++) {
        checker->works[i].folded_into = i;
    }
    return ok && want_all(explainer) && tables_build(&explainer->tables) &&
           make_findings(explainer);
}

static enum ssan_status explain_all(struct explainer *explainer, struct ssan_error *err)
{
    struct report *report = explainer->report;
    struct checker *checker = &explainer->checker;
    size_t hazards;
    engine_hazards(explainer->engine, &hazards);
    const bool light = hazards == 0 && !engine_totals(explainer->engine)->faulted;
    if (!explainer->source->rewind(explainer->source)) {
        judge_complete(report);
        return make_bare_findings(explainer) ? SSAN_OK : no_memory(err);
    }
    enum ssan_status status = history_read(&explainer->history, &report->arena, explainer->source,
                                           light, explainer->options->threads_strict, err);
    if (status != SSAN_OK) {
        return status;
    }
    if (!fill_run(report, &explainer->history)) {
        return no_memory(err);
    }
    judge_complete(report);
    if (!make_works(explainer) || !explain_works(explainer)) {
        return no_memory(err);
    }
    status = check_fixes(checker, err);
    for (size_t i = 0; status == SSAN_OK && i < checker->work_count; i++) {
        if (checker->works[i].folded_into == i &&
            !window_prepare(&explainer->details, &explainer->history, &checker->works[i].pair,
                            &checker->works[i].miss)) {
            status = no_memory(err);
        }
    }
    if (status == SSAN_OK && checker->work_count > 0 &&
        explainer->source->rewind(explainer->source)) {
        status = details_read(&explainer->details, &explainer->history, explainer->source, err);
    }
    if (status == SSAN_OK &&
        (!want_all(explainer) || !tables_build(&explainer->tables) || !make_findings(explainer))) {
        status = no_memory(err);
    }
    return status;
}

enum ssan_status explain(struct report *report, const struct engine *engine,
                         struct ssan_source *source, const struct explain_options *options,
                         struct ssan_error *err)
{
    struct explainer explainer = {
        .report = report, .engine = engine, .source = source, .options = options};
    explainer.history.arena = &report->arena;
    explainer.tables = (struct tables){.report = report,
                                       .history = &explainer.history,
                                       .details = &explainer.details,
                                       .spare = options->spare};
    explainer.checker = (struct checker){.history = &explainer.history,
                                         .source = source,
                                         .options = options,
                                         .arena = &report->arena};
    fill_totals(report, engine, options);
    const enum ssan_status status = explain_all(&explainer, err);
    map_finish(&explainer.checker.work_of);
    VEC_FREE(&explainer.checker.fixed);
    tables_finish(&explainer.tables);
    details_finish(&explainer.details);
    history_finish(&explainer.history);
    return status;
}
