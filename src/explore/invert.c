/* Builds lists of items out of the order that a model leaves open.
 *
 * Invariant: every list is in an order that the model allows, with nothing between two items that
 * the host has to see first: items are listed in order of submission, but for `first`, which comes
 * last, and the host joins `first` only behind the submission of all that is listed before it.
 * Cost: a plan asks the model once or twice for each item; repeats are looked for in one pass over
 * the items and host accesses, and in SAMPLES x PARTNER_DISTANCE items. */
#include "explore/invert.h"

#include <stdio.h>
#include <string.h>

#define SAMPLES          64   /* of later instances of `then` that are looked at */
#define PARTNER_DISTANCE 4096 /* items between the two of a repeat */

static uint32_t item_at(const struct model *model, uint64_t position)
{
    size_t low = 0, high = model->items.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (model->items.items[middle].submitted < position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < model->items.count && model->items.items[low].submitted == position ? (uint32_t)low
                                                                                     : MODEL_NONE;
}

/* The host had joined `x` when it came to `position`. */
static bool joined_at(const struct model *model, uint32_t x, uint64_t position)
{
    size_t low = 0, high = model->calls.count; /* the first call behind the position */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (model->calls.items[middle].position <= position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < model->calls.count && model_before_call(model, x, (uint32_t)low);
}

static bool is_open(const struct model *model, uint32_t first, uint32_t then)
{
    return first != MODEL_NONE && then != MODEL_NONE && first != then &&
           !model->items.items[first].is_void && !model->items.items[then].is_void &&
           !model_before(model, first, then) && !model_before(model, then, first);
}

static bool alike(const struct model_item *a, const struct model_item *b)
{
    return a->kind == b->kind && a->site == b->site && a->thread == b->thread &&
           a->name.length == b->name.length &&
           memcmp(a->name.ptr ? a->name.ptr : "", b->name.ptr ? b->name.ptr : "", a->name.length) ==
               0;
}

/* The latest item like `first` that was issued before item `then`, is not ordered with it and
 * conflicts. */
static uint32_t partner(const struct model *model, uint32_t first, uint32_t then)
{
    for (uint32_t i = then; i-- > 0;) {
        if (alike(&model->items.items[i], &model->items.items[first]) && is_open(model, i, then) &&
            model_conflict(model, i, then)) {
            return i;
        }
        if (then - i > PARTNER_DISTANCE) {
            break;
        }
    }
    return MODEL_NONE;
}

/* Later instances of two items, from the last one backwards at growing distances. */
static bool add_repeats(const struct model *model, const struct invert_pair *pair, size_t most,
                        struct invert_pairs *pairs)
{
    VEC(uint32_t) thens = {0};
    bool fine = true;
    for (uint32_t i = pair->then + 1; fine && i < model->items.count; i++) {
        if (alike(&model->items.items[i], &model->items.items[pair->then])) {
            fine = VEC_PUSH(&thens, i);
        }
    }
    size_t step = thens.count / (SAMPLES + 1) + 1;
    for (size_t i = 0; fine && i < thens.count && pairs->count < most; i += step) {
        uint32_t then = thens.items[thens.count - 1 - i];
        uint32_t first = partner(model, pair->first, then);
        if (first != MODEL_NONE) {
            fine = VEC_PUSH(pairs, (struct invert_pair){.first = first, .then = then});
        }
    }
    VEC_FREE(&thens);
    return fine;
}

static bool is_before_host(const struct model_item *item, const struct fact_host *host,
                           const struct model_item *like)
{
    return item->submitted < host->position && !item->is_void && alike(item, like);
}

/* Later host accesses at the same place, each with the latest item like `first` before it. */
static bool add_host_repeats(const struct model *model, const struct facts *facts,
                             const struct invert_pair *pair, const struct fact_host *host,
                             size_t most, struct invert_pairs *pairs)
{
    uint32_t end = (uint32_t)model->items.count;
    bool fine = true;
    for (size_t i = facts->hosts.count; fine && i-- > 0 && pairs->count < most;) {
        const struct fact_host *other = &facts->hosts.items[i];
        uint32_t first;
        if (other->position <= host->position || other->site != host->site ||
            other->thread != host->thread || other->op != 0) {
            continue;
        }
        while (end > 0 && !is_before_host(&model->items.items[end - 1], other,
                                          &model->items.items[pair->first])) {
            end--; /* not before earlier accesses either */
        }
        first = end > 0 ? end - 1 : MODEL_NONE;
        if (first != MODEL_NONE && !joined_at(model, first, other->position)) {
            fine = VEC_PUSH(pairs,
                            (struct invert_pair){first, MODEL_NONE, other->thread, other->number});
        }
    }
    return fine;
}

bool invert_find(const struct model *model, const struct facts *facts, uint64_t first,
                 uint64_t then, size_t most, struct invert_pairs *pairs)
{
    struct invert_pair pair = {.first = item_at(model, first), .then = item_at(model, then)};
    const struct fact_host *host = facts_host_at(facts, then);
    if (host && host->op != 0) { /* inside a host function, which is an item */
        pair.then = (uint32_t)(host->op - 1);
        host = NULL;
    }
    if (pair.first == MODEL_NONE) {
        const struct fact_host *before = facts_host_at(facts, first);
        pair.first = before && before->op ? (uint32_t)(before->op - 1) : MODEL_NONE;
    }
    if (pair.first == MODEL_NONE || pair.first >= model->items.count) {
        return true;
    }
    if (host) {
        pair.thread = host->thread;
        pair.number = host->number;
        pair.then = MODEL_NONE;
        return VEC_PUSH(pairs, pair) && add_host_repeats(model, facts, &pair, host, most, pairs);
    }
    if (pair.then == MODEL_NONE || pair.then >= model->items.count ||
        !is_open(model, pair.first, pair.then)) {
        return true;
    }
    return VEC_PUSH(pairs, pair) && add_repeats(model, &pair, most, pairs);
}

/* -- plans -- */

static bool list(const struct model *model, uint32_t item, struct plan *plan)
{
    return model->items.items[item].is_void || VEC_PUSH(&plan->items, model->items.items[item].id);
}

static bool is_before(const struct model *model, uint32_t x, uint32_t y)
{
    return x == y || (!model->items.items[x].is_void && model_before(model, x, y));
}

static bool plan_near(const struct model *model, const struct invert_pair *pair, struct plan *plan)
{
    bool fine = true;
    for (uint32_t i = 0; fine && i < model->items.count && i <= pair->then; i++) {
        if (i != pair->first && (i < pair->first || is_before(model, i, pair->then))) {
            fine = list(model, i, plan);
        }
    }
    return fine && list(model, pair->first, plan);
}

static bool plan_late(const struct model *model, const struct invert_pair *pair, struct plan *plan)
{
    uint32_t end = (uint32_t)model->items.count;
    bool fine = true;
    for (uint32_t c = 0; c < model->calls.count; c++) {
        if (model_before_call(model, pair->first, c)) {
            /* it joined in the call before, and what that one submitted stands behind the join */
            end = c > 0 ? model->calls.items[c - 1].items : 0;
            break;
        }
    }
    for (uint32_t i = 0; fine && i < end; i++) {
        if (!is_before(model, pair->first, i)) {
            fine = list(model, i, plan);
        }
    }
    return fine && list(model, pair->first, plan);
}

/* What either needs, then the two in turns. Each seed is drawn for both ways of listing them: of
 * two equal kernels `then` ends first in one of these. */
static bool plan_torn(const struct model *model, const struct invert_pair *pair, uint32_t number,
                      struct plan *plan, bool *there)
{
    struct plan_together group = {.count = 2, .seed = 1 + number / 2};
    uint32_t one = number % 2 ? pair->first : pair->then;
    uint32_t other = number % 2 ? pair->then : pair->first;
    bool fine = true;
    *there = model->items.items[pair->first].kind == SSAN_op_kind_KERNEL &&
             model->items.items[pair->then].kind == SSAN_op_kind_KERNEL;
    if (!*there) {
        return true;
    }
    for (uint32_t i = 0; fine && i < pair->then; i++) {
        if (i != pair->first &&
            (is_before(model, i, pair->first) || is_before(model, i, pair->then))) {
            fine = list(model, i, plan);
        }
    }
    group.first = plan->items.count;
    return fine && VEC_PUSH(&plan->togethers, group) && list(model, one, plan) &&
           list(model, other, plan);
}

/* Something that is submitted behind the host's access and may run before `first`. */
static uint32_t holder(const struct model *model, const struct facts *facts,
                       const struct invert_pair *pair)
{
    const struct fact_host *host = facts_host(facts, pair->thread, pair->number);
    for (uint32_t i = pair->first + 1; host && i < model->items.count; i++) {
        const struct model_item *item = &model->items.items[i];
        if (item->submitted > host->position) {
            if (joined_at(model, pair->first, item->submitted)) {
                break;
            }
            if (is_open(model, pair->first, i)) {
                return i;
            }
        }
    }
    return MODEL_NONE;
}

static bool list_access(const struct invert_pair *pair, struct plan *plan)
{
    const struct plan_item access = {.stream = pair->thread, .seq = pair->number, .by_host = true};
    return VEC_PUSH(&plan->items, access);
}

static bool plan_host(const struct model *model, const struct facts *facts,
                      const struct invert_pair *pair, enum invert_variant variant,
                      struct plan *plan, bool *there)
{
    uint32_t item = MODEL_NONE;
    switch (variant) {
    case INVERT_NEAR: /* nothing listed: `first` runs at the join that needs it, at the earliest */
        return true;
    case INVERT_PAIR:
        return list_access(pair, plan) && list(model, pair->first, plan);
    case INVERT_LATE:
        return plan_late(model, pair, plan);
    case INVERT_EAGER:
        item = holder(model, facts, pair);
        break;
    default:
        break;
    }
    *there = item != MODEL_NONE;
    return item == MODEL_NONE || (list(model, item, plan) && list(model, pair->first, plan));
}

/* With several threads the order of their calls is part of the schedule. */
static bool list_calls(const struct model *model, struct plan *plan)
{
    bool fine = true;
    if (model->threads < 2) {
        return true;
    }
    for (size_t i = 0; fine && i < model->calls.count; i++) {
        if (model->calls.items[i].id.query == 0) {
            fine = VEC_PUSH(&plan->calls, model->calls.items[i].id);
        }
    }
    return fine;
}

bool invert_plan(const struct model *model, const struct facts *facts,
                 const struct invert_pair *pair, enum invert_variant variant, struct plan *plan,
                 bool *there)
{
    bool fine;
    memset(plan, 0, sizeof *plan);
    snprintf(plan->policy, sizeof plan->policy, "%s", variant == INVERT_EAGER ? "eager" : "lazy");
    *there = pair->then != MODEL_NONE || variant < INVERT_TORN;
    if (!*there) {
        return true;
    }
    if (pair->then == MODEL_NONE) {
        fine = plan_host(model, facts, pair, variant, plan, there);
    } else if (variant == INVERT_NEAR) {
        fine = plan_near(model, pair, plan);
    } else if (variant == INVERT_LATE) {
        fine = plan_late(model, pair, plan);
    } else if (variant >= INVERT_TORN) {
        fine = plan_torn(model, pair, (uint32_t)variant - INVERT_TORN, plan, there);
    } else {
        fine = list(model, pair->then, plan) && list(model, pair->first, plan);
    }
    return fine && list_calls(model, plan);
}

/* -- what became of it -- */

static const struct model_item *same_item(const struct model *model, uint32_t item,
                                          const struct model *other)
{
    const struct model_item *mine = &model->items.items[item], *found;
    uint32_t index = model_find(other, mine->id);
    if (index == MODEL_NONE) {
        return NULL;
    }
    found = &other->items.items[index];
    return found->kind == mine->kind && found->name.length == mine->name.length &&
                   memcmp(found->name.ptr ? found->name.ptr : "",
                          mine->name.ptr ? mine->name.ptr : "", mine->name.length) == 0
               ? found
               : NULL;
}

enum invert_result invert_check(const struct model *model, const struct invert_pair *pair,
                                const struct model *other, const struct facts *other_facts)
{
    const struct model_item *first = same_item(model, pair->first, other);
    uint64_t happened, begun;
    if (pair->then == MODEL_NONE) {
        const struct fact_host *host = facts_host(other_facts, pair->thread, pair->number);
        happened = host ? host->position : 0;
    } else {
        const struct model_item *then = same_item(model, pair->then, other);
        happened = then ? then->closed : 0;
    }
    if (!first || happened == 0) {
        return INVERT_DIVERGED;
    }
    /* The device began it while the host polled: what the host did then, it may have done because
     * it saw what the item wrote. Whether that fell before the end is chance. */
    begun = pair->then == MODEL_NONE && first->forced != 0 ? first->forced : first->closed;
    return begun == 0 || happened < begun ? INVERT_DONE : INVERT_KEPT;
}

bool invert_replay(const struct model *model, const struct facts *facts,
                   const struct invert_pair *pair, struct plan *plan)
{
    const struct fact_host *host =
        pair->then == MODEL_NONE ? facts_host(facts, pair->thread, pair->number) : NULL;
    bool fine = true;
    memset(plan, 0, sizeof *plan);
    snprintf(plan->policy, sizeof plan->policy, "lazy");
    for (size_t i = 0; fine && i < model->order.count; i++) {
        const struct model_item *item = &model->items.items[model->order.items[i]];
        if (host && host->position < item->closed) {
            fine = list_access(pair, plan);
            host = NULL;
        }
        fine = fine && VEC_PUSH(&plan->items, item->id);
    }
    return fine && (!host || list_access(pair, plan));
}
