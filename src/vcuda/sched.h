/* When operations run: policies, joins and queries. All with the device lock held; joins give it up
 * while they wait. */
#ifndef SSAN_VCUDA_SCHED_H
#define SSAN_VCUDA_SCHED_H

#include "vcuda/device.h"

/* What a schedule decides. */
struct policy {
    const char *name;
    /* The executor runs ready operations by itself, without a join. */
    bool runs_at_submission;
    /* What to run next for a join out of device.ready; never a parked kernel. NULL: nothing that
     * the join needs. */
    struct op *(*pick)(void);
    /* A call begins; may run operations (sched_run). NULL: nothing happens. */
    void (*call)(void);
    /* Blocks that a kernel runs before others get a turn; 0: all. NULL: all. */
    uint64_t (*budget)(void);
};

extern const struct policy sched_eager, sched_lazy, sched_random;

/* Sets the policy of a plan (plan.h): "eager", "lazy" or "random:SEED". */
void sched_set(const char *policy);

/* The oldest, and the newest, ready operation that is not parked and, with `wanted`, that a join
 * needs; NULL: none. */
struct op *sched_oldest(bool wanted);
struct op *sched_newest(bool wanted);

/* An operation was submitted. */
void sched_submitted(struct op *op);
/* Takes `op` out of the ready list and begins it: records and waits end at once, kernels and copies
 * go to the executor, host functions to the callback threads. Nothing else may be running on the
 * executor. */
void sched_begin(struct op *op);
/* Begins `op` and waits until it is done, parked or has yielded; a host function is not waited for.
 */
void sched_run(struct op *op);
/* Waits until all `targets` are done, or the context is dead. */
void sched_join(const struct op_list *targets);
/* The join of one operation. */
void sched_join_op(struct op *op);
/* One query of `targets`: true when they are done. Otherwise runs one operation that they need,
 * unless this is the first query of unfinished work (*polled false). */
bool sched_query(const struct op_list *targets, bool *polled);
/* The executor asks: what to run although nobody waits for it. NULL: nothing before *until_ns. */
struct op *sched_idle(int64_t *until_ns);

#endif
