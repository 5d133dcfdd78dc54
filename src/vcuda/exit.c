/* Seals the trace however the program ends normally: exit and return from main through on_exit, the
 * short ways out through functions that stand in for the C library's.
 *
 * Invariant: only the process that began the trace ends it, once. What the program still had
 * pending runs dry: no byte outside of CUDA's live blocks is written and no host function is
 * called. */
#include "vcuda/exit.h"

#include "trace/leaving.h"
#include "vcuda/cuda.h"
#include "vcuda/device.h"
#include "vcuda/emit.h"
#include "vcuda/output.h"
#include "vcuda/plan_fails.h"
#include "vcuda/plan_order.h"
#include "vcuda/plan_sites.h"
#include "vcuda/queue.h"
#include "vcuda/sched.h"
#include "vcuda/snapshot.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LOCK_SECONDS 2

/* False when the lock can't be had: this is a signal handler that interrupted a call, or a host
 * thread hangs in one. */
static bool lock_for_a_while(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LOCK_SECONDS;
    return pthread_mutex_timedlock(&device.lock, &until) == 0;
}

/* Runs what can run of what pends; kernels that spin stay open. In a dead context what runs ends,
 * and nothing begins. */
static void run_rest(void)
{
    int64_t deadline = device_now_ns() + INT64_C(20000000000);
    device.exiting = true;
    while (device.started && device_now_ns() < deadline) {
        struct op *op;
        if (device.job) {
            pthread_cond_wait(&device.changed, &device.lock);
        } else if (!device.sticky && (op = sched_oldest(false)) != NULL) {
            sched_run(op);
        } else {
            break;
        }
    }
}

static void end_device(void)
{
    run_rest();
    snapshot_finish();
    plan_order_finish();
    plan_sites_tell();
    plan_fails_tell();
}

/* Calls of threads that go on wait from where the rest runs to the end of the trace: what was
 * accepted behind the rest would stay open. */
static void end_process(int code)
{
    const bool locked = emit_is_on() && lock_for_a_while();
    if (locked && !device.orphan) {
        end_device();
    }
    emit_finish((uint32_t)code & 0xff);
    if (locked) {
        device.exited = true;
        pthread_cond_broadcast(&device.changed);
        device_unlock();
    }
    output_flush();
}

void exit_prepare(void)
{
    leaving_watch(end_process);
}

LEAVING_BY(_exit)
LEAVING_BY(_Exit)
LEAVING_BY(quick_exit)
