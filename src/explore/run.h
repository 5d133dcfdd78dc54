/* A run as a partial order of what ran: from a model to a poset, and back to items.
 *
 * Only items that ran, or would have but for a device fault, and are no void waits count. Naive
 * model: every pair of items is asked for its order and for conflicts. Cost: O(items^2) such
 * questions. One thread. */
#ifndef SSAN_EXPLORE_RUN_H
#define SSAN_EXPLORE_RUN_H

#include "explore/model.h"
#include "explore/poset.h"

struct run {
    struct model model;
    struct poset poset;
    uint32_t *items;  /* of the poset -> of the model */
    uint32_t *places; /* of the model -> of the poset; MODEL_NONE: it isn't there */
    uint32_t *need;   /* the class of the order in which it ran */
    uint64_t hash;    /* of the class */
    uint64_t joins;   /* hash of what always comes first: two runs of a class may differ in it */
};

/* Takes over the model (also on failure; zeroed then for the caller) and forgets its byte sets.
 * False when out of memory. `run` needs run_finish in any case. */
bool run_create(struct run *run, struct model *take_model);
void run_finish(struct run *run);

#endif
