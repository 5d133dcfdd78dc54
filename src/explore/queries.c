/* Queries that may answer either way. A run as late as possible lets them find work unfinished
 * once; a probe has the last item of a stream done at the call before the query, so that this one
 * finds it done. Where a query found done what ran while it asked, a probe holds that item until it
 * has returned, so that it finds it unfinished once more, up to MAX_HELD times in a row. What such
 * runs do then is a program of its own and is searched like the rest. Invariant: a run that did the
 * same as one before but for asking more often has nothing new but the next time. Cost: a probe for
 * each query and stream with pending work, MAX_HELD for each that the device answered by running.
 */
#include "explore/search_parts.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

#define MAX_HELD  3u /* with the one that comes by itself: 4 vain answers in a row */
#define LONG_HELD 200u

static uint64_t sum_of(const struct search_bys *bys)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < bys->count; i++) {
        const struct plan_by *by = &bys->items[i];
        uint64_t word = hash_mix(hash_mix(by->item.stream, by->item.seq), by->call.thread);
        sum += hash_mix(hash_mix(word, by->call.number), by->call.query);
    }
    return sum;
}

/* Of a class with these pins, in any order. */
static uint64_t key_of(uint64_t hash, const struct search_pins *pins)
{
    return hash_mix(hash_mix(hash, sum_of(&pins->early)), sum_of(&pins->held));
}

/* The call of the same thread before this one; MODEL_NONE: there is none. */
static uint32_t call_before(const struct model *model, uint32_t call)
{
    uint32_t thread = model->calls.items[call].id.thread;
    for (uint32_t i = call; i > 0; i--) {
        if (model->calls.items[i - 1].id.thread == thread) {
            return i - 1;
        }
    }
    return MODEL_NONE;
}

/* What the host joined by a query: per stream the last item of which it learned there that it was
 * done, to be done at the call before. */
static bool add_answer(const struct run *run, uint32_t query, uint32_t call, struct search_bys *bys)
{
    const struct model *model = &run->model;
    const struct model_row *from = &model->calls.items[query].joined;
    const struct model_row *to = &model->calls.items[query + 1].joined;
    for (uint32_t chain = 0; chain < run->poset.chains; chain++) {
        uint32_t last = MODEL_NONE;
        for (uint32_t i = run->poset.chain_begin[chain]; i < run->poset.chain_begin[chain + 1];
             i++) {
            uint32_t item = run->items[run->poset.chain_items[i]];
            struct plan_item id = model->items.items[item].id;
            bool knew = id.stream < from->streams && from->counts[id.stream] >= id.seq;
            bool knows = id.stream < to->streams && to->counts[id.stream] >= id.seq;
            last = knows && !knew ? item : last;
        }
        struct plan_by by = {.call = model->calls.items[call].id};
        if (last != MODEL_NONE) {
            by.item = model->items.items[last].id;
            if (!VEC_PUSH(bys, by)) {
                return false;
            }
        }
    }
    return true;
}

bool search_answers(const struct run *run, uint32_t end, struct search_bys *bys)
{
    const struct model *model = &run->model;
    bool fine = true;
    for (uint32_t query = 0; fine && query < end && query + 1 < model->calls.count; query++) {
        if (model->calls.items[query].id.query != 0 && model->calls.items[query].answered) {
            uint32_t call = call_before(model, query);
            fine = call == MODEL_NONE || add_answer(run, query, call, bys);
        }
    }
    return fine;
}

bool search_held_answers(const struct run *run, uint32_t end, struct search_early *early)
{
    struct search_bys answers = {0};
    uint32_t vain = 0;
    for (uint32_t i = 0; i < end && i < run->model.calls.count; i++) {
        const struct model_call *call = &run->model.calls.items[i];
        vain += call->id.query != 0 && !call->answered;
    }
    bool fine =
        vain < 2 || (search_answers(run, end, &answers) && search_early_of(run, &answers, early));
    VEC_FREE(&answers);
    return fine;
}

