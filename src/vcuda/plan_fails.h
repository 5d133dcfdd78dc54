/* Calls that the schedule (trace/plan.h) lets fail: how often each was made, and which failure that
 * means.
 *
 * Calls of one name are counted over all threads of the process, from 1, in the order in which they
 * are accepted (that of the trace); calls inside host functions are not, as they are not accepted
 * at all. An error of the call's own makes it fail without any other effect. A sticky one
 * (R-ERR-3) is an error of work, so a call that submits a kernel, copy or memset succeeds and the
 * error comes when that runs; any other call returns it, as of an earlier failure, and the context
 * is dead from there on. Device lock held. */
#ifndef SSAN_VCUDA_PLAN_FAILS_H
#define SSAN_VCUDA_PLAN_FAILS_H

#include "trace/plan.h"
#include "vcuda/device.h"

/* `plan` must outlive the process's calls. Once, before the first call; false when out of memory.
 */
bool plan_fails_follow(const struct plan *plan);
/* Counts the call. Its planned error, 0: none; where the call's work is to fail instead,
 * call->planned names the failure. */
cudaError_t plan_fails_enter(struct call *call);
/* The error with which the work of an operation is to end, 0: none. `planned` as in struct call;
 * `text`: the sentence of the fault. */
cudaError_t plan_fails_begin(const struct op *op, char *text, size_t room);
/* At the end of the program: tells on stderr of a failure that no call was made for. */
void plan_fails_tell(void);

#endif
