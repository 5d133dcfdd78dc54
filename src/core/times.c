/* Clocks in both readings, and stamps: a shared past with one tick of its own. Invariant: the
 * documented clock is covered by the observed one, and both are one object while they are equal, so
 * that runs without observed-only edges pay for one clock. Naive model: two separate clocks,
 * always. */
#include "core/clock.h"

/* Makes equal clocks one. */
static void share(struct clocks *clocks, struct times *times)
{
    if (times->doc != times->obs && clock_equal(times->doc, times->obs)) {
        clock_drop(clocks, times->obs);
        times->obs = clock_ref(times->doc);
    }
}

void times_join(struct clocks *clocks, struct times *a, const struct times *b)
{
    if (a->doc == a->obs && b->doc == b->obs) {
        if (!b->doc || a->doc == b->doc) {
            return;
        }
        clock_drop(clocks, a->obs);
        a->doc = clock_join(clocks, a->doc, b->doc, 0);
        a->obs = clock_ref(a->doc);
        return;
    }
    a->doc = clock_join(clocks, a->doc, b->doc, 0);
    a->obs = clock_join(clocks, a->obs, b->obs, 0);
    share(clocks, a);
}

void times_set(struct clocks *clocks, struct times *a, struct epoch at)
{
    if (a->doc == a->obs) {
        clock_drop(clocks, a->obs);
        a->doc = clock_set(clocks, a->doc, at, 0);
        a->obs = clock_ref(a->doc);
        return;
    }
    a->doc = clock_set(clocks, a->doc, at, 0);
    a->obs = clock_set(clocks, a->obs, at, 0);
    share(clocks, a);
}

void times_join_observed(struct clocks *clocks, struct times *a, const struct times *b,
                         uint32_t rule)
{
    a->obs = clock_join(clocks, a->obs, b->obs, rule);
    share(clocks, a);
}

void times_set_observed(struct clocks *clocks, struct times *a, struct epoch at, uint32_t rule)
{
    a->obs = clock_set(clocks, a->obs, at, rule);
    share(clocks, a);
}

void times_join_stamp(struct clocks *clocks, struct times *a, const struct stamp *b)
{
    times_join(clocks, a, &b->past);
    if (b->own.tick != 0) {
        times_set(clocks, a, b->own);
    }
}

void times_join_stamp_observed(struct clocks *clocks, struct times *a, const struct stamp *b,
                               uint32_t rule)
{
    times_join_observed(clocks, a, &b->past, rule);
    if (b->own.tick != 0) {
        times_set_observed(clocks, a, b->own, rule);
    }
}

uint32_t stamp_rule(const struct stamp *stamp, struct epoch at)
{
    return clock_rule(stamp->past.obs, at.chain);
}
