/* Decides the verdict from the facts of a report and words its line.
 *
 * Invariant: a run is clean only if `reasons` below finds nothing to say and no finding is an
 * error. Every loss that finding.h can hold has its line in `reasons`; the test verdict_every_loss
 * sets them one by one. */
#include "report/verdict.h"

#include "report/words.h"
#include "trace/cuda_names.h"

#include <inttypes.h>
#include <string.h>

#define UNSUPPORTED_NAMED 6 /* calls named in the verdict line; the rest is counted */
#define REFUSED_MOST      3 /* failed launches named */

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Begins the next part of a list of reasons. */
static void part(struct strbuf *out, size_t *count)
{
    if (out && (*count)++ > 0) {
        strbuf_puts(out, ", ");
    } else if (!out) {
        (*count)++;
    }
}

static void say(struct strbuf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct strbuf *out, const char *format, ...)
{
    if (out) {
        va_list args;
        va_start(args, format);
        strbuf_vprintf(out, format, args);
        va_end(args);
    }
}

/* Whether the trace gives a reason in place of a call's name. */
static bool is_sentence(const char *text)
{
    static const char *const marks[] = {": ", "; ", " is ", " are ", " was ", " were ", " can't "};
    size_t i;
    for (i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (strstr(text, marks[i])) {
            return true;
        }
    }
    return false;
}

/* Where the first of the calls is. */
static void first_call(struct strbuf *out, const struct run_info *run, size_t index)
{
    const struct place *place = run->unsupported_at ? &run->unsupported_at[index] : NULL;
    if (out && place && place->file) {
        strbuf_puts(out, run->unsupported_counts[index] == 1 ? ", at " : ", the first at ");
        words_place_full(out, place);
    }
}

static void unsupported_reasons(struct strbuf *out, const struct run_info *run, size_t *count)
{
    size_t i, more = 0;
    for (i = 0; i < run->unsupported_count; i++) {
        if (i >= UNSUPPORTED_NAMED) {
            more++;
            continue;
        }
        part(out, count);
        say(out, "%s", run->unsupported[i]);
        if (!is_sentence(run->unsupported[i])) {
            say(out, " (%" PRIu64 " call%s", run->unsupported_counts[i],
                plural(run->unsupported_counts[i]));
            first_call(out, run, i);
            say(out, ") is not modelled");
        }
    }
    if (more > 0) {
        part(out, count);
        say(out, "%zu more function%s %s not modelled", more, plural(more),
            more == 1 ? "is" : "are");
    }
}

/* What kind of device fault it was, by the CUDA error code that the program got: in fewer words
 * than CUDA's where those are many. */
static const char *fault_word(uint32_t error)
{
    static const struct {
        uint32_t error;
        const char *word;
    } words[] = {
        {2, "out of memory"},      {700, "illegal address"},     {702, "launch timeout"},
        {710, "failed assertion"}, {715, "illegal instruction"}, {716, "misaligned address"},
        {719, "launch failure"},
    };
    const char *text = cuda_error_text(error);
    size_t i;
    for (i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i].error == error) {
            return words[i].word;
        }
    }
    return text ? text : "unknown error";
}

static void fault_reason(struct strbuf *out, const struct run_info *run)
{
    say(out, "a device fault ended the run early (%s", fault_word(run->fault.error));
    if (out && (run->fault.at.file || run->fault.at.function)) {
        strbuf_puts(out, " at ");
        words_place_full(out, &run->fault.at);
    }
    say(out, ")");
}

/* What the program tried though nothing came of it. */
static void refused_reason(struct strbuf *out, const struct run_info *run)
{
    for (size_t i = 0; out && i < run->refused_count && i < REFUSED_MOST; i++) {
        strbuf_puts(out, i == 0 ? " (failed: " : ", ");
        words_failure(out, &run->refused[i]);
    }
    if (run->refused_count > 0) {
        say(out, run->refused_count > REFUSED_MOST ? ", ...)" : ")");
    }
}

