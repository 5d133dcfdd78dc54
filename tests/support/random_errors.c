/* Calls that fail, and threads that ask. */
#include "support/must.h"
#include "support/random_state.h"

static void fail(struct random_state *state, uint32_t thread, bool earlier)
{
    struct ssan_event event = {.kind = SSAN_EV_failed};
    uint32_t does = (uint32_t)pick(state, ssan_call_kind_count);
    event.failed = (struct ssan_ev_failed){
        .call = ssan_str("cudaCall"),
        .name = ssan_str(does == SSAN_call_kind_LAUNCH ? "kernel" : ""),
        .does = (enum ssan_call_kind)does,
        .error_of = earlier             ? SSAN_error_of_EARLIER
                    : chance(state, 50) ? SSAN_error_of_ITSELF
                                        : SSAN_error_of_PLANNED,
        .error = earlier ? 700 : 9,
        .discarded = does == SSAN_call_kind_LAUNCH && chance(state, 70),
        .thread = thread,
        .site = ++state->site,
    };
    emit(state, &event);
}

static void ask(struct random_state *state, uint32_t thread)
{
    struct ssan_event event = {.kind = SSAN_EV_asked};
    event.asked = (struct ssan_ev_asked){ssan_str("cudaGetLastError"), 9, thread, ++state->site};
    emit(state, &event);
}

void random_errors(struct random_state *state, uint32_t thread)
{
    if (chance(state, 65)) {
        fail(state, thread, false);
    } else {
        ask(state, thread);
    }
}

void random_dead_call(struct random_state *state, uint32_t thread)
{
    if (chance(state, 80)) {
        fail(state, thread, true);
    } else {
        ask(state, thread);
    }
}
