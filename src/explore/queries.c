/* Queries that may answer either way. A run as late as possible lets them find work unfinished; a
 * probe has the last item of a stream done at the call before the query, so that this one finds it
 * done. What such a run does then is a program of its own and is searched like the rest. Cost: a
 * probe for each query and stream with pending work. */
#include "explore/search_parts.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

/* Of a class with these early items, in any order. */
static uint64_t key_of(uint64_t hash, const struct search_bys *bys)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < bys->count; i++) {
        const struct plan_by *by = &bys->items[i];
        uint64_t word = hash_mix(hash_mix(by->item.stream, by->item.seq), by->call.thread);
        sum += hash_mix(hash_mix(word, by->call.number), by->call.query);
    }
    return hash_mix(hash, sum);
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

/* Makes a probe with one more early item, unless there was the same before. */
static bool add_query(struct search *search, const struct run *run, uint32_t of,
                      const struct plan *plan, struct schedule_early early)
{
    struct probe probe = {.kind = PROBE_QUERY, .of = of};
    struct search_bys bys = {0};
    struct search_early all = {0};
    struct plan_by by = {.call = run->model.calls.items[early.call].id,
                         .item = run->model.items.items[run->items[early.item]].id};
    bool fine = search_bys_copy(&bys, plan->bys.items, plan->bys.count) && VEC_PUSH(&bys, by);
    uint64_t key = fine ? key_of(run->hash, &bys) : 0;
    if (fine && !map_find(&search->queries_seen, key)) {
        fine = map_set(&search->queries_seen, key, 1) && search_early_of(run, &bys, &all) &&
               search_plan_base(search, "lazy", &probe.plan) &&
               schedule_make(run, NULL, run->need, all.items, all.count, &probe.plan) &&
               VEC_PUSH(&search->queries, probe);
        if (!fine) {
            probe_finish(&probe);
        }
    }
    VEC_FREE(&bys);
    VEC_FREE(&all);
    return fine;
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

bool search_add_queries(struct search *search, const struct run *run, uint32_t of,
                        const struct plan *plan)
{
    const struct model *model = &run->model;
    uint32_t *ready = NULL;
    bool fine = true;
    for (uint32_t query = 0; fine && query < model->calls.count; query++) {
        uint32_t call = MODEL_NONE;
        if (model->calls.items[query].id.query != 0 && !model->calls.items[query].answered) {
            call = call_before(model, query);
        }
        if (call == MODEL_NONE) {
            continue;
        }
        if (search->queries.count >= search->limits.queries) {
            search->queries_left_out++;
            continue;
        }
        if (!ready) {
            ready = mem_zalloc((size_t)run->poset.count + 1, sizeof *ready);
            fine = ready != NULL;
            if (fine) {
                schedule_ready(run, NULL, run->need, ready);
            }
        }
        for (uint32_t chain = 0; fine && chain < run->poset.chains; chain++) {
            uint32_t item = pending_of(run, chain, call, query);
            if (item != MODEL_NONE && ready[item] <= call) {
                fine = add_query(search, run, of, plan, (struct schedule_early){item, call});
            }
        }
    }
    mem_free(ready);
    return fine;
}
