/* Re-runs of the trace with a fix's edits.
 *
 * All first proposals go in together once: one that does not help even then is left for the next.
 * Then one by one in the order of the findings, until the budget ends; findings that an earlier
 * one's fix removes, and that are no stronger, fold into it without a run of their own. A fix
 * passes when its finding is gone and no new error came. The naive model: run every proposal alone
 * and compare the sets of hazards. */
#include "core/explain_check.h"

#include <stdlib.h>
#include <string.h>

#include "core/explain_ids.h"

#define CHECKS_DEFAULT       200
#define EVENTS_BETWEEN_STOPS 65536

enum severity effective_severity(const struct explain_options *options, const struct hazard *hazard)
{
    return options->order_documented ? hazard->documented : hazard->severity;
}

static int compare_edits(const void *left, const void *right)
{
    const struct placed_edit *a = left, *b = right;
    if (a->edit.before != b->edit.before) {
        return a->edit.before < b->edit.before ? -1 : 1;
    }
    return (a->order > b->order) - (a->order < b->order);
}

/* The engine's edits in order; drops of one event come once. NULL when out of memory. */
static struct edit *sorted_edits(struct placed_edits *placed, size_t *count)
{
    struct edit *edits = mem_zalloc(placed->count + 1, sizeof *edits);
    *count = 0;
    if (!edits) {
        return NULL;
    }
    if (placed->count > 0) {
        qsort(placed->items, placed->count, sizeof *placed->items, compare_edits);
    }
    for (size_t i = 0; i < placed->count; i++) {
        const struct edit *edit = &placed->items[i].edit;
        bool again = false;
        for (size_t k = *count;
             edit->kind == EDIT_DROP && k-- > 0 && edits[k].before == edit->before;) {
            again |= edits[k].kind == EDIT_DROP;
        }
        if (!again) {
            edits[(*count)++] = *edit;
        }
    }
    return edits;
}

static bool must_stop(const struct checker *checker)
{
    return checker->options->stop && checker->options->stop(checker->options->stop_self);
}

/* Feeds the trace to an engine with the edits. *engine is NULL when the edits and the trace don't
 * go together. */
static enum ssan_status rerun(struct checker *checker, const struct edit *edits, size_t count,
                              struct engine **engine, struct ssan_error *err)
{
    const struct engine_options options = {
        .threads = checker->options->threads_strict ? THREADS_STRICT : THREADS_OBSERVED,
        .edits = edits,
        .edit_count = count,
        .mutant = checker->options->mutant,
    };
    struct ssan_event event;
    struct ssan_error reason = {0};
    enum ssan_status status = SSAN_OK;
    *engine = NULL;
    checker->checks++;
    if (!checker->source->rewind(checker->source)) {
        return SSAN_OK;
    }
    struct engine *run = engine_create(&options);
    if (!run) {
        return ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory while checking a fix");
    }
    for (uint64_t i = 0; status == SSAN_OK && i < checker->history->event_count; i++) {
        if (ssan_next(checker->source, &event, &reason) != SSAN_NEXT_EVENT) {
            break;
        }
        if (i % EVENTS_BETWEEN_STOPS == EVENTS_BETWEEN_STOPS - 1 && must_stop(checker)) {
            status = SSAN_FULL;
            break;
        }
        status = engine_feed(run, &event, &reason);
    }
    if (status == SSAN_OK) {
        status = engine_finish(run, &reason);
    }
    if (status == SSAN_OK) {
        *engine = run;
        return SSAN_OK;
    }
    engine_destroy(run);
    return status == SSAN_NO_MEMORY ? ssan_fail(err, status, 0, "%s", reason.text) : SSAN_OK;
}

static bool may_check(const struct checker *checker)
{
    const struct explain_options *options = checker->options;
    const uint64_t most = options->max_checks ? options->max_checks : CHECKS_DEFAULT;
    return checker->checks < most && !must_stop(checker);
}

/* Which works a run still has: `left` by work. *fresh: it has an error that the trace as it was has
 * not. */
static void compare(const struct checker *checker, const struct engine *engine, bool *left,
                    bool *fresh)
{
    size_t count;
    const struct hazard *hazards = engine_hazards(engine, &count);
    memset(left, 0, checker->work_count * sizeof *left);
    *fresh = false;
    for (size_t i = 0; i < count; i++) {
        const uint32_t work =
            history_find(&checker->work_of, hazard_key(checker->history, &hazards[i]));
        if (work != HISTORY_NONE) {
            left[work] = true;
        } else {
            *fresh |= effective_severity(checker->options, &hazards[i]) == SEVERITY_ERROR;
        }
    }
}