/* What comes behind the query depends on its answer, so it isn't listed. */
static void list_past(const struct run *run, uint32_t query, struct plan *plan)
{
    size_t kept = 0;
    for (size_t i = 0; i < plan->items.count; i++) {
        uint32_t item = model_find(&run->model, plan->items.items[i]);
        if (run->model.items.items[item].call <= query) {
            plan->items.items[kept++] = plan->items.items[i];
        }
    }
    plan->items.count = kept;
}

/* A probe with these pins, unless there was the same before. Takes them over. `holds`: it makes the
 * query find work unfinished, so nothing is listed that the run had not joined before. */
static bool add_probe(struct search *search, const struct run *run, uint32_t of, uint32_t query,
                      bool holds, struct search_pins *take_pins)
{
    struct probe probe = {.kind = PROBE_QUERY, .of = of, .pins = take_pins->held.count};
    struct search_early early = {0};
    uint64_t key = key_of(run->hash, take_pins);
    bool fine = true;
    if (!map_find(&search->queries_seen, key)) {
        fine = map_set(&search->queries_seen, key, 1) &&
               search_early_of(run, &take_pins->early, &early) &&
               search_held_answers(run, query, &early) &&
               search_plan_base(search, "lazy", &probe.plan) &&
               search_hold(&take_pins->held, &probe.plan) &&
               schedule_make(run, NULL, run->need, early.items, early.count, &probe.plan) &&
               VEC_PUSH(&search->queries, probe);
        if (fine) {
            struct plan *plan = &search->queries.items[search->queries.count - 1].plan;
            if (holds) {
                plan->items.count = schedule_due(run, plan, query);
            } else {
                list_past(run, query, plan);
            }
            fine = schedule_hold(run, query, plan);
        } else {
            probe_finish(&probe);
        }
    }
    VEC_FREE(&early);
    VEC_FREE(&take_pins->early);
    VEC_FREE(&take_pins->held);
    return fine;
}

/* Those of calls up to the query (index): behind it the program may go another way. */
static bool copy_past(const struct run *run, const struct plan_by *bys, size_t count,
                      uint32_t query, struct search_bys *into)
{
    bool fine = true;
    for (size_t i = 0; fine && i < count; i++) {
        uint32_t call = model_find_call(&run->model, bys[i].call);
        fine = call >= query || VEC_PUSH(into, bys[i]);
    }
    return fine;
}

/* What decided the answers before the query. */
static bool past_pins(const struct run *run, const struct probe *probe, uint32_t query,
                      struct search_pins *pins)
{
    const struct plan *plan = &probe->plan;
    return copy_past(run, plan->bys.items, plan->bys.count, query, &pins->early) &&
           copy_past(run, plan->afters.items, probe->pins, query, &pins->held);
}

static bool drop_pins(struct search_pins *pins)
{
    VEC_FREE(&pins->early);
    VEC_FREE(&pins->held);
    return false;
}

/* The query finds one more item done. */
static bool add_early(struct search *search, const struct run *run, uint32_t of,
                      const struct probe *probe, struct schedule_early early, uint32_t query)
{
    struct search_pins pins = {0};
    struct plan_by by = {.call = run->model.calls.items[early.call].id,
                         .item = run->model.items.items[run->items[early.item]].id};
    bool fine = past_pins(run, probe, query, &pins) && VEC_PUSH(&pins.early, by);
    return fine ? add_probe(search, run, of, query, false, &pins) : drop_pins(&pins);
}

/* The query finds an item unfinished that ran while it asked; `more`: and so do those behind it up
 * to this one. */
static bool add_held(struct search *search, const struct run *run, uint32_t of,
                     const struct probe *probe, uint32_t item, uint32_t query, uint32_t more)
{
    struct search_pins pins = {0};
    struct plan_by by = {.call = run->model.calls.items[query].id,
                         .item = run->model.items.items[run->items[item]].id};
    by.call.query = more > by.call.query ? more : by.call.query;
    bool fine = past_pins(run, probe, query, &pins) && VEC_PUSH(&pins.held, by);
    return fine ? add_probe(search, run, of, query, true, &pins) : drop_pins(&pins);
}

