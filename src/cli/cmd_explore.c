/* `streamsan explore`: all schedules of a small program, or a part of those of a large one.
 *
 * The report holds the findings of the first run, what the schedules gave, and one verdict over
 * both. */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/device.h"
#include "cli/explore_facts.h"
#include "cli/explore_run.h"
#include "cli/feed.h"
#include "cli/judge.h"
#include "cli/keep.h"
#include "cli/output.h"
#include "cli/program.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* Everything that is printed at the end. */
struct result {
    const struct options *options;
    struct explore_facts facts;
    struct report report;
    struct verdict verdict;
    struct arena arena;
    VEC(const char *) reasons; /* why it is incomplete; in the arena */
    bool reason_lost;          /* a further one, for want of memory */
};

static void add_reason(struct result *result, struct strbuf *words)
{
    const char *kept = strbuf_keep(words, &result->arena);
    result->reason_lost |= !kept || !VEC_PUSH(&result->reasons, kept);
}

/* What kept the search from all schedules. */
static void find_reasons(struct result *result, const struct explore_run *run)
{
    const struct explore_facts *facts = &result->facts;
    const struct search *search = &run->search;
    struct strbuf words = {0};
    switch (run->end) {
    case EXPLORE_LIMIT_RUNS:
        strbuf_printf(&words, "the limit of %u runs came before all schedules",
                      result->options->limit);
        add_reason(result, &words);
        break;
    case EXPLORE_LIMIT_TIME:
        strbuf_printf(&words, "the limit of %g s came before all schedules",
                      result->options->time_seconds);
        add_reason(result, &words);
        break;
    case EXPLORE_INTERRUPTED:
        strbuf_puts(&words, "a signal came before all schedules");
        add_reason(result, &words);
        break;
    case EXPLORE_NO_START:
        if (run->first.processes > 0) { /* else the report of no trace says so */
            strbuf_puts(&words, run->no_start);
            add_reason(result, &words);
        }
        return;
    default:
        break;
    }
    if (facts->found_call) {
        strbuf_puts(&words, "the program is not deterministic");
        add_reason(result, &words);
    }
    if (search->unreached > 0 && !facts->found_call) {
        strbuf_printf(&words, "%" PRIu64 " schedule%s could not be reached", search->unreached,
                      search->unreached == 1 ? "" : "s");
        if (search->unended > 0) {
            strbuf_printf(&words, " (%" PRIu64 " did not end)", search->unended);
        }
        add_reason(result, &words);
    }
    if (search->queries_left_out > 0) {
        strbuf_printf(&words, "%" PRIu64 " quer%s not answered the other way",
                      search->queries_left_out,
                      search->queries_left_out == 1 ? "y was" : "ies were");
        add_reason(result, &words);
    }
    if (search->polls_cut > 0) {
        strbuf_puts(&words, "a loop that polls and works was followed for some rounds only");
        add_reason(result, &words);
    }
    if (facts->forced > 0) {
        strbuf_printf(&words, "the device ran work by itself in %" PRIu64 " run%s", facts->forced,
                      facts->forced == 1 ? "" : "s");
        add_reason(result, &words);
    }
    if (run->first.processes > 1) {
        strbuf_puts(&words, "only the first process with CUDA operations was explored");
        add_reason(result, &words);
    }
}

static struct judge judge_of(const struct result *result, const struct explore_run *run)
{
    return (struct judge){
        .options = result->options,
        .verb = "explore",
        .begun = run->begun,
        .command = result->options->arguments,
        .end = {true, run->first.code, run->first.end_signal},
        .reasons = result->reasons.items,
        .reason_count = result->reasons.count,
        .reason_lost = result->reason_lost,
        .spare = true, /* orders name streams of all items */
    };
}

/* The report of the first run, with what the search adds. */
static enum ssan_status explain_first(struct result *result, struct feed *feed,
                                      const struct explore_run *run, struct ssan_error *err)
{
    const struct judge judge = judge_of(result, run);
    struct strbuf path = {0};
    enum ssan_status status;
    if (run->search.found.count == 0) { /* nothing to look at */
        judge_nothing(&result->report, &judge);
        return SSAN_OK;
    }
    strbuf_printf(&path, "%s/" TRIAL_TRACE, run->first_directory);
    status = path.failed ? ssan_no_memory(err)
                         : judge_read(feed, strbuf_text(&path), result->options, err);
    strbuf_finish(&path);
    if (!status) {
        judge_report(&result->report, &judge, feed);
        result->report.run.schedule = "eager";
    }
    return status;
}

