/* Trials for probes, results for the search, and how far it is. */
#include "cli/explore_run.h"

#include "base/elapsed.h"
#include "base/mem.h"
#include "cli/explore_result.h"
#include "trace/control_abi.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SNAPSHOT_BYTES    (UINT64_C(256) << 20)
#define PLAN_LIMIT_MS     2000
#define TORN_RUNS         20
#define ONE_EARLY_RUNS    64
#define QUERY_PROBES      4096 /* that wait */
#define SAMPLE_RUNS       100
#define SLOWER            20   /* times the first run: then a run counts as one without end */
#define SLOWEST_SECONDS   10.0 /* at least */
#define TERMINAL_SECONDS  0.2  /* between words of progress */
#define VERBOSE_SECONDS   5.0
#define FIRST_RUN_SECONDS 600.0
#define REPEATED_MOST     10u        /* results */
#define OUTPUT_KEPT       (1u << 20) /* bytes of the reference's output */

static void clear_progress(struct explore_run *run)
{
    if (run->shown) {
        fprintf(stderr, "\r\033[K");
        run->shown = false;
    }
}

static void tell_progress(struct explore_run *run)
{
    bool terminal = isatty(STDERR_FILENO);
    if (run->options->quiet || !(terminal || run->options->verbose) ||
        seconds_since(&run->told) < (terminal ? TERMINAL_SECONDS : VERBOSE_SECONDS)) {
        return;
    }
    struct search_sums sums = search_sum(&run->search);
    struct strbuf line = {0};
    clock_gettime(CLOCK_MONOTONIC, &run->told);
    strbuf_printf(
        &line, "explore: %" PRIu64 " run%s, %" PRIu64 " class%s, %" PRIu64 " wrong; orders run: ",
        run->search.taken, run->search.taken == 1 ? "" : "s", sums.classes,
        sums.classes == 1 ? "" : "es", sums.wrong_classes);
    explore_number(&line, sums.orders, sums.estimated);
    strbuf_puts(&line, " of ");
    explore_number(&line, sums.total, sums.total_estimated);
    fprintf(stderr, terminal ? "\r\033[K%s" : "%s\n", strbuf_text(&line));
    run->shown = terminal;
    strbuf_finish(&line);
}

static struct output_text reference_of(const struct explore_run *run)
{
    return (struct output_text){.at = run->reference.text, .length = run->reference.length};
}

static char *line_at(const struct output_text *text, size_t begin)
{
    return begin < text->length ? mem_strndup(text->at + begin, output_line_length(text, begin))
                                : NULL;
}

/* The line in which a new group differs from the reference. False when out of memory. */
static bool add_sample(struct explore_run *run, const struct output_text *output)
{
    struct explore_sample sample = {0};
    const struct output_text reference = reference_of(run);
    size_t expected, got;
    if (run->samples.count == 0) {
        size_t kept = output->length < OUTPUT_KEPT ? output->length : OUTPUT_KEPT;
        strbuf_clear(&run->reference);
        strbuf_add(&run->reference, output->at, kept);
    } else {
        sample.output_line = output_difference(&run->mask, &reference, output, &expected, &got);
        sample.expected = sample.output_line ? line_at(&reference, expected) : NULL;
        sample.got = sample.output_line ? line_at(output, got) : NULL;
    }
    if (run->reference.failed || !VEC_PUSH(&run->samples, sample)) {
        mem_free(sample.expected);
        mem_free(sample.got);
        return false;
    }
    return true;
}

static bool add_samples(struct explore_run *run, const struct trial_result *trial)
{
    struct output_text output = {0};
    bool fine = true;
    if (run->samples.count < run->search.groups.count && !output_open(&output, trial)) {
        output = (struct output_text){0}; /* what can't be read has no lines */
    }
    while (fine && run->samples.count < run->search.groups.count) {
        fine = add_sample(run, &output);
    }
    output_close(&output);
    return fine;
}

/* The second run of the reference tells what varies by itself: from then on that does not count. */
static bool learn(struct explore_run *run, const struct trial_result *trial,
                  struct probe_result *result)
{
    const struct output_text reference = reference_of(run);
    struct output_text output = {0};
    if (run->samples.count == 0 || result->infeasible || result->outcome.timed_out ||
        !output_open(&output, trial)) {
        return true;
    }
    bool fine = output_learn(&run->mask, &reference, &output);
    if (run->mask.all || reference.length == OUTPUT_KEPT) {
        output_forget(&run->mask); /* the search sees that all of it varies */
    } else if (run->mask.items.count > 0) {
        run->search.groups.items[0].outcome.out_hash = output_hash(&run->mask, &reference);
        result->outcome.out_hash = output_hash(&run->mask, &output);
    }
    output_close(&output);
    return fine;
}

