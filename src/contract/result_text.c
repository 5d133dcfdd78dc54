/* The result of a contract as a table: what is right in one line, what is not in one line each, one
 * line a fault, and the sum. Decides nothing. */
#include "contract/contract.h"

#include <stdint.h>
#include <string.h>

#define COLUMN_STATE  10
#define COLUMN_COUNTS 44
#define COLUMN_WHY    56

/* Words of programs and of contracts, which must not steer a terminal. */
static void put(struct strbuf *out, const char *text)
{
    strbuf_add_printable(out, text, strlen(text), SIZE_MAX);
}

/* Two spaces at least, then up to the column. */
static void column(struct strbuf *out, size_t at)
{
    strbuf_puts(out, "  ");
    strbuf_pad_to(out, at);
}

static void print_run(struct strbuf *out, const struct plan_run *run,
                      const struct run_result *result, bool kept)
{
    strbuf_printf(out, "  %s", run_state_word(result->state));
    column(out, COLUMN_STATE);
    put(out, run->label[0] ? run->label : "the run");
    strbuf_puts(out, ": ");
    put(out, result->why);
    if (kept) {
        strbuf_printf(out, " (%s)", run->folder);
    }
    strbuf_puts(out, "\n");
    if (result->printed) {
        strbuf_puts(out, "  ");
        strbuf_pad_to(out, COLUMN_STATE);
        strbuf_puts(out, "printed: ");
        put(out, result->printed);
        strbuf_puts(out, "\n");
    }
}

/* Runs with this fault, or without one: those that are not as they should be, of those that were
 * not run for one reason the first; or all. */
static void print_runs(struct strbuf *out, const struct contract_result *result, int fault,
                       bool verbose, enum run_state well, bool kept)
{
    unsigned left = 0, printed = 0, same = 0;
    const char *reason = NULL;
    for (size_t i = 0; i < result->plan->runs.count; i++) {
        const struct plan_run *run = &result->plan->runs.items[i];
        const struct run_result *one = &result->runs[i];
        if (run->fault != fault || (!verbose && one->state == well)) {
            continue;
        }
        if (!verbose && one->state == RUN_NONE && reason && strcmp(reason, one->why) == 0) {
            same++;
            continue;
        }
        reason = one->state == RUN_NONE && !reason ? one->why : reason;
        if (!verbose && printed == 20) {
            left++;
            continue;
        }
        printed++;
        print_run(out, run, one, kept);
    }
    if (same) {
        strbuf_printf(out, "  ... and %u more for the same reason as the first one not run\n",
                      same);
    }
    if (left) {
        strbuf_printf(out, "  ... and %u more\n", left);
    }
}

/* Whether all runs of a matrix are on GPUs, which have no schedules. */
static bool is_all_gpu(const struct matrix *matrix)
{
    bool all = true;
    for (size_t i = 0; i < matrix->axes.count; i++) {
        const struct axis *axis = &matrix->axes.items[i];
        for (unsigned k = 0; strcmp(axis->name, "device") == 0 && k < axis->count; k++) {
            all &= strcmp(axis->values[k], "gpu") == 0;
        }
    }
    return all;
}

/* "size 1 257 4096; schedule eager lazy" */
static void print_axes(struct strbuf *out, const struct matrix *matrix)
{
    const bool no_schedule = is_all_gpu(matrix);
    for (size_t i = 0; i < matrix->axes.count; i++) {
        const struct axis *axis = &matrix->axes.items[i];
        if (no_schedule && strcmp(axis->name, "schedule") == 0) {
            continue;
        }
        strbuf_printf(out, "%s%s", i ? "; " : "", axis->name);
        for (unsigned k = 0; k < axis->count && k < 12; k++) {
            strbuf_puts(out, " ");
            put(out, axis->values[k]);
        }
        strbuf_puts(out, axis->count > 12 ? " ..." : "");
    }
    strbuf_puts(out, "\n");
}

static void print_fault(struct strbuf *out, const struct contract_result *result, unsigned index,
                        bool verbose, bool kept)
{
    const struct spec_fault *fault = &result->spec->contract->faults[index];
    const struct fault_result *sum = &result->faults[index];
    static const char *const words[] = {
        [RUN_CAUGHT] = "caught", [RUN_MISSED] = "NOT CAUGHT", [RUN_NONE] = "not run"};
    strbuf_printf(out, "fault %s", fault->name);
    column(out, COLUMN_COUNTS - 12);
    strbuf_puts(out, words[sum->state]);
    column(out, COLUMN_COUNTS);
    strbuf_printf(out, "%u of %u", sum->caught, sum->runs);
    column(out, COLUMN_WHY);
    put(out, sum->why);
    strbuf_puts(out, "\n");
    if (verbose || sum->state != RUN_CAUGHT) {
        print_runs(out, result, (int)index, verbose, RUN_CAUGHT, kept);
    }
}

void contract_print_summary(struct strbuf *out, const struct contract_result *result)
{
    const unsigned faults = result->spec->contract->faults_count;
    unsigned caught = 0, missed = 0, none = 0, runs = 0;
    for (unsigned i = 0; i < faults; i++) {
        caught += result->faults[i].state == RUN_CAUGHT;
        missed += result->faults[i].state == RUN_MISSED;
        none += result->faults[i].state == RUN_NONE;
        runs += result->faults[i].runs;
    }
    strbuf_printf(out, "%s: %u %s right", contract_state_word(result->state), result->right,
                  result->right == 1 ? "run" : "runs");
    if (result->wrong) {
        strbuf_printf(out, ", %u wrong", result->wrong);
    }
    if (result->none) {
        strbuf_printf(out, ", %u not run", result->none);
    }
    if (faults) {
        strbuf_printf(out, "; %u of %u %s caught in %u runs", caught, faults,
                      faults == 1 ? "fault" : "faults", runs);
    } else {
        strbuf_puts(out, "; no fault is planted: that the checks can fail is not shown");
    }
    if (missed) {
        strbuf_printf(out, ", %u NOT CAUGHT", missed);
    }
    if (none) {
        strbuf_printf(out, ", %u not run", none);
    }
    if (result->caught_signal) {
        strbuf_printf(out, "; ended by signal %d", result->caught_signal);
    }
    strbuf_printf(out, "; %.1f s", result->seconds);
}

void contract_print_text(struct strbuf *out, const struct contract_result *result, bool verbose,
                         bool kept)
{
    const struct spec_contract *contract = result->spec->contract;
    strbuf_printf(out, "contract %s%s", contract->name, contract->about ? ": " : "");
    put(out, contract->about ? contract->about : "");
    strbuf_puts(out, "\n");
    print_axes(out, &result->plan->matrices.items[0]);
    strbuf_printf(out, "%u of %u runs right\n", result->right,
                  result->right + result->wrong + result->none);
    print_runs(out, result, -1, verbose, RUN_RIGHT, kept);
    unsigned not_run = 0;
    for (unsigned i = 0; i < contract->faults_count; i++) {
        if (result->caught_signal && result->faults[i].state == RUN_NONE && !verbose) {
            not_run++;
        } else {
            print_fault(out, result, i, verbose, kept);
        }
    }
    if (not_run) {
        strbuf_printf(out, "%u of %u faults not run\n", not_run, contract->faults_count);
    }
    if (!kept && result->state != CONTRACT_HOLDS && !result->caught_signal) {
        strbuf_puts(out, "nothing of this is kept; --evidence FOLDER keeps what the runs left\n");
    }
    strbuf_puts(out, "streamsan contract: ");
    contract_print_summary(out, result);
    strbuf_puts(out, "\n");
}