/* Appends why the run is incomplete and returns how many reasons there are; `out` NULL: only
 * counts. */
static size_t reasons(struct strbuf *out, const struct report *report)
{
    static const char *const lost_words[ssan_loss_count] = {"access record", "operation record",
                                                            "host stack"};
    const struct run_info *run = &report->run;
    size_t count = 0, i;
    if (run->fault.text && !run->fault.planned) {
        part(out, &count);
        fault_reason(out, run);
    }
    if (run->infeasible) {
        part(out, &count);
        say(out, "the schedule is not feasible (%s)", run->infeasible);
    }
    unsupported_reasons(out, run, &count);
    for (i = 0; i < ssan_loss_count; i++) {
        if (run->lost[i] > 0) {
            part(out, &count);
            say(out, "%" PRIu64 " %s%s %s lost", run->lost[i], lost_words[i], plural(run->lost[i]),
                run->lost[i] == 1 ? "was" : "were");
        }
    }
    if (run->cut) {
        part(out, &count);
        if (run->exit_signal > 0) {
            say(out, "signal %d ended the program before it had finished its trace",
                run->exit_signal);
        } else if (run->has_exit) {
            say(out, "the program ended without finishing its trace (was it killed?)");
        } else {
            say(out, "the trace has no end (the program was killed, or the file is cut off)");
        }
    }
    if (run->open_operations > 0) {
        part(out, &count);
        say(out, "%" PRIu64 " operation%s never finished", run->open_operations,
            plural(run->open_operations));
    }
    for (i = 0; i < run->reason_count; i++) {
        part(out, &count);
        say(out, "%s", run->reasons[i]);
    }
    if (report->totals.operations == 0 && run->failure_count == 0) {
        part(out, &count);
        say(out, "no CUDA operation was %s",
            run->source == SSAN_producer_VIRTUAL_DEVICE && run->trace_bytes > 0 ? "accepted"
                                                                                : "seen");
        refused_reason(out, run);
    }
    return count;
}

static void count_folded(struct verdict *verdict, const struct finding *finding)
{
    size_t i;
    for (i = 0; i < finding->folded_count; i++) {
        if (finding->folded[i]->suppressed_by) {
            verdict->suppressed++;
        } else {
            verdict->folded++;
        }
    }
}

struct verdict verdict_decide(const struct report *report, int clean_code, int error_code)
{
    struct verdict verdict = {0};
    size_t i;
    for (i = 0; i < report->finding_count; i++) {
        const struct finding *finding = report->findings[i];
        count_folded(&verdict, finding);
        if (finding->suppressed_by) {
            verdict.suppressed++;
        } else if (finding->severity == SEVERITY_ERROR) {
            verdict.errors++;
            verdict.by_family[check_info(finding->check)->family]++;
        } else if (finding->severity == SEVERITY_WARNING) {
            verdict.warnings++;
        } else {
            verdict.advice++;
        }
    }
    verdict.complete = reasons(NULL, report) == 0;
    if (verdict.errors > 0) {
        verdict.kind = VERDICT_ERRORS;
        verdict.exit_code = error_code ? error_code : EXIT_CODE_FINDINGS;
    } else if (!verdict.complete) {
        verdict.kind = VERDICT_INCOMPLETE;
        verdict.exit_code = EXIT_CODE_INCOMPLETE;
    } else {
        verdict.kind = VERDICT_CLEAN;
        verdict.exit_code = clean_code;
    }
    return verdict;
}

const char *verdict_word(enum verdict_kind kind)
{
    static const char *const words[] = {"clean", "errors", "incomplete"};
    return words[kind];
}

enum ssan_host_scope verdict_host_scope(const struct report *report)
{
    if (report->run.host == SSAN_host_scope_OFF && report->totals.host_accesses) {
        return SSAN_host_scope_ANNOTATED;
    }
    return report->run.host;
}