/* The last item of a chain that was submitted when the call returned and that ran behind the query;
 * MODEL_NONE: there is none. */
static uint32_t pending_of(const struct run *run, uint32_t chain, uint32_t call, uint32_t query)
{
    const struct poset *poset = &run->poset;
    for (uint32_t i = poset->chain_begin[chain + 1]; i > poset->chain_begin[chain]; i--) {
        uint32_t item = poset->chain_items[i - 1];
        const struct model_item *it = &run->model.items.items[run->items[item]];
        if (it->call <= call) {
            return it->closed > run->model.calls.items[query].position ? item : MODEL_NONE;
        }
    }
    return MODEL_NONE;
}

/* The last item that ran while the call lasted; MODEL_NONE: none did. */
static uint32_t ran_inside(const struct run *run, uint32_t query)
{
    const struct model *model = &run->model;
    uint64_t from = model->calls.items[query].position;
    uint64_t to =
        query + 1 < model->calls.count ? model->calls.items[query + 1].position : UINT64_MAX;
    uint32_t last = MODEL_NONE;
    for (uint32_t i = 0; i < run->poset.count; i++) {
        uint64_t closed = model->items.items[run->items[i]].closed;
        last = closed > from && closed < to ? i : last;
    }
    return last;
}

static bool row_has(const struct model_row *row, struct plan_item id)
{
    return id.stream < row->streams && row->counts[id.stream] >= id.seq;
}

static bool is_pinned_at(const struct plan *plan, struct plan_call id)
{
    for (size_t i = 0; i < plan->bys.count; i++) {
        const struct plan_call *call = &plan->bys.items[i].call;
        if (call->thread == id.thread && call->number == id.number && call->query == id.query) {
            return true;
        }
    }
    return false;
}

/* An item without which the query would have found nothing done, and which ran only since this or a
 * vain query before it asked; MODEL_NONE: there is none. */
static uint32_t ran_for(const struct run *run, const struct plan *plan, uint32_t query)
{
    const struct model *model = &run->model;
    uint32_t item = ran_inside(run, query);
    for (uint32_t i = query; item == MODEL_NONE && query + 1 < model->calls.count && i-- > 0;) {
        const struct model_call *call = &model->calls.items[i];
        uint32_t ran = call->id.query == 0 || call->answered || is_pinned_at(plan, call->id)
                           ? MODEL_NONE
                           : ran_inside(run, i);
        if (ran != MODEL_NONE) {
            struct plan_item id = model->items.items[run->items[ran]].id;
            bool learned = !row_has(&model->calls.items[query].joined, id) &&
                           row_has(&model->calls.items[query + 1].joined, id);
            item = learned ? ran : MODEL_NONE;
        }
    }
    return item;
}

/* `up_to`: or by one that is held up to a later query of the same row. */
static bool is_held(const struct probe *probe, struct plan_call id, bool up_to)
{
    for (size_t i = 0; i < probe->pins; i++) {
        const struct plan_call *call = &probe->plan.afters.items[i].call;
        if (call->thread == id.thread && call->number == id.number &&
            (call->query == id.query || (up_to && call->query > id.query))) {
            return true;
        }
    }
    return false;
}

/* Vain answers right before a query. */
struct streak {
    uint32_t held;
    bool worked; /* with other calls between them */
    bool newest; /* it has the item that was held last */
};