/* How a plan is run. `directory` has room for the current one, for the lines of the first runs. */
static struct trial trial_of(const struct explore_run *run, const struct plan *plan,
                             enum probe_kind kind, char *directory, size_t room)
{
    double limit = run->first.seconds * SLOWER;
    return (struct trial){
        .arguments = run->options->arguments,
        .plan = plan,
        .flags = CONTROL_CALLS | CONTROL_SNAPSHOT,
        .devices = run->options->devices,
        .snapshot_limit_bytes = SNAPSHOT_BYTES,
        .plan_limit_ms = PLAN_LIMIT_MS,
        .limit_seconds = kind == PROBE_FIRST       ? FIRST_RUN_SECONDS
                         : limit > SLOWEST_SECONDS ? limit
                                                   : SLOWEST_SECONDS,
        .engine = {.shadow_limit_bytes = run->options->shadow_limit},
        .documented = run->options->documented,
        .directory = kind <= PROBE_LAZY && getcwd(directory, room) ? directory : NULL,
    };
}

static enum ssan_status start(struct explore_run *run, struct probe *probe, struct ssan_error *err)
{
    char directory[4096];
    struct trial trial = trial_of(run, &probe->plan, probe->kind, directory, sizeof directory);
    enum ssan_status status = trials_start(&run->trials, &trial, err);
    if (!status && !VEC_PUSH(&run->under_way, *probe)) {
        status = ssan_no_memory(err);
    }
    if (status) {
        search_skip(&run->search, probe);
    }
    return status;
}

/* Whether a result comes again under its schedule. */
static enum explore_repeat run_again(struct explore_run *run, const struct search_group *group)
{
    struct trial trial = trial_of(run, &group->plan, group->kind, NULL, 0);
    const struct trial_result *again = trials_run(&run->trials, &trial);
    enum explore_repeat repeat = EXPLORE_NOT_RUN_AGAIN;
    struct probe_result result = {0};
    struct model model = {0};
    if (!again->status && !trials_interrupted(&run->trials) &&
        explore_result_read(again, &run->mask, &model, &result, NULL) == SSAN_OK) {
        bool same = search_same_output(&run->search, &group->outcome, &result.outcome);
        repeat = same ? EXPLORE_AGAIN : EXPLORE_NOT_AGAIN;
    }
    model_finish(&model);
    trials_drop(&run->trials, again);
    return repeat;
}

/* Wrong results that came once are looked for once more: a program may do by chance what it does.
 */
static void repeat_some(struct explore_run *run)
{
    size_t count = 0;
    for (size_t i = 0; i < run->samples.count && count < REPEATED_MOST; i++) {
        const struct search_group *group = &run->search.groups.items[i];
        if (trials_interrupted(&run->trials) ||
            seconds_since(&run->begun) > run->options->time_seconds) {
            return;
        }
        if (group->verdict == RESULT_WRONG && group->runs == 1) {
            run->samples.items[i].repeat = run_again(run, group);
            count++;
        }
    }
}

/* The first run must give something to explore. */
static enum ssan_status check_first(struct explore_run *run, const struct trial_result *trial,
                                    enum ssan_status read, struct ssan_error *err)
{
    run->first = *trial;
    run->first_directory = mem_strdup(trial->directory);
    if (trial->status) {
        return ssan_fail(err, trial->status, 0, "%s", trial->text);
    }
    if (trial->processes == 0 || read == SSAN_IO) {
        run->end = EXPLORE_NO_START;
        run->no_start =
            trial->processes == 0 ? "no CUDA operation was seen" : "the trace could not be read";
    } else if (trial->timed_out) {
        run->end = EXPLORE_NO_START;
        run->no_start = "the program did not end";
    }
    return run->end == EXPLORE_NO_START ? SSAN_OK : read;
}

