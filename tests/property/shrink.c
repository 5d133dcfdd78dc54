/* Halves, quarters, ... then single events; ids are made dense after each step, and what names a
 * dropped object goes with it, so dropping an `op` drops its sets. */
#include "property/shrink.h"

#include "support/must.h"

static void swap(struct tape *a, struct tape *b)
{
    struct tape hold = *a;
    *a = *b;
    *b = hold;
}

/* Drops [begin, end) of the tape if it still fails without. */
static bool try_without(struct tape *tape, size_t begin, size_t end, shrink_fails *fails,
                        void *self)
{
    bool *keep = mem_zalloc(tape->events.count, sizeof *keep);
    MUST(keep);
    for (size_t i = 0; i < tape->events.count; i++) {
        keep[i] = i < begin || i >= end;
    }
    struct tape smaller = {0};
    tape_select(&smaller, tape, keep);
    mem_free(keep);
    bool still = smaller.events.count < tape->events.count && fails(&smaller, self);
    if (still) {
        swap(tape, &smaller);
    }
    tape_finish(&smaller);
    return still;
}

/* One pass with pieces of `size` events; true when something went. */
static bool pass(struct tape *tape, size_t size, shrink_fails *fails, void *self)
{
    bool any = false;
    for (size_t at = tape->events.count; at > 0;) {
        size_t begin = at > size ? at - size : 0;
        if (try_without(tape, begin, at, fails, self)) {
            any = true;
        }
        at = begin < tape->events.count ? begin : tape->events.count;
    }
    return any;
}

void shrink(struct tape *small, const struct tape *failing, shrink_fails *fails, void *self)
{
    for (size_t i = 0; i < failing->events.count; i++) {
        tape_put(small, &failing->events.items[i]);
    }
    for (size_t size = small->events.count / 2; size > 1; size /= 2) {
        pass(small, size, fails, self);
    }
    while (pass(small, 1, fails, self)) {
    }
}