/* Runs the edits and compares; *ran false: no result. */
static enum ssan_status run_edits(struct checker *checker, struct placed_edits *placed, bool *left,
                                  bool *fresh, bool *ran, struct ssan_error *err)
{
    size_t count;
    struct engine *engine = NULL;
    struct edit *edits = sorted_edits(placed, &count);
    if (!edits) {
        return ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory while checking a fix");
    }
    const enum ssan_status status = rerun(checker, edits, count, &engine, err);
    *ran = engine != NULL;
    if (engine) {
        compare(checker, engine, left, fresh);
        engine_destroy(engine);
    }
    mem_free(edits);
    return status;
}

/* All first proposals at once: left[w] tells which stay; all false when the run gives no answer. */
static enum ssan_status check_together(struct checker *checker, bool *left, struct ssan_error *err)
{
    struct placed_edits placed = {0};
    bool fresh, ran = false;
    size_t with_fix = 0;
    enum ssan_status status = SSAN_OK;
    memset(left, 0, checker->work_count * sizeof *left);
    for (size_t i = 0; i < checker->work_count; i++) {
        if (checker->works[i].proposal_count == 0) {
            continue;
        }
        with_fix++;
        if (!fix_place(checker->history, &checker->works[i].proposals[0], &placed)) {
            VEC_FREE(&placed);
            return ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory while checking fixes");
        }
    }
    if (with_fix > 1 && !placed.impossible &&
        may_check(checker)) { /* a single one is checked alone anyway */
        status = run_edits(checker, &placed, left, &fresh, &ran, err);
        if (!ran) {
            memset(left, 0, checker->work_count * sizeof *left);
        }
    }
    VEC_FREE(&placed);
    return status;
}

/* Runs one proposal alone; it becomes the finding's fix if it passes. `left` is scratch. */
static enum ssan_status try_proposal(struct checker *checker, struct work *work, size_t index,
                                     size_t proposal, bool *left, struct ssan_error *err)
{
    struct placed_edits placed = {0};
    bool fresh = false, ran = false;
    enum ssan_status status = SSAN_OK;
    if (!fix_place(checker->history, &work->proposals[proposal], &placed)) {
        status = ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory while checking a fix");
    }
    if (status == SSAN_OK && !placed.impossible) {
        status = run_edits(checker, &placed, left, &fresh, &ran, err);
    }
    VEC_FREE(&placed);
    if (status == SSAN_OK && ran && !left[index] && !fresh) {
        for (size_t k = 0; k < checker->work_count; k++) {
            left[k] = !left[k];
        }
        work->fix = &work->proposals[proposal];
        work->gone = left;
        if (!VEC_PUSH(&checker->fixed, index)) {
            return ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory while checking a fix");
        }
    }
    return status;
}

/* Tries the proposals of one finding until one passes; the first comes last when it did not help
 * together with the others. */
static enum ssan_status check_alone(struct checker *checker, size_t index, bool doubted,
                                    struct ssan_error *err)
{
    struct work *work = &checker->works[index];
    bool *left = arena_alloc(checker->arena, checker->work_count * sizeof *left);
    enum ssan_status status = SSAN_OK;
    if (!left) {
        return ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory while checking a fix");
    }
    work->checked = true;
    for (size_t i = 0; status == SSAN_OK && i < work->proposal_count && !work->fix; i++) {
        if (!may_check(checker)) {
            break;
        }
        const size_t proposal = doubted ? (i + 1) % work->proposal_count : i;
        status = try_proposal(checker, work, index, proposal, left, err);
    }
    return status;
}

/* Whether `a` may tell for `b`: misuse stays by itself, an error never folds into less. */
static bool may_tell(const struct work *a, const struct work *b)
{
    return check_info(a->hazard->check)->family != FAMILY_MISUSE &&
           check_info(b->hazard->check)->family != FAMILY_MISUSE && a->severity >= b->severity;
}

static bool is_stronger(const struct work *a, const struct work *b)
{
    if (a->severity != b->severity) {
        return a->severity > b->severity;
    }
    return check_info(a->hazard->check)->rank > check_info(b->hazard->check)->rank;
}

/* Whether the fix of `a` removes `b`, and `b` does not tell for `a` with more right. Of equals the
 * earlier tells. */
static bool dominates(const struct checker *checker, size_t a, size_t b)
{
    const struct work *tells = &checker->works[a], *folds = &checker->works[b];
    if (a == b || !tells->fix || !tells->gone[b] || !may_tell(tells, folds)) {
        return false;
    }
    const bool mutual = folds->fix && folds->gone[a] && may_tell(folds, tells);
    return !mutual || is_stronger(tells, folds) || (!is_stronger(folds, tells) && a < b);
}