static void add_scope(struct strbuf *out, const struct report *report)
{
    static const char *const device[ssan_accesses_count] = {"not observed",
                                                            "by their arguments only", "exact"};
    static const char *const host[ssan_host_scope_count] = {
        "not observed", "as annotated", "at guarded pages only", "precise", "as compiled in"};
    const struct run_info *run = &report->run;
    strbuf_printf(out, "; device accesses %s", device[run->accesses]);
    if (run->observed && run->accesses != SSAN_accesses_OFF) {
        strbuf_printf(out, " (%s)", run->observed);
    }
    if (report->totals.footprints > 0 && run->accesses == SSAN_accesses_EXACT) {
        strbuf_printf(out, ", %" PRIu64 " kernel%s by %s arguments only", report->totals.footprints,
                      plural(report->totals.footprints),
                      report->totals.footprints == 1 ? "its" : "their");
    }
    strbuf_printf(out, ", host accesses %s", host[verdict_host_scope(report)]);
    if (run->threads_strict) {
        strbuf_puts(out, ", host threads strict");
    } else if (run->submitting_threads > 1) {
        strbuf_puts(out, ", host threads as observed");
    }
    if (run->order_documented) {
        strbuf_puts(out, ", documented order only");
    }
    if (run->altered) {
        strbuf_printf(out, ", program altered (%s)", run->altered);
    } else if (run->missed_count > 0) {
        strbuf_printf(out, ", program not altered (--fail %s did not happen%s)",
                      run->missed[0].failure, run->missed_count > 1 ? ", nor did others" : "");
    }
    if (run->rounded_sets > 0) {
        strbuf_printf(out, ", %" PRIu64 " byte set%s rounded", run->rounded_sets,
                      plural(run->rounded_sets));
    }
}

static void add_size(struct strbuf *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    double size = (double)bytes;
    size_t unit = 0;
    while (size >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        size /= 1024;
        unit++;
    }
    strbuf_printf(out, "%.0f %s", size, units[unit]);
}

void verdict_line(struct strbuf *out, const struct report *report, const struct verdict *verdict)
{
    const struct engine_totals *totals = &report->totals;
    strbuf_printf(out, "streamsan: %s: ", verdict_word(verdict->kind));
    strbuf_printf(out, "%s%s", verdict->first ? verdict->first : "", verdict->first ? "; " : "");
    if (verdict->kind == VERDICT_ERRORS) {
        strbuf_printf(out, "%zu error%s (%zu race, %zu lifetime, %zu misuse), ", verdict->errors,
                      plural(verdict->errors), verdict->by_family[FAMILY_RACE],
                      verdict->by_family[FAMILY_LIFETIME], verdict->by_family[FAMILY_MISUSE]);
    } else if (verdict->kind == VERDICT_INCOMPLETE) {
        const bool fault = report->run.fault.text && !report->run.fault.planned;
        strbuf_puts(out, fault ? "" : "no error, but ");
        reasons(out, report);
        strbuf_puts(out, fault ? ", no race or lifetime error; " : "; ");
    }
    strbuf_printf(out, "%zu warning%s, %zu advice", verdict->warnings, plural(verdict->warnings),
                  verdict->advice);
    if (verdict->folded > 0) {
        strbuf_printf(out, ", %zu folded", verdict->folded);
    }
    if (verdict->suppressed > 0) {
        strbuf_printf(out, ", %zu suppressed", verdict->suppressed);
    }
    if (verdict->kind == VERDICT_ERRORS && !verdict->complete) {
        strbuf_puts(out, "; also incomplete: ");
        reasons(out, report);
    }
    strbuf_printf(out, "; %" PRIu64 " operation%s, %" PRIu64 " stream%s", totals->operations,
                  plural(totals->operations), totals->streams, plural(totals->streams));
    add_scope(out, report);
    strbuf_printf(out, "; %.1f s, ", report->run.seconds);
    add_size(out, report->run.memory_bytes);
    strbuf_puts(out, " of memory, ");
    add_size(out, report->run.trace_bytes);
    strbuf_puts(out, " of trace read\n");
}
