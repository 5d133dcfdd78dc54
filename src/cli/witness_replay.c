/* Finds the words of a witness and runs them as `streamsan run` would.
 *
 * Candidates, the simplest first: the policy alone, the whole order of a short run, the list of a
 * plan that is short, the two operations alone, a file of the plan (--keep), a longer list. The
 * first that turns the pair round again, with an effect if there was one, is printed. */
#include "cli/witness_replay.h"

#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SHORT_ITEMS 20   /* a list that a command line shows */
#define ORDER_MOST  256  /* operations that a report names */
#define WORDS_MOST  4000 /* bytes of a schedule that a command line is made of */
#define CANDIDATES  7

/* "s1.2" of each listed item. */
static bool fill_order(struct report *report, const struct plan *order, struct witness *witness)
{
    const char **ids = arena_alloc(&report->arena, (order->items.count + 1) * sizeof *ids);
    size_t i;
    for (i = 0; ids && i < order->items.count; i++) {
        char text[32];
        snprintf(text, sizeof text, "s%u.%u", order->items.items[i].stream,
                 order->items.items[i].seq);
        ids[i] = arena_strdup(&report->arena, text);
        if (!ids[i]) {
            return false;
        }
    }
    witness->order = ids;
    witness->order_count = ids ? order->items.count : 0;
    return ids != NULL;
}

/* The whole order of a run, or of a long one what its plan lists. */
static bool describe_order(struct report *report, const struct witness_found *found,
                           struct witness *witness)
{
    const struct plan *order = &found->order;
    static const struct plan none;
    if (order->items.count > ORDER_MOST) {
        order = found->plan.items.count <= ORDER_MOST ? &found->plan : &none;
    }
    return fill_order(report, order, witness);
}

bool witness_note(struct witness_search *search, struct report *report,
                  const struct finding *finding, const struct invert_pair *pair,
                  enum invert_variant variant, const struct outcome *outcome,
                  struct witness_found *found)
{
    const struct outcome *reference = search->reference;
    struct witness witness = {.memory.buffer = -1};
    bool there, visible = outcome_compare(report, reference, outcome, &search->noise,
                                          finding->buffer, &witness);
    if (found->there && (found->visible || !visible)) {
        return visible;
    }
    witness.kind = visible ? WITNESS_SHOWN : WITNESS_SILENT;
    witness_found_finish(found);
    found->pair = *pair;
    found->visible = visible;
    found->there =
        invert_plan(&reference->model, &reference->facts, pair, variant, &found->plan, &there) &&
        invert_replay(&outcome->model, &found->order) && describe_order(report, found, &witness);
    found->witness = witness;
    return visible;
}

void witness_found_finish(struct witness_found *found)
{
    plan_finish(&found->plan);
    plan_finish(&found->order);
    memset(found, 0, sizeof *found);
}

/* -- words -- */

static bool add_order(const struct plan *plan, struct strbuf *words)
{
    strbuf_puts(words, "order:");
    invert_words(plan, words);
    return plan->items.count > 0;
}

/* The two operations, where they are two items. */
static bool add_pair(const struct witness_search *search, const struct witness_found *found,
                     struct strbuf *words)
{
    const struct model *model = &search->reference->model;
    struct plan plan = {0};
    bool there = false;
    bool fine =
        found->pair.then != MODEL_NONE &&
        invert_plan(model, &search->reference->facts, &found->pair, INVERT_PAIR, &plan, &there) &&
        there && add_order(&plan, words);
    plan_finish(&plan);
    return fine;
}

static bool add_file(const struct witness_search *search, const struct finding *finding,
                     const struct plan *plan, struct strbuf *words)
{
    const char *keep = search->options->keep;
    struct strbuf text = {0};
    struct ssan_error err = {0};
    char path[4096];
    bool fine;
    if (!keep) {
        return false;
    }
    (void)mkdir(keep, 0777);
    snprintf(path, sizeof path, "%s/streamsan-witness-%s.schedule", keep, finding->id);
    plan_print(plan, &text);
    fine = output_write(path, -1, &text, &err) == SSAN_OK;
    if (!fine) {
        fprintf(stderr, "streamsan witness: %s\n", err.text);
    }
    strbuf_printf(words, "file:%s", path);
    strbuf_finish(&text);
    return fine;
}

/* The n-th candidate; false when there is none. */
static bool candidate(const struct witness_search *search, const struct finding *finding,
                      const struct witness_found *found, unsigned n, struct strbuf *words)
{
    const struct plan *plan = &found->plan;
    bool lazy = strcmp(plan->policy, "lazy") == 0, one_thread = plan->calls.count == 0;
    switch (n) {
    case 0:
        strbuf_puts(words, plan->policy);
        return plan_is_plain(plan);
    case 1:
        return one_thread && !plan_is_plain(plan) && found->order.items.count <= SHORT_ITEMS &&
               add_order(&found->order, words);
    case 2:
        return one_thread && lazy && plan->items.count <= SHORT_ITEMS && add_order(plan, words);
    case 3:
        return one_thread && add_pair(search, found, words);
    case 4:
        return add_file(search, finding, plan, words);
    case 5:
        return lazy && add_order(plan, words) && words->length <= WORDS_MOST;
    default:
        return add_order(&found->order, words) && words->length <= WORDS_MOST;
    }
}

