/* Finds the words of a witness and runs them as `streamsan run` would.
 *
 * Candidates, the simplest first: the policy alone, the whole order of a short run, the list of a
 * plan that is short, the two operations alone, a file of the plan (--keep), a longer list. The
 * first that turns the pair round again, with an effect if there was one, is printed. */
#include "cli/witness_replay.h"

#include "cli/keep.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHORT_ITEMS 20   /* a list that a command line shows */
#define ORDER_MOST  256  /* operations that a report names */
#define WORDS_MOST  4000 /* bytes of a schedule that a command line is made of */
#define CANDIDATES  7

#define FILE_CANDIDATE 4

/* "s1.2" of each listed item, "a1.2" of an access. */
static bool fill_order(struct report *report, const struct plan *order, struct witness *witness)
{
    const char **ids = arena_alloc(&report->arena, (order->items.count + 1) * sizeof *ids);
    size_t i;
    for (i = 0; ids && i < order->items.count; i++) {
        ids[i] = arena_strdup(&report->arena, plan_item_text(&order->items.items[i]).text);
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

enum witness_kind witness_note(struct witness_search *search, struct report *report,
                               const struct finding *finding, const struct invert_pair *pair,
                               enum invert_variant variant, const struct trial_outcome *outcome,
                               struct witness_found *found)
{
    const struct trial_outcome *reference = search->reference;
    struct witness witness = {.memory.buffer = -1, .interleaved = variant >= INVERT_TORN};
    enum witness_kind kind =
        outcome_compare(report, reference, outcome, &search->noise, finding->buffer, &witness);
    bool there;
    if (kind == WITNESS_FAILED || (found->there && (found->visible || kind == WITNESS_SILENT))) {
        return kind;
    }
    witness_found_finish(found);
    found->pair = *pair;
    found->variant = variant;
    found->visible = kind == WITNESS_SHOWN;
    found->there =
        invert_plan(&reference->model, &reference->facts, pair, variant, &found->plan, &there) &&
        invert_replay(&outcome->model, &outcome->facts, pair, &found->order) &&
        describe_order(report, found, &witness);
    found->witness = witness;
    return found->there ? kind : WITNESS_FAILED;
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
    plan_print_items(plan, words);
    return plan->items.count > 0;
}

/* The two operations alone. */
static bool add_pair(const struct witness_search *search, const struct witness_found *found,
                     struct strbuf *words)
{
    const struct model *model = &search->reference->model;
    struct plan plan = {0};
    bool there = false;
    bool fine =
        invert_plan(model, &search->reference->facts, &found->pair, INVERT_PAIR, &plan, &there) &&
        there && add_order(&plan, words);
    plan_finish(&plan);
    return fine;
}

/* Keeps the whole plan in a file, `path`. */
static bool add_file(const struct witness_search *search, const struct finding *finding,
                     const struct witness_found *found, struct strbuf *words, struct strbuf *path)
{
    const struct trial_outcome *reference = search->reference;
    struct plan plan = {0};
    struct ssan_error err = {.status = SSAN_NO_MEMORY, .text = "out of memory"};
    char name[64];
    bool there;
    snprintf(name, sizeof name, "streamsan-witness-%s.schedule", finding->id);
    if (invert_plan(&reference->model, &reference->facts, &found->pair, found->variant, &plan,
                    &there) &&
        plan_copy_places(&plan, &search->options->plan) &&
        keep_path(search->options->keep, name, path, &err) == SSAN_OK &&
        keep_plan(strbuf_text(path), &plan, &err) == SSAN_OK) {
        strbuf_printf(words, "file:%s", strbuf_text(path));
    } else {
        fprintf(stderr, "streamsan witness: %s\n", err.text);
        strbuf_finish(path);
    }
    plan_finish(&plan);
    return words->length > 0;
}

/* The n-th candidate; false when there is none. */
static bool candidate(const struct witness_search *search, const struct finding *finding,
                      const struct witness_found *found, unsigned n, struct strbuf *words,
                      struct strbuf *path)
{
    const struct plan *plan = &found->plan;
    bool lazy = strcmp(plan->policy, "lazy") == 0, one_thread = plan->calls.count == 0;
    if (plan->togethers.count > 0 && n != FILE_CANDIDATE) {
        return false; /* no list says it */
    }
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
    case FILE_CANDIDATE:
        return search->options->keep && add_file(search, finding, found, words, path);
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

bool witness_same_effect(const struct witness *a, const struct witness *b)
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
    struct trial_outcome outcome = {0};
    bool good =
        !result->status && !result->infeasible && outcome_read(&outcome, result, NULL) == SSAN_OK &&
        invert_check(&search->reference->model, &found->pair, &outcome.model, &outcome.facts) ==
            INVERT_DONE &&
        outcome_compare(report, search->reference, &outcome, &search->noise, finding->buffer,
                        witness) != WITNESS_FAILED;
    good = good && (witness->kind == WITNESS_SHOWN) >= found->visible &&
           (!order || invert_replay(&outcome.model, &outcome.facts, &found->pair, order));
    outcome_close(&outcome);
    return good;
}

/* Runs the words once; the outcome becomes what is told. */
static bool replay_first(struct witness_search *search, struct report *report,
                         const struct finding *finding, struct witness_found *found,
                         const char *words, struct plan *plan)
{
    struct witness witness = {.memory.buffer = -1, .interleaved = found->witness.interleaved};
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
            witness_same_effect(&witness, &found->witness);
        trials_drop(search->trials, result);
    }
}

/* What `run` takes to leave out and to add the same. */
static size_t add_options(const char **all, size_t used, const char *option,
                          const char *const *words, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        all[used++] = option;
        all[used++] = words[i];
    }
    return used;
}

