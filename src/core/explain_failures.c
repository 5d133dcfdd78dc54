/* Failures as facts of a run. Cost: a pass over the calls that failed, times the planned places. */
#include "core/explain_failures.h"

#include <string.h>

static bool is_same_place(const struct place *a, const struct place *b)
{
    return a->line == b->line && a->file == b->file && a->function == b->function;
}

/* One more failure of `call`; equal ones of a place are counted together. */
static void add(struct run_failure *failures, size_t *count, const char *call, uint32_t error,
                struct place at)
{
    for (size_t i = 0; i < *count; i++) {
        if (failures[i].error == error && strcmp(failures[i].call, call) == 0 &&
            is_same_place(&failures[i].at, &at)) {
            failures[i].count++;
            return;
        }
    }
    failures[(*count)++] = (struct run_failure){call, error, at, 1};
}

/* The call that first gave the program the error of the fault: not one that returns it to nobody.
 */
static const struct hist_failed *first_returned(const struct history *history)
{
    for (size_t i = 0; history->fault && i < history->failed.count; i++) {
        const struct hist_failed *failed = &history->failed.items[i];
        if (failed->error_of == SSAN_error_of_EARLIER && !failed->discarded) {
            return failed;
        }
    }
    return NULL;
}

static void fill_fault(struct run_info *run, const struct history *history)
{
    const uint32_t item =
        history->fault_op ? history_find(&history->item_of, history->fault_op) : HISTORY_NONE;
    const struct hist_failed *returned = first_returned(history);
    run->fault.text = history->fault;
    run->fault.error = history->fault_error;
    run->fault.planned = history->fault_planned;
    run->fault.at = history_place(history, history->fault_site);
    if (item != HISTORY_NONE) {
        const struct hist_item *op = &history->items.items[item];
        run->fault.call = op->call;
        run->fault.name = op->name[0] ? op->name : NULL;
        run->fault.op_at = history_place(history, op->site);
    }
    if (returned) {
        run->fault.returned = returned->call;
        run->fault.returned_at = history_place(history, returned->site);
    }
}

/* Failures alone were asked for, and none happened: the program ran as it is. Other options stand
 * in front of them. */
static bool nothing_altered(const struct run_info *run)
{
    return run->altered && strncmp(run->altered, "--fail ", 7) == 0 && run->missed_count > 0 &&
           run->failure_count == 0 && !run->fault.planned;
}

bool explain_failures(struct run_info *run, struct arena *arena, const struct history *history)
{
    struct run_failure *failures =
        arena_alloc(arena, (history->failed.count + 1) * sizeof *failures);
    struct run_failure *refused = arena_alloc(arena, (history->failed.count + 1) * sizeof *refused);
    struct run_missed *missed = arena_alloc(arena, (history->missed.count + 1) * sizeof *missed);
    if (!failures || !refused || !missed) {
        return false;
    }
    for (size_t i = 0; i < history->missed.count; i++) {
        missed[i] = history->missed.items[i];
    }
    run->missed = missed;
    run->missed_count = history->missed.count;
    if (history->fault) {
        fill_fault(run, history);
    }
    run->refused = refused;
    run->failures = failures;
    for (size_t i = 0; i < history->failed.count; i++) {
        const struct hist_failed *failed = &history->failed.items[i];
        if (failed->error_of == SSAN_error_of_PLANNED) {
            add(failures, &run->failure_count, failed->call, failed->error,
                history_place(history, failed->site));
        } else if (failed->error_of == SSAN_error_of_ITSELF && failed->name[0]) {
            add(refused, &run->refused_count, failed->call, failed->error,
                history_place(history, failed->site));
        }
    }
    if (run->fault.planned && (run->fault.call || run->fault.returned)) {
        const bool work = run->fault.call != NULL;
        add(failures, &run->failure_count, work ? run->fault.call : run->fault.returned,
            run->fault.error, work ? run->fault.op_at : run->fault.returned_at);
    }
    if (nothing_altered(run)) {
        run->altered = NULL;
    }
    return true;
}

const struct fix *explain_ask_error(struct arena *arena, struct place launch)
{
    static const char *const asks =
        "if (cudaGetLastError() != cudaSuccess) { /* nothing was launched */ }";
    struct source_edit *edit = arena_alloc(arena, sizeof *edit);
    struct fix *fix = arena_alloc(arena, sizeof *fix);
    if (!edit || !fix) {
        return NULL;
    }
    *edit = (struct source_edit){.file = launch.file, .line = launch.line, .insert_behind = asks};
    *fix = (struct fix){.kind = FIX_ASK_ERROR, .edits = edit, .edit_count = 1};
    return fix;
}
