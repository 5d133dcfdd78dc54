/* What to run next; see search.h for the order. */
#include "explore/search_parts.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool search_early_of(const struct run *run, const struct search_bys *bys,
                     struct search_early *early)
{
    for (size_t i = 0; i < bys->count; i++) {
        uint32_t item = model_find(&run->model, bys->items[i].item);
        uint32_t call = model_find_call(&run->model, bys->items[i].call);
        if (item != MODEL_NONE && call != MODEL_NONE && run->places[item] != MODEL_NONE &&
            !VEC_PUSH(early, (struct schedule_early){run->places[item], call})) {
            return false;
        }
    }
    return true;
}

bool search_plan_base(const struct search *search, const char *policy, struct plan *plan)
{
    snprintf(plan->policy, sizeof plan->policy, "%s", policy);
    for (size_t i = 0; i < search->calls.count; i++) {
        if (!VEC_PUSH(&plan->calls, search->calls.items[i])) {
            return false;
        }
    }
    return !search->limits.places || plan_copy_places(plan, search->limits.places);
}

/* A class by one of its orders (NULL: the one that was run), and what it keeps early. */
static bool make_class(const struct search *search, uint32_t of, const uint32_t *order,
                       const uint32_t *need, struct probe *probe)
{
    const struct search_class *class = &search->found.items[of];
    struct plan *plan = &probe->plan;
    struct search_early early = {0};
    probe->pins = class->kept.held.count;
    bool fine = search_plan_base(search, "lazy", plan) && search_hold(&class->kept.held, plan) &&
                search_early_of(class->run, &class->kept.early, &early) &&
                search_held_answers(class->run, UINT32_MAX, &early) &&
                schedule_make(class->run, order, need, early.items, early.count, plan) &&
                schedule_hold(class->run, UINT32_MAX, plan);
    VEC_FREE(&early);
    return fine;
}

/* The items in exactly this order. */
static bool list_items(const struct run *run, const uint32_t *order, struct plan *plan)
{
    for (uint32_t at = 0; at < run->poset.count; at++) {
        uint32_t item = run->items[order ? order[at] : at];
        if (!VEC_PUSH(&plan->items, run->model.items.items[item].id)) {
            return false;
        }
    }
    return true;
}

/* An order as it stands, with the answers that the class's run got, as far as they fit. */
static bool make_literal(const struct search *search, uint32_t of, const uint32_t *order,
                         struct probe *probe)
{
    const struct search_class *class = &search->found.items[of];
    struct plan *plan = &probe->plan;
    const struct run *run = class->run;
    struct search_early early = {0};
    struct search_bys answers = {0};
    probe->pins = class->kept.held.count;
    bool fine = search_plan_base(search, "lazy", plan) && search_hold(&class->kept.held, plan) &&
                search_answers(run, UINT32_MAX, &answers) &&
                search_early_of(run, &answers, &early) && list_items(run, order, plan);
    for (size_t i = 0; fine && i < early.count; i++) {
        uint32_t submitted = 0, at = 0;
        do {
            uint32_t call = run->model.items.items[run->items[order[at]]].call;
            submitted = call > submitted ? call : submitted;
        } while (order[at++] != early.items[i].item);
        if (submitted <= early.items[i].call) {
            uint32_t item = run->items[early.items[i].item];
            struct plan_by by = {.call = run->model.calls.items[early.items[i].call].id,
                                 .item = run->model.items.items[item].id};
            fine = VEC_PUSH(&plan->bys, by);
        }
    }
    fine = fine && schedule_hold(run, UINT32_MAX, plan);
    VEC_FREE(&early);
    VEC_FREE(&answers);
    return fine;
}

/* Every item done when the call that submits it returns. */
static bool make_reference(const struct search *search, struct plan *plan)
{
    const struct model *model = &search->found.items[0].run->model;
    bool fine = search_plan_base(search, "eager", plan);
    for (size_t i = 0; fine && i < model->items.count; i++) {
        const struct model_item *item = &model->items.items[i];
        if (item->is_void || item->closed == 0) {
            continue;
        }
        fine = VEC_PUSH(&plan->items, item->id);
        if (fine && item->call != MODEL_NONE) {
            struct plan_by by = {.call = model->calls.items[item->call].id, .item = item->id};
            fine = VEC_PUSH(&plan->bys, by);
        }
    }
    return fine;
}

