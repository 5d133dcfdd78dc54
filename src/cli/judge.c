/* Explains feeds, joins their reports, prints report and verdict.
 *
 * Invariant: the verdict line is the last thing on stderr, and a run whose report could not be
 * written does not end with the code of a clean one. */
#include "cli/judge.h"

#include "cli/again.h"
#include "cli/commands.h"
#include "cli/output.h"

#include "report/suppress.h"

#include "core/explain.h"

#include "base/elapsed.h"
#include "base/file.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRESS_SECONDS 1.0

/* Progress of re-checking, on a terminal only. */
struct progress {
    const struct judge *judge;
    unsigned checks;
    bool shown;
};

static bool stop(void *self)
{
    struct progress *progress = self;
    const struct judge *judge = progress->judge;
    progress->checks++;
    if (isatty(STDERR_FILENO) && seconds_since(&judge->begun) > PROGRESS_SECONDS) {
        fprintf(stderr, "\rchecking proposed fixes: %u", progress->checks);
        progress->shown = true;
    }
    return judge->stop && judge->stop(judge->stop_self);
}

static void clear_progress(const struct progress *progress)
{
    if (progress->shown) {
        fprintf(stderr, "\r\033[K");
    }
}

static void add_reason(struct report *report, const char *reason)
{
    size_t count = report->run.reason_count;
    const char **reasons = arena_alloc(&report->arena, (count + 1) * sizeof *reasons);
    char *copy = arena_strdup(&report->arena, reason);
    if (reasons && copy) {
        if (count > 0) {
            memcpy(reasons, report->run.reasons, count * sizeof *reasons);
        }
        reasons[count] = copy;
        report->run.reasons = reasons;
        report->run.reason_count = count + 1;
    } else {
        report->run.open_operations++; /* out of memory: never a verdict that says nothing of it */
    }
}

static void tell_losses(struct report *report, const struct judge *judge, struct feed *feed)
{
    char text[700];
    if (feed->state == FEED_DAMAGED) {
        snprintf(text, sizeof text, "the trace is damaged (%s)", feed->error.text);
        add_reason(report, text);
    } else if (feed->state == FEED_GOING) {
        snprintf(text, sizeof text, "process %u still runs", feed->pid);
        add_reason(report, text);
    }
    if (feed->keep_error.status != SSAN_OK && judge->options->trace) {
        snprintf(text, sizeof text, "the trace could not be kept (%s)", feed->keep_error.text);
        add_reason(report, text);
    }
    if (feed->full) { /* what it left open is behind the limit */
        add_reason(report,
                   "the trace reached its limit (--trace-limit), behind which nothing was seen");
        report->run.open_operations = 0;
    }
    if (!feed->has_process) { /* written by hand: what it says is all there is */
        report->run.source = SSAN_producer_LISTING;
        report->run.accesses = SSAN_accesses_EXACT;
    }
    report->run.cut = !feed->full &&
                      (feed->state == FEED_CUT || (feed->state == FEED_WHOLE && feed->has_process &&
                                                   !engine_totals(feed->engine)->exited));
    report->run.trace_bytes = reader_bytes(feed->reader);
}

/* The report of one feed. On a failure it holds no findings and says why the run is incomplete. */
static void explain_feed(struct report *report, const struct judge *judge, struct feed *feed)
{
    struct progress progress = {judge, 0, false};
    struct explain_options options = {
        .order_documented = judge->options->documented,
        .threads_strict = judge->options->strict,
        .stop = stop,
        .stop_self = &progress,
        .spare = judge->spare,
    };
    struct ssan_error err = {0};
    struct again again;
    struct ssan_source *source = again_open(&again, feed);
    if (explain(report, feed->engine, source, &options, &err) != SSAN_OK) {
        char text[600];
        snprintf(text, sizeof text, "the findings could not be explained (%s)", err.text);
        add_reason(report, text);
        report->totals = *engine_totals(feed->engine);
    }
    clear_progress(&progress);
    again_close(&again);
    tell_losses(report, judge, feed);
}

