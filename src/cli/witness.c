/* Looks for witnesses: plans of explore/invert as trials, the first that shows an effect counts.
 *
 * Findings are searched side by side, one trial of each under way at a time, so that none takes the
 * time of the others; results are taken in order of start, so equal programs give equal searches
 * unless the time runs out. What was found is then replayed by the words that are printed. */
#include "cli/witness.h"

#include "cli/witness_replay.h"

#include "base/elapsed.h"
#include "explore/invert.h"
#include "trace/control_abi.h"
#include "trace/plan.h"

#include <stdio.h>
#include <string.h>

#define INSTANCES     4   /* dynamic repeats of a finding that are tried */
#define SEARCH_SHARE  0.7 /* of the time, the rest is for replays */
#define PLAN_LIMIT_MS 3000
#define LEAST_SECONDS 10 /* for a trial; and so many times the first run: */
#define TIMES_FIRST   20
#define PARTS         4 /* of the time: no trial gets more than one */

/* The search for one finding. */
struct hunt {
    struct finding *finding;
    struct invert_pairs pairs;
    size_t attempt; /* the next one */
    bool under_way, done;
    /* what became of trials that did not turn the pair round */
    bool failed, infeasible, kept, diverged;
    char failed_text[512], infeasible_text[256];
    struct witness_found found;
};

double witness_left(const struct witness_search *search)
{
    return search->options->time_seconds - seconds_since(&search->begun);
}

double witness_limit(const struct witness_search *search)
{
    double limit = TIMES_FIRST * search->reference->result->seconds;
    double most = search->options->time_seconds / PARTS;
    limit = limit > LEAST_SECONDS ? limit : LEAST_SECONDS;
    return limit < most ? limit : most > 1 ? most : 1;
}

struct trial witness_trial(const struct witness_search *search, const char *schedule,
                           const struct plan *plan)
{
    struct trial trial = *search->base;
    trial.schedule = schedule;
    trial.plan = plan;
    trial.flags = CONTROL_CALLS | CONTROL_SNAPSHOT;
    trial.plan_limit_ms = PLAN_LIMIT_MS;
    trial.limit_seconds = witness_limit(search);
    return trial;
}

static const struct witness out_of_memory = {
    .kind = WITNESS_FAILED, .detail = "out of memory", .memory.buffer = -1};

/* A failure of ours: what the trials say is not all any more. */
static void fail_hunt(struct hunt *hunt, const char *text)
{
    hunt->failed = true;
    snprintf(hunt->failed_text, sizeof hunt->failed_text, "%s", text);
}

/* The n-th attempt: the variants of the pair that is told, then two of each repeat, then the pair
 * interleaved, where it changed places and nothing came of it. A host access may have to be waited
 * for, which the pair alone does. */
static bool attempt_of(const struct hunt *hunt, size_t n, size_t *pair,
                       enum invert_variant *variant)
{
    size_t repeats = hunt->pairs.count > 0 ? 2 * (hunt->pairs.count - 1) : 0;
    *pair = 0;
    if (n < INVERT_TORN) {
        *variant = (enum invert_variant)n;
        return hunt->pairs.count > 0;
    }
    n -= INVERT_TORN;
    if (n < repeats) {
        *pair = 1 + n / 2;
        *variant = n % 2 == 0                                    ? INVERT_NEAR
                   : hunt->pairs.items[*pair].then == MODEL_NONE ? INVERT_PAIR
                                                                 : INVERT_LATE;
        return true;
    }
    n += INVERT_TORN - repeats;
    *variant = (enum invert_variant)n;
    return n < INVERT_VARIANTS && hunt->found.there;
}