bool search_is_barred(const struct search *search, struct plan_item id)
{
    for (size_t i = 0; i < search->barred.count; i++) {
        if (search->barred.items[i].stream == id.stream && search->barred.items[i].seq == id.seq) {
            return true;
        }
    }
    return false;
}

static bool is_barred(const struct search *search, const struct run *run, uint32_t item)
{
    return search_is_barred(search, run->model.items.items[run->items[item]].id);
}

/* Which items of a class the host may see done early. */
static bool find_windows(struct search_class *class)
{
    const struct run *run = class->run;
    uint32_t count = run->poset.count;
    uint32_t *ready = mem_zalloc((size_t)count + 1, sizeof *ready);
    bool fine = ready != NULL;
    if (fine) {
        schedule_ready(run, NULL, run->need, ready);
    }
    for (uint32_t i = 0; fine && i < count; i++) {
        const struct model_item *item = &run->model.items.items[run->items[i]];
        uint32_t joined = schedule_joined(run, i);
        uint32_t end = joined == MODEL_NONE ? (uint32_t)run->model.calls.count : joined;
        if ((item->host_reads || item->host_writes) && !item->dead && ready[i] < end) {
            fine = VEC_PUSH(&class->windows, (struct search_window){i, ready[i], end - 1});
        }
    }
    class->has_windows = true;
    mem_free(ready);
    return fine;
}

/* The items of windows early: one at a call, or (window NULL) all as early as they can. */
static bool make_early(const struct search *search, uint32_t of, const struct search_window *window,
                       uint32_t call, struct probe *probe)
{
    const struct search_class *class = &search->found.items[of];
    struct plan *plan = &probe->plan;
    struct search_early early = {0};
    probe->pins = class->kept.held.count;
    bool fine = search_plan_base(search, "lazy", plan) && search_hold(&class->kept.held, plan) &&
                search_early_of(class->run, &class->kept.early, &early) &&
                search_held_answers(class->run, UINT32_MAX, &early);
    for (size_t i = 0; fine && !window && i < class->windows.count; i++) {
        const struct search_window *each = &class->windows.items[i];
        fine = is_barred(search, class->run, each->item) ||
               VEC_PUSH(&early, (struct schedule_early){each->item, each->first});
    }
    fine = fine && (!window || VEC_PUSH(&early, (struct schedule_early){window->item, call})) &&
           schedule_make(class->run, NULL, class->run->need, early.items, early.count, plan) &&
           schedule_hold(class->run, UINT32_MAX, plan);
    VEC_FREE(&early);
    return fine;
}

static enum search_next made(struct search *search, struct probe *probe, bool fine)
{
    if (!fine) {
        probe_finish(probe);
        return SEARCH_NO_MEMORY;
    }
    search->given++;
    search->asked[probe->kind]++;
    return SEARCH_RUN;
}

/* The runs that everything else rests on. False: they have all been given. */
static bool next_start(struct search *search, struct probe *probe, enum search_next *next)
{
    if (search->asked[PROBE_FIRST] == 0) {
        probe->kind = PROBE_FIRST;
        *next = made(search, probe, search_plan_base(search, "eager", &probe->plan));
    } else if (search->found.count == 0) {
        *next = search->taken < search->given ? SEARCH_WAIT : SEARCH_DONE;
    } else if (search->asked[PROBE_REFERENCE] == 0 || search->asked[PROBE_AGAIN] == 0) {
        probe->kind = search->asked[PROBE_REFERENCE] == 0 ? PROBE_REFERENCE : PROBE_AGAIN;
        *next = made(search, probe, make_reference(search, &probe->plan));
    } else if (search->asked[PROBE_LAZY] == 0 && search->limits.random == 0) {
        probe->kind = PROBE_LAZY;
        *next = made(search, probe, search_plan_base(search, "lazy", &probe->plan));
    } else {
        return false;
    }
    return true;
}

static bool next_random(struct search *search, struct probe *probe, enum search_next *next)
{
    char policy[PLAN_POLICY_ROOM];
    if (search->limits.random == 0) {
        return false;
    }
    if (search->asked[PROBE_RANDOM] == search->limits.random) {
        *next = SEARCH_DONE;
        return true;
    }
    probe->kind = PROBE_RANDOM;
    probe->seed = search->limits.seed + search->asked[PROBE_RANDOM];
    snprintf(policy, sizeof policy, "random:%" PRIu64, probe->seed);
    *next = made(search, probe, search_plan_base(search, policy, &probe->plan));
    return true;
}

