/* Facts of a search. A schedule that is a short list of items stands in the command itself, all
 * others in a file. */
#include "cli/explore_facts.h"

#include "cli/keep.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Items of a schedule that stand in a command: with a place for files, and without. */
#define ITEMS_IN_WORDS 40u
#define ITEMS_AT_MOST  250u

static enum explore_way way_of(enum probe_kind kind)
{
    switch (kind) {
    case PROBE_EARLY:
    case PROBE_ONE:
    case PROBE_REFERENCE:
    case PROBE_AGAIN:
        return EXPLORE_EARLY;
    case PROBE_QUERY:
        return EXPLORE_QUERY;
    case PROBE_RANDOM:
        return EXPLORE_RANDOM;
    default:
        return EXPLORE_ORDER;
    }
}

/* The schedule as words of `--schedule`; NULL when it needs a file. */
static const char *in_words(const struct plan *plan, size_t most, struct arena *arena)
{
    if (plan_is_plain(plan)) {
        return arena_strdup(arena, plan->policy);
    }
    if (strcmp(plan->policy, "lazy") != 0 ||
        plan->calls.count + plan->bys.count + plan->afters.count > 0 || plan->togethers.count > 0 ||
        plan->places.count > 0 || plan->fails.count > 0 || plan->serialize_all ||
        plan->serialize_streams.count > 0 || plan->items.count > most) {
        return NULL;
    }
    struct strbuf words = {0};
    strbuf_puts(&words, "order:");
    plan_print_items(plan, &words);
    return strbuf_keep(&words, arena);
}

/* Writes the plan to a file of its own; NULL when none is wanted or it can't be written. */
static const char *in_file(const struct plan *plan, uint64_t number, const struct options *options,
                           struct arena *arena, struct ssan_error *err)
{
    struct strbuf path = {0};
    const char *kept = NULL;
    if (options->keep) {
        char name[64];
        snprintf(name, sizeof name, "run-%" PRIu64 ".schedule", number);
        if (keep_path(options->keep, name, &path, err) != SSAN_OK) {
            strbuf_finish(&path);
            return NULL;
        }
    } else if (options->output) {
        strbuf_printf(&path, "%s.run-%" PRIu64 ".schedule", options->output, number);
    } else {
        return NULL;
    }
    if (!path.failed && keep_plan(strbuf_text(&path), plan, err) == SSAN_OK) {
        char *words = NULL;
        if (asprintf(&words, "file:%s", strbuf_text(&path)) >= 0) {
            kept = arena_strdup(arena, words);
            free(words);
        }
    }
    strbuf_finish(&path);
    return kept;
}

/* What --schedule takes for the plan; NULL: nothing that was kept. */
static const char *schedule_of(const struct plan *plan, uint64_t number,
                               const struct options *options, struct arena *arena,
                               struct ssan_error *err)
{
    size_t most = options->keep || options->output ? ITEMS_IN_WORDS : ITEMS_AT_MOST;
    const char *words = in_words(plan, most, arena);
    return words ? words : in_file(plan, number, options, arena, err);
}

static void fill_group(struct explore_group *group, const struct search *search, size_t index,
                       const struct explore_sample *sample, const struct options *options,
                       struct arena *arena, struct ssan_error *err)
{
    const struct search_group *from = &search->groups.items[index];
    *group = (struct explore_group){
        .verdict = from->verdict == RESULT_WRONG    ? EXPLORE_WRONG
                   : from->verdict == RESULT_MEMORY ? EXPLORE_MEMORY
                                                    : EXPLORE_SAME,
        .way = way_of(from->kind),
        .exit_code = from->outcome.code,
        .exit_signal = from->outcome.end_signal,
        .timed_out = from->outcome.timed_out,
        .runs = from->runs,
        .random_runs = from->random_runs,
    };
    for (size_t i = 0; i < search->found.count; i++) {
        const struct search_class *class = &search->found.items[i];
        if (class->group == index) {
            group->orders += class->orders.count;
            group->estimated = group->estimated || class->orders.estimated;
            group->classes++;
        }
    }
    if (sample) {
        group->output_line = sample->output_line;
        group->got = sample->got;
        group->expected = sample->expected;
        group->repeat = sample->repeat;
    }
    if (from->verdict != RESULT_SAME) {
        group->schedule = schedule_of(&from->plan, from->number, options, arena, err);
    }
}

