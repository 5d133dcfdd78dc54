/* What a run is: right or wrong, its fault caught or missed, or nothing at all.
 *
 * Invariant: a run is right only if a report was read, all of it was seen, and each expectation was
 * looked at. */
#include "contract/assess.h"

#include "contract/mention.h"
#include "contract/said.h"
#include "contract/tree.h"

#include <string.h>
#include <unistd.h>

/* One run while it is judged. */
struct judged {
    const struct judging *judging;
    const struct plan_run *run;
    const char *folder; /* its whole path */
    struct seen seen;
    bool absent; /* the file that was looked for last */
    struct ssan_error *err;
};

/* The result with a text, which is taken. */
static enum ssan_status settle(const struct judging *judging, struct run_result *result,
                               enum run_state state, struct strbuf *why, struct ssan_error *err)
{
    result->state = state;
    result->why = strbuf_keep(why, judging->arena);
    return result->why ? SSAN_OK : ssan_no_memory(err);
}

/* A text of the contract with the values of the run, in the arena; NULL for NULL and on failure. */
static const char *expanded(const struct judged *judged, const char *text, enum ssan_status *status)
{
    struct strbuf out = {0};
    const char *kept = NULL;
    if (text && *status == SSAN_OK) {
        *status = contract_plan_expand(&out, judged->judging->plan, judged->judging->options->plan,
                                       judged->run, text, judged->err);
        if (*status == SSAN_OK) {
            kept = strbuf_keep(&out, judged->judging->arena);
            *status = kept ? SSAN_OK : ssan_no_memory(judged->err);
        }
    }
    strbuf_finish(&out);
    return kept;
}

static void begin_reason(struct strbuf *why)
{
    strbuf_puts(why, why->length ? "; " : "");
}

/* Appends what is wrong; `*good` false if anything is. */
static enum ssan_status check_patterns(struct judged *judged, const struct spec_list *patterns,
                                       struct strbuf *why, bool *good)
{
    enum ssan_status status = SSAN_OK;
    for (unsigned i = 0; i < patterns->count && status == SSAN_OK; i++) {
        const char *pattern = expanded(judged, patterns->items[i], &status);
        struct strbuf one = {0};
        if (pattern && !seen_stdout(&judged->seen, pattern, &one)) {
            *good = false;
            begin_reason(why);
            strbuf_puts(why, strbuf_text(&one));
        }
        status = status == SSAN_OK && one.failed ? ssan_no_memory(judged->err) : status;
        strbuf_finish(&one);
    }
    return status;
}

static enum ssan_status check_value(struct judged *judged, const struct spec_value *value,
                                    struct strbuf *why, bool *good)
{
    enum ssan_status status = SSAN_OK;
    const struct seen_value wanted = {
        .key = value->key,
        .equals = expanded(judged, value->equals, &status),
        .min = expanded(judged, value->min, &status),
        .max = expanded(judged, value->max, &status),
        .abs = value->abs,
        .rel = value->rel,
    };
    struct strbuf one = {0};
    if (status == SSAN_OK && !seen_value(&judged->seen, &wanted, &one)) {
        *good = false;
        begin_reason(why);
        strbuf_puts(why, strbuf_text(&one));
    }
    status = status == SSAN_OK && one.failed ? ssan_no_memory(judged->err) : status;
    strbuf_finish(&one);
    return status;
}

/* `*broken` when what this file must hold can't be read, or is no more as it was. */
static enum ssan_status check_file(struct judged *judged, const struct spec_file *file,
                                   struct strbuf *why, bool *good, bool *broken)
{
    enum ssan_status status = SSAN_OK;
    const char *output = expanded(judged, file->output, &status);
    const char *expected = expanded(judged, file->expected, &status);
    struct strbuf from = {0}, to = {0}, one = {0};
    if (status == SSAN_OK) {
        struct spec_file how = *file;
        how.output = (char *)output;
        how.expected = (char *)expected;
        strbuf_printf(&from, "%s/%s", judged->folder, output);
        judged->absent = access(strbuf_text(&from), F_OK) != 0;
        strbuf_printf(&to, "%s/sources/%s", judged->judging->options->work, expected);
        *broken = !tree_is_as_copied(judged->judging->options->work, expected);
        if (*broken) {
            strbuf_printf(&one, "%s is not as it was copied: a build or a run wrote to it",
                          expected);
        }
        if (*broken || !seen_file(strbuf_text(&from), strbuf_text(&to), &how, broken, &one)) {
            *good = false;
            begin_reason(why);
            strbuf_puts(why, strbuf_text(&one));
        }
    }
    if (status == SSAN_OK && (from.failed || to.failed || one.failed)) {
        status = ssan_no_memory(judged->err);
    }
    strbuf_finish(&from);
    strbuf_finish(&to);
    strbuf_finish(&one);
    return status;
}