static bool next_late(struct search *search, struct probe *probe, enum search_next *next)
{
    for (uint32_t i = 0; i < search->found.count; i++) {
        struct search_class *class = &search->found.items[i];
        if (!class->asked_late && !class->ran_late) {
            class->asked_late = true;
            probe->kind = PROBE_LATE;
            probe->of = i;
            *next = made(search, probe, make_class(search, i, NULL, class->run->need, probe));
            return true;
        }
    }
    return false;
}

static bool next_reversed(struct search *search, struct probe *probe, enum search_next *next,
                          bool *wait)
{
    switch (classes_next(&search->classes, &probe->reversal)) {
    case CLASSES_RUN:
        break;
    case CLASSES_WAIT:
        *wait = true;
        return false;
    case CLASSES_DONE:
        return false;
    default:
        *next = SEARCH_NO_MEMORY;
        return true;
    }
    probe->kind = PROBE_REVERSED;
    probe->of = probe->reversal.entry;
    const uint32_t *order = search->classes.order.items, *need = search->classes.need.items;
    bool fine = probe->reversal.literal ? make_literal(search, probe->of, order, probe)
                                        : make_class(search, probe->of, order, need, probe);
    *next = made(search, probe, fine);
    return true;
}

static bool next_query(struct search *search, struct probe *probe, enum search_next *next)
{
    if (search->queries.count == 0) {
        return false;
    }
    *probe = search->queries.items[0];
    search->queries.count--;
    memmove(search->queries.items, search->queries.items + 1,
            search->queries.count * sizeof *search->queries.items);
    *next = made(search, probe, true);
    return true;
}

static bool has_window(const struct search *search, const struct search_class *class)
{
    for (size_t i = 0; i < class->windows.count; i++) {
        if (!is_barred(search, class->run, class->windows.items[i].item)) {
            return true;
        }
    }
    return false;
}

static bool next_all_early(struct search *search, struct probe *probe, enum search_next *next)
{
    for (uint32_t i = 0; i < search->found.count; i++) {
        struct search_class *class = &search->found.items[i];
        if (class->asked_all_early) {
            continue;
        }
        class->asked_all_early = true;
        if (!class->has_windows && !find_windows(class)) {
            *next = SEARCH_NO_MEMORY;
            return true;
        }
        if (has_window(search, class)) {
            probe->kind = PROBE_EARLY;
            probe->of = i;
            *next = made(search, probe, make_early(search, i, NULL, 0, probe));
            return true;
        }
    }
    return false;
}

/* One item early, at each call of its window: all at their first, then all at their second ... */
static bool next_one_early(struct search *search, struct probe *probe, enum search_next *next)
{
    if (search->asked[PROBE_ONE] >= search->limits.one_early) {
        return false;
    }
    for (uint32_t i = 0; i < search->found.count; i++) {
        struct search_class *class = &search->found.items[i];
        bool more = class->windows.count > 0;
        while (more) {
            more = false;
            for (; class->next_window < class->windows.count; class->next_window++) {
                const struct search_window *window = &class->windows.items[class->next_window];
                /* one item alone as early as it can was the probe of all */
                bool known = class->distance == 0 && class->windows.count == 1;
                if (!known && !is_barred(search, class->run, window->item) &&
                    class->distance <= window->last - window->first) {
                    probe->kind = PROBE_ONE;
                    probe->of = i;
                    *next =
                        made(search, probe,
                             make_early(search, i, window, window->first + class->distance, probe));
                    class->next_window++;
                    return true;
                }
            }
            for (size_t k = 0; k < class->windows.count; k++) {
                const struct search_window *window = &class->windows.items[k];
                more = more || class->distance < window->last - window->first;
            }
            class->distance += more;
            class->next_window = more ? 0 : class->next_window;
        }
    }
    return false;
}

static bool is_kernel(const struct run *run, uint32_t item)
{
    return run->model.items.items[run->items[item]].kind == SSAN_op_kind_KERNEL;
}

/* A kernel of one block is whole whatever runs beside it, but not what it runs between. */
static bool may_be_torn(const struct run *run, struct poset_pair pair)
{
    return is_kernel(run, pair.first) && is_kernel(run, pair.second) &&
           (run->model.items.items[run->items[pair.first]].blocks > 1 ||
            run->model.items.items[run->items[pair.second]].blocks > 1);
}

