/* What the files of the search share: search (classes), groups (results), probes (what to run
 * next), queries (answers that may go either way). */
#ifndef SSAN_EXPLORE_SEARCH_PARTS_H
#define SSAN_EXPLORE_SEARCH_PARTS_H

#include "explore/schedule.h"
#include "explore/search.h"

/* The early items of `bys` that the run has, by index; owned by the caller. False when out of
 * memory. */
struct search_early {
    struct schedule_early *items;
    size_t count, room;
};
bool search_early_of(const struct run *run, const struct search_bys *bys,
                     struct search_early *early);
bool search_bys_copy(struct search_bys *into, const struct plan_by *bys, size_t count);
/* Appends to plan->afters. False when out of memory. */
bool search_hold(const struct search_bys *held, struct plan *plan);
/* Sets the policy, the order of calls and the places of a plan. False when out of memory. */
bool search_plan_base(const struct search *search, const char *policy, struct plan *plan);

/* All runs of a class count as one, whichever way met it: where its first entry stands. */
struct search_class *search_class_of(struct search *search, uint32_t entry);
/* The run went no way that a schedule asked for, or nobody knows which. */
bool search_has_failed(const struct probe_result *result);

/* groups.c: results go into their groups. `class`: entry, MODEL_NONE for none. False when out of
 * memory. */
bool groups_add(struct search *search, const struct probe *probe,
                const struct probe_outcome *outcome, uint32_t class);
/* The reference's, of a run that could be made as planned, else of the first one. */
bool groups_take_reference(struct search *search, const struct probe *probe,
                           const struct probe_result *result, uint32_t class);
/* Interleaved kernels give many results; only the first wrong one is kept. */
bool groups_add_torn(struct search *search, const struct probe *probe,
                     const struct probe_outcome *outcome);

/* Whether an item is no longer tried early. */
bool search_is_barred(const struct search *search, struct plan_item id);

/* queries.c: appends what has to be early so that queries before the call `end` (index) which found
 * work done find it so again. False when out of memory. */
bool search_answers(const struct run *run, uint32_t end, struct search_bys *bys);
/* queries.c: the same where schedule_hold keeps other queries from running it, else nothing. */
bool search_held_answers(const struct run *run, uint32_t end, struct search_early *early);
/* queries.c: probes for the queries of a run. `of`: its class. */
bool search_add_queries(struct search *search, const struct run *run, uint32_t of,
                        const struct probe *probe);

#endif