static void fill_sums(struct explore_facts *facts, const struct search *search)
{
    struct search_sums sums = search_sum(search);
    facts->classes = sums.classes;
    facts->classes_wrong = sums.wrong_classes;
    facts->classes_memory = sums.memory_classes;
    facts->orders_total = sums.total;
    facts->orders_run = sums.orders;
    facts->orders_wrong = sums.wrong;
    facts->orders_memory = sums.memory;
    facts->total_estimated = sums.total_estimated;
    facts->run_estimated = sums.estimated;
    facts->all_orders_run = search_left(search) == 0 && search->unreached == 0 &&
                            search->queries_left_out == 0 && search->polls_cut == 0 &&
                            !search->determinism.found && search->limits.random == 0;
    facts->all_run = facts->all_orders_run && search_left_extra(search) == 0;
    facts->random = search->limits.random > 0;
    facts->random_tried = search->by_kind[PROBE_RANDOM];
    facts->random_wrong = search->random_wrong;
    facts->random_seed = search->limits.seed;
}

bool explore_facts_fill(struct explore_facts *facts, const struct search *search,
                        const struct explore_sample *samples, size_t sample_count,
                        const struct options *options, struct arena *arena, struct ssan_error *err)
{
    size_t count = search->groups.count;
    struct explore_group *groups = arena_alloc(arena, (count + 1) * sizeof *groups);
    bool fine = groups != NULL;
    for (size_t i = 0; fine && i < count; i++) {
        fill_group(&groups[i], search, i, i < sample_count ? &samples[i] : NULL, options, arena,
                   err);
    }
    const struct run *first = search->found.count > 0 ? search->found.items[0].run : NULL;
    *facts = (struct explore_facts){
        .items = first ? first->poset.count : 0,
        .streams = first ? first->poset.chains : 0,
        .threads = search->threads,
        .runs = search->taken,
        .infeasible = search->infeasible,
        .forced = search->forced,
        .output_varies = search->output_varies,
        .memory_compared = !search->memory_varies,
        .expected_call = search->determinism.found ? search->determinism.expected : NULL,
        .found_call = search->determinism.found,
        .early_tried = search->early_tried,
        .early_wrong = search->early_wrong,
        .one_early = search->by_kind[PROBE_ONE],
        .early_places = search_early_places(search),
        .torn_tried = search->by_kind[PROBE_TORN],
        .torn_wrong = search->torn_wrong,
        .torn_pairs = search->torn_pairs.count,
        .torn_schedule =
            search->torn_wrong > 0
                ? schedule_of(&search->torn_plan, search->torn_number, options, arena, err)
                : NULL,
        .keeps = options->keep || options->output,
        .device = options->devices_word,
        .command = (const char *const *)options->arguments,
        .groups = groups,
        .group_count = fine ? count : 0,
    };
    fill_sums(facts, search);
    return fine;
}

bool explore_facts_varying(struct explore_facts *facts, const struct output_mask *mask,
                           struct arena *arena)
{
    uint64_t *lines = arena_alloc(arena, (mask->items.count + 1) * sizeof *lines);
    for (size_t i = 0; lines && i < mask->items.count; i++) {
        uint64_t line = mask->items.items[i].line;
        if (facts->varying_count == 0 || lines[facts->varying_count - 1] != line) {
            lines[facts->varying_count++] = line;
        }
    }
    facts->varying = lines;
    return lines != NULL;
}