static bool find_torn_pairs(struct search *search)
{
    const struct run *run = search->found.items[0].run;
    struct poset_races races = {0};
    bool fine = poset_races(&run->poset, run->need, &races);
    for (size_t i = 0; fine && i < races.count; i++) {
        if (may_be_torn(run, races.items[i])) {
            fine = VEC_PUSH(&search->torn_pairs, races.items[i]);
        }
    }
    VEC_FREE(&races);
    search->has_torn_pairs = true;
    return fine;
}

/* Two kernels that race, block by block, in the first class; pairs take turns. */
static bool next_torn(struct search *search, struct probe *probe, enum search_next *next)
{
    const struct run *run = search->found.items[0].run;
    const struct poset_races *pairs = &search->torn_pairs;
    if (pairs->count == 0 || search->asked[PROBE_TORN] >= search->limits.torn) {
        return false;
    }
    struct poset_pair pair = pairs->items[search->asked[PROBE_TORN] % pairs->count];
    uint32_t *order = mem_zalloc((size_t)run->poset.count + 1, sizeof *order);
    probe->kind = PROBE_TORN;
    probe->seed = search->limits.seed + search->asked[PROBE_TORN];
    bool fine = order && search_plan_base(search, "lazy", &probe->plan);
    if (fine) {
        size_t first = 0;
        poset_reverse(&run->poset, run->need, pair, order);
        while (order[first] != pair.second) {
            first++;
        }
        struct plan_together together = {.first = first, .count = 2, .seed = probe->seed};
        fine = list_items(run, order, &probe->plan) && VEC_PUSH(&probe->plan.togethers, together);
    }
    mem_free(order);
    *next = made(search, probe, fine);
    return true;
}

enum search_next search_next(struct search *search, struct probe *probe)
{
    enum search_next next = SEARCH_DONE;
    bool wait = false;
    *probe = (struct probe){.of = MODEL_NONE};
    if (next_start(search, probe, &next) || next_random(search, probe, &next)) {
        return next;
    }
    if (!search->has_torn_pairs && !find_torn_pairs(search)) {
        return SEARCH_NO_MEMORY;
    }
    if (search->determinism.found && search->given >= search->limits.sample) {
        return search->taken < search->given ? SEARCH_WAIT : SEARCH_DONE;
    }
    if (next_late(search, probe, &next) || next_reversed(search, probe, &next, &wait)) {
        return next;
    }
    /* what is under way may lead to new classes, which come first */
    if (wait) {
        return SEARCH_WAIT;
    }
    if (next_query(search, probe, &next) || next_all_early(search, probe, &next) ||
        next_one_early(search, probe, &next)) {
        return next;
    }
    if (search->taken < search->given && search->asked[PROBE_TORN] == 0) {
        return SEARCH_WAIT;
    }
    if (next_torn(search, probe, &next)) {
        return next;
    }
    return search->taken < search->given ? SEARCH_WAIT : SEARCH_DONE;
}

uint64_t search_left(const struct search *search)
{
    uint64_t left = classes_left(&search->classes) + search->queries.count;
    if (search->limits.random > 0) {
        return search->limits.random - search->by_kind[PROBE_RANDOM];
    }
    for (size_t i = 0; i < search->found.count; i++) {
        const struct search_class *class = &search->found.items[i];
        left += !class->asked_late + !class->asked_all_early;
    }
    for (int kind = 0; kind < PROBE_ONE; kind++) {
        left += search->asked[kind] - search->by_kind[kind];
    }
    return left;
}

uint64_t search_early_places(const struct search *search)
{
    uint64_t places = 0;
    for (size_t i = 0; i < search->found.count; i++) {
        const struct search_class *class = &search->found.items[i];
        for (size_t k = 0; k < class->windows.count; k++) {
            places += class->windows.items[k].last - class->windows.items[k].first + 1;
        }
        places -= class->windows.count == 1; /* the one that the run of all has */
    }
    return places;
}

uint64_t search_left_extra(const struct search *search)
{
    uint64_t early = search_early_places(search);
    uint64_t torn = search->torn_pairs.count > 0 ? search->limits.torn : 0;
    if (search->limits.random > 0 || search->determinism.found) {
        return 0;
    }
    early = early < search->limits.one_early ? early : search->limits.one_early;
    return early - search->by_kind[PROBE_ONE] + torn - search->by_kind[PROBE_TORN];
}
