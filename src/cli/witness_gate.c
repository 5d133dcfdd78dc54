/* Witnesses on a GPU: trials in which a kernel is held up until the other operation is done.
 *
 * The GPU runs things when it does, so nothing is chosen but what waits: explore/gates says which
 * kernel, src/capture/gate holds it. That the two changed places is what the device told (feed.h);
 * what came of it is seen in the program's output and exit code, compared with a run in which the
 * host waited behind each item. Trials run one after the other, since two of them would share the
 * GPU and its time. */
#include "cli/witness.h"

#include "cli/device.h"
#include "cli/judge.h"

#include "explore/gates.h"
#include "trace/gate_words.h"

#include <stdio.h>
#include <string.h>

#define INSTANCES    4   /* dynamic repeats of a finding that are tried */
#define KERNELS      2   /* that are tried for one of them: the operation itself, one before it */
#define SOME_BLOCKS  64  /* where all of a kernel leave no room for its partner */
#define SEARCH_SHARE 0.7 /* of the time, the rest is for replays */

/* The search for one finding. */
struct hunt {
    struct finding *finding;
    struct invert_pairs pairs;
    struct witness witness; /* the best so far */
    struct gate_words gate; /* of it */
    bool there;
    /* what became of trials that did not turn the pair round */
    bool failed, diverged, no_time;
    const char *limit;         /* why a gate did not hold for long enough; NULL: none ended so */
    bool has_room;             /* false: the last one's partner could not begin or end */
    enum gates_answer no_gate; /* why nothing could be held; GATES_FOUND: something could */
};

/* A trial with a gate; `exact`: accesses are observed as `run` does. */
static const struct trial_result *run_gated(struct witness_search *search, const char *words,
                                            bool exact)
{
    struct observe_plan plan;
    struct trial trial = *search->base;
    const struct trial_result *result = NULL;
    observe_plan_init(&plan);
    plan.accesses = exact ? search->device->observe.accesses : SSAN_accesses_OFF;
    trial.schedule = GPU_SCHEDULE;
    trial.observe = &plan;
    trial.environment = search->device->gated;
    trial.limit_seconds = witness_limit(search);
    trial.directory = NULL;
    if (observe_plan_add_gate(&plan, words)) {
        result = trials_run(search->trials, &trial);
    }
    observe_plan_finish(&plan);
    return result;
}

/* What a trial that turned the pair round shows. */
static enum witness_kind compare(struct witness_search *search, struct report *report,
                                 const struct trial_result *result, struct witness *witness)
{
    const struct trial_outcome outcome = {.result = result};
    *witness = (struct witness){.memory.buffer = -1};
    return outcome_compare(report, search->reference, &outcome, &search->noise, -1, witness);
}

/* Names the gate in the witness. */
static bool describe(struct witness_search *search, struct report *report,
                     const struct gate_words *gate, uint32_t held, struct witness *witness)
{
    const struct model_item *kernel = &search->first->model.items.items[held];
    char text[32];
    witness->held = arena_strdup(&report->arena, plan_item_text(&gate->held).text);
    gate_words_until(gate, text, sizeof text);
    witness->until = arena_strdup(&report->arena, text);
    witness->held_name = arena_strndup(&report->arena, kernel->name.ptr ? kernel->name.ptr : "",
                                       kernel->name.length);
    return witness->held && witness->until && witness->held_name;
}

/* Why a trial is no witness. */
static void note_failure(struct report *report, struct hunt *hunt,
                         const struct trial_result *result)
{
    if (!result || result->status) {
        hunt->failed = true;
        hunt->witness.detail =
            arena_strdup(&report->arena, result ? result->text : "out of memory");
    } else if (result->timed_out) {
        hunt->no_time = true;
    } else if (result->gates.by_limit > 0) {
        hunt->limit = arena_strdup(&report->arena, result->infeasible_text);
        hunt->has_room = !result->gates.submitted;
    } else {
        hunt->diverged = true;
    }
}