static void tell_findings(const struct judged *judged, struct strbuf *why)
{
    const struct seen_finding *first = judged->seen.errors.items;
    begin_reason(why);
    if (first->file) {
        strbuf_printf(why, "%s:%u: ", first->file, first->line);
    }
    strbuf_printf(why, "%s [%s]", first->message ? first->message : "an error finding",
                  first->rule);
}

/* A run without a fault. */
static enum ssan_status judge_right(struct judged *judged, struct run_result *result)
{
    const struct spec_expect *expect = &judged->judging->spec->contract->expect;
    struct strbuf why = {0};
    bool good = true, broken = false;
    enum ssan_status status = SSAN_OK;
    if (expect->verdict == SPEC_CLEAN && judged->seen.errors.count) {
        good = false;
        tell_findings(judged, &why);
    }
    if (judged->seen.code != expect->exit_code) {
        good = false;
        begin_reason(&why);
        strbuf_printf(&why, "exit code %d, and %d is right", judged->seen.code, expect->exit_code);
    }
    status = check_patterns(judged, &expect->stdout_lines, &why, &good);
    for (unsigned i = 0; i < expect->values_count && status == SSAN_OK; i++) {
        status = check_value(judged, &expect->values[i], &why, &good);
    }
    for (unsigned i = 0; i < expect->files_count && status == SSAN_OK; i++) {
        bool without = false;
        status = check_file(judged, &expect->files[i], &why, &good, &without);
        broken |= without;
    }
    if (status) {
        strbuf_finish(&why);
        return status;
    }
    if (!good) {
        return settle(judged->judging, result, broken ? RUN_NONE : RUN_WRONG, &why, judged->err);
    }
    if (!judged->seen.complete && expect->verdict == SPEC_CLEAN) {
        said_by_tool(&why, judged->folder, true);
        return settle(judged->judging, result, RUN_NONE, &why, judged->err);
    }
    strbuf_puts(&why, judged->seen.verdict);
    return settle(judged->judging, result, RUN_RIGHT, &why, judged->err);
}

static bool is_listed(const struct spec_list *list, const char *word)
{
    for (unsigned i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], word) == 0) {
            return true;
        }
    }
    return false;
}

/* Appends what was found, or what was not; false if not. */
static bool caught_by_finding(const struct judged *judged, const struct spec_caught *caught,
                              struct strbuf *by, struct strbuf *missed)
{
    for (size_t i = 0; i < judged->seen.errors.count; i++) {
        if (is_listed(&caught->finding, judged->seen.errors.items[i].rule)) {
            begin_reason(by);
            strbuf_puts(by, judged->seen.errors.items[i].rule);
            return true;
        }
    }
    begin_reason(missed);
    strbuf_puts(missed, "no ");
    for (unsigned i = 0; i < caught->finding.count; i++) {
        strbuf_printf(missed, "%s%s", i ? " or " : "", caught->finding.items[i]);
    }
    return false;
}

static bool caught_by_code(const struct judged *judged, const struct spec_caught *caught,
                           struct strbuf *by, struct strbuf *missed)
{
    for (unsigned i = 0; i < caught->exit_code.count; i++) {
        if (caught->exit_code.items[i] == judged->seen.code) {
            begin_reason(by);
            strbuf_printf(by, "exit code %d", judged->seen.code);
            return true;
        }
    }
    begin_reason(missed);
    strbuf_printf(missed, "exit code %d", judged->seen.code);
    return false;
}

/* The values and files that must be wrong, and are. */
static enum ssan_status caught_by_results(struct judged *judged, const struct spec_caught *caught,
                                          struct strbuf *by, struct strbuf *missed, bool *all)
{
    const struct spec_expect *expect = &judged->judging->spec->contract->expect;
    enum ssan_status status = SSAN_OK;
    for (unsigned i = 0; i < expect->values_count && status == SSAN_OK; i++) {
        bool good = true;
        if (is_listed(&caught->values, expect->values[i].key)) {
            status = check_value(judged, &expect->values[i], by, &good);
            const bool there = seen_has(&judged->seen, expect->values[i].key);
            if (status == SSAN_OK && (good || !there)) {
                *all = false;
                begin_reason(missed);
                strbuf_printf(missed, "%s is %s", expect->values[i].key,
                              there ? "right" : "not printed, so it is not wrong");
            }
        }
    }
    for (unsigned i = 0; i < expect->files_count && status == SSAN_OK; i++) {
        bool good = true, broken = false;
        if (is_listed(&caught->files, expect->files[i].output)) {
            status = check_file(judged, &expect->files[i], by, &good, &broken);
            if (status == SSAN_OK && (good || broken || judged->absent)) {
                *all = false;
                begin_reason(missed);
                strbuf_printf(missed, "%s is %s", expect->files[i].output,
                              broken           ? "compared with what can't be read"
                              : judged->absent ? "not written, so it is not wrong"
                                               : "right");
            }
        }
    }
    return status;
}