/* A file says by itself what the options leave out and add. */
static const char *const *command(struct report *report, const struct options *options,
                                  const char *words, bool is_file)
{
    static const char *const begin[] = {"streamsan", "run", "--schedule"};
    size_t count = (size_t)options->argument_count, used = 0, i;
    size_t added = 2 * (options->ignore.count + options->serialize.count + options->fail.count);
    const char **all = arena_alloc(&report->arena, (count + added + 8) * sizeof *all);
    if (!all) {
        return NULL;
    }
    for (i = 0; i < sizeof begin / sizeof *begin; i++) {
        all[used++] = begin[i];
    }
    all[used++] = arena_strdup(&report->arena, words);
    used =
        add_options(all, used, "--device", &options->devices_word, options->devices_word != NULL);
    if (!is_file) {
        used = add_options(all, used, "--ignore", options->ignore.items, options->ignore.count);
        used = add_options(all, used, "--serialize", options->serialize.items,
                           options->serialize.count);
        used = add_options(all, used, "--fail", options->fail.items, options->fail.count);
    }
    all[used++] = "--";
    for (i = 0; i < count; i++) {
        all[used++] = options->arguments[i];
    }
    all[used] = NULL;
    return all[3] ? all : NULL;
}

/* Replays the words; when they show it again they become those of the witness. */
static bool try_words(struct witness_search *search, struct report *report,
                      const struct finding *finding, struct witness_found *found, const char *words,
                      bool is_file)
{
    struct plan plan = {0};
    bool good = plan_read(&plan, words, NULL) == SSAN_OK &&
                (is_file || plan_copy_places(&plan, &search->options->plan));
    if (good) {
        found->witness.repeats = 1; /* none of them is the same so far */
        good = replay_first(search, report, finding, found, words, &plan);
    }
    if (good) {
        replay_rest(search, report, finding, found, words, &plan);
        found->witness.replay = command(report, search->options, words, is_file);
    }
    plan_finish(&plan);
    return good;
}

void witness_replay(struct witness_search *search, struct report *report,
                    const struct finding *finding, struct witness_found *found)
{
    bool good = false;
    unsigned n;
    for (n = 0; n < CANDIDATES && !good && !trials_interrupted(search->trials) &&
                (found->witness.repeats == 0 || witness_left(search) > 0);
         n++) {
        struct strbuf words = {0}, path = {0};
        if (candidate(search, finding, found, n, &words, &path) && !words.failed) {
            good =
                try_words(search, report, finding, found, strbuf_text(&words), n == FILE_CANDIDATE);
        }
        if (!good && path.length > 0) {
            unlink(strbuf_text(&path));
        }
        strbuf_finish(&words);
        strbuf_finish(&path);
    }
    found->witness.needs_file = !good && !search->options->keep;
}