/* Most memory that this process has had; 0: not known. The kernel's words for its own program: the
 * number of getrusage is kept over exec, so it may be that of whoever started it. */
static uint64_t peak_bytes(void)
{
    static const char key[] = "\nVmHWM:";
    struct strbuf status = {0};
    struct ssan_error err;
    uint64_t bytes = 0;
    if (file_read(&status, "/proc/self/status", 1 << 20, &err) == SSAN_OK) {
        const char *at = strstr(strbuf_text(&status), key);
        bytes = at ? strtoull(at + sizeof key - 1, NULL, 10) * 1024 : 0;
    }
    strbuf_finish(&status);
    return bytes;
}

static void fill_run(struct report *report, const struct judge *judge)
{
    struct run_info *run = &report->run;
    size_t i;
    if (judge->command) {
        run->command = (const char *const *)judge->command;
        run->schedule = run->source == SSAN_producer_GPU ? GPU_SCHEDULE : judge->options->schedule;
    }
    if (judge->end.known) {
        run->has_exit = true;
        run->exit_code = judge->end.end_signal ? 0 : judge->end.code;
        run->exit_signal = judge->end.end_signal;
    }
    run->order_documented = judge->options->documented;
    run->threads_strict = judge->options->strict;
    for (i = 0; i < judge->reason_count; i++) {
        add_reason(report, judge->reasons[i]);
    }
    if (judge->reason_lost) {
        add_reason(report, "out of memory");
    }
    run->seconds = seconds_since(&judge->begun);
    run->memory_bytes = peak_bytes();
}

bool judge_wants_color(const struct options *options, int fd)
{
    const char *no_color = getenv("NO_COLOR");
    if (options->color != COLOR_AUTO) {
        return options->color == COLOR_ALWAYS;
    }
    return !options->output && isatty(fd) && !(no_color && *no_color);
}

static void suppress(struct report *report, const struct judge *judge)
{
    const struct suppress_list *list = &judge->options->suppressions;
    if (!suppress_apply(report, list->entries.items, list->entries.count)) {
        add_reason(report, "there was no memory to apply all suppressions");
    }
}

void judge_report(struct report *report, const struct judge *judge, struct feed *feed)
{
    explain_feed(report, judge, feed);
    fill_run(report, judge);
    suppress(report, judge);
}

void judge_nothing(struct report *report, const struct judge *judge)
{
    report->run.source = judge->gpu ? SSAN_producer_GPU : SSAN_producer_VIRTUAL_DEVICE;
    report->run.accesses = judge->options->accesses;
    fill_run(report, judge);
}

/* The report in the form that was asked for. */
static void add_report(struct strbuf *text, const struct judge *judge, const struct report *report,
                       const struct verdict *verdict)
{
    const struct options *options = judge->options;
    struct text_options how = {judge_wants_color(options, STDERR_FILENO), options->verbose,
                               options->quiet, options->with_addresses};
    const bool wanted = !options->quiet || options->output;
    if (options->print_suppressions) {
        if (wanted) {
            suppress_entries(text, report);
        }
    } else if (options->format == FORMAT_JSON) {
        text->failed |= wanted && !report_json(text, report, verdict, options->with_addresses);
    } else if (options->format == FORMAT_SHORT) {
        if (wanted) {
            report_short(text, report, how.color);
        }
    } else {
        report_text(text, report, &how);
    }
}

/* Entries that fit no finding: a line each. */
static void tell_unused(const struct judge *judge, const struct report *report)
{
    struct strbuf text = {0};
    size_t i;
    for (i = 0; !judge->options->quiet && i < report->suppression_count; i++) {
        const struct suppression *entry = &report->suppressions[i];
        if (entry->used == 0) {
            strbuf_printf(&text, "streamsan %s: %s:%u: this suppression fits no finding (",
                          judge->verb, entry->file, entry->line);
            suppress_words(&text, entry);
            strbuf_puts(&text, ")\n");
        }
    }
    output_write(NULL, STDERR_FILENO, &text, NULL);
    strbuf_finish(&text);
}

