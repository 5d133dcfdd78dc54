/* Runs kernels, copies and memsets; kernels on a thread of its own. */
#ifndef SSAN_VCUDA_EXECUTOR_H
#define SSAN_VCUDA_EXECUTOR_H

#include "vcuda/device.h"

/* Device lock held. False when the thread can't be made. */
bool executor_start(void);
/* Runs a ready copy or memset in the calling host thread, which waits for it anyway: no two
 * switches of threads for a few bytes. Device lock held, given up in between; nothing else runs. */
void executor_run_here(struct op *op);
/* A parked kernel that nothing can release: the launch fails with cudaErrorLaunchTimeout. Device
 * lock held, nothing runs on the executor. */
void executor_fail_stuck(struct op *op);
/* Takes the source of a copy now, rows packed; false when out of memory. */
bool executor_stage(struct transfer *copy);
/* Tells what a copy or memset accesses. Device lock held or not. */
void executor_tell_transfer(const struct op *op);

#endif
