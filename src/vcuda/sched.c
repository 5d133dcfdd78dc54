/* The machinery that all schedules share: joins, queries, parked kernels, progress without calls.
 *
 * Invariant: an operation begins only out of the ready list, so no schedule can break an edge;
 * schedules choose among what may run. A join marks what it needs once (`wanted`), so all joins
 * together cost O(operations + edges). */
#include "vcuda/sched.h"

#include "vcuda/callback.h"
#include "vcuda/emit.h"
#include "vcuda/executor.h"
#include "vcuda/plan_calls.h"
#include "vcuda/plan_order.h"
#include "vcuda/queue.h"
#include "vcuda/threads.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Without a call for this long the device goes on by itself. */
#define SILENCE_NS (INT64_C(100) * 1000 * 1000)
#define TICK_NS    (INT64_C(10) * 1000 * 1000)
/* So many queries of finished work in a row are a loop that waits for something else. */
#define VAIN_QUERIES 16
/* How often a parked kernel is tried again while a host thread runs that may release it. */
#define RETRY_NS (INT64_C(2) * 1000 * 1000)

void sched_set(const char *policy)
{
    static const char random[] = "random:";
    if (strcmp(policy, "lazy") == 0) {
        device.policy = &sched_lazy;
    } else if (strncmp(policy, random, sizeof random - 1) == 0) {
        device.rng.state = strtoull(policy + sizeof random - 1, NULL, 10);
        device.policy = &sched_random;
    } else {
        device.policy = &sched_eager;
    }
}

static bool is_fresh(const struct op *op, bool wanted)
{
    return !op->parked && (!wanted || op->wanted) && plan_order_allows(op);
}

struct op *sched_oldest(bool wanted)
{
    struct op *best = NULL;
    for (size_t i = 0; i < device.ready.count; i++) {
        struct op *op = device.ready.items[i];
        if (is_fresh(op, wanted) && (!best || op->id < best->id)) {
            best = op;
        }
    }
    return best;
}

struct op *sched_newest(bool wanted)
{
    struct op *best = NULL;
    for (size_t i = 0; i < device.ready.count; i++) {
        struct op *op = device.ready.items[i];
        if (is_fresh(op, wanted) && (!best || op->id > best->id)) {
            best = op;
        }
    }
    return best;
}

/* A parked kernel that may find another world than when it was tried last. */
static struct op *stale_parked(bool wanted)
{
    struct op *best = NULL;
    for (size_t i = 0; i < device.ready.count; i++) {
        struct op *op = device.ready.items[i];
        if (op->parked && op->parked_at != device.progress && (!wanted || op->wanted) &&
            (!best || op->id < best->id)) {
            best = op;
        }
    }
    return best;
}

static struct op *any_parked(void)
{
    for (size_t i = 0; i < device.ready.count; i++) {
        if (device.ready.items[i]->parked) {
            return device.ready.items[i];
        }
    }
    return NULL;
}

void sched_begin(struct op *op)
{
    queue_take(op);
    op->state = OP_RUNNING;
    device.active_ns = device_now_ns();
    switch (op->kind) {
    case SSAN_op_kind_RECORD:
    case SSAN_op_kind_WAIT:
        emit_closed(op->id);
        queue_complete(op);
        pthread_cond_broadcast(&device.changed);
        break;
    case SSAN_op_kind_HOSTFUNC:
        callback_push(op);
        break;
    default:
        device.job = op;
        pthread_cond_signal(&device.work);
        break;
    }
}

void sched_run(struct op *op)
{
    if (op->kind == SSAN_op_kind_COPY || op->kind == SSAN_op_kind_MEMSET) {
        executor_run_here(op);
        return;
    }
    queue_hold(op);
    sched_begin(op);
    while (device.job == op) {
        pthread_cond_wait(&device.changed, &device.lock);
    }
    queue_drop(op);
}

void sched_submitted(struct op *op)
{
    device.vain_queries = 0;
    if (!device.policy->runs_at_submission) {
        return;
    }
    queue_hold(op);
    while (op->state != OP_DONE && !device.sticky) {
        struct op *next;
        if (device.job) {
            pthread_cond_wait(&device.changed, &device.lock);
        } else if ((next = sched_oldest(false)) != NULL) {
            sched_run(next);
        } else {
            break; /* behind a host function or a kernel that spins */
        }
    }
    queue_drop(op);
}

static bool want(struct op *op, void *self)
{
    if (op->wanted) {
        return false;
    }
    op->wanted = true;
    plan_order_want(op);
    return true;
}

/* Marks what is listed before that, too: it has to run first. False when out of memory. */
static bool want_listed(void)
{
    struct op *op;
    bool ok = true;
    while ((op = plan_order_next_wanted()) != NULL) {
        ok &= queue_walk_op(op, want, NULL);
    }
    return ok;
}

/* Every host thread waits for the device, so nobody can release what spins. */
static bool is_deadlock(void)
{
    return device.hostfuncs_running == 0 &&
           device.joining + plan_calls_gated() >= threads_free_to_run();
}

