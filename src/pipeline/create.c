/* create and destroy: everything is made before the first batch, and goes in the reverse order. */
#include "pipeline/parts.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *wrong_option(const struct ssan_pipe_options *o)
{
    if (o->slots > 4096) {
        return "more than 4096 slots";
    }
    if (o->device_count > 64 || (o->device_count && !o->devices)) {
        return "more than 64 devices, or no list of them";
    }
    for (unsigned i = 0; i < o->device_count; i++) {
        for (unsigned j = 0; j < i; j++) {
            if (o->devices[i] == o->devices[j]) {
                return "a device stands twice in the list; for more slots there, raise `slots`";
            }
        }
    }
    if (o->copy_streams > 64) {
        return "more than 64 copy streams";
    }
    if (o->order != SSAN_PIPE_IN_ORDER && o->order != SSAN_PIPE_COMPLETED) {
        return "an unknown order";
    }
    if (o->input_bytes > SIZE_MAX / 4 || o->output_bytes > SIZE_MAX / 4) {
        return "slots too large to count";
    }
    return NULL;
}

static bool copy_options(struct ssan_pipe *pipe, const struct ssan_pipe_options *given,
                         struct failure *failure)
{
    struct ssan_pipe_options *o = &pipe->options;
    *o = *given;
    o->slots = o->slots ? o->slots : 2;
    o->copy_streams = o->copy_streams && !o->no_copy_out ? o->copy_streams : 1;
    o->copy_streams = o->copy_streams < o->slots ? o->copy_streams : o->slots;
    pipe->name = strdup(o->name ? o->name : "pipe");
    pipe->devices = calloc(o->device_count ? o->device_count : 1, sizeof *pipe->devices);
    if (!pipe->name || !pipe->devices) {
        return pipe_no_memory(failure, pipe->name ? "calloc" : "strdup", 0);
    }
    if (o->device_count) {
        memcpy(pipe->devices, o->devices, o->device_count * sizeof *pipe->devices);
    } else {
        o->device_count = 1;
        if (!PIPE_OK(failure, cudaGetDevice, pipe->devices)) {
            return false;
        }
    }
    o->name = pipe->name;
    o->devices = pipe->devices;
    pipe->slot_count = o->device_count * o->slots;
    pipe->lane_count = o->device_count * o->copy_streams;
    o->depth = o->depth && o->depth < pipe->slot_count ? o->depth : pipe->slot_count;
    return true;
}

/* Slot s of device d has index d * slots + s; the slots of a device take its copy streams in turn.
 */
static bool lay_out(struct ssan_pipe *pipe, struct failure *failure)
{
    const struct ssan_pipe_options *o = &pipe->options;
    pipe->slots = calloc(pipe->slot_count, sizeof *pipe->slots);
    pipe->lanes = calloc(pipe->lane_count, sizeof *pipe->lanes);
    pipe->parts = calloc(o->device_count, sizeof *pipe->parts);
    if (!pipe->slots || !pipe->lanes || !pipe->parts) {
        return pipe_no_memory(failure, "calloc", 0);
    }
    for (unsigned i = 0; i < o->device_count; i++) {
        pipe->parts[i].device = pipe->devices[i];
    }
    for (unsigned i = 0; i < pipe->lane_count; i++) {
        pipe->lanes[i].pipe = pipe;
        pipe->lanes[i].part = &pipe->parts[i / o->copy_streams];
    }
    for (unsigned i = 0; i < pipe->slot_count; i++) {
        struct slot *slot = &pipe->slots[i];
        unsigned device = i / o->slots;
        slot->lane = &pipe->lanes[device * o->copy_streams + i % o->slots % o->copy_streams];
        slot->batch.slot = i;
        slot->batch.device = pipe->devices[device];
        queue_push(&slot->lane->part->free, slot);
    }
    return true;
}

static bool make_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attr;
    bool ok = pthread_condattr_init(&attr) == 0;
    ok = ok && pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
         pthread_cond_init(condition, &attr) == 0;
    pthread_condattr_destroy(&attr);
    return ok;
}

