/* Host functions: ours is submitted in place of the program's, so that the trace knows when it runs
 * and on which thread (R-HF-2).
 *
 * The driver reads the arguments of its call behind the callback at the entry, so they can be
 * changed there. The item is put when the call has succeeded, or when the function begins where
 * that is earlier; a call that fails leaves none. While a graph is captured nothing is changed: the
 * function would run at each launch. */
#include "capture/dispatch.h"

#include "capture/emit.h"
#include "capture/gate.h"

#include "base/mem.h"
#include "trace/funcname.h"

#include <pthread.h>

static pthread_mutex_t names = PTHREAD_MUTEX_INITIALIZER;

/* One that is being submitted, shared by the call and by the function; under the lock of emit.h but
 * for what never changes. */
struct hostfunc {
    struct ssan_ev_op op; /* op.op: 0 until it is in the trace */
    struct gate_due due;  /* of an item that the function put: for the call */
    uint32_t users;
    void *user;
    void (*function)(void *user);
    void (*callback)(CUstream stream, int status, void *user); /* else this one */
};

/* Puts the item, once. */
static void put(struct hostfunc *hostfunc, struct thread *thread)
{
    if (!hostfunc->op.op) {
        hostfunc->op.op = item_put(thread, &hostfunc->op, NULL, NULL);
    }
}

static void drop(struct hostfunc *hostfunc)
{
    if (--hostfunc->users == 0) {
        mem_free(hostfunc);
    }
}

/* Takes over the function's share; a copy is what it needs. */
static struct hostfunc begin_function(struct hostfunc *shared)
{
    struct thread *thread = calls_thread();
    struct hostfunc hostfunc;
    emit_lock();
    if (!shared->op.op) { /* it runs before its call returns */
        put(shared, thread);
        shared->due = gate_take(); /* the driver must not be called in here */
    }
    hostfunc = *shared;
    drop(shared);
    emit_unlock();
    thread->callback = hostfunc.op.op;
    emit_callback(true, thread->id, hostfunc.op.op);
    return hostfunc;
}

static void end_function(uint64_t op)
{
    struct thread *thread = calls_thread();
    emit_callback(false, thread->id, op);
    thread->callback = 0;
    emit_closed(op);
}

static void run_function(void *user)
{
    struct hostfunc hostfunc = begin_function(user);
    hostfunc.function(hostfunc.user);
    end_function(hostfunc.op.op);
}

static void run_callback(CUstream stream, int status, void *user)
{
    struct hostfunc hostfunc = begin_function(user);
    hostfunc.callback(stream, status, hostfunc.user);
    end_function(hostfunc.op.op);
}

const char *hostfunc_holding(uint64_t address)
{
    const char *name;
    pthread_mutex_lock(&names);
    name = funcname_holding(address);
    pthread_mutex_unlock(&names);
    return name;
}

/* The function as the program gave it: the runtime may have put one of its own before it. */
static const void *function_of(const struct thread *thread, const struct call_frame *frame)
{
    const struct call_frame *outer = &thread->frames[0];
    const bool is_its = outer->call->class == API_HOST_FUNC || outer->call->class == API_CALLBACK;
    const struct cuda_host_func_params *params = is_its ? outer->params : frame->params;
    const void *function;
    __builtin_memcpy(&function, &params->function, sizeof function);
    return function;
}

/* Has the driver make the per-thread default stream, where the argument means it and no item went
 * there yet. Not under our lock: it calls back. */
static void make_stream(const struct thread *thread, const struct call_frame *frame,
                        CUstream stream)
{
    struct sanitizer_stream *made;
    if (thread->context &&
        (stream == CUDA_STREAM_PER_THREAD || (!stream && frame->call->per_thread))) {
        (void)capture_api.get_stream_handle(thread->context, CUDA_STREAM_PER_THREAD, &made);
    }
}

/* Prepares the item; false where nothing can be told of it: while there is a capture, which it may
 * be a part of, or where its stream is not known. */
static bool prepare(struct thread *thread, const struct call_frame *frame, CUstream stream,
                    struct ssan_ev_op *op)
{
    struct caller caller = calls_caller(thread);
    *op = (struct ssan_ev_op){.kind = SSAN_op_kind_HOSTFUNC,
                              .form = SSAN_form_ASYNC,
                              .call = ssan_str(calls_name(thread)),
                              .thread = caller.thread,
                              .site = caller.site};
    make_stream(thread, frame, stream);
    pthread_mutex_lock(&names); /* the loader is asked, whose lock comes before ours */
    op->name = ssan_str(funcname_find(function_of(thread, frame)));
    pthread_mutex_unlock(&names);
    emit_lock();
    const bool is_capturing = handles_is_capturing();
    if (!is_capturing) {
        op->stream =
            handles_stream_argument(thread->context, stream, frame->call->per_thread, caller);
    }
    emit_unlock();
    thread->hostfunc_unseen = is_capturing;
    if (!is_capturing && !op->stream) {
        emit_lost(SSAN_loss_OPERATIONS, 0);
    }
    return op->stream != 0;
}

void hostfunc_enter(struct thread *thread, const struct call_frame *frame)
{
    /* The params are the driver's own copy of the arguments. */
    struct cuda_host_func_params *hostfunc = (void *)(uintptr_t)frame->params;
    struct cuda_add_callback_params *callback = (void *)(uintptr_t)frame->params;
    struct hostfunc *made;
    if (thread->hostfunc || !hostfunc->function) {
        return;
    }
    made = mem_zalloc(1, sizeof *made);
    if (!made) {
        emit_lost(SSAN_loss_OPERATIONS, 0);
    }
    if (!made || !prepare(thread, frame, hostfunc->stream, &made->op)) {
        mem_free(made);
        return;
    }
    made->users = 2;
    made->user = hostfunc->user;
    if (frame->call->class == API_CALLBACK) {
        made->callback = callback->function;
        callback->function = run_callback;
    } else {
        made->function = hostfunc->function;
        hostfunc->function = run_function;
    }
    hostfunc->user = made;
    thread->hostfunc = made;
}

void hostfunc_leave(struct thread *thread, const struct call_frame *frame, bool ok)
{
    struct hostfunc *made = thread->hostfunc;
    const bool was_unseen = thread->hostfunc_unseen;
    thread->hostfunc = NULL;
    thread->hostfunc_unseen = false;
    if (!made) {
        if (was_unseen && ok) {
            emit_unsupported("a host function during a capture", thread->id, calls_site(thread));
        }
        return;
    }
    emit_lock();
    if (ok) {
        put(made, thread);
        gate_give(&made->due);
    } else {
        made->users = 1; /* nothing was submitted, so the function never runs */
    }
    drop(made);
    emit_unlock();
}