/* Starts the next trial of a finding that has one; false when there is none. */
static bool start_next(struct witness_search *search, struct hunt *hunt, size_t *started)
{
    const struct trial_outcome *reference = search->reference;
    enum invert_variant variant;
    size_t pair;
    while (!hunt->done && attempt_of(hunt, hunt->attempt, &pair, &variant)) {
        struct plan plan;
        struct trial trial;
        struct ssan_error err = {.text = "out of memory"};
        bool there, fine = invert_plan(&reference->model, &reference->facts,
                                       &hunt->pairs.items[pair], variant, &plan, &there) &&
                           plan_copy_places(&plan, &search->options->plan);
        *started = hunt->attempt++;
        trial = witness_trial(search, plan.policy, &plan);
        hunt->under_way = fine && there && trials_start(search->trials, &trial, &err) == SSAN_OK;
        plan_finish(&plan);
        if (hunt->under_way) {
            return true;
        }
        hunt->done = !fine || there;
        if (hunt->done) {
            fail_hunt(hunt, err.text);
        }
    }
    hunt->done = true;
    return false;
}

/* What a trial showed; the first visible effect ends the search of the finding. */
static void judge_trial(struct witness_search *search, struct report *report, struct hunt *hunt,
                        size_t attempt, const struct trial_result *result)
{
    struct trial_outcome outcome = {0};
    enum invert_variant variant;
    enum invert_result turned = INVERT_DIVERGED;
    struct ssan_error err = {0};
    size_t pair;
    (void)attempt_of(hunt, attempt, &pair, &variant);
    if (result->status) {
        fail_hunt(hunt, result->text);
        return;
    }
    if (result->infeasible) {
        hunt->infeasible = true;
        snprintf(hunt->infeasible_text, sizeof hunt->infeasible_text, "%s",
                 result->infeasible_text);
        return;
    }
    if (result->processes > 0 && outcome_read(&outcome, result, &err) != SSAN_OK) {
        outcome_close(&outcome);
        fail_hunt(hunt, err.text);
        return;
    }
    if (result->processes > 0) {
        turned = invert_check(&search->reference->model, &hunt->pairs.items[pair], &outcome.model,
                              &outcome.facts);
    }
    hunt->kept |= turned == INVERT_KEPT;
    hunt->diverged |= turned == INVERT_DIVERGED;
    if (turned == INVERT_DONE) {
        enum witness_kind kind =
            witness_note(search, report, hunt->finding, &hunt->pairs.items[pair], variant, &outcome,
                         &hunt->found);
        hunt->done |= kind == WITNESS_SHOWN;
        if (kind == WITNESS_FAILED) {
            fail_hunt(hunt, out_of_memory.detail);
        }
    }
    outcome_close(&outcome);
}

/* What waits for its result. */
struct waiting {
    size_t hunt, attempt;
};

static void search_all(struct witness_search *search, struct report *report, struct hunt *hunts,
                       size_t count)
{
    VEC(struct waiting) waiting = {0};
    size_t next = 0, i;
    double least = (1 - SEARCH_SHARE) * search->options->time_seconds;
    bool more = true;
    while (more && !search->trials->interrupted) {
        for (i = 0; i < count && trials_has_room(search->trials); i++) {
            struct waiting one = {.hunt = i};
            if (witness_left(search) <= least || hunts[i].under_way || hunts[i].done) {
                continue;
            }
            if (!VEC_RESERVE(&waiting, waiting.count + 1)) {
                fail_hunt(&hunts[i], out_of_memory.detail);
                hunts[i].done = true;
            } else if (start_next(search, &hunts[i], &one.attempt)) {
                waiting.items[waiting.count++] = one;
            }
        }
        more = next < waiting.count;
        if (more) {
            struct hunt *hunt = &hunts[waiting.items[next].hunt];
            const struct trial_result *result = trials_next(search->trials);
            hunt->under_way = false;
            judge_trial(search, report, hunt, waiting.items[next++].attempt, result);
            trials_drop(search->trials, result);
        }
    }
    VEC_FREE(&waiting);
}

static enum report_op_kind kind_of(const struct report *report, int op)
{
    return op >= 0 ? report->ops[op].kind : ROP_SYNC;
}

