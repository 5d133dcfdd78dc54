/* Schedules of classes: an order of items that the device can follow, as late as possible towards
 * the host except for items that are asked to be early.
 *
 * A host call that joins items needs those and what comes before them in the class, and no more:
 * the list has them there and the rest behind. Invariant: the list is a linear order of the class,
 * so whenever the host waits for an item, all before it in the list was submitted. Cost: O(items^2)
 * comparisons. One thread. */
#ifndef SSAN_EXPLORE_SCHEDULE_H
#define SSAN_EXPLORE_SCHEDULE_H

#include "explore/run.h"

/* `item` (of the poset) is done when the call with this index of the model returns. */
struct schedule_early {
    uint32_t item, call;
};

/* The first call (index) at whose return an item can be done in this class: it and what comes
 * before it is submitted. MODEL_NONE: unknown. `ready` has room for all items. */
void schedule_ready(const struct run *run, const uint32_t *order, const uint32_t *need,
                    uint32_t *ready);
/* The calls during which an item has not been joined yet: the first one whose entry comes behind
 * its join, less one; so being done at the return of that call or later means nothing. */
uint32_t schedule_joined(const struct run *run, uint32_t item);

/* Appends the order of the class `need` (`order`: any order of it) to plan->items, and to plan->bys
 * those early items that no join asks for before. Early items whose call comes too soon are left
 * out, also where plan->afters (set before) let the item begin too late. False when out of memory.
 */
bool schedule_make(const struct run *run, const uint32_t *order, const uint32_t *need,
                   const struct schedule_early *early, size_t early_count, struct plan *plan);

/* How much of the plan's list is done when the host enters the call (index): what the run has
 * joined by then, and what is to be early, with all that stands before. */
size_t schedule_due(const struct run *run, const struct plan *plan, uint32_t call);
/* Appends to plan->afters, for a list of items of this run (as schedule_make fills it, or all in an
 * order) and its bys: queries before the call `end` (index) that found work unfinished find it so
 * again, where the list leaves it to them: what is due then waits until they have returned. The
 * first one runs nothing by itself. False when out of memory. */
bool schedule_hold(const struct run *run, uint32_t end, struct plan *plan);

#endif
