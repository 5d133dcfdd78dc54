/* Results of runs into groups of equal ones; see search.h. The first group is the reference's. */
#include "explore/search_parts.h"

#include <string.h>

static bool plan_copy(struct plan *into, const struct plan *plan)
{
    memcpy(into->policy, plan->policy, sizeof into->policy);
    return VEC_APPEND(&into->items, &plan->items) && VEC_APPEND(&into->calls, &plan->calls) &&
           VEC_APPEND(&into->bys, &plan->bys) && VEC_APPEND(&into->afters, &plan->afters) &&
           VEC_APPEND(&into->togethers, &plan->togethers) && plan_copy_places(into, plan);
}

bool search_same_output(const struct search *search, const struct probe_outcome *a,
                        const struct probe_outcome *b)
{
    return a->code == b->code && a->end_signal == b->end_signal && a->timed_out == b->timed_out &&
           (search->output_varies || (a->out_hash == b->out_hash && a->out_bytes == b->out_bytes));
}

static enum search_verdict judge(const struct search *search, const struct probe_outcome *outcome)
{
    const struct probe_outcome *reference = &search->groups.items[0].outcome;
    if (!search_same_output(search, reference, outcome)) {
        return RESULT_WRONG;
    }
    return !search->memory_varies && reference->has_memory && outcome->has_memory &&
                   reference->memory_hash != outcome->memory_hash
               ? RESULT_MEMORY
               : RESULT_SAME;
}

/* The group of a result; a new one gets the probe's plan. MODEL_NONE when out of memory. Results
 * that differ in memory only are one group. */
static uint32_t group_of(struct search *search, const struct probe_outcome *outcome,
                         const struct probe *probe)
{
    enum search_verdict verdict = search->groups.count > 0 ? judge(search, outcome) : RESULT_SAME;
    for (size_t i = 0; i < search->groups.count; i++) {
        const struct search_group *group = &search->groups.items[i];
        if (group->verdict == verdict &&
            (verdict != RESULT_WRONG || search_same_output(search, &group->outcome, outcome))) {
            return (uint32_t)i;
        }
    }
    struct search_group added = {
        .outcome = *outcome, .verdict = verdict, .kind = probe->kind, .number = search->taken - 1};
    if (!plan_copy(&added.plan, &probe->plan) || !VEC_PUSH(&search->groups, added)) {
        plan_finish(&added.plan);
        return MODEL_NONE;
    }
    return (uint32_t)search->groups.count - 1;
}

/* Whether kernels that ran one after the other gave this result. */
static bool is_of_whole(const struct search *search, const struct probe_outcome *outcome)
{
    for (size_t i = 0; i < search->groups.count; i++) {
        if (search_same_output(search, &search->groups.items[i].outcome, outcome)) {
            return true;
        }
    }
    return false;
}

bool groups_add_torn(struct search *search, const struct probe *probe,
                     const struct probe_outcome *outcome)
{
    if (is_of_whole(search, outcome) || search->torn_wrong++ > 0) {
        return true;
    }
    search->torn_number = search->taken - 1;
    return plan_copy(&search->torn_plan, &probe->plan);
}

bool groups_add(struct search *search, const struct probe *probe,
                const struct probe_outcome *outcome, uint32_t class)
{
    uint32_t index = group_of(search, outcome, probe);
    if (index == MODEL_NONE) {
        return false;
    }
    struct search_group *group = &search->groups.items[index];
    group->runs++;
    if (probe->kind == PROBE_RANDOM) {
        group->random_runs++;
        search->random_wrong += group->verdict == RESULT_WRONG;
        search->random_memory += group->verdict == RESULT_MEMORY;
    } else if (probe->kind == PROBE_EARLY || probe->kind == PROBE_ONE) {
        const uint32_t late = class == MODEL_NONE ? class : search_class_of(search, class)->group;
        if (late == MODEL_NONE || search->groups.items[late].verdict != RESULT_WRONG) {
            search->early_tried++;
            search->early_wrong += group->verdict == RESULT_WRONG;
        }
    } else if (class != MODEL_NONE) {
        struct search_class *found = search_class_of(search, class);
        if (found->group == MODEL_NONE ||
            group->verdict > search->groups.items[found->group].verdict) {
            found->group = index;
        }
    }
    return true;
}

bool groups_take_reference(struct search *search, const struct probe *probe,
                           const struct probe_result *result, uint32_t class)
{
    const struct probe_outcome *outcome = &result->outcome;
    bool failed = search_has_failed(result);
    if (search->groups.count == 0) { /* also PROBE_AGAIN, when the one before gave no result */
        return groups_add(search, probe, failed ? &search->first_outcome : outcome, class);
    }
    struct probe_outcome *reference = &search->groups.items[0].outcome;
    if (!failed) {
        search->output_varies = !search_same_output(search, reference, outcome);
        search->memory_varies = !reference->has_memory || !outcome->has_memory ||
                                reference->memory_hash != outcome->memory_hash;
    }
    return groups_add(search, probe, reference, class);
}
