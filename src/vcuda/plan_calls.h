/* API calls as a schedule has them: their numbers, their order over threads, what is done or may
 * begin when they return.
 *
 * All with the device lock held, but for plan_calls_follow. Once the schedule was given up
 * (plan_order.h) calls are only numbered and told. */
#ifndef SSAN_VCUDA_PLAN_CALLS_H
#define SSAN_VCUDA_PLAN_CALLS_H

#include "trace/plan.h"
#include "vcuda/device.h"

/* As plan_order_follow, which calls it. False when out of memory. */
bool plan_calls_follow(const struct plan *plan, int64_t limit_ns, bool tell_calls);

/* A call enters: numbers it, waits for its turn, tells it. */
void plan_calls_enter(struct call *call);
/* It returns: what has to be done by then is run. */
void plan_calls_return(const struct call *call);

/* The calling thread, `thread`, is about to announce its next access: what is listed before that is
 * run or, where it was not submitted, waited for. plan_calls_accessed: it has announced it. */
void plan_calls_access(uint32_t thread);
void plan_calls_accessed(uint32_t thread);

/* Host threads that wait for their turn. */
uint32_t plan_calls_gated(void);
/* Everybody waits and nothing runs: nobody can make the call that is due. */
bool plan_calls_nobody_comes(void);
/* At the end of the program: the call that never came, NULL: all did. */
const struct plan_call *plan_calls_due(void);

#endif