/* Takes the result of the oldest trial. */
static enum ssan_status take(struct explore_run *run, struct ssan_error *err)
{
    struct probe probe = run->under_way.items[0];
    struct model model = {0};
    struct probe_result result = {0};
    const struct trial_result *trial = trials_next(&run->trials);
    memmove(run->under_way.items, run->under_way.items + 1,
            --run->under_way.count * sizeof *run->under_way.items);
    enum ssan_status status = trial->status;
    bool first = probe.kind == PROBE_FIRST, fine = true;
    if (!status) {
        status = explore_result_read(trial, &run->mask, &model, &result, err);
    }
    if (!status && probe.kind == PROBE_AGAIN) {
        fine = learn(run, trial, &result);
    }
    run->trials.slow = NULL;
    if (first) {
        status = check_first(run, trial, status, err);
    }
    /* a signal that asks for an end ends the trials too: what they gave then is no result */
    if (status || run->end == EXPLORE_NO_START || trials_interrupted(&run->trials)) {
        search_skip(&run->search, &probe);
    } else {
        fine &= search_take(&run->search, &probe, &model, &result) && add_samples(run, trial);
    }
    model_finish(&model);
    if (!first) {
        trials_drop(&run->trials, trial);
        status = SSAN_OK; /* one of many: counted by the search */
    }
    return fine ? status : ssan_no_memory(err);
}

/* Whether no more trials are to be started, and why. The first run is made in any case. */
static bool is_over(struct explore_run *run)
{
    bool rest = search_left(&run->search) + search_left_extra(&run->search) > 0;
    if (run->end == EXPLORE_NO_START || run->search.given == 0) {
        return run->end == EXPLORE_NO_START;
    }
    if (trials_interrupted(&run->trials)) {
        run->end = EXPLORE_INTERRUPTED;
        return true;
    }
    if (run->search.given >= run->options->limit) {
        run->end = rest ? EXPLORE_LIMIT_RUNS : EXPLORE_ENDED;
        return true;
    }
    if (seconds_since(&run->begun) > run->options->time_seconds) {
        run->end = rest ? EXPLORE_LIMIT_TIME : EXPLORE_ENDED;
        return true;
    }
    return false;
}

/* Starts what may run now. *more: there may be something later. */
static enum ssan_status start_some(struct explore_run *run, bool *more, struct ssan_error *err)
{
    *more = true;
    while (run->under_way.count < run->trials.jobs) {
        struct probe probe;
        enum search_next next;
        if (is_over(run)) {
            *more = false;
            return SSAN_OK;
        }
        next = search_next(&run->search, &probe);
        if (next == SEARCH_NO_MEMORY) {
            return ssan_no_memory(err);
        }
        if (next != SEARCH_RUN) {
            *more = next == SEARCH_WAIT;
            return SSAN_OK;
        }
        if (start(run, &probe, err)) {
            return err->status;
        }
    }
    return SSAN_OK;
}

enum ssan_status explore_run(struct explore_run *run, const struct options *options,
                             struct ssan_error *err)
{
    const struct search_limits limits = {
        .count = {.down_sets = COUNT_DOWN_SETS,
                  .bytes = COUNT_BYTES,
                  .probes = COUNT_PROBES,
                  .seed = options->seed},
        .random = options->random,
        .seed = options->seed,
        .torn = TORN_RUNS,
        .one_early = ONE_EARLY_RUNS,
        .queries = QUERY_PROBES,
        .sample = SAMPLE_RUNS,
        .places = &options->plan,
    };
    enum ssan_status status;
    bool more = true;
    *run = (struct explore_run){.options = options};
    clock_gettime(CLOCK_MONOTONIC, &run->begun);
    run->told = run->begun;
    search_init(&run->search, &limits);
    status = trials_open(&run->trials, options->jobs, err);
    run->trials.slow =
        options->quiet ? NULL
                       : "streamsan explore: the first run is still going; --time does not end it";
    while (!status && (more || run->under_way.count > 0)) {
        status = start_some(run, &more, err);
        if (!status && run->under_way.count == 0) {
            break;
        }
        if (!status) {
            status = take(run, err);
            tell_progress(run);
        }
    }
    if (!status && run->end != EXPLORE_NO_START) {
        repeat_some(run);
    }
    clear_progress(run);
    run->interrupted = trials_interrupted(&run->trials) != 0;
    if (run->end != EXPLORE_NO_START && !status) {
        bool rest = search_left(&run->search) + search_left_extra(&run->search) > 0;
        run->end = !rest ? EXPLORE_ENDED : run->interrupted ? EXPLORE_INTERRUPTED : run->end;
    }
    return status;
}

void explore_run_finish(struct explore_run *run)
{
    for (size_t i = 0; i < run->under_way.count; i++) {
        probe_finish(&run->under_way.items[i]);
    }
    for (size_t i = 0; i < run->samples.count; i++) {
        mem_free(run->samples.items[i].expected);
        mem_free(run->samples.items[i].got);
    }
    VEC_FREE(&run->under_way);
    VEC_FREE(&run->samples);
    strbuf_finish(&run->reference);
    output_forget(&run->mask);
    mem_free(run->first_directory);
    search_finish(&run->search);
    trials_close(&run->trials);
}
