/* Words of the report's data model, and its end. No facts are made here. */
#include "core/finding.h"

const char *nearest_word(enum nearest_kind kind)
{
    static const char *const words[] = {
        [NEAREST_RECORDED_NOT_WAITED] = "recorded-not-waited",
        [NEAREST_WRONG_EVENT] = "wrong-event",
        [NEAREST_RECORDED_EARLY] = "recorded-early",
        [NEAREST_WAITED_LATE] = "waited-late",
        [NEAREST_NEVER_RECORDED] = "never-recorded",
        [NEAREST_RE_RECORDED] = "re-recorded",
        [NEAREST_HOST_LATE] = "host-late",
        [NEAREST_LEGACY_EXEMPT] = "legacy-exempt",
        [NEAREST_PAGEABLE_STAGING] = "pageable-staging",
        [NEAREST_HOST_THREADS] = "host-threads",
        [NEAREST_PEER_DEFAULT] = "peer-default",
        [NEAREST_NONE] = "none",
    };
    return words[kind];
}

const char *fix_word(enum fix_kind kind)
{
    static const char *const words[] = {
        [FIX_INSERT_WAIT] = "insert-wait",   [FIX_RECORD_WAIT] = "record-wait",
        [FIX_MOVE_RECORD] = "move-record",   [FIX_MOVE_WAIT] = "move-wait",
        [FIX_SECOND_EVENT] = "second-event", [FIX_HOST_SYNC] = "host-sync",
        [FIX_MOVE_FREE] = "move-free",       [FIX_HAND_OVER] = "hand-over",
        [FIX_ASK_ERROR] = "ask-error",       [FIX_KEEP_USAGE] = "keep-usage",
    };
    return words[kind];
}

bool fix_is_told(const struct fix *fix)
{
    return fix && (fix->checked || fix->kind == FIX_ASK_ERROR || fix->kind == FIX_KEEP_USAGE);
}

const char *witness_word(enum witness_kind kind)
{
    static const char *const words[] = {
        [WITNESS_SHOWN] = "shown",     [WITNESS_SILENT] = "silent",
        [WITNESS_ORDERED] = "ordered", [WITNESS_ALWAYS] = "always",
        [WITNESS_CALL] = "call",       [WITNESS_INFEASIBLE] = "infeasible",
        [WITNESS_MISSED] = "missed",   [WITNESS_DIVERGED] = "diverged",
        [WITNESS_FAILED] = "failed",   [WITNESS_PROCESSES] = "processes",
        [WITNESS_NO_TIME] = "no-time", [WITNESS_NO_GATE] = "no-gate",
    };
    return words[kind];
}

const char *diagnosis_limit_word(enum diagnosis_limit limit)
{
    static const char *const words[] = {
        [DIAGNOSIS_NO_LIMIT] = NULL,
        [DIAGNOSIS_TIME] = "time",
        [DIAGNOSIS_LINES] = "lines",
        [DIAGNOSIS_FAILED] = "failed",
    };
    return words[limit];
}

bool report_explains(const struct report *report)
{
    for (size_t i = 0; i < report->finding_count; i++) {
        if (report->findings[i]->severity == SEVERITY_ERROR) {
            return true;
        }
    }
    return false;
}

/* All that a report points to lies in its arena, byte sets of findings included. */
void report_finish(struct report *report)
{
    if (report) {
        arena_finish(&report->arena);
        *report = (struct report){0};
    }
}
