/* Order that clocks can't hold. An acquire inside a host function puts everything behind it in its
 * stream behind the release, though the clocks of later items were made before (R-HF-1, R-HOST-13);
 * shadow work runs when the function has closed, so the order is added there. A join that failed
 * orders lifetimes only (R-HOST-7). Naive model: edges into the function's end, and a world of its
 * own for lifetimes. Cost: nothing while no host function acquires and no join fails. */
#include "core/engine_parts.h"

/* Beyond this many the oldest is forgotten, and order through it is lost. */
#define MAX_LATE 4096u

bool late_add(struct engine *engine, struct epoch end, struct times *take_acquired, bool lifetimes)
{
    struct late late = {.end = end,
                        .acquired = *take_acquired,
                        .position = engine->position,
                        .lifetimes = lifetimes};
    *take_acquired = (struct times){0};
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