/* Held for some ten ns at a time: who meets it held had better spin a little than sleep. */
static bool make_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attr;
    bool ok = pthread_mutexattr_init(&attr) == 0;
    ok = ok && pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP) == 0 &&
         pthread_mutex_init(lock, &attr) == 0;
    pthread_mutexattr_destroy(&attr);
    return ok;
}

/* On Linux none of these fails for want of anything that a program could give back later. */
static bool make_locks(struct ssan_pipe *pipe, struct failure *failure)
{
    bool ok = make_lock(&pipe->lock) && make_condition(&pipe->can_acquire) &&
              make_condition(&pipe->can_take) && make_condition(&pipe->changed);
    for (unsigned i = 0; ok && i < pipe->lane_count; i++) {
        ok = make_condition(&pipe->lanes[i].submitted);
    }
    return ok || pipe_no_memory(failure, "pthread_cond_init", 0);
}

/* Publishers take none of the program's signals. Those of a fault of their own stay: blocked, they
 * would end the process past the program's handlers. */
static void publisher_signals(sigset_t *blocked)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigfillset(blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        sigdelset(blocked, faults[i]);
    }
}

static bool start_publishers(struct ssan_pipe *pipe, struct failure *failure)
{
    sigset_t blocked, before;
    int error = 0;
    publisher_signals(&blocked);
    (void)pthread_sigmask(SIG_BLOCK, &blocked, &before); /* inherited */
    for (unsigned i = 0; i < pipe->lane_count && !error; i++) {
        struct lane *lane = &pipe->lanes[i];
        error = pthread_create(&lane->publisher, NULL, publisher_run, lane);
        lane->has_publisher = !error;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !error || pipe_no_memory(failure, "pthread_create", error);
}

static void stop_publishers(struct ssan_pipe *pipe)
{
    pthread_mutex_lock(&pipe->lock);
    pipe->is_stopping = true;
    for (unsigned i = 0; i < pipe->lane_count; i++) {
        pthread_cond_signal(&pipe->lanes[i].submitted);
    }
    pthread_mutex_unlock(&pipe->lock);
    for (unsigned i = 0; i < pipe->lane_count; i++) {
        if (pipe->lanes[i].has_publisher) {
            pthread_join(pipe->lanes[i].publisher, NULL);
        }
    }
}

static void drop(struct ssan_pipe *pipe)
{
    free(pipe->slots);
    free(pipe->lanes);
    free(pipe->parts);
    free(pipe->devices);
    free(pipe->name);
    free(pipe);
}

/* Of a caller that knows fewer options the others are zero. */
static const char *take_options(struct ssan_pipe_options *taken,
                                const struct ssan_pipe_options *given)
{
    const char *wrong = pipe_wrong_size(given->size, sizeof *taken);
    *taken = (struct ssan_pipe_options){0};
    if (wrong) {
        return wrong;
    }
    memcpy(taken, given, given->size);
    return wrong_option(taken);
}

static enum ssan_pipe_status create(const struct ssan_pipe_options *given, struct ssan_pipe **pipe,
                                    struct ssan_pipe_error *err)
{
    struct failure failure = {0}, ignored = {0};
    struct ssan_pipe_options options;
    struct ssan_pipe *made;
    const char *wrong = take_options(&options, given);
    bool ok, has_locks;
    if (wrong) {
        return pipe_fail(err, SSAN_PIPE_INVALID, SSAN_PIPE_NO_BATCH, "pipe: %s", wrong);
    }
    made = calloc(1, sizeof *made);
    if (!made) {
        (void)pipe_no_memory(&failure, "calloc", 0);
        return pipe_fail_call(err, &failure, "pipe");
    }
    ok = copy_options(made, &options, &failure) && lay_out(made, &failure);
    has_locks = ok && make_locks(made, &failure);
    ok = has_locks && pipe_make_memory(made, &failure) && start_publishers(made, &failure);
    if (!ok) {
        enum ssan_pipe_status status =
            pipe_fail_make(err, &failure, options.name ? options.name : "pipe");
        if (has_locks) {
            stop_publishers(made);
            pipe_drop_memory(made, &ignored);
        }
        drop(made);
        return status;
    }
    pipe_name_all(made);
    *pipe = made;
    return SSAN_PIPE_OK;
}

enum ssan_pipe_status ssan_pipe_create(const struct ssan_pipe_options *options,
                                       struct ssan_pipe **pipe, struct ssan_pipe_error *err)
{
    int shield = pipe_shield();
    enum ssan_pipe_status status = create(options, pipe, err);
    pipe_unshield(shield);
    return status;
}

/* No call that waits, or has a batch that it may not leave with, is under way; nor a batch with a
 * publisher. Under the lock. */
static bool is_quiet(const struct ssan_pipe *pipe)
{
    bool is_submitting = false;
    for (unsigned i = 0; i < pipe->slot_count; i++) {
        is_submitting = is_submitting || slot_state(&pipe->slots[i]) == SLOT_SUBMITTING;
    }
    return !is_submitting && pipe->submits == pipe->publishes && !pipe->producers &&
           !pipe->takers && !pipe->taking;
}

/* Waits for that; returns how many batches callers hold. Where they do, a drain goes on waiting for
 * them, and destroy is not to wait for it. */
static unsigned settle(struct ssan_pipe *pipe)
{
    unsigned held;
    pthread_mutex_lock(&pipe->lock);
    for (;;) {
        held = pipe->live + pipe->landings_held;
        if (is_quiet(pipe) && (held || !pipe->watchers)) {
            break;
        }
        pipe->watchers++;
        pthread_cond_wait(&pipe->changed, &pipe->lock);
        pipe->watchers--;
    }
    pthread_mutex_unlock(&pipe->lock);
    return held;
}

/* Waits for what consumers' streams still do with memory that goes. */
static void join_consumers(struct ssan_pipe *pipe, struct failure *failure)
{
    for (struct ssan_pipe_consumer *c = pipe->consumers; c; c = c->next) {
        for (unsigned i = 0; c->landings && i < c->options.landings; i++) {
            pipe_get(DESTROYED_HANDOVER, &c->landings[i].returned);
            if (c->landings[i].is_used && pipe_has_edge(DESTROY_CONSUMED_JOIN)) {
                PIPE_OK(failure, cudaEventSynchronize, c->landings[i].consumed);
            }
        }
    }
}

static enum ssan_pipe_status destroy(struct ssan_pipe *pipe, struct ssan_pipe_error *err)
{
    struct failure failure = {0};
    enum ssan_pipe_status status = SSAN_PIPE_OK;
    unsigned held;
    ssan_pipe_cancel(pipe);
    held = settle(pipe);
    if (held) {
        return pipe_fail(err, SSAN_PIPE_BUSY, SSAN_PIPE_NO_BATCH,
                         "%s: %u %s still held; release or abandon %s", pipe->name, held,
                         held == 1 ? "batch is" : "batches are", held == 1 ? "it" : "them");
    }
    stop_publishers(pipe);
    for (unsigned i = 0; i < pipe->slot_count; i++) {
        pipe_get(DESTROYED_HANDOVER, &pipe->slots[i].returned);
    }
    join_consumers(pipe, &failure);
    while (pipe->consumers) {
        struct ssan_pipe_consumer *consumer = pipe->consumers;
        pipe->consumers = consumer->next;
        consumer_drop_memory(consumer, &failure);
    }
    pipe_drop_memory(pipe, &failure);
    if (failure.status != SSAN_PIPE_OK) {
        failure.status = SSAN_PIPE_CUDA;
        status = pipe_fail_call(err, &failure, pipe->name);
    }
    pthread_mutex_destroy(&pipe->lock);
    drop(pipe);
    return status;
}

enum ssan_pipe_status ssan_pipe_destroy(struct ssan_pipe *pipe, struct ssan_pipe_error *err)
{
    enum ssan_pipe_status status = SSAN_PIPE_OK;
    if (pipe) {
        int shield = pipe_shield();
        status = destroy(pipe, err);
        pipe_unshield(shield);
    }
    return status;
}