/* The lines that the output must have for the fault, and have not or have. */
static enum ssan_status caught_by_lines(struct judged *judged, const struct spec_caught *caught,
                                        struct strbuf *by, struct strbuf *missed, bool *all)
{
    struct strbuf patterns = {0};
    bool fit = true;
    const enum ssan_status status = check_patterns(judged, &caught->stdout_lines, &patterns, &fit);
    begin_reason(fit ? by : missed);
    strbuf_puts(fit ? by : missed, fit ? "its output" : strbuf_text(&patterns));
    strbuf_finish(&patterns);
    *all &= fit;
    return status;
}

/* Whether a run that has ended shows what `caught` says; by what, or what it does not show. A crash
 * leaves what it has not come to: that is not wrong, unless its exit code is one that is named. */
static enum ssan_status see_fault(struct judged *judged, const struct spec_caught *caught,
                                  struct strbuf *by, struct strbuf *missed, bool *all)
{
    enum ssan_status status = SSAN_OK;
    *all = !caught->timeout;
    strbuf_puts(missed, caught->timeout ? "it ended in time" : "");
    if (caught->finding.count) {
        *all &= caught_by_finding(judged, caught, by, missed);
    }
    if (caught->exit_code.count) {
        *all &= caught_by_code(judged, caught, by, missed);
    } else if (judged->seen.crashed &&
               (caught->values.count || caught->files.count || caught->stdout_lines.count)) {
        *all = false;
        begin_reason(missed);
        strbuf_printf(missed, "it crashed (exit code %d), which shows no wrong result",
                      judged->seen.code);
        return SSAN_OK;
    }
    status = caught_by_results(judged, caught, by, missed, all);
    if (status == SSAN_OK && caught->stdout_lines.count) {
        status = caught_by_lines(judged, caught, by, missed, all);
    }
    return status;
}

/* A run with a planted fault. */
static enum ssan_status judge_fault(struct judged *judged, struct run_result *result)
{
    const struct spec_contract *contract = judged->judging->spec->contract;
    const struct spec_fault *fault = &contract->faults[judged->run->fault];
    const struct spec_caught *caught = &fault->caught;
    struct strbuf by = {0}, missed = {0};
    bool all;
    enum ssan_status status = see_fault(judged, caught, &by, &missed, &all);
    if (status == SSAN_OK && !all) { /* such as a call that never came, or a line that holds none */
        struct strbuf hint = {0};
        said_by_tool(&hint, judged->folder, false);
        if (hint.length) {
            strbuf_printf(&missed, " (%s)", strbuf_text(&hint));
        }
        strbuf_finish(&hint);
        const char *macro =
            mention_missing(judged->judging->options->work, &contract->build, &fault->macros);
        if (macro) {
            strbuf_printf(&missed, " (no file of the build mentions '%s')", macro);
        }
    }
    if (status == SSAN_OK) {
        status = settle(judged->judging, result, all ? RUN_CAUGHT : RUN_MISSED, all ? &by : &missed,
                        judged->err);
    }
    strbuf_finish(&by);
    strbuf_finish(&missed);
    return status;
}

/* Which faults a right run without one would pass for: what catches them shows nothing. */
static enum ssan_status compare_with_faults(struct judged *judged)
{
    const struct spec_contract *contract = judged->judging->spec->contract;
    struct ssan_error *const err = judged->err;
    enum ssan_status status = SSAN_OK;
    for (unsigned i = 0; i < contract->faults_count && status == SSAN_OK; i++) {
        struct fault_result *fault = &judged->judging->faults[i];
        struct strbuf by = {0}, missed = {0};
        bool all = false;
        judged->err = NULL;
        status = see_fault(judged, &contract->faults[i].caught, &by, &missed, &all);
        judged->err = err;
        if (status == SSAN_FORMAT) { /* a value that only runs of the fault have */
            status = SSAN_OK;
        } else if (status == SSAN_OK && all && !fault->alike) {
            struct strbuf text = {0};
            strbuf_printf(&text, "shows nothing: a run without the fault has that too (%s%s%s)",
                          judged->run->label, judged->run->label[0] ? ": " : "", strbuf_text(&by));
            fault->alike = strbuf_keep(&text, judged->judging->arena);
            status = fault->alike ? SSAN_OK : SSAN_NO_MEMORY;
        }
        strbuf_finish(&by);
        strbuf_finish(&missed);
    }
    return status == SSAN_NO_MEMORY ? ssan_no_memory(err) : status;
}

