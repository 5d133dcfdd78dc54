/* The order of items that a schedule lists (trace/plan.h), kept by the device.
 *
 * All with the device lock held, but for plan_order_follow. Without a list everything here answers
 * "as the policy likes". */
#ifndef SSAN_VCUDA_PLAN_ORDER_H
#define SSAN_VCUDA_PLAN_ORDER_H

#include "trace/plan.h"
#include "vcuda/device.h"

/* Keeps to what `plan` says of order; the plan stays the caller's and must outlive the process's
 * calls. `limit_ns`: how long the list may hold everything up before it counts as not feasible;
 * `tell_calls`: write `call` events. Once, before the first call. */
void plan_order_follow(const struct plan *plan, int64_t limit_ns, bool tell_calls);

/* The list is not followed any more; `text` says why, for the report. */
void plan_order_give_up(const char *text);
/* A plan is there and was not given up. */
bool plan_order_is_on(void);
/* One of the calls that an item of plan->afters waits for has returned, or will not come. */
void plan_order_release(const struct plan_item *item);
/* False: the item, which the plan names, was not submitted; *op: it, when it isn't done, else NULL.
 */
bool plan_order_find(const struct plan_item *item, struct op **op);

/* A submitted item gets its place in the list. */
void plan_order_submitted(struct op *op);
void plan_order_done(const struct op *op);
/* An item that enters no queue is passed: a wait that orders nothing, an access of the host. */
void plan_order_pass(const struct plan_item *item);
/* Whether all that is listed before an access of the host is done; else *op is what has to run
 * next, NULL: it was not submitted. */
bool plan_order_reaches(const struct plan_item *access, struct op **op);
/* False: listed items that are not done stand before it. */
bool plan_order_allows(const struct op *op);
/* A join needs `op`: then all that is listed before it is needed, too. Returns the operations to
 * mark one after the other, NULL at the end. */
void plan_order_want(const struct op *op);
struct op *plan_order_next_wanted(void);
/* Where items run together: whose turn it is among those that are ready; NULL: as the policy likes.
 */
struct op *plan_order_pick(void);
/* Blocks that `op` runs in one turn; 0: as the policy likes. */
uint64_t plan_order_budget(const struct op *op);
/* The next listed item when it is ready, else NULL. */
struct op *plan_order_head(void);
/* Nothing may run because of the list. True: the list has just been given up, look again. `waits`:
 * the caller is a host thread that waits and counts as one that does. */
bool plan_order_gives_up(bool waits);
/* The next listed item has not been submitted, can't begin yet, or makes no progress alone. */
bool plan_order_holds(void);

/* At the end of the program: tells what was listed and never came, but not to `explore` and
 * `witness`, for whom a program that ends early is a result. */
void plan_order_finish(void);

#endif
