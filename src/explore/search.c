/* Results of runs into classes; see search.h. */
#include "explore/search.h"

#include "base/hash.h"
#include "base/mem.h"
#include "explore/search_parts.h"
#include "explore/ways.h"

#include <string.h>

/* Where even counting all orders took too many down-sets, each class gets fewer. */
#define CLASS_DOWN_SETS UINT64_C(200000)
#define HARD_DOWN_SETS  UINT64_C(20000)
#define HARD_PROBES     200u

void probe_finish(struct probe *probe)
{
    plan_finish(&probe->plan);
    *probe = (struct probe){0};
}

void search_init(struct search *search, const struct search_limits *limits)
{
    *search = (struct search){.limits = *limits, .fixed_items = true};
}

bool search_bys_copy(struct search_bys *into, const struct plan_by *bys, size_t count)
{
    into->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!VEC_PUSH(into, bys[i])) {
            return false;
        }
    }
    return true;
}

bool search_hold(const struct search_bys *held, struct plan *plan)
{
    for (size_t i = 0; i < held->count; i++) {
        if (!VEC_PUSH(&plan->afters, held->items[i])) {
            return false;
        }
    }
    return true;
}

static void finish_pins(struct search_pins *pins)
{
    VEC_FREE(&pins->early);
    VEC_FREE(&pins->held);
}

static uint64_t items_hash(const struct run *run)
{
    uint64_t hash = run->poset.count;
    for (uint32_t i = 0; i < run->poset.count; i++) {
        uint64_t mark = run->model.items.items[run->items[i]].hash;
        hash += hash_mix(run->poset.items[i].name, mark);
    }
    return hash;
}

static bool count_class(struct search *search, uint32_t first, struct order_count *count)
{
    struct count_limits limits = search->limits.count;
    bool hard = search->all.estimated;
    uint64_t most = hard ? HARD_DOWN_SETS : CLASS_DOWN_SETS;
    limits.down_sets = limits.down_sets < most ? limits.down_sets : most;
    limits.probes = hard && limits.probes > HARD_PROBES ? HARD_PROBES : limits.probes;
    return ways_count(&search->classes, first, &limits, count);
}

/* All runs of the class get the answers of the run that met it, and it is asked for again if it
 * was. *again: it has some, and did not keep them yet. */
static bool keep_pins(struct search_class *class, bool *again)
{
    *again = !class->keeps && class->met.early.count + class->met.held.count > 0;
    if (!*again) {
        return true;
    }
    class->keeps = true;
    class->asked_late = false;
    return search_bys_copy(&class->kept.early, class->met.early.items, class->met.early.count) &&
           search_bys_copy(&class->kept.held, class->met.held.items, class->met.held.count);
}

struct search_class *search_class_of(struct search *search, uint32_t entry)
{
    return &search->found.items[search->classes.entries.items[entry].first];
}

bool search_has_failed(const struct probe_result *result)
{
    return result->infeasible || result->outcome.timed_out;
}

/* Whether all classes have the items of the first one, and nothing more that always holds. */
static void compare_items(struct search *search, const struct run *run)
{
    uint64_t hash = items_hash(run);
    if (search->found.count == 0) {
        search->items_hash = hash;
    } else if (hash != search->items_hash ||
               !poset_covers(&search->found.items[0].run->poset, &run->poset)) {
        search->fixed_items = false;
    }
}

/* What made queries answer as they did on the way to a new class. */
static bool meet_pins(struct search_class *added, const struct run *run, const struct probe *probe)
{
    const struct plan *plan = &probe->plan;
    bool again, fine = probe->kind <= PROBE_AGAIN
                           ? search_answers(run, UINT32_MAX, &added->met.early)
                           : search_bys_copy(&added->met.early, plan->bys.items, plan->bys.count);
    fine = fine && search_bys_copy(&added->met.held, plan->afters.items, probe->pins);
    /* other answers led there, so without them nothing would again */
    if (probe->kind == PROBE_QUERY || probe->kind == PROBE_REVERSED) {
        fine = fine && keep_pins(added, &again);
    }
    return fine;
}