/* One step of a join: begins something, or waits. */
static void join_step(void)
{
    struct op *op;
    if (device.job) {
        pthread_cond_wait(&device.changed, &device.lock);
        return;
    }
    (void)want_listed();
    op = plan_order_pick();
    if (!op) {
        op = device.policy->pick();
    }
    if (!op) {
        op = stale_parked(true);
    }
    if (!op && any_parked()) {
        /* What spins may wait for work that nobody has asked for. */
        op = sched_oldest(false);
        if (!op) {
            op = stale_parked(false);
        }
    }
    if (op) {
        sched_run(op);
    } else if (any_parked() && is_deadlock() && plan_order_gives_up(true)) {
        /* what spins may wait for what is listed behind it */
    } else if (any_parked() && is_deadlock()) {
        if (device.suspected == device.progress) {
            executor_fail_stuck(any_parked());
        } else {
            /* What the last host thread wrote before it came to wait may have released it. */
            device.suspected = ++device.progress;
        }
    } else if (any_parked()) {
        device_wait(RETRY_NS);
        device.progress++; /* the host's own memory may have changed */
    } else if (plan_order_gives_up(true)) {
        /* the policy alone decides from here on */
    } else if (plan_order_holds()) {
        device_wait(RETRY_NS); /* held up by the schedule's list */
    } else {
        pthread_cond_wait(&device.changed, &device.lock);
    }
}

void sched_join(const struct op_list *targets)
{
    bool all_marked = queue_walk(targets, want, NULL);
    all_marked &= want_listed();
    if (!all_marked) {
        for (size_t i = 0; i < device.ready.count; i++) {
            device.ready.items[i]->wanted = true; /* out of memory: more than needed may run */
        }
    }
    device.vain_queries = 0;
    device.joining++;
    pthread_cond_broadcast(&device.changed); /* another join may now see that all wait */
    while (!queue_all_done(targets) && !device.sticky) {
        join_step();
    }
    device.joining--;
}

void sched_join_op(struct op *op)
{
    struct op *items[1] = {op};
    struct op_list targets = {items, 1, 1};
    queue_hold(op);
    sched_join(&targets);
    queue_drop(op);
}

struct newest {
    struct op *fresh, *parked;
};

static bool find_newest(struct op *op, void *self)
{
    struct newest *best = self;
    if (op->state == OP_READY && plan_order_allows(op)) {
        struct op **slot = op->parked ? &best->parked : &best->fresh;
        if (!*slot || op->id > (*slot)->id) {
            *slot = op;
        }
    }
    return true;
}

/* A host that does nothing but query what is long done waits for something else, a flag in mapped
 * memory say: repeated queries let any work go on (R-STREAM-19). */
static void count_vain_query(void)
{
    struct op *op;
    if (device.vain_queries < VAIN_QUERIES) {
        device.vain_queries++;
        return;
    }
    while (device.job && !device.sticky) {
        pthread_cond_wait(&device.changed, &device.lock);
    }
    device.progress++;
    op = sched_oldest(false);
    if (!op) {
        op = stale_parked(false);
    }
    if (op && !device.sticky) {
        sched_run(op);
    }
}

bool sched_query(const struct op_list *targets, bool *polled)
{
    struct newest best = {0};
    if (queue_all_done(targets)) {
        *polled = false;
        count_vain_query();
        return true;
    }
    if (!*polled) {
        *polled = true;
        return false;
    }
    while (device.job && !device.sticky) {
        pthread_cond_wait(&device.changed, &device.lock);
    }
    (void)queue_walk(targets, find_newest, &best); /* without memory: of those seen */
    if (best.fresh) {
        sched_run(best.fresh);
    } else if (best.parked) {
        struct op *other = sched_oldest(false);
        sched_run(other ? other : best.parked);
    } else if (plan_order_head()) {
        sched_run(plan_order_head());
    } else if (device.hostfuncs_running > 0) {
        device_wait(RETRY_NS);
    } else {
        (void)plan_order_gives_up(false);
    }
    if (!queue_all_done(targets)) {
        return false;
    }
    *polled = false;
    return true;
}

/* Time alone would not do: on a busy machine the program may not have run for as long, and what it
 * does then must not depend on that. So the executor must have woken that often, too. */
static bool is_silent(void)
{
    if (device.silent_since_ns != device.active_ns) {
        device.silent_since_ns = device.active_ns;
        device.silent_ticks = 0;
        return false;
    }
    device.silent_ticks++;
    return device.silent_ticks >= SILENCE_NS / TICK_NS &&
           device_now_ns() - device.active_ns >= SILENCE_NS;
}

struct op *sched_idle(int64_t *until_ns)
{
    struct op *op;
    *until_ns = INT64_MAX;
    if (device.sticky || (device.ready.count == 0 && !device.job)) {
        return NULL;
    }
    if (device.job) {
        *until_ns = device_now_ns() + TICK_NS;
        return NULL;
    }
    if (device.policy->runs_at_submission && (op = sched_oldest(false)) != NULL) {
        return op;
    }
    *until_ns = device_now_ns() + TICK_NS;
    if (!is_silent()) {
        return NULL;
    }
    device.progress++;
    op = sched_oldest(false);
    if (!op) {
        op = stale_parked(false);
    }
    if (!op) {
        (void)plan_order_gives_up(false);
    }
    if (op && !op->forced_told) {
        op->forced_told = true;
        emit_progress_forced(op);
    }
    return op;
}