enum witness_kind witness_without_pair(const struct report *report, const struct finding *finding)
{
    enum report_op_kind first = kind_of(report, finding->first.op);
    enum report_op_kind then = kind_of(report, finding->then.op);
    if (finding->ordered_by) {
        return WITNESS_ORDERED;
    }
    if (first == ROP_FREE || first == ROP_ALLOC) {
        return WITNESS_ALWAYS;
    }
    return then == ROP_FREE || then == ROP_ALLOC ? WITNESS_CALL : WITNESS_MISSED;
}

static enum witness_kind kind_without(const struct witness_search *search,
                                      const struct report *report, const struct hunt *hunt)
{
    bool out_of_time = !hunt->done;
    if (search->reference->result->processes > 1) {
        return WITNESS_PROCESSES;
    }
    if (hunt->failed) {
        return WITNESS_FAILED;
    }
    if (hunt->pairs.count == 0) {
        return witness_without_pair(report, hunt->finding);
    }
    if (out_of_time) {
        return WITNESS_NO_TIME;
    }
    return hunt->infeasible ? WITNESS_INFEASIBLE
           : hunt->kept     ? WITNESS_MISSED
           : hunt->diverged ? WITNESS_DIVERGED
                            : WITNESS_MISSED;
}

static const char *detail_of(struct report *report, const struct hunt *hunt, enum witness_kind kind)
{
    const char *text = kind == WITNESS_FAILED       ? hunt->failed_text
                       : kind == WITNESS_INFEASIBLE ? hunt->infeasible_text
                                                    : "";
    return *text ? arena_strdup(&report->arena, text) : NULL;
}

static void settle(struct witness_search *search, struct report *report, struct hunt *hunt)
{
    struct witness *witness = arena_alloc(&report->arena, sizeof *witness);
    if (!witness) {
        hunt->finding->witness = &out_of_memory;
        return;
    }
    if (hunt->found.there) {
        witness_replay(search, report, hunt->finding, &hunt->found);
        *witness = hunt->found.witness;
    } else {
        *witness = (struct witness){.kind = kind_without(search, report, hunt)};
        witness->memory.buffer = -1;
        witness->detail = detail_of(report, hunt, witness->kind);
    }
    hunt->finding->witness = witness;
}

bool witness_is_wanted(const struct finding *finding)
{
    return finding->severity == SEVERITY_ERROR && !finding->suppressed_by &&
           finding->first.op >= 0 && finding->then.op >= 0;
}

/* One for each finding that wants a witness. */
static void make_hunts(struct witness_search *search, struct report *report, struct hunt *hunts,
                       size_t *count)
{
    size_t i;
    for (i = 0; i < report->finding_count; i++) {
        struct finding *finding = report->findings[i];
        struct hunt *hunt = &hunts[*count];
        if (!witness_is_wanted(finding)) {
            continue;
        }
        hunt->finding = finding;
        (*count)++;
        if (search->reference->result->processes == 1 &&
            !invert_find(&search->reference->model, &search->reference->facts,
                         report->ops[finding->first.op].position,
                         report->ops[finding->then.op].position, INSTANCES, &hunt->pairs)) {
            fail_hunt(hunt, out_of_memory.detail);
        }
    }
}

void witness_findings(struct witness_search *search, struct report *report)
{
    struct hunt *hunts = mem_zalloc(report->finding_count + 1, sizeof *hunts);
    size_t count = 0, i;
    for (i = 0; !hunts && i < report->finding_count; i++) {
        if (witness_is_wanted(report->findings[i])) {
            report->findings[i]->witness = &out_of_memory;
        }
    }
    if (hunts) {
        make_hunts(search, report, hunts, &count);
        search_all(search, report, hunts, count);
    }
    for (i = 0; i < count; i++) {
        settle(search, report, &hunts[i]);
        mem_free(hunts[i].pairs.items);
        witness_found_finish(&hunts[i].found);
    }
    mem_free(hunts);
}
