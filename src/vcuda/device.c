/* The devices, how calls enter and leave them, and their death.
 *
 * Invariant: between call_begin and call_end the lock is held, but for the waits of joins. After a
 * device fault
 * (`sticky`) nothing runs any more and every call answers with its error (R-ERR-3). */
#include "vcuda/device.h"

#include "base/elapsed.h"
#include "trace/message.h"
#include "vcuda/callback.h"
#include "vcuda/emit.h"
#include "vcuda/executor.h"
#include "vcuda/exit.h"
#include "vcuda/guard.h"
#include "vcuda/memory.h"
#include "vcuda/output.h"
#include "vcuda/plan_calls.h"
#include "vcuda/plan_fails.h"
#include "vcuda/queue.h"
#include "vcuda/sched.h"
#include "vcuda/site.h"
#include "vcuda/threads.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct device device = {.lock = PTHREAD_MUTEX_INITIALIZER,
                        .work = PTHREAD_COND_INITIALIZER,
                        .count = 1,
                        .suspected = UINT64_MAX};

static _Thread_local cudaError_t last_error;
static _Thread_local uint32_t current;

static void init_conditions(void)
{
    condition_init(&device.changed);
    condition_init(&device.work);
}

/* A forked child has no executor: CUDA in it fails as on a real device, unless the parent had not
 * begun yet. */
static void in_child(void)
{
    pthread_mutex_init(&device.lock, NULL);
    init_conditions();
    memory_forget();
    threads_forget();
    output_forget();
    emit_detach();
    site_forget();
    device.orphan = device.started;
    device.exiting = device.exited = false;
}

static void prepare(void)
{
    init_conditions();
    device.policy = &sched_eager;
    pthread_atfork(NULL, NULL, in_child);
    exit_prepare();
}

__attribute__((constructor(102))) void device_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
}

int64_t device_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void device_wait(int64_t limit_ns)
{
    int64_t at = device_now_ns() + limit_ns;
    struct timespec until = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
    pthread_cond_timedwait(&device.changed, &device.lock, &until);
}

void device_lock(void)
{
    pthread_mutex_lock(&device.lock);
}

void device_unlock(void)
{
    pthread_mutex_unlock(&device.lock);
}

cudaError_t device_start(void)
{
    if (device.started) {
        return cudaSuccess;
    }
    if (!memory_start(device.count) || !executor_start()) {
        return cudaErrorInitializationError;
    }
    guard_start();
    device.started = true;
    return cudaSuccess;
}

static void tell_fault(const struct ptx_line *line, const char *text)
{
    char message[1024];
    if (line && line->file) {
        snprintf(message, sizeof message, "%s:%u: %s", line->file, line->line, text);
    } else {
        snprintf(message, sizeof message, "%s", text);
    }
    message_tell(message);
}

static bool tell_unrun_op(struct op *op, void *self)
{
    (void)self;
    if ((op->kind == SSAN_op_kind_COPY || op->kind == SSAN_op_kind_MEMSET) &&
        op->state != OP_RUNNING) {
        executor_tell_transfer(op);
    }
    return true;
}

/* Copies and memsets that were accepted and will not run now: what they access is known, and in
 * other schedules they come before the fault. May well be what led to it. */
static void tell_unrun(void)
{
    struct op_list targets = {0};
    if (emit_is_on() &&
        !(queue_targets_of(&targets, EVERY_DEVICE) && queue_walk(&targets, tell_unrun_op, NULL))) {
        emit_lost(SSAN_loss_ACCESSES, 0);
    }
    queue_targets_finish(&targets);
}

/* The first fault is the one. */
static void tell_first(const struct op *op, cudaError_t error, const struct ptx_line *line,
                       const char *text)
{
    device.sticky = error;
    tell_unrun();
    emit_fault(op->id, line ? site_line(line) : 0, (uint32_t)error, op->planned != 0, text);
    if (!emit_is_on()) {
        tell_fault(line, text); /* otherwise the report says it */
    }
}