static void lose_clean(struct verdict *verdict)
{
    verdict->complete = false;
    if (verdict->kind == VERDICT_CLEAN) {
        verdict->kind = VERDICT_INCOMPLETE;
        verdict->exit_code = EXIT_CODE_INCOMPLETE;
    }
}

/* The verdict line; a shorter one when there is no memory for it. */
static void print_verdict(const char *verb, const struct report *report, struct verdict *verdict,
                          const struct strbuf *first)
{
    struct strbuf line = {0};
    verdict->first = first ? strbuf_text(first) : NULL;
    verdict_line(&line, report, verdict);
    if (line.failed || (first && first->failed)) {
        lose_clean(verdict);
        dprintf(STDERR_FILENO, "streamsan: %s: %s ran out of memory\n", verdict_word(verdict->kind),
                verb);
    } else {
        output_write(NULL, STDERR_FILENO, &line, NULL);
    }
    verdict->first = NULL;
    strbuf_finish(&line);
}

int judge_finish(const struct judge *judge, struct report *report, struct verdict *verdict,
                 const struct strbuf *text, int otherwise, const struct strbuf *first)
{
    struct ssan_error err = {0};
    if (output_write(judge->options->output, otherwise, text, &err) != SSAN_OK) {
        command_fail(judge->verb, &err);
        add_reason(report, "the report could not be written");
        lose_clean(verdict);
    }
    tell_unused(judge, report);
    print_verdict(judge->verb, report, verdict, first);
    return verdict->exit_code;
}

/* Prints report and verdict; returns the exit code. */
static int print(const struct judge *judge, struct report *report)
{
    struct verdict verdict =
        verdict_decide(report, judge->clean_code, judge->options->error_exitcode);
    struct strbuf text = {0};
    add_report(&text, judge, report, &verdict);
    const int code = judge_finish(judge, report, &verdict, &text, STDERR_FILENO, NULL);
    strbuf_finish(&text);
    return code;
}

int judge_print(const struct judge *judge, struct feed *feeds, size_t count)
{
    struct report *reports = mem_zalloc(count + 1, sizeof *reports);
    struct ssan_error err = {.status = SSAN_NO_MEMORY, .text = "out of memory"};
    size_t i;
    int code;
    if (!reports) {
        return command_fail(judge->verb, &err);
    }
    for (i = 0; i < count; i++) {
        explain_feed(&reports[i], judge, &feeds[i]);
        if (i > 0 && !report_merge(&reports[0], &reports[i], (unsigned)i + 1)) {
            add_reason(&reports[0], "there was no memory for the findings of all processes");
        }
    }
    suppress(&reports[0], judge);
    if (judge->adorn) {
        judge->adorn(judge->adorn_self, &reports[0]);
    }
    if (count == 0) {
        judge_nothing(&reports[0], judge);
    } else {
        fill_run(&reports[0], judge);
    }
    code = print(judge, &reports[0]);
    for (i = 0; i <= count; i++) {
        report_finish(&reports[i]);
    }
    mem_free(reports);
    return code;
}

enum ssan_status judge_read(struct feed *feed, const char *path, const struct options *options,
                            struct ssan_error *err)
{
    struct engine_options engine = {
        .threads = options->strict ? THREADS_STRICT : THREADS_OBSERVED,
        .shadow_limit_bytes = options->shadow_limit,
    };
    struct feed_options how = {.engine = &engine, .documented = options->documented};
    enum ssan_status status = feed_open(feed, path, &how, err);
    if (status) {
        return status;
    }
    while (feed_step(feed, SIZE_MAX) > 0 && feed->state == FEED_GOING) {
    }
    if (feed->state == FEED_DAMAGED) {
        *err = feed->error;
        return err->status;
    }
    feed_finish(feed);
    return SSAN_OK;
}
