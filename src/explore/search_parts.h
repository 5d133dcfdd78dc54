/* What the files of the search share: search (results), probes (what to run next), queries (answers
 * that may go either way). */
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
/* Sets the policy, the order of calls and the places of a plan. False when out of memory. */
bool search_plan_base(const struct search *search, const char *policy, struct plan *plan);

/* queries.c: probes for the queries of a run that found work unfinished. `of`: its class. */
bool search_add_queries(struct search *search, const struct run *run, uint32_t of,
                        const struct plan *plan);

#endif