void device_fault(struct op *op, cudaError_t error, const struct ptx_line *line, const char *text)
{
    if (!device.sticky) {
        tell_first(op, error, line, text);
    }
    emit_closed(op->id);
    queue_complete(op);
    device_cancel();
}

void device_die(cudaError_t error, const char *text)
{
    if (device.sticky) {
        return;
    }
    device.sticky = error;
    tell_unrun();
    emit_fault(0, 0, (uint32_t)error, true, text);
    if (!emit_is_on()) {
        tell_fault(NULL, text);
    }
    device_cancel();
}

void device_cancel(void)
{
    while (device.sticky && device.ready.count > 0) {
        struct op *op = device.ready.items[0];
        queue_take(op);
        op->state = OP_RUNNING;
        if (op->kind == SSAN_op_kind_HOSTFUNC && op->hostfunc.callback) {
            callback_push(op); /* called with the error (R-HF-6) */
        } else {
            emit_closed(op->id);
            queue_complete(op);
        }
    }
    pthread_cond_broadcast(&device.changed);
}

static void enter(struct call *call)
{
    call->ordinal = current;
    emit_open();
    call->thread = threads_self();
    device_lock();
    while (device.exiting && !device.exited) {
        pthread_cond_wait(&device.changed, &device.lock);
    }
    call->locked = true;
    device.active_ns = device_now_ns();
}

void call_begin_always(struct call *call, const char *name, const void *frame)
{
    *call = (struct call){.name = name, .frame = frame};
    enter(call);
}

bool call_begin(struct call *call, const char *name, const void *frame)
{
    *call = (struct call){.name = name, .frame = frame};
    return call_begin_as(call);
}

bool call_begin_as(struct call *call)
{
    cudaError_t error;
    if (threads_callback()) {
        call->thread = threads_self();
        call->error = last_error = cudaErrorNotPermitted;
        emit_failed(call, cudaErrorNotPermitted, false);
        return false;
    }
    enter(call);
    error = device.orphan ? cudaErrorInitializationError : device_start();
    if (error == cudaSuccess) {
        error = device.sticky;
    }
    plan_calls_enter(call);
    if (error == cudaSuccess && device.sticky) {
        error = device.sticky; /* while it waited for its turn */
    }
    cudaError_t planned = plan_fails_enter(call); /* a dead context's calls count, too */
    if (error == cudaSuccess) {
        error = planned;
    }
    if (error == cudaSuccess && device.policy->call) {
        device.policy->call();
        error = device.sticky;
    }
    if (error != cudaSuccess) {
        call->error = call_end(call, error);
        return false;
    }
    return true;
}

cudaError_t call_end(struct call *call, cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady && !call->untold) {
        emit_failed(call, error, device.sticky && error == device.sticky);
    }
    if (call->locked) {
        plan_calls_return(call);
        device.active_ns = device_now_ns();
        device_unlock();
        call->locked = false;
    }
    output_flush();
    call->error = error;
    if (error != cudaSuccess && error != cudaErrorNotReady) {
        last_error = error; /* NotReady is no error (R-ERR-5) */
    }
    return error;
}

uint32_t device_current(void)
{
    return current;
}

void device_choose(uint32_t ordinal)
{
    current = ordinal;
}

uint32_t call_site(struct call *call)
{
    if (!call->site && call->frame) {
        call->site = site_capture(call->frame);
    }
    return call->site;
}

cudaError_t call_last_error(bool reset)
{
    cudaError_t error = last_error;
    if (error == cudaSuccess && __atomic_load_n(&device.sticky, __ATOMIC_RELAXED)) {
        error = device.sticky;
    }
    if (reset) {
        last_error = cudaSuccess;
    }
    return error;
}

void call_set_last_error(cudaError_t error)
{
    last_error = error;
}

cudaError_t call_unsupported(const char *name, const void *frame)
{
    struct call call;
    call_begin_always(&call, name, frame);
    emit_unsupported(name, call.thread, call_site(&call));
    message_once(name, "is not modelled yet");
    call.untold = true;
    return call_end(&call, cudaErrorNotSupported);
}
