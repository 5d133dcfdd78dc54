/* Errors of calls, and whether the program asks for them (R-ERR-1 to R-ERR-6).
 *
 * Two checks. A launch by launch syntax that failed returns its error to nobody, so only a question
 * of its thread for the last error shows it: before the next join, as R-ERR-6 has it, behind that
 * (advice: what the join let the host read was stale), or never (an error, known at the end of the
 * program; not where the thread was given another error before it came to a join, and so may have
 * stopped). And a sticky error: what the program does with a return code is not seen, but a thread
 * that was given the error, asks for nothing and submits more work, which can only fail, has passed
 * it over: possible, a warning. Cost: an actor for each launch that failed and was not asked for; a
 * thread's count ends at UNASKED_MOST. */
#include "core/engine_parts.h"

#define UNASKED_MOST 4096u

static struct actor *actor_of(struct engine *engine, const struct ssan_ev_failed *event)
{
    struct actor *actor = engine_actor(engine, SIDE_HOST, event->thread, event->site);
    if (actor) {
        struct place_key key =
            place_key(SIDE_HOST, 32 + (uint32_t)event->does, event->site, 0, event->thread);
        actor->place = place_of(&engine->places, key, event->name);
        engine->shadows.failed = engine->shadows.failed || actor->place == 0;
    }
    return actor;
}

/* Takes `actor`. */
static bool add_unasked(struct engine *engine, struct thread *thread, struct actor *actor)
{
    const struct unasked unasked = {.launch = actor};
    const bool full = thread->unasked.count == UNASKED_MOST;
    if (!full && VEC_PUSH(&thread->unasked, unasked)) {
        return true;
    }
    actor_drop(&engine->actors, actor);
    return full;
}

static void tell_unasked(struct engine *engine, const struct unasked *unasked,
                         enum severity severity)
{
    struct verdict verdict = {
        .check = CHECK_UNCHECKED_LAUNCH, .severity = severity, .documented = severity};
    judge_plain(engine, &verdict, NULL, unasked->launch, 0, 0);
}

static void forget_unasked(struct engine *engine, struct thread *thread)
{
    for (size_t i = 0; i < thread->unasked.count; i++) {
        actor_drop(&engine->actors, thread->unasked.items[i].launch);
    }
    thread->unasked.count = 0;
}

/* The call returns the error of earlier work. `actor` is borrowed. */
static void returned(struct engine *engine, const struct ssan_ev_failed *event, struct actor *actor)
{
    struct sticky_error *sticky = &engine->sticky;
    if (sticky->asked || sticky->told) {
        return;
    }
    if (!sticky->returned) {
        if (event->discarded == 0) {
            sticky->returned = actor_ref(actor);
        }
        return;
    }
    if (event->thread == sticky->returned->thread &&
        (event->does == SSAN_call_kind_LAUNCH || event->does == SSAN_call_kind_TRANSFER)) {
        struct verdict verdict = {.check = CHECK_LATE_ERROR,
                                  .severity = SEVERITY_WARNING,
                                  .documented = SEVERITY_WARNING,
                                  .sureness = SURENESS_POSSIBLE};
        judge_plain(engine, &verdict, sticky->cause, sticky->returned, 0, 0);
        sticky->told = true;
    }
}

enum ssan_status on_failed(struct engine *engine, const struct ssan_ev_failed *event,
                           struct ssan_error *err)
{
    struct thread *thread = engine_thread(engine, event->thread);
    if (!thread || !order_host(&engine->order, event->thread)) {
        return engine_refuse(engine, err, "thread", event->thread);
    }
    for (size_t i = 0; event->discarded == 0 && i < thread->unasked.count; i++) {
        thread->unasked.items[i].excused |= !thread->unasked.items[i].behind_join;
    }
    if (event->error_of == SSAN_error_of_PLANNED) {
        engine->stopped.failed = true;
        engine->stopped.told |= event->discarded == 0;
    }
    bool launch = event->does == SSAN_call_kind_LAUNCH && event->discarded != 0;
    bool earlier = event->error_of == SSAN_error_of_EARLIER;
    if (!earlier && !launch) {
        return SSAN_OK;
    }
    struct actor *actor = actor_of(engine, event);
    if (!actor) {
        return engine_no_memory(engine, err);
    }
    if (!earlier) {
        return add_unasked(engine, thread, actor) ? SSAN_OK : engine_no_memory(engine, err);
    }
    returned(engine, event, actor);
    actor_drop(&engine->actors, actor);
    return SSAN_OK;
}

enum ssan_status on_asked(struct engine *engine, const struct ssan_ev_asked *event,
                          struct ssan_error *err)
{
    struct thread *thread = engine_thread(engine, event->thread);
    if (!thread || !order_host(&engine->order, event->thread)) {
        return engine_refuse(engine, err, "thread", event->thread);
    }
    for (size_t i = 0; i < thread->unasked.count; i++) {
        if (thread->unasked.items[i].behind_join) {
            tell_unasked(engine, &thread->unasked.items[i], SEVERITY_ADVICE);
        }
    }
    forget_unasked(engine, thread);
    engine->stopped.told |= engine->stopped.failed;
    engine->sticky.asked |= engine->dead_position != 0 || engine->sticky.returned;
    return SSAN_OK;
}

void failures_join(struct engine *engine, struct thread *thread)
{
    for (size_t i = 0; i < thread->unasked.count; i++) {
        thread->unasked.items[i].behind_join = true;
    }
}

void failures_fault(struct engine *engine, struct actor *cause)
{
    if (engine->dead_position == 0) {
        engine->sticky.cause = actor_ref(cause);
    }
}

void failures_exit(struct engine *engine)
{
    for (size_t i = 0; i < engine->threads.count; i++) {
        struct thread *thread = &engine->threads.items[i];
        for (size_t k = 0; k < thread->unasked.count; k++) {
            const struct unasked *unasked = &thread->unasked.items[k];
            if (unasked->behind_join || !unasked->excused) {
                tell_unasked(engine, unasked, SEVERITY_ERROR);
            }
        }
    }
}

void failures_finish(struct engine *engine)
{
    for (size_t i = 0; i < engine->threads.count; i++) {
        forget_unasked(engine, &engine->threads.items[i]);
        VEC_FREE(&engine->threads.items[i].unasked);
    }
    actor_drop(&engine->actors, engine->sticky.cause);
    actor_drop(&engine->actors, engine->sticky.returned);
}
