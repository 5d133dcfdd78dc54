/* Calls of a schedule; see plan_calls.h. A call that was planned and did not come counts as passed
 * once its thread makes a later one. Cost: a pass over the early and held items for each call. */
#include "vcuda/plan_calls.h"

#include "base/map.h"
#include "vcuda/emit.h"
#include "vcuda/plan_order.h"
#include "vcuda/sched.h"
#include "vcuda/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How often a call that waits for its turn looks whether time is up. */
#define GATE_NS (INT64_C(20) * 1000 * 1000)

static struct {
    const struct plan *plan;
    bool tell;
    int64_t limit_ns;
    struct map places; /* thread and number -> index in plan->calls + 1 */
    size_t next;
    VEC(size_t) gated; /* places that calls wait for */
    VEC(bool) passed;  /* by plan->afters: the call has returned, or will not come */
} calls;

static _Thread_local uint32_t call_count, query_count, access_count;

static uint64_t key_of(uint32_t thread, uint32_t number)
{
    return (uint64_t)thread << 32 | number;
}

bool plan_calls_follow(const struct plan *plan, int64_t limit_ns, bool tell_calls)
{
    map_finish(&calls.places); /* of the parent, in a forked child */
    VEC_FREE(&calls.gated);
    VEC_FREE(&calls.passed);
    memset(&calls, 0, sizeof calls);
    calls.plan = plan;
    calls.tell = tell_calls;
    calls.limit_ns = limit_ns;
    bool ok = true;
    for (size_t i = 0; ok && i < plan->calls.count; i++) {
        const struct plan_call *call = &plan->calls.items[i];
        ok = map_set(&calls.places, key_of(call->thread, call->number), i + 1);
    }
    for (size_t i = 0; ok && i < plan->afters.count; i++) {
        ok = VEC_PUSH(&calls.passed, false);
    }
    return ok;
}

uint32_t plan_calls_gated(void)
{
    uint32_t count = 0;
    for (size_t i = 0; i < calls.gated.count; i++) {
        count += calls.gated.items[i] > calls.next; /* the others are about to go on */
    }
    return count;
}

bool plan_calls_nobody_comes(void)
{
    return !device.job && device.hostfuncs_running == 0 &&
           device.joining + plan_calls_gated() >= threads_free_to_run();
}

const struct plan_call *plan_calls_due(void)
{
    return calls.next < calls.plan->calls.count ? &calls.plan->calls.items[calls.next] : NULL;
}

/* The calls whose number depends on how often a loop polls. */
static bool is_query(const char *name)
{
    return strncmp(name, "cudaStreamQuery", 15) == 0 || strncmp(name, "cudaEventQuery", 14) == 0 ||
           strncmp(name, "cudaEventElapsedTime", 20) == 0;
}

static void tell(const struct call *call)
{
    struct ssan_event event = {.kind = SSAN_EV_call};
    event.call = (struct ssan_ev_call){call->thread, call->number, call->query};
    emit_put(&event);
}

static void tell_call_missing(void)
{
    const struct plan_call *due = &calls.plan->calls.items[calls.next];
    char text[192];
    snprintf(text, sizeof text,
             "call t%" PRIu32 ".%" PRIu32 " is due and does not come while other threads wait",
             due->thread, due->number);
    plan_order_give_up(text);
}

static void forget_gated(size_t place)
{
    for (size_t i = 0; i < calls.gated.count; i++) {
        if (calls.gated.items[i] == place) {
            calls.gated.items[i] = calls.gated.items[--calls.gated.count];
            return;
        }
    }
}

/* Waits until it is the turn of the call that stands at `place` of the list. */
static void wait_for_turn(size_t place)
{
    int64_t since = device_now_ns();
    size_t seen = calls.next;
    uint64_t progress = device.progress;
    if (!VEC_PUSH(&calls.gated, place)) {
        plan_order_give_up("there was no memory for the schedule");
    }
    pthread_cond_broadcast(&device.changed); /* a join may now see that all wait */
    while (plan_order_is_on() && calls.next < place) {
        int64_t now = device_now_ns();
        if (calls.next != seen || device.progress != progress) {
            seen = calls.next;
            progress = device.progress;
            since = now;
        }
        if (now - since > calls.limit_ns || (device.joining == 0 && plan_calls_nobody_comes())) {
            tell_call_missing();
            break;
        }
        device_wait(GATE_NS);
    }
    forget_gated(place);
}

/* Items that wait for a call before this one, or (returns) for this one, wait no more. */
static void pass_afters(const struct call *call, bool returns)
{
    for (size_t i = 0; plan_order_is_on() && i < calls.plan->afters.count; i++) {
        const struct plan_by *after = &calls.plan->afters.items[i];
        const struct plan_call *id = &after->call;
        bool before = id->number < call->number ||
                      (id->number == call->number && id->query < call->query + returns);
        if (!calls.passed.items[i] && id->thread == call->thread && before) {
            calls.passed.items[i] = true;
            plan_order_release(&after->item);
        }
    }
}

void plan_calls_enter(struct call *call)
{
    if (!plan_order_is_on() && !calls.tell) {
        return;
    }
    if (is_query(call->name)) {
        query_count++;
    } else {
        call_count++;
        query_count = 0;
    }
    call->number = call_count;
    call->query = query_count;
    pass_afters(call, false);
    if (plan_order_is_on() && call->query == 0 && calls.plan->calls.count > 0) {
        const uint64_t *place = map_find(&calls.places, key_of(call->thread, call->number));
        if (place) {
            wait_for_turn((size_t)*place - 1);
            calls.next = plan_order_is_on() ? (size_t)*place : calls.next;
            pthread_cond_broadcast(&device.changed);
        }
    }
    if (calls.tell) {
        tell(call);
    }
}

static bool is_call(const struct plan_call *planned, const struct call *call)
{
    return planned->thread == call->thread && planned->number == call->number &&
           planned->query == call->query;
}

void plan_calls_return(const struct call *call)
{
    if (!plan_order_is_on() || (call->number == 0 && call->query == 0)) {
        return;
    }
    pass_afters(call, true);
    for (size_t i = 0; plan_order_is_on() && i < calls.plan->bys.count; i++) {
        const struct plan_by *by = &calls.plan->bys.items[i];
        struct op *op;
        if (!is_call(&by->call, call)) {
            continue;
        }
        if (plan_order_find(&by->item, &op) && op) {
            sched_join_op(op);
        } else if (!plan_order_find(&by->item, &op)) {
            char text[192];
            snprintf(text, sizeof text,
                     "%s is due and was not submitted before t%" PRIu32 ".%" PRIu32 " returned",
                     plan_item_text(&by->item).text, call->thread, call->number);
            plan_order_give_up(text);
        }
    }
}

void plan_calls_access(uint32_t thread)
{
    const struct plan_item access = {.stream = thread, .seq = ++access_count, .by_host = true};
    struct op *op;
    if (threads_callback()) {
        return; /* a host function is an item itself, and has its place */
    }
    while (!device.sticky && !plan_order_reaches(&access, &op)) {
        if (op) {
            sched_join_op(op);
            continue;
        }
        device.joining++;
        if (!plan_order_gives_up(true)) {
            device_wait(GATE_NS);
        }
        device.joining--;
    }
}

void plan_calls_accessed(uint32_t thread)
{
    const struct plan_item access = {.stream = thread, .seq = access_count, .by_host = true};
    plan_order_pass(&access);
    pthread_cond_broadcast(&device.changed);
}
