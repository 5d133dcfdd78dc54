/* Slots between owners, and waiting. All of it under the pipeline's lock, but the clock. */
#include "pipeline/parts.h"

#include <errno.h>
#include <time.h>

#define NS 1000000000u

uint64_t pipe_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}

struct timespec pipe_deadline(uint64_t timeout_ns)
{
    const uint64_t longest = (uint64_t)100 * 365 * 86400 * NS; /* the sum below stays in range */
    struct timespec deadline = {0};
    if (timeout_ns != 0 && timeout_ns != SSAN_PIPE_FOREVER) {
        uint64_t at = pipe_now_ns() + (timeout_ns < longest ? timeout_ns : longest);
        deadline.tv_sec = (time_t)(at / NS);
        deadline.tv_nsec = (long)(at % NS);
    }
    return deadline;
}

/* A thread that waits; on its stack. */
struct wait {
    struct ssan_pipe *pipe;
    pthread_cond_t *condition;
    unsigned *waiting;
    const struct waiter *waiter;
};

/* The thread was cancelled. It may have been woken for what another one can have now. */
static void leave_wait(void *data)
{
    const struct wait *wait = data;
    struct ssan_pipe *pipe = wait->pipe;
    --*wait->waiting;
    if (wait->waiter) {
        waiter_remove(pipe, wait->waiter);
    }
    pipe_wake(wait->condition, *wait->waiting);
    pipe_wake(&pipe->changed, pipe->watchers); /* destroy waits for us */
    pthread_mutex_unlock(&pipe->lock);
}

bool pipe_wait(struct ssan_pipe *pipe, pthread_cond_t *condition, unsigned *waiting,
               const struct waiter *waiter, uint64_t timeout_ns, const struct timespec *deadline)
{
    struct wait wait = {pipe, condition, waiting, waiter};
    volatile int error = 0;
    if (timeout_ns == 0) {
        return false;
    }
    ++*waiting;
    pthread_cleanup_push(leave_wait, &wait);
    if (timeout_ns == SSAN_PIPE_FOREVER) {
        pthread_cond_wait(condition, &pipe->lock);
    } else {
        error = pthread_cond_timedwait(condition, &pipe->lock, deadline);
    }
    pthread_cleanup_pop(0);
    --*waiting;
    return error != ETIMEDOUT;
}

int pipe_shield(void)
{
    int before;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

void pipe_unshield(int before)
{
    (void)pthread_setcancelstate(before, NULL);
}

void pipe_wake(pthread_cond_t *condition, unsigned waiting)
{
    if (waiting == 1) {
        pthread_cond_signal(condition);
    } else if (waiting) {
        pthread_cond_broadcast(condition);
    }
}

void pipe_wake_all(struct ssan_pipe *pipe)
{
    pipe_wake(&pipe->can_acquire, pipe->producers);
    pipe_wake(&pipe->can_take, pipe->takers);
    pipe_wake(&pipe->changed, pipe->watchers);
}

void queue_push(struct slot_queue *queue, struct slot *slot)
{
    slot->next = NULL;
    if (queue->last) {
        queue->last->next = slot;
    } else {
        queue->first = slot;
    }
    queue->last = slot;
}

struct slot *queue_pop(struct slot_queue *queue)
{
    struct slot *slot = queue->first;
    if (slot) {
        queue->first = slot->next;
        if (!queue->first) {
            queue->last = NULL;
        }
    }
    return slot;
}

void slot_return(struct ssan_pipe *pipe, struct slot *slot)
{
    if (slot_state(slot) != SLOT_TAKEN) {
        pipe->ahead--;
    }
    pipe->live--;
    pipe->bytes -= (uint64_t)slot->input_room + slot->output_room;
    slot_set_state(slot, SLOT_EMPTY);
    slot->failure.status = SSAN_PIPE_OK;
    queue_push(&slot->lane->part->free, slot);
    pipe_wake_all(pipe); /* takers too: the batch behind it may be the oldest now */
}

void pipe_break(struct ssan_pipe *pipe, const struct failure *failure)
{
    if (!atomic_load_explicit(&pipe->is_broken, memory_order_relaxed)) {
        pipe->broke = *failure;
        pipe->broke.status = SSAN_PIPE_BROKEN;
        atomic_store(&pipe->is_broken, true);
        pipe_wake_all(pipe);
    }
}

struct slot *slot_of(struct ssan_pipe *pipe, const struct ssan_pipe_batch *batch)
{
    uintptr_t at = (uintptr_t)batch, first = (uintptr_t)pipe->slots;
    if (at < first || at - first >= sizeof(struct slot) * pipe->slot_count ||
        (at - first) % sizeof(struct slot) != 0) {
        return NULL;
    }
    return &pipe->slots[(at - first) / sizeof(struct slot)];
}

enum ssan_pipe_status pipe_refusal(const struct ssan_pipe *pipe)
{
    if (atomic_load_explicit(&pipe->is_broken, memory_order_relaxed)) {
        return SSAN_PIPE_BROKEN;
    }
    if (atomic_load_explicit(&pipe->is_cancelled, memory_order_relaxed)) {
        return SSAN_PIPE_CANCELLED;
    }
    return pipe->is_closed ? SSAN_PIPE_CLOSED : SSAN_PIPE_OK;
}
