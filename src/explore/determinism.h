/* Whether the program does the same when it sees the same.
 *
 * A run is a list of steps: calls, and items that ran. Two runs whose steps were equal so far may
 * differ in what runs next, which the schedule decides, but not in the next call. Naive model: all
 * runs compared in pairs. Cost: one map entry for each call of a run that no run before had in that
 * place. One thread. */
#ifndef SSAN_EXPLORE_DETERMINISM_H
#define SSAN_EXPLORE_DETERMINISM_H

#include "base/map.h"
#include "explore/model.h"

struct determinism {
    struct map next;        /* hash of the steps so far -> hash of the call behind them */
    struct map texts;       /* hash of a call -> index of its text */
    VEC(char *) kept;       /* texts, owned */
    char *expected, *found; /* the first difference: calls in words; NULL: none yet */
};

/* Takes the steps of a run. False when out of memory. */
bool determinism_take(struct determinism *determinism, const struct model *model);
void determinism_finish(struct determinism *determinism);

#endif