/* The way in which a run met its class; *keeps: it is a new one, which owns the run from now on.
 * MODEL_NONE when out of memory. */
static uint32_t add_class(struct search *search, struct run *run, const struct probe *probe,
                          bool *keeps)
{
    uint32_t entry = MODEL_NONE;
    struct search_class added = {.run = run, .group = MODEL_NONE};
    if (!classes_add(&search->classes, run->hash, &run->poset, run->need, &entry, keeps)) {
        *keeps = false;
        return MODEL_NONE;
    }
    if (!*keeps) {
        return entry;
    }
    compare_items(search, run);
    bool fine = meet_pins(&added, run, probe);
    if (!VEC_PUSH(&search->found, added)) {
        finish_pins(&added.met);
        finish_pins(&added.kept);
        *keeps = false;
        return MODEL_NONE;
    }
    uint32_t first = search->classes.entries.items[entry].first;
    fine = fine && count_class(search, first, &search->found.items[first].orders);
    return fine ? entry : MODEL_NONE;
}

/* What the first run tells about the program. */
static bool take_first(struct search *search, const struct run *run)
{
    const struct model *model = &run->model;
    uint32_t threads = 0;
    for (size_t i = 0; i < model->calls.count; i++) {
        uint32_t thread = model->calls.items[i].id.thread;
        size_t k = 0;
        while (k < i && model->calls.items[k].id.thread != thread) {
            k++;
        }
        threads += k == i;
    }
    search->threads = threads;
    for (size_t i = 0; threads > 1 && i < model->calls.count; i++) {
        const struct model_call *call = &model->calls.items[i];
        if (call->id.query == 0 && !VEC_PUSH(&search->calls, call->id)) {
            return false;
        }
    }
    return count_orders(&run->poset, run->poset.before, &search->limits.count, &search->all);
}

/* Whether the second item of the race ran, and before the first one. */
static bool is_turned(const struct search *search, const struct probe *probe, const struct run *run)
{
    const struct run *from = search->found.items[probe->of].run;
    uint32_t places[2];
    for (unsigned i = 0; i < 2; i++) {
        struct poset_pair race = probe->reversal.race;
        uint32_t item = from->items[i == 0 ? race.first : race.second];
        uint32_t found = model_find(&run->model, from->model.items.items[item].id);
        places[i] = found == MODEL_NONE ? MODEL_NONE : run->places[found];
    }
    return places[1] < places[0]; /* MODEL_NONE is above all */
}

/* Where a class was asked for, whether it was reached. */
static bool note_reached(struct search *search, const struct probe *probe, const struct run *run,
                         uint32_t entry)
{
    struct search_class *found = &search->found.items[entry];
    if (probe->kind == PROBE_REVERSED) {
        const struct reversal *reversal = &probe->reversal;
        found->ran_late = found->ran_late || run->hash == reversal->foreseen;
        found->asked_late = found->asked_late || run->hash == reversal->foreseen;
        search->unreached += reversal->literal && !is_turned(search, probe, run);
        const struct run *from = search->found.items[probe->of].run;
        bool whole = poset_covers(&run->poset, &from->poset); /* or queries joined more */
        return classes_ended(&search->classes, reversal, whole ? run->hash : 0);
    }
    if (probe->kind == PROBE_LAZY) {
        found->asked_late = found->ran_late = true;
    } else if (probe->kind == PROBE_LATE &&
               search_class_of(search, entry) == search_class_of(search, probe->of)) {
        search->found.items[probe->of].ran_late = true;
    } else if (probe->kind == PROBE_LATE) {
        struct search_class *asked = &search->found.items[probe->of];
        bool again = false;
        bool fine = keep_pins(asked, &again);
        search->unreached += !again;
        return fine;
    }
    return true;
}

/* The race was turned round before the schedule was left: then the program took another way because
 * of it, which is a result, and the rest ran as the policy had it. */
