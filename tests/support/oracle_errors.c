/* Errors of calls (R-ERR-1 to R-ERR-6), from the trace itself: each failed call looks ahead for who
 * asks. */
#include "support/must.h"
#include "support/oracle_state.h"

static bool joins(const struct ssan_event *event, uint32_t thread)
{
    if (event->kind == SSAN_EV_sync) {
        return event->sync.thread == thread && (event->sync.kind == SSAN_sync_kind_DEVICE ||
                                                event->sync.kind == SSAN_sync_kind_STREAM ||
                                                event->sync.kind == SSAN_sync_kind_EVENT);
    }
    return event->kind == SSAN_EV_op && event->op.thread == thread &&
           event->op.form == SSAN_form_SYNC;
}

/* R-ERR-6: a launch that gave its error to nobody, and who asked for it. */
static void judge_launch(struct oracle *oracle, const struct tape *tape, size_t i)
{
    const struct ssan_ev_failed *failed = &tape->events.items[i].failed;
    bool joined = false, asked = false, excused = false;
    for (size_t k = i + 1; k < tape->events.count && !asked; k++) {
        const struct ssan_event *event = &tape->events.items[k];
        asked = event->kind == SSAN_EV_asked && event->asked.thread == failed->thread;
        excused |= event->kind == SSAN_EV_failed && event->failed.thread == failed->thread &&
                   !event->failed.discarded;
        joined |= joins(event, failed->thread);
    }
    if (i < oracle->fault_position && (asked ? joined : oracle->exited && (joined || !excused))) {
        struct oracle_fault fault = {.check = ORACLE_UNCHECKED_LAUNCH,
                                     .first = SIZE_MAX,
                                     .then = SIZE_MAX,
                                     .then_position = i,
                                     .observed = true,
                                     .mild = asked};
        MUST(VEC_PUSH(&oracle->faults, fault));
    }
}

static uint64_t position_of(const struct tape *tape, uint64_t op)
{
    for (size_t i = 0; i < tape->events.count; i++) {
        if (tape->events.items[i].kind == SSAN_EV_op && tape->events.items[i].op.op == op) {
            return i;
        }
    }
    return 0;
}

/* The operation that the first fault of the trace names as its cause, while it is still open. */
static uint64_t cause_of(const struct tape *tape)
{
    for (size_t i = 0; i < tape->events.count; i++) {
        const struct ssan_event *event = &tape->events.items[i];
        if (event->kind == SSAN_EV_fault) {
            for (size_t k = 0; k < i; k++) {
                const struct ssan_event *closed = &tape->events.items[k];
                if (closed->kind == SSAN_EV_op_closed && closed->op_closed.op == event->fault.op) {
                    return 0;
                }
            }
            return position_of(tape, event->fault.op);
        }
    }
    return 0;
}

/* A call that gave a thread the error of earlier work, the thread submits more, and nobody has
 * asked since the context died. */
static void judge_late(struct oracle *oracle, const struct tape *tape)
{
    size_t returned = SIZE_MAX;
    for (size_t i = 0; i < tape->events.count; i++) {
        const struct ssan_event *event = &tape->events.items[i];
        const struct ssan_ev_failed *failed = &event->failed;
        bool dead = i > oracle->fault_position || returned != SIZE_MAX;
        if (event->kind == SSAN_EV_asked && dead) {
            return;
        }
        if (event->kind != SSAN_EV_failed || failed->error_of != SSAN_error_of_EARLIER) {
            continue;
        }
        if (returned == SIZE_MAX) {
            returned = failed->discarded ? SIZE_MAX : i;
        } else if (failed->thread == tape->events.items[returned].failed.thread &&
                   (failed->does == SSAN_call_kind_LAUNCH ||
                    failed->does == SSAN_call_kind_TRANSFER)) {
            struct oracle_fault fault = {.check = ORACLE_LATE_ERROR,
                                         .sureness = ORACLE_POSSIBLE,
                                         .first = SIZE_MAX,
                                         .then = SIZE_MAX,
                                         .first_position = cause_of(tape),
                                         .then_position = returned,
                                         .observed = true};
            MUST(VEC_PUSH(&oracle->faults, fault));
            return;
        }
    }
}

bool oracle_has_stopped(const struct tape *tape)
{
    bool asked = false;
    for (size_t i = tape->events.count; i-- > 0;) {
        const struct ssan_event *event = &tape->events.items[i];
        if (event->kind == SSAN_EV_op || event->kind == SSAN_EV_sync) {
            return false;
        }
        asked |= event->kind == SSAN_EV_asked;
        if (event->kind == SSAN_EV_failed && event->failed.error_of == SSAN_error_of_PLANNED &&
            (asked || !event->failed.discarded)) {
            return true;
        }
    }
    return false;
}

void oracle_judge_errors(struct oracle *oracle, const struct tape *tape)
{
    for (size_t i = 0; i < tape->events.count; i++) {
        const struct ssan_event *event = &tape->events.items[i];
        if (event->kind == SSAN_EV_failed && event->failed.does == SSAN_call_kind_LAUNCH &&
            event->failed.discarded && event->failed.error_of != SSAN_error_of_EARLIER) {
            judge_launch(oracle, tape, i);
        }
    }
    judge_late(oracle, tape);
}
