/* All classes of orders of a program, from those of the runs made so far.
 *
 * For every class that was run, each of its races (poset.h) is turned round once: that gives an
 * order whose class is known in advance unless accesses depend on data. A class that was run
 * before, or is being run, is not run again.
 *
 * Why all classes are found. (1) Accesses that don't depend on data: let O and P be two classes, as
 * directions of the dependent pairs. Among the pairs that they turn differently take one, x -> y in
 * O, whose distance in an order of O is least. A way from x to y through a third item would hold
 * such a pair with a smaller distance, or P would have it too and could not have y before x. So the
 * pair is a race of O; turned round, one difference less remains. (2) Accesses that depend on data:
 * let W be an order whose class was not run, O a run class that agrees with W on the longest
 * beginning D of W, y the item of W behind D. y has the same place in its stream in O and the same
 * items before it in every schedule, all in D. If no dependent item outside D comes before y in O,
 * O agrees on one item more. Else a race x -> y with x outside D is turned round by poset_reverse,
 * which leaves D in front of y; all that stands before y reads what it read. Look at what y reads,
 * in order, and count for each the items outside D before it that write there: up to the first
 * place that x writes nothing changes, there one less is left, so in lexicographic order the counts
 * become smaller (or, if x writes nothing that y reads, y does the same as before and fewer come
 * before it). That ends, with y behind D alone. Where a run of the foreseen class turns out to be
 * of another class, poset_reverse's own order is run too ("literal"): (2) rests on it.
 *
 * What always comes first is the same in all runs only as long as no query decides what the host
 * joins. Both parts hold for runs with the same answers; so a class may have several entries, and
 * one that leaves a pair free which those before it order has its own races to turn round. Which
 * answers there are is not for this file (queries.c).
 *
 * Naive model: all linear extensions of `before`, grouped by class. Cost: runs = classes, plus one
 * a literal order; O(races) hashes of orders. One thread. */
#ifndef SSAN_EXPLORE_CLASSES_H
#define SSAN_EXPLORE_CLASSES_H

#include "base/map.h"
#include "explore/poset.h"

#define CLASSES_NONE UINT32_MAX

/* A way in which a class was run: the items, and what always came first. */
struct class_entry {
    uint64_t hash;
    const struct poset *poset; /* borrowed, as is the next, until classes_finish */
    const uint32_t *need;
    uint32_t first, next; /* entries of this class; CLASSES_NONE behind the last */
    struct poset_races races;
    size_t next_race;
};

/* One race to turn round. */
struct reversal {
    uint32_t entry; /* index of the class whose race it is */
    struct poset_pair race;
    uint64_t foreseen; /* hash of the class that comes out if no access depends on data */
    bool literal;      /* run exactly poset_reverse's order */
};

struct classes {
    VEC(struct class_entry) entries;
    struct map index;             /* hash -> first entry of the class */
    VEC(uint64_t) under_way;      /* foreseen classes of runs that have not ended */
    VEC(struct reversal) put_off; /* to look at again when those have ended */
    VEC(struct reversal) literals;
    uint32_t current;          /* entries before it have no races left */
    VEC(uint32_t) order, need; /* of the reversal given out last */
};

enum classes_next { CLASSES_RUN, CLASSES_WAIT, CLASSES_DONE, CLASSES_NO_MEMORY };

/* A class that was run. *entry: its index, a new one or an old one that covers it. False when out
 * of memory. */
bool classes_add(struct classes *classes, uint64_t hash, const struct poset *poset,
                 const uint32_t *need, uint32_t *entry, bool *is_new);
/* The next race to turn round. Its order and class stand in `order` and `need` until the next call;
 * WAIT: there may be more when a run that is under way has ended. */
enum classes_next classes_next(struct classes *classes, struct reversal *reversal);
/* The run of a reversal has ended in the class `hash` (0: in none, or with less orders than it was
 * to have). False when out of memory. */
bool classes_ended(struct classes *classes, const struct reversal *reversal, uint64_t hash);
/* Races that were not looked at yet. */
uint64_t classes_left(const struct classes *classes);
void classes_finish(struct classes *classes);

#endif
