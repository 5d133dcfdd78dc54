/* Items run in the listed order, calls are accepted in theirs.
 *
 * Invariant: of the listed items only the head (the first one that is not done), or those that run
 * together with it, may begin; so their order of execution is the list's, whatever policy picks.
 * The rest of the machinery needs no second path: every pick asks plan_order_allows. A list that
 * can't be followed, since the host waits for what stands behind an item that was never submitted,
 * is given up with an `infeasible` event: the program goes on by the policy alone. Cost: a hash
 * lookup an item. */
#include "vcuda/plan_order.h"

#include "base/map.h"
#include "vcuda/emit.h"
#include "vcuda/queue.h"
#include "vcuda/sched.h"
#include "vcuda/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GROUP_BLOCKS 4 /* at most, in one turn */
/* How often a call that waits for its turn looks whether time is up. */
#define GATE_NS (INT64_C(20) * 1000 * 1000)

enum item_state { NOT_THERE, SUBMITTED, DONE };

/* An item that the plan names. */
struct named {
    struct plan_item item;
    enum item_state state;
    bool listed;
    uint32_t afters; /* calls that have to return first */
    struct op *op;   /* while SUBMITTED; held by the queue */
    uint32_t group;  /* 1-based; 0: none */
};

static struct {
    const struct plan *plan;
    bool on, tell_calls;
    int64_t limit_ns;
    VEC(struct named) named; /* the listed ones first, in their order */
    struct map by_item;      /* key -> index + 1 */
    size_t listed, head;
    size_t wanted, marked;  /* listed ones below are needed by a join; and are marked so */
    struct map call_places; /* key -> index + 1 */
    size_t next_call;
    VEC(size_t) gated; /* places that calls wait for */
    struct rng rng;    /* of the group at the head */
    uint32_t rng_group;
    int64_t blocked_since_ns; /* since when nothing could run because of the list; 0: not now */
} order;

static _Thread_local uint32_t call_count, query_count;

