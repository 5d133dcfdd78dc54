/* `streamsan audit TRACE`: what each synchronisation call carries, by judging the trace without it
 * (docs/audit.md).
 *
 * The lines go to stdout or --output, the verdict on the trace as it is goes to stderr, as with
 * `check`. */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/judge.h"
#include "cli/output.h"

#include "audit/audit.h"
#include "report/audit.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_SECONDS 2

/* Progress, on a terminal only. */
struct progress {
    struct timespec begun;
    bool shown;
};

static void step(void *self, uint64_t runs)
{
    struct progress *progress = self;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (isatty(STDERR_FILENO) && now.tv_sec - progress->begun.tv_sec >= PROGRESS_SECONDS) {
        fprintf(stderr, "\raudit: the trace was judged again %" PRIu64 " times", runs);
        progress->shown = true;
    }
}

/* Prints lines and verdict; returns the exit code. */
static int print(const struct judge *judge, const struct audit *audit, struct report *report)
{
    const struct options *options = judge->options;
    struct verdict verdict = verdict_decide(report, 0, options->error_exitcode);
    const struct verdict assumed = verdict_decide(&audit->assumed, 0, options->error_exitcode);
    const struct text_options how = {!options->output && judge_wants_color(options, STDOUT_FILENO),
                                     options->verbose, options->quiet, options->with_addresses};
    struct strbuf text = {0};
    const bool wanted = !options->quiet || options->output;
    if (wanted && options->format == FORMAT_JSON) {
        text.failed |= !report_audit_json(&text, audit, &verdict, &assumed, &how);
    } else if (wanted) {
        report_audit_text(&text, audit, &verdict, &how, options->format == FORMAT_SHORT);
    }
    const int code = judge_finish(judge, report, &verdict, &text, STDOUT_FILENO, NULL);
    strbuf_finish(&text);
    return code;
}

/* What is known of the run itself, for every table that is printed. */
static void fill_runs(struct audit *audit, const struct report *report)
{
    audit->report.run = report->run;
    audit->report.totals = report->totals;
    audit->accidental.run = report->run;
    audit->assumed.run.submitting_threads = report->run.submitting_threads;
}

/* Judges a trace that was read, again and again. */
static int audit_feed(const struct judge *judge, struct feed *feed, struct report *report)
{
    const struct options *options = judge->options;
    struct audit audit = {0};
    struct progress progress = {.shown = false};
    const struct audit_options how = {
        .engine = {.threads = options->strict ? THREADS_STRICT : THREADS_OBSERVED,
                   .shadow_limit_bytes = options->shadow_limit},
        .order_documented = options->documented,
        .assume = (options->assume & ASSUME_NON_BLOCKING ? AUDIT_ASSUME_NON_BLOCKING : 0) |
                  (options->assume & ASSUME_PER_THREAD ? AUDIT_ASSUME_PER_THREAD : 0),
        .report = report,
        .step = step,
        .step_self = &progress,
    };
    struct ssan_error err = {0};
    clock_gettime(CLOCK_MONOTONIC, &progress.begun);
    const enum ssan_status status =
        audit_run(&audit, feed->engine, reader_source(feed->reader), &how, &err);
    if (progress.shown) {
        fprintf(stderr, "\r\033[K");
    }
    fill_runs(&audit, report);
    const int code = status == SSAN_OK ? print(judge, &audit, report) : command_fail("audit", &err);
    audit_finish(&audit);
    return code;
}

static int audit(const struct options *options)
{
    struct judge judge = {.options = options, .verb = "audit"};
    struct feed feed = {0};
    struct report report = {0};
    struct ssan_error err = {0};
    int code;
    clock_gettime(CLOCK_MONOTONIC, &judge.begun);
    if (output_probe(options->output, &err) != SSAN_OK ||
        judge_read(&feed, options->arguments[0], options, &err) != SSAN_OK) {
        code = command_fail("audit", &err);
    } else {
        judge_report(&report, &judge, &feed);
        code = audit_feed(&judge, &feed, &report);
    }
    report_finish(&report);
    feed_close(&feed);
    return code;
}

int cmd_audit(int argc, char **argv)
{
    const struct command command = {
        .verb = "audit",
        .mask = VERB_AUDIT,
        .wants = WANTS_TRACE,
        .has_defaults = true,
        .ignores_pipe = true,
        .act = audit,
    };
    return command_run(&command, argc, argv);
}
