/* Facts of the whole run: the process and its end, what failed, what is not modelled. Both passes
 * need them, also where nothing was found. Cost: calls that are not modelled are looked for one by
 * one in those told so far. */
#include "core/explain_read_parts.h"

#include <string.h>

static bool on_process(struct reader_state *state, const struct ssan_ev_process *ev)
{
    struct history *history = state->history;
    if (history->event_count > 1) {
        return true;
    }
    history->producer = ev->source;
    history->accesses = ev->accesses;
    history->host_scope = ev->host;
    history->schedule = ev->schedule.length ? read_text(state, ev->schedule) : NULL;
    history->altered = ev->altered.length ? read_text(state, ev->altered) : NULL;
    history->observed = ev->observed.length ? read_text(state, ev->observed) : NULL;
    for (uint32_t at = 0; at < ev->command.length;) {
        const char *word = ev->command.ptr + at;
        const size_t length = strnlen(word, ev->command.length - at);
        const char *copy = arena_strndup(state->arena, word, length);
        if (!copy || !VEC_RESERVE(&history->command, history->command.count + 1)) {
            return false;
        }
        history->command.items[history->command.count++].text = copy;
        at += (uint32_t)length + 1;
    }
    return (!ev->schedule.length || history->schedule) &&
           (!ev->altered.length || history->altered) && (!ev->observed.length || history->observed);
}

static bool on_unsupported(struct reader_state *state, const struct ssan_ev_unsupported *ev)
{
    struct history *history = state->history;
    const char *call = read_intern(state, ev->call);
    for (size_t i = 0; call && i < history->unsupported.count; i++) {
        if (history->unsupported.items[i].call == call) {
            history->unsupported.items[i].count++;
            return true;
        }
    }
    if (!call || !VEC_RESERVE(&history->unsupported, history->unsupported.count + 1)) {
        return false;
    }
    history->unsupported.items[history->unsupported.count].call = call;
    history->unsupported.items[history->unsupported.count].site = ev->site;
    history->unsupported.items[history->unsupported.count++].count = 1;
    return true;
}

static bool on_failed(struct reader_state *state, const struct ssan_ev_failed *ev)
{
    struct history *history = state->history;
    const struct hist_failed failed = {
        .position = state->position,
        .thread = ev->thread,
        .seq = read_next_seq(&state->failed_seq_of, ev->thread),
        .site = ev->site,
        .error = ev->error,
        .error_of = ev->error_of,
        .discarded = ev->discarded != 0,
        .call = read_intern(state, ev->call),
        .name = read_intern(state, ev->name),
    };
    const uint32_t index = (uint32_t)history->failed.count;
    return failed.call && failed.name && failed.seq > 0 && VEC_PUSH(&history->failed, failed) &&
           read_add_call(state, CALL_FAILED, index, ev->thread, ev->site);
}

static bool on_missed(struct reader_state *state, const struct ssan_ev_missed *ev)
{
    const struct run_missed missed = {read_text(state, ev->failure), read_text(state, ev->call),
                                      ev->calls};
    return missed.failure && missed.call && VEC_PUSH(&state->history->missed, missed);
}

bool read_run(struct reader_state *state, const struct ssan_event *event)
{
    struct history *history = state->history;
    switch (event->kind) {
    case SSAN_EV_process:
        return on_process(state, &event->process);
    case SSAN_EV_exit:
        history->exited = true;
        history->exit_code = event->exit.code;
        return true;
    case SSAN_EV_unsupported:
        return on_unsupported(state, &event->unsupported);
    case SSAN_EV_infeasible:
        history->infeasible = read_text(state, event->infeasible.text);
        return history->infeasible != NULL;
    case SSAN_EV_fault:
        if (!history->fault) {
            history->fault = read_text(state, event->fault.text);
            history->fault_site = event->fault.site;
            history->fault_error = event->fault.error;
            history->fault_op = event->fault.op;
            history->fault_planned = event->fault.planned != 0;
            return history->fault != NULL;
        }
        return true;
    case SSAN_EV_failed:
        return on_failed(state, &event->failed);
    case SSAN_EV_missed:
        return on_missed(state, &event->missed);
    case SSAN_EV_line:
        return read_line(state, &event->line);
    default:
        return true;
    }
}
