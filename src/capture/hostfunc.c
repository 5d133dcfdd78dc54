/* Host functions: ours is submitted in place of the program's, so that the trace knows when it runs
 * and on which thread (R-HF-2).
 *
 * The driver reads the arguments of its call behind the callback at the entry, so they can be
 * changed there. The item stands in the trace before the driver has it, since the function may run
 * before the call returns; where the call then fails, the item is closed and has no accesses.
 * While a graph is captured nothing is changed: the function would run at each launch. */
#include "capture/dispatch.h"

#include "capture/emit.h"

#include "base/mem.h"
#include "trace/funcname.h"

#include <pthread.h>

static pthread_mutex_t names = PTHREAD_MUTEX_INITIALIZER;

struct hostfunc {
    uint64_t op;
    void *user;
    void (*function)(void *user);
    void (*callback)(CUstream stream, int status, void *user); /* else this one */
};

static uint64_t begin_function(const struct hostfunc *hostfunc)
{
    struct thread *thread = calls_thread();
    thread->callback = hostfunc->op;
    emit_callback(true, thread->id, hostfunc->op);
    return hostfunc->op;
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
    struct hostfunc hostfunc = *(struct hostfunc *)user;
    uint64_t op = begin_function(&hostfunc);
    mem_free(user);
    hostfunc.function(hostfunc.user);
    end_function(op);
}

static void run_callback(CUstream stream, int status, void *user)
{
    struct hostfunc hostfunc = *(struct hostfunc *)user;
    uint64_t op = begin_function(&hostfunc);
    mem_free(user);
    hostfunc.callback(stream, status, hostfunc.user);
    end_function(op);
}

/* The function as the program gave it: the runtime may have put one of its own before it. */
static const void *function_of(const struct thread *thread)
{
    const struct cuda_host_func_params *params = thread->frames[0].params;
    const void *function;
    __builtin_memcpy(&function, &params->function, sizeof function);
    return function;
}

/* Puts the item; 0 when nothing can be told of it. */
static uint64_t put_item(struct thread *thread, const struct call_frame *frame, CUstream stream)
{
    struct caller caller = calls_caller(thread);
    struct ssan_ev_op op = {.kind = SSAN_op_kind_HOSTFUNC,
                            .form = SSAN_form_ASYNC,
                            .call = ssan_str(calls_name(thread)),
                            .thread = caller.thread,
                            .site = caller.site};
    uint64_t id = 0;
    pthread_mutex_lock(&names); /* the loader is asked, whose lock comes before ours */
    op.name = ssan_str(funcname_find(function_of(thread)));
    pthread_mutex_unlock(&names);
    emit_lock();
    if (!handles_is_capturing()) {
        op.stream =
            handles_stream_argument(thread->context, stream, frame->call->per_thread, caller);
        id = item_put(thread, &op, NULL, NULL);
    }
    emit_unlock();
    return id;
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
        return;
    }
    made->op = put_item(thread, frame, hostfunc->stream);
    if (!made->op) {
        mem_free(made);
        return;
    }
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
    thread->hostfunc = NULL;
    if (made && !ok) {
        emit_closed(made->op);
        mem_free(made);
    }
}