/* Runs one gate; true once nothing better can come. */
static bool try_gate(struct witness_search *search, struct report *report, struct hunt *hunt,
                     const struct gate_words *gate, uint32_t held)
{
    char words[GATE_WORDS_ROOM];
    const struct trial_result *result;
    struct witness witness;
    enum witness_kind kind;
    hunt->has_room = true;
    gate_words_print(gate, words, sizeof words);
    result = run_gated(search, words, false);
    if (!result || result->status || result->gates.told == 0 ||
        result->gates.by_partner < result->gates.told) {
        note_failure(report, hunt, result);
        trials_drop(search->trials, result);
        return hunt->failed;
    }
    kind = compare(search, report, result, &witness);
    trials_drop(search->trials, result);
    if (kind == WITNESS_FAILED || !describe(search, report, gate, held, &witness)) {
        hunt->failed = true;
        return true;
    }
    if (!hunt->there || kind == WITNESS_SHOWN) {
        hunt->there = true;
        hunt->witness = witness;
        hunt->gate = *gate;
    }
    return kind == WITNESS_SHOWN;
}

static bool time_is_over(struct witness_search *search, struct hunt *hunt)
{
    double least = (1 - SEARCH_SHARE) * search->options->time_seconds;
    hunt->no_time |= witness_left(search) <= least;
    return hunt->no_time || trials_interrupted(search->trials);
}

/* All blocks of a kernel, then fewer where they take the partner's place. */
static bool try_kernel(struct witness_search *search, struct report *report, struct hunt *hunt,
                       const struct invert_pair *pair, uint32_t held)
{
    const struct model *model = &search->first->model;
    struct gate_words gate = {.held = model->items.items[held].id,
                              .until = {.stream = pair->thread, .seq = pair->number},
                              .by_host = pair->then == MODEL_NONE,
                              .limit_ms = GATE_LIMIT_MS,
                              .grace_ms = GATE_GRACE_MS};
    if (!gate.by_host) {
        gate.until = model->items.items[pair->then].id;
    }
    if (time_is_over(search, hunt) || try_gate(search, report, hunt, &gate, held)) {
        return true;
    }
    gate.blocks = SOME_BLOCKS;
    return !hunt->has_room && model->items.items[held].blocks > SOME_BLOCKS &&
           (time_is_over(search, hunt) || try_gate(search, report, hunt, &gate, held));
}

static void search_one(struct witness_search *search, struct report *report, struct hunt *hunt)
{
    size_t i;
    unsigned n;
    bool done = false;
    for (i = 0; i < hunt->pairs.count && !done; i++) {
        for (n = 0; n < KERNELS && !done; n++) {
            const struct invert_pair *pair = &hunt->pairs.items[i];
            uint32_t held;
            enum gates_answer answer = gates_held(&search->first->model, pair, n, &held);
            if (answer == GATES_FOUND) {
                hunt->no_gate = GATES_FOUND;
                done = try_kernel(search, report, hunt, pair, held);
            } else if (i == 0 && n == 0) {
                hunt->no_gate = answer;
            }
        }
    }
}

/* -- replays -- */

/* The command, NULL-terminated. */
static const char *const *command(struct report *report, const struct options *options,
                                  const char *words, bool exact)
{
    const char *begin[] = {"streamsan", "run", "--device",   "gpu",
                           "--gate",    words, "--accesses", "off"};
    size_t used = exact ? 6 : 8, count = (size_t)options->argument_count;
    const char **all = arena_alloc(&report->arena, (used + count + 2) * sizeof *all);
    if (!all) {
        return NULL;
    }
    memcpy(all, begin, used * sizeof *all);
    all[used++] = "--";
    memcpy(all + used, options->arguments, count * sizeof *all);
    all[used + count] = NULL;
    return all;
}

