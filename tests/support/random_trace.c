/* Time: whose turn it is, late records, callback threads, the end. */
#include "support/random_trace.h"

#include "support/must.h"
#include "support/random_state.h"

/* Ids of host threads are dense, so callback threads take the next one when they first run. */
static uint32_t callback_thread(struct random_state *state, const struct random_late *late)
{
    for (size_t i = 0; i < state->threads.count; i++) {
        const struct random_thread *at = &state->threads.items[i];
        if (at->callback && at->op == 0) {
            state->threads.items[i].op = late->op;
            return at->id;
        }
    }
    uint32_t id = (uint32_t)state->threads.count + 1;
    MUST(VEC_PUSH(&state->threads, (struct random_thread){
                                       .id = id, .live = true, .callback = true, .op = late->op}));
    return id;
}

static void set_thread(struct ssan_event *event, uint32_t thread)
{
    switch (event->kind) {
    case SSAN_EV_callback_begin:
        event->callback_begin.thread = thread;
        break;
    case SSAN_EV_callback_end:
        event->callback_end.thread = thread;
        break;
    case SSAN_EV_host_access:
        event->host_access.thread = thread;
        break;
    case SSAN_EV_release:
        event->release.thread = thread;
        break;
    case SSAN_EV_acquire:
        event->acquire.thread = thread;
        break;
    default:
        break;
    }
}

/* Host functions of one stream run one after the other; where they acquire, all run as submitted,
 * so that no hand-over goes back in time. */
static bool may_run(const struct random_state *state, size_t index)
{
    const struct random_late *late = &state->late.items[index];
    for (size_t i = 0; i < state->late.count && late->callback; i++) {
        const struct random_late *other = &state->late.items[i];
        if (other->callback && other->op < late->op &&
            (other->stream == late->stream || state->callback_acquires)) {
            return false;
        }
    }
    return true;
}

/* Writes the next late record of one operation; true when that was its close. */
static bool step_late(struct random_state *state, size_t index)
{
    struct random_late *late = &state->late.items[index];
    struct ssan_event event = {.kind = SSAN_EV_op_closed};
    if (late->next < late->end) {
        event = state->held.events.items[late->next++];
        if (late->callback && !late->thread) {
            late->thread = callback_thread(state, late);
        }
        set_thread(&event, late->thread);
        emit(state, &event);
        return false;
    }
    event.op_closed = (struct ssan_ev_op_closed){late->op};
    emit(state, &event);
    for (size_t i = 0; i < state->threads.count && late->thread; i++) {
        if (state->threads.items[i].id == late->thread) {
            state->threads.items[i].op = 0;
        }
    }
    state->late.items[index] = state->late.items[--state->late.count];
    return true;
}

/* All of what is selected, oldest operation first. */
static void drain(struct random_state *state, bool callbacks_only)
{
    for (;;) {
        size_t oldest = SIZE_MAX;
        for (size_t i = 0; i < state->late.count; i++) {
            const struct random_late *at = &state->late.items[i];
            if ((at->callback || !callbacks_only) &&
                (oldest == SIZE_MAX || at->op < state->late.items[oldest].op)) {
                oldest = i;
            }
        }
        if (oldest == SIZE_MAX) {
            return;
        }
        while (!step_late(state, oldest)) {
        }
    }
}

void random_run_callbacks(struct random_state *state)
{
    drain(state, true);
}

static void begin_trace(struct random_state *state)
{
    struct ssan_event event = {.kind = SSAN_EV_process};
    event.process = (struct ssan_ev_process){
        .pid = 1,
        .source = SSAN_producer_LISTING,
        .accesses = SSAN_accesses_EXACT,
        .command = ssan_str("random"),
        .schedule = ssan_str("eager"),
        .written_by = ssan_str("random_trace"),
    };
    emit(state, &event);
    for (uint32_t context = 1; context <= state->contexts; context++) {
        if (chance(state, 20)) { /* which device it is of changes no verdict */
            event.kind = SSAN_EV_context;
            event.context = (struct ssan_ev_context){context, (uint32_t)pick(state, 4)};
            emit(state, &event);
        }
    }
    MUST(VEC_PUSH(&state->threads, (struct random_thread){.id = 1, .live = true}));
    for (int i = 0; i < 6; i++) {
        random_lifetime_call(state, 1);
    }
}

static void end_trace(struct random_state *state)
{
    for (size_t i = 0; i < state->threads.count; i++) {
        const struct random_thread *at = &state->threads.items[i];
        if (!at->callback && (at->sync || at->op)) {
            random_return(state, i);
        }
    }
    drain(state, false);
    struct ssan_event event = {.kind = SSAN_EV_fault};
    if (chance(state, 6)) {
        event.fault = (struct ssan_ev_fault){1 + pick(state, state->ops), 0, 700, 0,
                                             ssan_str("an illegal address")};
        emit(state, &event);
        for (uint64_t left = pick(state, 6); left > 0; left--) {
            uint32_t thread = state->threads.items[pick(state, state->threads.count)].id;
            random_dead_call(state, thread);
        }
    }
    if (!chance(state, 10) && !state->callback_acquires) {
        event.kind = SSAN_EV_exit;
        event.exit = (struct ssan_ev_exit){0};
        emit(state, &event);
    }
}

void random_trace(struct tape *tape, struct rng *rng, uint64_t operations)
{
    struct random_state state = {.rng = rng, .tape = tape, .wanted = operations};
    state.contexts = chance(&state, 20) ? 2 + (uint32_t)pick(&state, 2) : 1;
    state.max_threads = chance(&state, 50) ? 1 : 4;
    state.join_weight = (uint32_t)pick(&state, 12);
    state.misc_weight = 1 + (uint32_t)pick(&state, 6);
    /* Known limit of the engine: what a host function acquired counts for memory, not for
     * submission races between threads nor for the advice on pending work; so one thread submits
     * then, and no exit is written. */
    state.callback_acquires = state.max_threads == 1 && chance(&state, 40);
    state.pools = chance(&state, 30);
    state.ignores = chance(&state, 30);
    random_places(&state);
    begin_trace(&state);
    while (state.ops < operations) {
        if (state.late.count > 0 && chance(&state, 45)) {
            size_t index = pick(&state, state.late.count);
            if (may_run(&state, index)) {
                step_late(&state, index);
            }
            continue;
        }
        size_t thread = pick(&state, state.threads.count);
        const struct random_thread *self = &state.threads.items[thread];
        if (self->callback || !self->live) {
            continue;
        }
        if (self->sync || self->op) {
            random_return(&state, thread);
        } else {
            random_call(&state, thread);
        }
    }
    end_trace(&state);
    tape_finish(&state.held);
    VEC_FREE(&state.threads);
    VEC_FREE(&state.streams);
    VEC_FREE(&state.events);
    VEC_FREE(&state.late);
    VEC_FREE(&state.blocks);
}