static bool turned_before(const struct search *search, const struct probe *probe,
                          const struct model *model)
{
    uint64_t closed[2];
    if (probe->kind != PROBE_REVERSED) {
        return false;
    }
    const struct run *from = search->found.items[probe->of].run;
    for (unsigned i = 0; i < 2; i++) {
        struct poset_pair race = probe->reversal.race;
        uint32_t item = from->items[i == 0 ? race.first : race.second];
        uint32_t found = model_find(model, from->model.items.items[item].id);
        uint64_t at = found == MODEL_NONE ? 0 : model->items.items[found].closed;
        closed[i] = at == 0 ? UINT64_MAX : at;
    }
    return closed[1] < closed[0] && closed[1] < model->infeasible_at;
}

/* Of the items that were to be early, the first that was not done when the schedule was left waits
 * for the host itself: it isn't asked to be early again. */
static bool bar_early(struct search *search, const struct probe *probe, const struct model *model,
                      bool *barred)
{
    uint64_t left = model->infeasible.length > 0 ? model->infeasible_at : UINT64_MAX;
    for (size_t i = 0; i < probe->plan.bys.count; i++) {
        struct plan_item id = probe->plan.bys.items[i].item;
        uint32_t item = model_find(model, id);
        if (item == MODEL_NONE || model->items.items[item].closed == 0 ||
            model->items.items[item].closed > left) {
            *barred = !search_is_barred(search, id);
            return !*barred || VEC_PUSH(&search->barred, id);
        }
    }
    return true;
}

/* A run that failed tells nothing of the program, but that its schedule can't be had. */
static bool take_failed(struct search *search, const struct probe *probe, const struct model *model,
                        const struct probe_result *result)
{
    struct search_class *asked = probe->of != MODEL_NONE ? &search->found.items[probe->of] : NULL;
    bool again = probe->kind == PROBE_REVERSED && !probe->reversal.literal;
    if (probe->kind == PROBE_REFERENCE || probe->kind == PROBE_AGAIN) {
        return groups_take_reference(search, probe, result, 0);
    }
    if (probe->kind == PROBE_LATE && !keep_pins(asked, &again)) {
        return false;
    }
    search->unreached += !again;
    search->unended += !again && result->outcome.timed_out;
    if (probe->kind == PROBE_REVERSED) {
        return classes_ended(&search->classes, &probe->reversal, 0);
    }
    bool barred = false;
    bool fine = (probe->kind != PROBE_EARLY && probe->kind != PROBE_ONE) ||
                bar_early(search, probe, model, &barred);
    if (probe->kind == PROBE_EARLY && barred) {
        asked->asked_all_early = false; /* once more, without the one that waits */
    }
    return fine;
}

/* A run whose items ran one after the other. */
static bool take_whole(struct search *search, const struct probe *probe, struct run *run,
                       const struct probe_result *result, bool *keeps)
{
    bool starts = probe->kind <= PROBE_AGAIN;
    if ((probe->kind == PROBE_FIRST && !take_first(search, run)) ||
        (probe->kind != PROBE_FIRST && !determinism_take(&search->determinism, &run->model))) {
        return false;
    }
    uint32_t entry = add_class(search, run, probe, keeps);
    if (entry == MODEL_NONE || !note_reached(search, probe, run, entry)) {
        return false;
    }
    if (probe->kind == PROBE_FIRST) {
        search->first_outcome = result->outcome;
        return true;
    }
    return starts ? groups_take_reference(search, probe, result, entry)
                  : groups_add(search, probe, &result->outcome, entry) &&
                        search_add_queries(search, run, entry, probe);
}