static struct streak streak_before(const struct run *run, const struct probe *probe, uint32_t query)
{
    const struct model *model = &run->model;
    struct plan_call asks = model->calls.items[query].id;
    struct streak streak = {0};
    for (uint32_t i = call_before(model, query); i != MODEL_NONE; i = call_before(model, i)) {
        const struct model_call *call = &model->calls.items[i];
        if (call->id.query == 0) {
            continue;
        }
        if (call->answered) {
            break;
        }
        if (is_held(probe, call->id, false)) {
            const struct plan_call *last = &probe->plan.afters.items[probe->pins - 1].call;
            streak.held++;
            streak.worked = streak.worked || call->id.number != asks.number;
            streak.newest =
                streak.newest || (last->number == call->id.number &&
                                  last->query == call->id.query && last->thread == call->id.thread);
        }
    }
    return streak;
}

/* The run did what one before it did, but for what queries answered. */
static bool did_the_same(struct search *search, const struct run *run, bool *failed)
{
    uint64_t hash = hash_mix(run->hash, run->joins);
    for (size_t i = 0; i < run->model.steps.count; i++) {
        const struct model_step *step = &run->model.steps.items[i];
        hash = step->kind == MODEL_STEP_CALL ? hash_mix(hash, step->hash) : hash;
    }
    bool same = map_find(&search->behaviours, hash) != NULL;
    *failed = !same && !map_set(&search->behaviours, hash, 1);
    return same;
}

/* A query that succeeded: might it have failed? */
static bool add_later(struct search *search, const struct run *run, uint32_t of,
                      const struct probe *probe, uint32_t query, bool only_newest)
{
    uint32_t item = ran_for(run, &probe->plan, query);
    if (item == MODEL_NONE) {
        return true;
    }
    struct streak streak = streak_before(run, probe, query);
    if (only_newest && !streak.newest) {
        return true;
    }
    if (streak.held >= MAX_HELD && streak.worked) {
        search->polls_cut++;
        return true;
    }
    if (streak.held < MAX_HELD) {
        return add_held(search, run, of, probe, item, query, 0);
    }
    /* a loop that gives up does so while all its queries find nothing done */
    return run->model.calls.items[query].id.query > LONG_HELD ||
           add_held(search, run, of, probe, item, query, LONG_HELD);
}

/* A query that failed: might it have succeeded? */
static bool add_sooner(struct search *search, const struct run *run, uint32_t of,
                       const struct probe *probe, uint32_t query, const uint32_t *ready)
{
    uint32_t call = call_before(&run->model, query);
    bool fine = true;
    for (uint32_t chain = 0; fine && call != MODEL_NONE && chain < run->poset.chains; chain++) {
        uint32_t item = pending_of(run, chain, call, query);
        if (item != MODEL_NONE && ready[item] <= call) {
            fine = add_early(search, run, of, probe, (struct schedule_early){item, call}, query);
        }
    }
    return fine;
}

static bool has_queries(const struct model *model)
{
    for (size_t i = 0; i < model->calls.count; i++) {
        if (model->calls.items[i].id.query != 0) {
            return true;
        }
    }
    return false;
}

bool search_add_queries(struct search *search, const struct run *run, uint32_t of,
                        const struct probe *probe)
{
    const struct model *model = &run->model;
    bool failed = false;
    if (!has_queries(model)) {
        return true;
    }
    bool same = did_the_same(search, run, &failed) && probe->kind == PROBE_QUERY && probe->pins > 0;
    uint32_t *ready = mem_zalloc((size_t)run->poset.count + 1, sizeof *ready);
    bool fine = ready && !failed;
    if (fine) {
        schedule_ready(run, NULL, run->need, ready);
    }
    for (uint32_t query = 0; fine && query < model->calls.count; query++) {
        const struct model_call *call = &model->calls.items[query];
        if (call->id.query == 0 || (!call->answered && (same || is_held(probe, call->id, true)))) {
            continue;
        }
        if (search->queries.count >= search->limits.queries) {
            search->queries_left_out++;
            continue;
        }
        fine = call->answered ? add_later(search, run, of, probe, query, same)
                              : add_sooner(search, run, of, probe, query, ready);
    }
    mem_free(ready);
    return fine;
}