static uint64_t key_of(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static struct named *find_named(uint32_t stream, uint32_t seq)
{
    const uint64_t *index = map_find(&order.by_item, key_of(stream, seq));
    return index ? &order.named.items[*index - 1] : NULL;
}

static bool add_named(const struct plan_item *item, bool listed)
{
    const struct named made = {.item = *item, .listed = listed};
    return find_named(item->stream, item->seq) != NULL ||
           (VEC_PUSH(&order.named, made) &&
            map_set(&order.by_item, key_of(item->stream, item->seq), order.named.count));
}

static bool take(const struct plan *plan)
{
    bool ok = true;
    for (size_t i = 0; ok && i < plan->items.count; i++) {
        ok = add_named(&plan->items.items[i], true);
    }
    order.listed = order.named.count;
    for (size_t i = 0; ok && i < plan->togethers.count; i++) {
        const struct plan_together *group = &plan->togethers.items[i];
        for (size_t k = 0; k < group->count; k++) {
            order.named.items[group->first + k].group = (uint32_t)i + 1;
        }
    }
    for (size_t i = 0; ok && i < plan->bys.count; i++) {
        ok = add_named(&plan->bys.items[i].item, false);
    }
    for (size_t i = 0; ok && i < plan->afters.count; i++) {
        const struct plan_item *item = &plan->afters.items[i].item;
        ok = add_named(item, false);
        if (ok) {
            find_named(item->stream, item->seq)->afters++;
        }
    }
    for (size_t i = 0; ok && i < plan->calls.count; i++) {
        const struct plan_call *call = &plan->calls.items[i];
        ok = map_set(&order.call_places, key_of(call->thread, call->number), i + 1);
    }
    return ok;
}

void plan_order_give_up(const char *text)
{
    struct ssan_event event = {.kind = SSAN_EV_infeasible};
    order.on = false;
    event.infeasible.text = ssan_str(text);
    emit_put(&event);
    device.progress++;
    pthread_cond_broadcast(&device.changed);
}

void plan_order_follow(const struct plan *plan, int64_t limit_ns, bool tell_calls)
{
    VEC_FREE(&order.named); /* of the parent, in a forked child */
    map_finish(&order.by_item);
    map_finish(&order.call_places);
    VEC_FREE(&order.gated);
    memset(&order, 0, sizeof order);
    order.plan = plan;
    order.limit_ns = limit_ns;
    order.tell_calls = tell_calls;
    order.on = plan->items.count > 0 || plan->calls.count > 0 || plan->bys.count > 0 ||
               plan->afters.count > 0;
    if (order.on && !take(plan)) {
        plan_order_give_up("there was no memory for the schedule");
    }
}

uint32_t plan_order_gated(void)
{
    uint32_t count = 0;
    for (size_t i = 0; i < order.gated.count; i++) {
        count += order.gated.items[i] > order.next_call; /* the others are about to go on */
    }
    return count;
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

/* Everybody waits and nothing runs: nobody can make the call that is due. */
static bool nobody_comes(void)
{
    return !device.job && device.hostfuncs_running == 0 &&
           device.joining + plan_order_gated() >= threads_free_to_run();
}

static void tell_call_missing(void)
{
    const struct plan_call *due = &order.plan->calls.items[order.next_call];
    char text[192];
    snprintf(text, sizeof text,
             "call t%" PRIu32 ".%" PRIu32 " is due and does not come while other threads wait",
             due->thread, due->number);
    plan_order_give_up(text);
}

static void forget_gated(size_t place)
{
    for (size_t i = 0; i < order.gated.count; i++) {
        if (order.gated.items[i] == place) {
            order.gated.items[i] = order.gated.items[--order.gated.count];
            return;
        }
    }
}

/* Waits until it is the turn of the call that stands at `place` of the list. */
static void wait_for_turn(size_t place)
{
    int64_t since = device_now_ns();
    size_t seen = order.next_call;
    uint64_t progress = device.progress;
    if (!VEC_PUSH(&order.gated, place)) {
        plan_order_give_up("there was no memory for the schedule");
    }
    pthread_cond_broadcast(&device.changed); /* a join may now see that all wait */
    while (order.on && order.next_call < place) {
        int64_t now = device_now_ns();
        if (order.next_call != seen || device.progress != progress) {
            seen = order.next_call;
            progress = device.progress;
            since = now;
        }
        if (now - since > order.limit_ns || (device.joining == 0 && nobody_comes())) {
            tell_call_missing();
            break;
        }
        device_wait(GATE_NS);
    }
    forget_gated(place);
}

void plan_order_enter(struct call *call)
{
    if (!order.on && !order.tell_calls) {
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
    if (order.on && call->query == 0 && order.plan->calls.count > 0) {
        const uint64_t *place = map_find(&order.call_places, key_of(call->thread, call->number));
        if (place) {
            wait_for_turn((size_t)*place - 1);
            order.next_call = order.on ? (size_t)*place : order.next_call;
            pthread_cond_broadcast(&device.changed);
        }
    }
    if (order.tell_calls) {
        tell(call);
    }
}

static bool is_call(const struct plan_call *planned, const struct call *call)
{
    return planned->thread == call->thread && planned->number == call->number &&
           planned->query == call->query;
}

static void end_afters(const struct call *call)
{
    for (size_t i = 0; i < order.plan->afters.count; i++) {
        const struct plan_by *after = &order.plan->afters.items[i];
        if (is_call(&after->call, call)) {
            find_named(after->item.stream, after->item.seq)->afters--;
            pthread_cond_broadcast(&device.changed);
        }
    }
}

void plan_order_return(const struct call *call)
{
    if (!order.on || (call->number == 0 && call->query == 0)) {
        return;
    }
    end_afters(call);
    for (size_t i = 0; order.on && i < order.plan->bys.count; i++) {
        const struct plan_by *by = &order.plan->bys.items[i];
        const struct named *named;
        if (!is_call(&by->call, call)) {
            continue;
        }
        named = find_named(by->item.stream, by->item.seq);
        if (named->state == SUBMITTED) {
            sched_join_op(named->op);
        } else if (named->state == NOT_THERE) {
            char text[192];
            snprintf(text, sizeof text,
                     "s%" PRIu32 ".%" PRIu32 " is due and was not submitted before t%" PRIu32
                     ".%" PRIu32 " returned",
                     by->item.stream, by->item.seq, call->thread, call->number);
            plan_order_give_up(text);
        }
    }
}

static void move_head(void)
{
    while (order.head < order.listed && order.named.items[order.head].state == DONE) {
        order.head++;
    }
}

void plan_order_submitted(struct op *op)
{
    struct named *named = order.on ? find_named(op->stream->id, op->seq) : NULL;
    order.blocked_since_ns = 0;
    if (named && named->state == NOT_THERE) {
        named->state = SUBMITTED;
        named->op = op;
        op->named = (uint32_t)(named - order.named.items) + 1;
        if (order.marked > op->named - 1u) {
            order.marked = op->named - 1u; /* a join of another thread needs it already */
        }
    }
}

static void mark_done(struct named *named)
{
    named->state = DONE;
    named->op = NULL;
    move_head();
}

void plan_order_done(const struct op *op)
{
    order.blocked_since_ns = 0;
    if (op->named != 0) {
        mark_done(&order.named.items[op->named - 1]);
    }
}

void plan_order_pass(uint32_t stream, uint32_t seq)
{
    struct named *named = order.on ? find_named(stream, seq) : NULL;
    if (named) {
        mark_done(named);
    }
}

/* At the exit nothing more comes: what was never submitted holds nothing up. */
static void pass_missing(void)
{
    while (order.head < order.listed && order.named.items[order.head].state != SUBMITTED) {
        order.head++;
    }
}

static uint32_t group_of_head(void)
{
    return order.head < order.listed ? order.named.items[order.head].group : 0;
}

bool plan_order_allows(const struct op *op)
{
    const struct named *named;
    if (!order.on || op->named == 0) {
        return true;
    }
    if (device.exiting) {
        pass_missing();
    }
    named = &order.named.items[op->named - 1];
    if (named->afters > 0 && !device.exiting) {
        return false;
    }
    return !named->listed || op->named - 1u == order.head ||
           (named->group != 0 && named->group == group_of_head());
}

void plan_order_want(const struct op *op)
{
    const struct named *named = op->named ? &order.named.items[op->named - 1] : NULL;
    if (order.on && named && named->listed && order.wanted < op->named) {
        order.wanted = op->named;
        while (named->group != 0 && order.wanted < order.listed &&
               order.named.items[order.wanted].group == named->group) {
            order.wanted++;
        }
    }
}

struct op *plan_order_next_wanted(void)
{
    while (order.on && order.marked < order.wanted) {
        const struct named *named = &order.named.items[order.marked++];
        if (named->state == SUBMITTED) {
            return named->op;
        }
    }
    return NULL;
}

struct op *plan_order_pick(void)
{
    uint32_t group = order.on ? group_of_head() : 0;
    size_t ready = 0, chosen;
    if (group == 0) {
        return NULL;
    }
    if (order.rng_group != group) {
        order.rng_group = group;
        order.rng.state = order.plan->togethers.items[group - 1].seed;
    }
    for (size_t i = order.head; i < order.listed && order.named.items[i].group == group; i++) {
        const struct named *named = &order.named.items[i];
        ready += named->state == SUBMITTED && named->op->state == OP_READY && !named->op->parked;
    }
    if (ready == 0) {
        return NULL;
    }
    chosen = rng_below(&order.rng, ready);
    for (size_t i = order.head;; i++) {
        const struct named *named = &order.named.items[i];
        if (named->state == SUBMITTED && named->op->state == OP_READY && !named->op->parked &&
            chosen-- == 0) {
            return named->op;
        }
    }
}

uint64_t plan_order_budget(const struct op *op)
{
    if (!order.on || op->named == 0 || order.named.items[op->named - 1].group == 0) {
        return 0;
    }
    return 1 + rng_below(&order.rng, GROUP_BLOCKS);
}

struct op *plan_order_head(void)
{
    const struct named *head;
    if (!order.on || order.head >= order.listed) {
        return NULL;
    }
    head = &order.named.items[order.head];
    bool may_begin = head->state == SUBMITTED && head->op->state == OP_READY && !head->op->parked &&
                     (head->afters == 0 || device.exiting);
    return may_begin ? head->op : NULL;
}

/* An item that could begin if a call had returned; NULL: none. */
static const struct named *waits_for_call(void)
{
    for (size_t i = 0; i < order.plan->afters.count; i++) {
        const struct plan_item *item = &order.plan->afters.items[i].item;
        const struct named *named = find_named(item->stream, item->seq);
        if (named->afters > 0 && named->state == SUBMITTED && named->op->state == OP_READY) {
            return named;
        }
    }
    return NULL;
}

static void tell_item_missing(void)
{
    const struct named *late = waits_for_call();
    const struct named *head;
    const struct plan_item *item;
    char text[192];
    if (late) {
        snprintf(text, sizeof text,
                 "s%" PRIu32 ".%" PRIu32
                 " begins behind a call that does not come, while the program waits for it",
                 late->item.stream, late->item.seq);
        plan_order_give_up(text);
        return;
    }
    head = &order.named.items[order.head];
    item = &head->item;
    snprintf(text, sizeof text, "s%" PRIu32 ".%" PRIu32 " is due and %s%s", item->stream, item->seq,
             head->state == NOT_THERE ? "was not submitted"
             : head->op->parked       ? "makes no progress"
                                      : "needs an item that is listed behind it",
             head->state != NOT_THERE && !head->op->parked
                 ? ""
                 : ", while the program waits for what is listed behind it");
    plan_order_give_up(text);
}

bool plan_order_holds(void)
{
    const struct named *head;
    if (!order.on) {
        return false;
    }
    if (waits_for_call()) {
        return true;
    }
    if (order.head >= order.listed) {
        return false;
    }
    head = &order.named.items[order.head];
    return head->state == NOT_THERE ||
           (head->state == SUBMITTED && (head->op->state == OP_WAITING || head->op->parked));
}

bool plan_order_gives_up(bool waits)
{
    int64_t now = device_now_ns();
    if (!plan_order_holds()) {
        return false;
    }
    if (order.blocked_since_ns == 0) {
        order.blocked_since_ns = now;
    }
    if ((waits && nobody_comes()) || now - order.blocked_since_ns > order.limit_ns) {
        tell_item_missing();
        return true;
    }
    return false;
}

void plan_order_finish(void)
{
    char text[128];
    for (size_t i = 0; order.on && !order.tell_calls && i < order.named.count; i++) {
        const struct named *named = &order.named.items[i];
        if (named->state == NOT_THERE) {
            snprintf(text, sizeof text, "s%" PRIu32 ".%" PRIu32 " was never submitted",
                     named->item.stream, named->item.seq);
            plan_order_give_up(text);
        }
    }
    if (order.on && !order.tell_calls && order.next_call < order.plan->calls.count) {
        const struct plan_call *due = &order.plan->calls.items[order.next_call];
        snprintf(text, sizeof text, "call t%" PRIu32 ".%" PRIu32 " was never made", due->thread,
                 due->number);
        plan_order_give_up(text);
    }
}
