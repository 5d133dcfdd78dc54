/* A queue of host functions and as many threads as functions run at the same time.
 *
 * A function may block for as long as it likes: only its stream waits, since the next one finds a
 * free thread or gets a new one. The device lock guards the queue and is never held while a
 * function runs. */
#include "vcuda/callback.h"

#include "vcuda/emit.h"
#include "vcuda/queue.h"
#include "vcuda/threads.h"

static struct {
    struct op_list waiting;
    uint32_t threads, idle; /* all, and those that wait for work */
    pthread_cond_t work;
} callbacks = {.work = PTHREAD_COND_INITIALIZER};

static void call_function(const struct op *op, cudaError_t status)
{
    const struct hostfunc *hostfunc = &op->hostfunc;
    uint32_t thread = threads_self();
    threads_set_callback(op->id);
    emit_callback(true, thread, op->id);
    threads_take_signals(true);
    if (hostfunc->callback) {
        hostfunc->callback(hostfunc->stream, status, hostfunc->data);
    } else {
        hostfunc->function(hostfunc->data);
    }
    threads_take_signals(false);
    emit_callback(false, thread, op->id);
    threads_set_callback(0);
}

static void finish(struct op *op)
{
    emit_closed(op->id);
    queue_complete(op);
    device.hostfuncs_running--;
    device_cancel();
    device.active_ns = device_now_ns();
    pthread_cond_broadcast(&device.changed);
    pthread_cond_signal(&device.work); /* eager goes on by itself */
}

static void *callback_main(void *unused)
{
    device_lock();
    for (;;) {
        while (callbacks.waiting.count == 0) {
            callbacks.idle++;
            pthread_cond_wait(&callbacks.work, &device.lock);
            callbacks.idle--;
        }
        struct op *op = callbacks.waiting.items[0];
        cudaError_t status = device.sticky;
        callbacks.waiting.count--;
        for (size_t i = 0; i < callbacks.waiting.count; i++) {
            callbacks.waiting.items[i] = callbacks.waiting.items[i + 1];
        }
        device_unlock();
        call_function(op, status);
        device_lock();
        finish(op);
    }
    return NULL;
}

/* A thread for one more function; true also when a thread that is busy now will come to it. */
static bool add_thread(void)
{
    pthread_t thread;
    if (threads_create_own(&thread, callback_main, NULL) == 0) {
        pthread_detach(thread);
        callbacks.threads++;
    }
    return callbacks.threads > 0;
}

void callback_push(struct op *op)
{
    if (device.exiting || (op->hostfunc.function && device.sticky)) {
        emit_closed(op->id);
        queue_complete(op); /* the process ends, or the context is dead: not called (R-HF-6) */
        return;
    }
    if (!VEC_RESERVE(&callbacks.waiting, callbacks.waiting.count + 1) ||
        (callbacks.idle <= callbacks.waiting.count && !add_thread())) {
        device_fault(op, cudaErrorMemoryAllocation, NULL, "no memory to call a host function");
        return;
    }
    callbacks.waiting.items[callbacks.waiting.count++] = op;
    device.hostfuncs_running++;
    pthread_cond_signal(&callbacks.work);
}
