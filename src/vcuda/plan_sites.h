/* Calls of chosen source lines that the schedule (trace/plan.h) leaves out, or lets the host wait
 * behind. Device lock held. */
#ifndef SSAN_VCUDA_PLAN_SITES_H
#define SSAN_VCUDA_PLAN_SITES_H

#include "trace/plan.h"
#include "vcuda/device.h"

/* `plan` must outlive the process's calls. Once, before the first call. */
void plan_sites_follow(const struct plan *plan);
/* The call, a join or a wait, does nothing and succeeds. */
bool plan_sites_ignores(struct call *call);
/* The host waits for the item behind its submission. */
bool plan_sites_serializes(struct call *call, const struct op *op);
/* At the end of the program: tells on stderr of a use that no call was made for. */
void plan_sites_tell(void);

#endif
