/* Items run in the listed order; what calls have to do with it is in plan_calls.c.
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
#include "vcuda/plan_calls.h"
#include "vcuda/queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GROUP_BLOCKS 4                                 /* at most, in one turn */
#define HELD_NS      (INT64_C(2) * 1000 * 1000 * 1000) /* before it is said what is waited for */

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
    size_t wanted, marked; /* listed ones below are needed by a join; and are marked so */
    struct rng rng;        /* of the group at the head */
    uint32_t rng_group;
    bool held_told;
    int64_t blocked_since_ns; /* since when nothing could run because of the list; 0: not now */
} order;

static struct named *find_named(const struct plan_item *item)
{
    const uint64_t *index = map_find(&order.by_item, plan_item_key(item));
    return index ? &order.named.items[*index - 1] : NULL;
}

static bool add_named(const struct plan_item *item, bool listed)
{
    const struct named made = {.item = *item, .listed = listed};
    return find_named(item) != NULL ||
           (VEC_PUSH(&order.named, made) &&
            map_set(&order.by_item, plan_item_key(item), order.named.count));
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
            find_named(item)->afters++;
        }
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
    memset(&order, 0, sizeof order);
    order.plan = plan;
    order.limit_ns = limit_ns;
    order.tell_calls = tell_calls;
    order.on = plan->items.count > 0 || plan->calls.count > 0 || plan->bys.count > 0 ||
               plan->afters.count > 0;
    bool ready = plan_calls_follow(plan, limit_ns, tell_calls);
    if (order.on && !(ready && take(plan))) {
        plan_order_give_up("there was no memory for the schedule");
    }
}

bool plan_order_is_on(void)
{
    return order.on;
}

void plan_order_release(const struct plan_item *item)
{
    find_named(item)->afters--;
    pthread_cond_broadcast(&device.changed);
}

bool plan_order_reaches(const struct plan_item *access, struct op **op)
{
    const struct named *named = order.on ? find_named(access) : NULL;
    const struct named *head;
    *op = NULL;
    if (!named || !named->listed || (size_t)(named - order.named.items) <= order.head) {
        return true;
    }
    head = &order.named.items[order.head];
    *op = head->state == SUBMITTED ? head->op : NULL;
    return false;
}

bool plan_order_find(const struct plan_item *item, struct op **op)
{
    const struct named *named = find_named(item);
    *op = named->state == SUBMITTED ? named->op : NULL;
    return named->state != NOT_THERE;
}

static void move_head(void)
{
    while (order.head < order.listed && order.named.items[order.head].state == DONE) {
        order.head++;
    }
}

/* Gives up at once where the item needs one that is listed behind it: nothing that comes can cure
 * that. */
static void check_needs(struct op *op)
{
    const struct named *named = op->named ? &order.named.items[op->named - 1] : NULL;
    const bool listed = named && named->listed;
    op->latest = listed ? op->named : 0;
    for (size_t i = 0; i < op->needs.count; i++) {
        const uint32_t latest = op->needs.items[i]->latest;
        op->latest = latest > op->latest ? latest : op->latest;
    }
    const struct named *behind = op->latest ? &order.named.items[op->latest - 1] : NULL;
    if (listed && op->latest > op->named && behind->state != DONE &&
        (named->group == 0 || named->group != behind->group)) {
        char text[160];
        snprintf(text, sizeof text, "%s is listed before %s, which it needs in every schedule",
                 plan_item_text(&named->item).text, plan_item_text(&behind->item).text);
        plan_order_give_up(text);
    }
}

void plan_order_submitted(struct op *op)
{
    const struct plan_item item = {.stream = op->stream->id, .seq = op->seq};
    struct named *named = order.on ? find_named(&item) : NULL;
    order.blocked_since_ns = 0;
    if (named && named->state == NOT_THERE) {
        named->state = SUBMITTED;
        named->op = op;
        op->named = (uint32_t)(named - order.named.items) + 1;
        if (order.marked > op->named - 1u) {
            order.marked = op->named - 1u; /* a join of another thread needs it already */
        }
    }
    if (order.on) {
        check_needs(op);
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

void plan_order_pass(const struct plan_item *item)
{
    struct named *named = order.on ? find_named(item) : NULL;
    if (named) { /* any other is no progress: a host that polls may announce each look */
        order.blocked_since_ns = 0;
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
        const struct named *named = find_named(item);
        if (named->afters > 0 && named->state == SUBMITTED && named->op->state == OP_READY) {
            return named;
        }
    }
    return NULL;
}

/* Gives up: the item, and what is said of it. */
static void give_up_item(const struct plan_item *item, const char *what)
{
    char text[192];
    snprintf(text, sizeof text, "%s %s", plan_item_text(item).text, what);
    plan_order_give_up(text);
}

static void tell_item_missing(void)
{
    const struct named *late = waits_for_call(), *head;
    if (late) {
        give_up_item(&late->item,
                     "begins behind a call that does not come, while the program waits for it");
        return;
    }
    head = &order.named.items[order.head];
    give_up_item(&head->item, head->state == NOT_THERE && head->item.by_host
                                  ? "is due and was not made, while the program waits for what is "
                                    "listed behind it"
                              : head->state == NOT_THERE
                                  ? "is due and was not submitted, while the program waits for "
                                    "what is listed behind it"
                              : head->op->parked
                                  ? "is due and makes no progress, while the program waits for "
                                    "what is listed behind it"
                                  : "is due and needs an item that is listed behind it");
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

/* Says once, to who runs the program by hand, what everything waits for. */
static void tell_held(int64_t now)
{
    const struct plan_item *item =
        order.head < order.listed ? &order.named.items[order.head].item : NULL;
    if (order.held_told || order.tell_calls || !item || now - order.blocked_since_ns < HELD_NS) {
        return;
    }
    order.held_told = true;
    fprintf(stderr,
            "streamsan: the schedule waits for %s, which has not come so far; it is given up after "
            "%d s without progress\n",
            plan_item_text(item).text, (int)(order.limit_ns / (1000 * 1000 * 1000)));
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
    tell_held(now);
    if ((waits && plan_calls_nobody_comes()) || now - order.blocked_since_ns > order.limit_ns) {
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
            give_up_item(&named->item,
                         named->item.by_host ? "was never made" : "was never submitted");
        }
    }
    const struct plan_call *due = order.on && !order.tell_calls ? plan_calls_due() : NULL;
    if (due) {
        snprintf(text, sizeof text, "call t%" PRIu32 ".%" PRIu32 " was never made", due->thread,
                 due->number);
        plan_order_give_up(text);
    }
}