static void decide(struct result *result)
{
    const struct explore_facts *facts = &result->facts;
    bool wrong =
        facts->random ? facts->random_wrong > 0 : facts->classes_wrong + facts->early_wrong > 0;
    result->verdict = verdict_decide(&result->report, 0, result->options->error_exitcode);
    if (wrong && result->verdict.kind != VERDICT_ERRORS) {
        result->facts.unexplained = true;
        result->verdict.kind = VERDICT_ERRORS;
        result->verdict.exit_code = result->options->error_exitcode;
    }
}

/* "streamsan: errors: 7 of 10 orders wrong; 1 error ..." */
static int print(struct result *result, const struct explore_run *run)
{
    const struct options *options = result->options;
    const struct judge judge = judge_of(result, run);
    struct strbuf text = {0}, count = {0};
    decide(result);
    explore_wrong(&count, &result->facts);
    if (options->quiet && !options->output) {
        /* the verdict has the count */
    } else if (options->format == FORMAT_JSON) {
        text.failed |= !explore_json(&text, &result->facts, &result->report, &result->verdict,
                                     options->with_addresses);
        if (!options->output) {
            strbuf_printf(&text, "%s\n", strbuf_text(&count));
        }
    } else if (run->search.found.count == 0) {
        strbuf_puts(&text, run->first.processes > 0
                               ? ""
                               : "explore: nothing to explore; a program with CUDA calls is built "
                                 "with `streamsan cc`\n");
    } else {
        report_short(&text, &result->report, judge_wants_color(options, STDERR_FILENO));
        if (options->format == FORMAT_SHORT) {
            explore_short(&text, &result->facts);
        } else {
            explore_text(&text, &result->facts, &result->report, options->verbose);
        }
    }
    text.failed |= count.failed;
    if (options->output && !options->quiet) {
        fprintf(stderr, "%s\n", strbuf_text(&count));
    }
    if (result->facts.threads > 1) {
        strbuf_printf(&count, ", calls of %" PRIu64 " threads in the order of the first run",
                      result->facts.threads);
    }
    const int code =
        judge_finish(&judge, &result->report, &result->verdict, &text, STDERR_FILENO, &count);
    strbuf_finish(&text);
    strbuf_finish(&count);
    return code;
}

static int explore(const struct options *options)
{
    struct result result = {.options = options};
    struct explore_run run = {0};
    struct feed feed = {0};
    struct ssan_error err = {0}, told = {0};
    enum ssan_status status = device_choose_virtual(options, &err);
    status = status ? status : output_probe(options->output, &err);
    status = status ? status : keep_probe(options->keep, &err);
    status = status ? status : explore_run(&run, options, &err);
    if (!status && !options->quiet) {
        program_tell_input("explore");
    }
    if (!status && !(explore_facts_fill(&result.facts, &run.search, run.samples.items,
                                        run.samples.count, options, &result.arena, &told) &&
                     explore_facts_varying(&result.facts, &run.mask, &result.arena))) {
        status = ssan_no_memory(&err);
    }
    if (told.status) {
        command_fail("explore", &told);
    }
    if (!status) {
        find_reasons(&result, &run);
        status = explain_first(&result, &feed, &run, &err);
    }
    int code = status ? command_fail("explore", &err) : print(&result, &run);
    report_finish(&result.report);
    feed_close(&feed);
    VEC_FREE(&result.reasons);
    arena_finish(&result.arena);
    explore_run_finish(&run);
    return code;
}

int cmd_explore(int argc, char **argv)
{
    const struct command command = {
        .verb = "explore",
        .mask = VERB_EXPLORE,
        .wants = WANTS_PROGRAM,
        .has_defaults = true,
        .ignores_pipe = true,
        .act = explore,
    };
    return command_run(&command, argc, argv);
}
