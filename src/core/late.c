/* Order that clocks can't hold. An acquire inside a host function puts everything behind it in its
 * stream behind the release, though the clocks of later items were made before (R-HF-1, R-HOST-13);
 * shadow work runs when the function has closed, so the order is added there. A join that failed
 * orders lifetimes only (R-HOST-7). Naive model: edges into the function's end, and a world of its
 * own for lifetimes. Cost: nothing while no host function acquires and no join fails. */
#include "core/engine_parts.h"

/* Beyond this many the oldest is forgotten, and order through it is lost. */
#define MAX_LATE 4096u
/* Entries that all clocks have taken meanwhile are looked for each time so many more have come. */
#define PRUNE_EVERY 32u

/* The stamp has all of it in its own clock already. */
static bool has_all(const struct stamp *stamp, const struct late *late)
{
    bool all = stamp_covers(stamp, false, late->end);
    const struct clock *acquired =
        late->acquired.doc == late->acquired.obs ? late->acquired.doc : NULL;
    struct clock_entry entry;
    for (uint64_t cursor = 0; all && acquired && clock_next(acquired, &cursor, &entry);) {
        all = stamp_covers(stamp, false, (struct epoch){.chain = entry.chain, .tick = entry.tick});
    }
    return all && acquired;
}

/* Nobody needs the entry any more: every host timeline has it in its clock, and so has all work in
 * the queue. */
static bool is_superfluous(const struct engine *engine, const struct late *late)
{
    for (size_t i = 0; i < engine->order.hosts.count; i++) {
        const struct host *host = &engine->order.hosts.items[i];
        bool used = !host->ended && (host->now.own.tick != 0 || host->now.past.doc);
        if (used && !has_all(&host->now, late)) {
            return false;
        }
    }
    for (const struct work *work = engine->first; work; work = work->next) {
        if ((work->kind == WORK_OP || work->kind == WORK_HOST || work->kind == WORK_FREE) &&
            !has_all(&work->at, late)) {
            return false;
        }
    }
    return true;
}

static void prune(struct engine *engine)
{
    size_t kept = 0;
    for (size_t i = 0; i < engine->late.count; i++) {
        struct late *late = &engine->late.items[i];
        if (!late->lifetimes && is_superfluous(engine, late)) {
            times_drop(&engine->clocks, &late->acquired);
        } else {
            engine->late.items[kept++] = *late;
        }
    }
    engine->late.count = kept;
}

bool late_add(struct engine *engine, struct epoch end, struct times *take_acquired, bool lifetimes)
{
    struct late late = {.end = end,
                        .acquired = *take_acquired,
                        .position = engine->position,
                        .lifetimes = lifetimes};
    *take_acquired = (struct times){0};
    if (engine->late.count % PRUNE_EVERY == PRUNE_EVERY - 1) {
        prune(engine);
    }
    if (engine->late.count == MAX_LATE) {
        times_drop(&engine->clocks, &engine->late.items[0].acquired);
        engine->late.count--;
        for (size_t i = 0; i < engine->late.count; i++) {
            engine->late.items[i] = engine->late.items[i + 1];
        }
    }
    if (VEC_PUSH(&engine->late, late)) {
        return true;
    }
    times_drop(&engine->clocks, &late.acquired);
    return false;
}

struct times late_closure(struct engine *engine, const struct moment *begin, bool lifetimes)
{
    struct times closure = begin->extra ? times_ref(begin->extra) : (struct times){0};
    struct moment moment = *begin;
    moment.extra = &closure;
    bool changed = engine->late.count > 0;
    while (changed) {
        struct times before = times_ref(&closure);
        for (size_t i = 0; i < engine->late.count; i++) {
            const struct late *late = &engine->late.items[i];
            if (late->lifetimes && !lifetimes) {
                continue;
            }
            if (moment_covers(&moment, false, late->end)) {
                times_join(&engine->clocks, &closure, &late->acquired);
            } else if (moment_covers(&moment, true, late->end)) {
                times_join_observed(&engine->clocks, &closure, &late->acquired,
                                    moment_rule(&moment, late->end));
            }
        }
        changed = before.doc != closure.doc || before.obs != closure.obs;
        times_drop(&engine->clocks, &before);
    }
    return closure;
}