/* -- replays -- */

static bool equal_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_effect(const struct witness *a, const struct witness *b)
{
    return a->exit.timed_out == b->exit.timed_out && a->exit.code == b->exit.code &&
           a->exit.signal == b->exit.signal && a->output.differs == b->output.differs &&
           a->output.line == b->output.line && equal_text(a->output.got, b->output.got) &&
           a->memory.buffer == b->memory.buffer && a->memory.index == b->memory.index &&
           equal_text(a->memory.got, b->memory.got);
}

/* What one replay gave; false when it did not show the inversion. */
static bool take_replay(struct witness_search *search, struct report *report,
                        const struct finding *finding, const struct witness_found *found,
                        const struct trial_result *result, struct witness *witness,
                        struct plan *order)
{
    struct outcome outcome = {0};
    bool good =
        !result->status && !result->infeasible && outcome_read(&outcome, result, NULL) == SSAN_OK &&
        invert_check(&search->reference->model, &found->pair, &outcome.model, &outcome.facts) ==
            INVERT_DONE;
    bool visible = good && outcome_compare(report, search->reference, &outcome, &search->noise,
                                           finding->buffer, witness);
    witness->kind = visible ? WITNESS_SHOWN : WITNESS_SILENT;
    good = good && visible >= found->visible && (!order || invert_replay(&outcome.model, order));
    outcome_close(&outcome);
    return good;
}

/* Runs the words once; the outcome becomes what is told. */
static bool replay_first(struct witness_search *search, struct report *report,
                         const struct finding *finding, struct witness_found *found,
                         const char *words, struct plan *plan)
{
    struct witness witness = {.memory.buffer = -1};
    struct trial trial = witness_trial(search, words, plan);
    const struct trial_result *result = trials_run(search->trials, &trial);
    struct plan order = {0};
    bool good = take_replay(search, report, finding, found, result, &witness, &order);
    if (good) {
        plan_finish(&found->order);
        found->order = order;
        good = describe_order(report, found, &witness);
        found->witness = witness;
        found->visible = witness.kind == WITNESS_SHOWN;
    } else {
        plan_finish(&order);
    }
    trials_drop(search->trials, result);
    return good;
}

/* The other replays, several at once; how many gave the same. */
static void replay_rest(struct witness_search *search, struct report *report,
                        const struct finding *finding, struct witness_found *found,
                        const char *words, struct plan *plan)
{
    struct trial trial = witness_trial(search, words, plan);
    unsigned started = 1, taken = 1;
    found->witness.repeats = found->witness.reproduced = 1;
    while (taken < search->options->repeat) {
        struct witness witness = {.memory.buffer = -1};
        const struct trial_result *result;
        while (started < search->options->repeat && trials_has_room(search->trials) &&
               trials_start(search->trials, &trial, NULL) == SSAN_OK) {
            started++;
        }
        result = trials_next(search->trials);
        if (!result) {
            break; /* none could be started */
        }
        taken++;
        found->witness.repeats++;
        found->witness.reproduced +=
            take_replay(search, report, finding, found, result, &witness, NULL) &&
            same_effect(&witness, &found->witness);
        trials_drop(search->trials, result);
    }
}

static const char *const *command(struct report *report, const struct options *options,
                                  const char *words)
{
    static const char *const begin[] = {"streamsan", "run", "--schedule"};
    size_t count = (size_t)options->argument_count, used = 0, i;
    const char **all = arena_alloc(&report->arena, (count + 6) * sizeof *all);
    if (!all) {
        return NULL;
    }
    for (i = 0; i < sizeof begin / sizeof *begin; i++) {
        all[used++] = begin[i];
    }
    all[used++] = arena_strdup(&report->arena, words);
    all[used++] = "--";
    for (i = 0; i < count; i++) {
        all[used++] = options->arguments[i];
    }
    all[used] = NULL;
    return all[3] ? all : NULL;
}

void witness_replay(struct witness_search *search, struct report *report,
                    const struct finding *finding, struct witness_found *found)
{
    bool good = false, tried = false;
    unsigned n;
    for (n = 0; n < CANDIDATES && !good && !trials_interrupted(search->trials) &&
                (!tried || witness_left(search) > 0);
         n++) {
        struct strbuf words = {0};
        struct plan plan = {0};
        if (candidate(search, finding, found, n, &words) && !words.failed &&
            plan_read(&plan, strbuf_text(&words), NULL) == SSAN_OK) {
            tried = true;
            found->witness.repeats = 1; /* none of them is the same so far */
            good = replay_first(search, report, finding, found, strbuf_text(&words), &plan);
            if (good) {
                replay_rest(search, report, finding, found, strbuf_text(&words), &plan);
                found->witness.replay = command(report, search->options, strbuf_text(&words));
                found->witness.saved = strncmp(strbuf_text(&words), "file:", 5) == 0;
            }
        }
        plan_finish(&plan);
        strbuf_finish(&words);
    }
}