/* The ids of the findings, in the arena as these are; NULL when out of memory. */
static const char *const *list_rules(const struct judged *judged)
{
    const size_t count = judged->seen.errors.count;
    const char **list = arena_alloc(judged->judging->arena, (count + 1) * sizeof *list);
    for (size_t i = 0; list && i < count; i++) {
        list[i] = judged->seen.errors.items[i].rule;
    }
    if (list) {
        list[count] = NULL;
    }
    return list;
}

/* Why there is nothing to judge; false if there is. */
static bool tell_no_run(const struct pool_job *job, const char *folder, struct strbuf *why)
{
    if (!job->started) {
        strbuf_printf(why, "%s can't be started: %s", job->words[0], strerror(job->error));
    } else if (job->timed_out) {
        strbuf_printf(why, "it did not end within %u s", job->timeout_s);
    } else if (job->interrupted) {
        strbuf_puts(why, "it was ended from outside");
    } else if (job->code == 64 || job->code == 65 || job->code == 69 || job->code == 70 ||
               job->code == 126 || job->code == 127) {
        said_first_line(why, folder, "stderr");
        strbuf_printf(why, "%s(exit code %d)", why->length ? " " : "", job->code);
    }
    return why->length > 0;
}

static enum ssan_status judge_seen(struct judged *judged, const struct pool_job *job,
                                   struct run_result *result)
{
    struct strbuf why = {0};
    struct ssan_error inner = {0};
    const struct judging *judging = judged->judging;
    enum ssan_status status = seen_read(&judged->seen, judged->folder, judging->arena, &inner);
    if (status == SSAN_NO_MEMORY) {
        return ssan_no_memory(judged->err);
    }
    if (status) {
        /* No report: the codes that `run` has for that, or the program has gone on in its place. */
        if (!tell_no_run(job, judged->folder, &why)) {
            strbuf_printf(&why, "%s", inner.text);
        }
        return settle(judging, result, RUN_NONE, &why, judged->err);
    }
    result->verdict = judged->seen.verdict;
    result->code = judged->seen.code;
    result->rules = list_rules(judged);
    if (!result->rules) {
        return ssan_no_memory(judged->err);
    }
    if (judged->seen.lost) {
        strbuf_printf(&why, "the schedule can't be followed: %s", judged->seen.lost);
        return settle(judging, result, RUN_NONE, &why, judged->err);
    }
    if (judged->run->fault < 0) {
        status = judge_right(judged, result);
        if (status == SSAN_OK && result->state == RUN_RIGHT) {
            status = compare_with_faults(judged);
        }
    } else {
        status = judge_fault(judged, result);
    }
    if (status == SSAN_OK && (result->state == RUN_WRONG || result->state == RUN_MISSED)) {
        said_last_lines(&why, strbuf_text(&judged->seen.output), 2);
        result->printed = why.length ? strbuf_keep(&why, judging->arena) : NULL;
        strbuf_finish(&why);
    }
    return status;
}

enum ssan_status assess_run(const struct judging *judging, const struct plan_run *run,
                            const struct pool_job *job, struct run_result *result,
                            struct ssan_error *err)
{
    struct strbuf folder = {0}, why = {0};
    strbuf_printf(&folder, "%s/%s", judging->options->work, run->folder);
    struct judged judged = {
        .judging = judging, .run = run, .folder = strbuf_text(&folder), .err = err};
    enum ssan_status status;
    *result =
        (struct run_result){.state = RUN_NONE, .code = -1, .seconds = job->seconds, .done = true};
    if (folder.failed) {
        status = ssan_no_memory(err);
    } else if (job->timed_out && run->fault >= 0 &&
               judging->spec->contract->faults[run->fault].caught.timeout) {
        (void)tell_no_run(job, judged.folder, &why);
        status = settle(judging, result, RUN_CAUGHT, &why, err);
    } else if ((!job->started || job->timed_out || job->interrupted) &&
               tell_no_run(job, judged.folder, &why)) {
        status = settle(judging, result, RUN_NONE, &why, err);
    } else {
        status = judge_seen(&judged, job, result);
    }
    seen_finish(&judged.seen);
    strbuf_finish(&folder);
    return status;
}