bool search_take(struct search *search, struct probe *take_probe, struct model *take_model,
                 const struct probe_result *result)
{
    struct probe *probe = take_probe;
    bool fine = false, keeps = false;
    search->taken++;
    search->by_kind[probe->kind]++;
    search->infeasible += result->infeasible;
    search->forced += result->forced;
    if (probe->kind != PROBE_FIRST && search_has_failed(result) &&
        (result->outcome.timed_out || !turned_before(search, probe, take_model))) {
        fine = take_failed(search, probe, take_model, result);
        model_finish(take_model);
    } else if (probe->kind == PROBE_TORN || probe->kind == PROBE_RANDOM) {
        fine = probe->kind == PROBE_TORN ? groups_add_torn(search, probe, &result->outcome)
                                         : groups_add(search, probe, &result->outcome, MODEL_NONE);
        model_finish(take_model);
    } else {
        struct run *run = mem_zalloc(1, sizeof *run);
        if (!run) {
            model_finish(take_model);
        } else {
            fine = run_create(run, take_model) && take_whole(search, probe, run, result, &keeps);
        }
        if (run && !keeps) {
            run_finish(run);
            mem_free(run);
        } else if (run) { /* kept for as long as the search: without what nobody asks for again */
            VEC_FREE(&run->model.steps);
            VEC_FREE(&run->model.syncs);
            VEC_FREE(&run->model.lines);
        }
    }
    probe_finish(probe);
    return fine;
}

void search_skip(struct search *search, struct probe *take_probe)
{
    search->taken++;
    search->by_kind[take_probe->kind]++;
    search->unreached += take_probe->kind < PROBE_ONE;
    if (take_probe->kind == PROBE_REVERSED) {
        take_probe->reversal.literal = true; /* nothing more comes of it */
        classes_ended(&search->classes, &take_probe->reversal, 0);
    }
    probe_finish(take_probe);
}

struct search_sums search_sum(const struct search *search)
{
    struct search_sums sums = {0};
    long double untold = 0;
    bool whole = search_left(search) == 0 && search->limits.random == 0;
    for (size_t i = 0; i < search->found.count; i++) {
        const struct search_class *class = &search->found.items[i];
        if (search->classes.entries.items[i].first != i) {
            continue; /* another way of a class that is counted */
        }
        if (class->group == MODEL_NONE) {
            untold += class->orders.count; /* met, but no run of it came to its end as planned */
            continue;
        }
        enum search_verdict verdict = search->groups.items[class->group].verdict;
        sums.classes++;
        sums.orders += class->orders.count;
        sums.estimated = sums.estimated || class->orders.estimated;
        sums.wrong += verdict == RESULT_WRONG ? class->orders.count : 0;
        sums.memory += verdict == RESULT_MEMORY ? class->orders.count : 0;
        sums.wrong_classes += verdict == RESULT_WRONG;
        sums.memory_classes += verdict == RESULT_MEMORY;
    }
    bool exact_sum = whole && !sums.estimated;
    sums.total = exact_sum || sums.orders + untold > search->all.count ? sums.orders + untold
                                                                       : search->all.count;
    sums.total_estimated = !exact_sum && (search->all.estimated || !search->fixed_items);
    return sums;
}

void search_finish(struct search *search)
{
    classes_finish(&search->classes);
    for (size_t i = 0; i < search->found.count; i++) {
        struct search_class *class = &search->found.items[i];
        run_finish(class->run);
        mem_free(class->run);
        finish_pins(&class->met);
        finish_pins(&class->kept);
        VEC_FREE(&class->windows);
    }
    for (size_t i = 0; i < search->groups.count; i++) {
        plan_finish(&search->groups.items[i].plan);
    }
    for (size_t i = 0; i < search->queries.count; i++) {
        probe_finish(&search->queries.items[i]);
    }
    VEC_FREE(&search->found);
    VEC_FREE(&search->groups);
    VEC_FREE(&search->calls);
    VEC_FREE(&search->queries);
    VEC_FREE(&search->torn_pairs);
    VEC_FREE(&search->barred);
    plan_finish(&search->torn_plan);
    map_finish(&search->queries_seen);
    map_finish(&search->behaviours);
    determinism_finish(&search->determinism);
    *search = (struct search){0};
}
