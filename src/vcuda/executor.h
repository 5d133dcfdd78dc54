/* The thread on which kernels, copies and memsets run. */
#ifndef SSAN_VCUDA_EXECUTOR_H
#define SSAN_VCUDA_EXECUTOR_H

#include "vcuda/device.h"

/* Device lock held. False when the thread can't be made. */
bool executor_start(void);
/* A parked kernel that nothing can release: the launch fails with cudaErrorLaunchTimeout. Device
 * lock held, nothing runs on the executor. */
void executor_fail_stuck(struct op *op);
/* Takes the source of a copy now, rows packed; false when out of memory. */
bool executor_stage(struct transfer *copy);

#endif