/* Runs the command that is to be printed, as often as asked; false when not even once the same. */
static bool replay(struct witness_search *search, struct report *report, struct hunt *hunt,
                   const char *words, bool exact)
{
    struct witness *witness = &hunt->witness;
    witness->repeats = witness->reproduced = 0;
    while (witness->repeats < search->options->repeat && !trials_interrupted(search->trials) &&
           (witness->repeats == 0 || witness_left(search) > 0)) {
        const struct trial_result *result = run_gated(search, words, exact);
        struct witness again;
        bool same = result && !result->status && result->gates.told > 0 &&
                    result->gates.by_partner == result->gates.told &&
                    compare(search, report, result, &again) == witness->kind &&
                    witness_same_effect(&again, witness);
        witness->repeats++;
        witness->reproduced += same;
        trials_drop(search->trials, result);
        if (!same && witness->reproduced == 0) {
            return false;
        }
    }
    return witness->reproduced > 0;
}

/* With accesses observed, as `run` does by itself, if it shows then too. */
static void find_replay(struct witness_search *search, struct report *report, struct hunt *hunt)
{
    char words[GATE_WORDS_ROOM];
    const char *kept;
    bool exact;
    gate_words_print(&hunt->gate, words, sizeof words);
    kept = arena_strdup(&report->arena, words);
    exact = replay(search, report, hunt, words, true);
    if (kept && (exact || replay(search, report, hunt, words, false))) {
        hunt->witness.replay = command(report, search->options, kept, exact);
    }
}

/* -- what is told -- */

static enum witness_kind kind_without(const struct witness_search *search,
                                      const struct report *report, const struct hunt *hunt)
{
    if (search->first->result->processes > 1) {
        return WITNESS_PROCESSES;
    }
    if (hunt->failed) {
        return WITNESS_FAILED;
    }
    if (hunt->pairs.count == 0) {
        return witness_without_pair(report, hunt->finding);
    }
    if (hunt->no_gate != GATES_FOUND) {
        return WITNESS_NO_GATE;
    }
    return hunt->no_time ? WITNESS_NO_TIME : hunt->limit ? WITNESS_INFEASIBLE : WITNESS_DIVERGED;
}

static const char *detail_of(const struct hunt *hunt, enum witness_kind kind)
{
    static const char *const no_gate[] = {
        [GATES_NO_KERNEL] = "none comes before the operation that would have to wait",
        [GATES_SHARED] = "the other operation, too, comes behind each that would hold the first "
                         "one back",
    };
    if (kind == WITNESS_NO_GATE) {
        return no_gate[hunt->no_gate];
    }
    return kind == WITNESS_INFEASIBLE ? hunt->limit
           : kind == WITNESS_FAILED   ? hunt->witness.detail
                                      : NULL;
}

static void settle(struct witness_search *search, struct report *report, struct hunt *hunt)
{
    static const struct witness out_of_memory = {
        .kind = WITNESS_FAILED, .detail = "out of memory", .memory.buffer = -1};
    struct witness *witness = arena_alloc(&report->arena, sizeof *witness);
    if (!witness) {
        hunt->finding->witness = &out_of_memory;
        return;
    }
    if (hunt->there) {
        find_replay(search, report, hunt);
        *witness = hunt->witness;
    } else {
        *witness = (struct witness){.kind = kind_without(search, report, hunt)};
        witness->memory.buffer = -1;
        witness->detail = detail_of(hunt, witness->kind);
    }
    hunt->finding->witness = witness;
}

static void hunt_one(struct witness_search *search, struct report *report, struct finding *finding)
{
    struct hunt hunt = {.finding = finding, .no_gate = GATES_NO_KERNEL};
    bool single = search->first->result->processes == 1;
    if (single && !invert_find(&search->first->model, &search->first->facts,
                               report->ops[finding->first.op].position,
                               report->ops[finding->then.op].position, INSTANCES, &hunt.pairs)) {
        hunt.failed = true;
    }
    search_one(search, report, &hunt);
    settle(search, report, &hunt);
    mem_free(hunt.pairs.items);
}

void witness_gate_findings(struct witness_search *search, struct report *report)
{
    size_t i;
    for (i = 0; i < report->finding_count; i++) {
        if (witness_is_wanted(report->findings[i])) {
            hunt_one(search, report, report->findings[i]);
        }
    }
}