/* The first finding with a fix that tells `b` and that, with `only_top`, nobody tells; `b` itself
 * when there is none. */
static size_t teller_of(const struct checker *checker, size_t b, bool only_top)
{
    size_t best = b;
    for (size_t i = 0; i < checker->fixed.count; i++) {
        const size_t a = checker->fixed.items[i];
        const bool top = !only_top || checker->works[a].folded_into == a;
        if (top && dominates(checker, a, b) && (best == b || a < best)) {
            best = a;
        }
    }
    return best;
}

/* Whether two findings stand between the same two operations, or the same two places of the source,
 * so that one edge would order both. */
static bool is_same_pair(const struct work *a, const struct work *b)
{
    const struct hazard *one = a->hazard, *two = b->hazard;
    return (a->pair_key != 0 && a->pair_key == b->pair_key) ||
           (one->first.position == two->first.position && one->then.position == two->then.position);
}

/* Where no fix is known, the strongest finding of a pair of operations or places tells the others
 * of it; `b` itself when it is that one. */
static size_t teller_of_pair(const struct checker *checker, size_t b)
{
    const struct work *folds = &checker->works[b];
    size_t best = b;
    for (size_t a = 0; a < checker->work_count && !folds->fix; a++) {
        const struct work *tells = &checker->works[a], *so_far = &checker->works[best];
        if (a != b && !tells->fix && tells->folded_into == a && may_tell(tells, so_far) &&
            may_tell(tells, folds) && is_same_pair(tells, folds) &&
            (is_stronger(tells, so_far) || (!is_stronger(so_far, tells) && a < best))) {
            best = a;
        }
    }
    return best;
}

/* Everything that some other finding tells goes to the first such finding that is told by nobody.
 */
static void fold(struct checker *checker)
{
    for (size_t i = 0; i < checker->work_count; i++) {
        checker->works[i].folded_into = i;
    }
    for (size_t i = 0; i < checker->fixed.count; i++) { /* first which of the tellers are on top */
        const size_t a = checker->fixed.items[i];
        checker->works[a].folded_into = teller_of(checker, a, false);
    }
    for (size_t i = 0; i < checker->work_count; i++) {
        checker->works[i].folded_into = teller_of(checker, i, true);
    }
    for (size_t i = 0; i < checker->work_count; i++) {
        if (checker->works[i].folded_into == i) {
            checker->works[i].folded_into = teller_of_pair(checker, i);
        }
    }
}

/* Whether some finding checked before tells this one, so that it needs no run of its own. */
static bool is_told(const struct checker *checker, size_t index)
{
    for (size_t i = 0; i < checker->fixed.count; i++) {
        const struct work *other = &checker->works[checker->fixed.items[i]];
        if (other->gone[index] && may_tell(other, &checker->works[index]) &&
            !is_stronger(&checker->works[index], other)) {
            return true;
        }
    }
    return false;
}

/* Checks the findings of one severity that nobody tells. */
static enum ssan_status check_severity(struct checker *checker, enum severity severity,
                                       const bool *doubted, struct ssan_error *err)
{
    enum ssan_status status = SSAN_OK;
    for (size_t i = 0; status == SSAN_OK && i < checker->work_count; i++) {
        const struct work *work = &checker->works[i];
        if (work->severity == severity && work->proposal_count > 0 && !is_told(checker, i)) {
            status = check_alone(checker, i, doubted[i], err);
        }
    }
    return status;
}

enum ssan_status check_fixes(struct checker *checker, struct ssan_error *err)
{
    bool *doubted = arena_alloc(checker->arena, (checker->work_count + 1) * sizeof *doubted);
    if (!doubted) {
        return ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory while checking fixes");
    }
    enum ssan_status status = check_together(checker, doubted, err);
    for (int severity = SEVERITY_ERROR; status == SSAN_OK && severity >= SEVERITY_ADVICE;
         severity--) {
        status = check_severity(checker, (enum severity)severity, doubted, err);
    }
    fold(checker);
    for (size_t i = 0; status == SSAN_OK && i < checker->work_count; i++) {
        /* told by one that in the end is told itself, by a fix that does not reach this far */
        struct work *work = &checker->works[i];
        if (work->folded_into == i && !work->checked && work->proposal_count > 0) {
            status = check_alone(checker, i, doubted[i], err);
            fold(checker);
        }
    }
    return status;
}
