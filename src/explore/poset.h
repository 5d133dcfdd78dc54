/* The items of one run as a partial order, and the classes of orders that the run stands for.
 *
 * Items lie on chains (streams): those of a chain are ordered. `before` is the order that holds in
 * every schedule, as a row for each item: how many of each chain come first. Two items that are
 * dependent (they conflict, and `before` leaves them unordered) may run either way round; all
 * linear orders that turn every conflicting pair the same way have the same result: they are one
 * class (Mazurkiewicz trace). `before` is no part of it, since what the host asks may decide what
 * it joins: of a class, a poset has the linear extensions of its `before` and its dependent pairs
 * closed. The order in which the items ran is that of their numbers. Naive model: a graph with an
 * edge for every ordered pair, and all its topological sorts. Cost: closing is O(items * (chains +
 * dependent) * chains). One thread. */
#ifndef SSAN_EXPLORE_POSET_H
#define SSAN_EXPLORE_POSET_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Two dependent items; `first` has the smaller number. */
struct poset_pair {
    uint32_t first, second;
};

struct poset_item {
    uint32_t chain, place; /* place in the chain from 1, without gaps, ascending by number */
    uint64_t name;         /* decides between items that may both come next; unique */
    uint64_t mark;         /* what the item is: a part of the class's hash */
};

struct poset {
    uint32_t count, chains;
    struct poset_item *items;
    uint32_t *before;             /* count * chains */
    VEC(struct poset_pair) pairs; /* dependent ones */
    uint64_t fixed;               /* hash of the items and of the conflicts that `before` orders */
    /* Made by poset_seal: item of a place of a chain, and the dependent ones of each item. */
    uint32_t *chain_begin, *chain_items; /* chain_items[chain_begin[c] + place - 1] */
    uint32_t *link_begin, *links;
};

/* Rows for `count` items on `chains` chains, all zero. False when out of memory; poset_finish in
 * any case. */
bool poset_create(struct poset *poset, uint32_t count, uint32_t chains);
/* Two items conflict and are ordered: x comes first in every schedule. Those of a chain need not be
 * told. */
void poset_fix(struct poset *poset, uint32_t x, uint32_t y);
/* After items, before and pairs are set: what the rest needs. False when out of memory. */
bool poset_seal(struct poset *poset);
void poset_finish(struct poset *poset);

static inline uint32_t *poset_row(const struct poset *poset, uint32_t *rows, uint32_t item)
{
    return rows + (size_t)item * poset->chains;
}

/* The class of a linear order (all items once, `before` respected; NULL: that of the numbers):
 * fills `need`, count * chains, as `before` has it. */
void poset_close(const struct poset *poset, const uint32_t *order, uint32_t *need);
/* x comes before y in every order of the class. */
static inline bool poset_comes_before(const struct poset *poset, const uint32_t *need, uint32_t x,
                                      uint32_t y)
{
    const struct poset_item *item = &poset->items[x];
    return need[(size_t)y * poset->chains + item->chain] >= item->place;
}

/* The order of the class that is least by names, into `order`. False when out of memory. */
bool poset_canonical(const struct poset *poset, const uint32_t *need, uint32_t *order);
/* The class as a number, whatever `before` is: names, marks, and which way round conflicts are. */
uint64_t poset_hash(const struct poset *poset, const uint32_t *need);

/* Of two posets of one class: each pair that `wide` orders, `narrow` orders too; so what `narrow`
 * allows, `wide` does. */
bool poset_covers(const struct poset *wide, const struct poset *narrow);
/* Rows of one poset of a class in the numbers of another one. */
void poset_translate(const struct poset *from, const uint32_t *rows, const struct poset *to,
                     uint32_t *into);

/* Dependent pairs that the class orders directly, with no third item in between: only those can be
 * turned round alone. Appended to *races. */
struct poset_races {
    struct poset_pair *items;
    size_t count, room;
};
bool poset_races(const struct poset *poset, const uint32_t *need, struct poset_races *races);
/* The order that turns a race round: all that needs to come behind neither, then y, then x, then
 * the rest, each as the numbers have it. */
void poset_reverse(const struct poset *poset, const uint32_t *need, struct poset_pair race,
                   uint32_t *order);

#endif
