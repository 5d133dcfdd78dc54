/* How many orders a class has, all ways together in which it was run.
 *
 * What queries answer decides what the host has joined, so two runs of one class may always have
 * other pairs in order. The class has the orders of each: where one way has all orders of another,
 * that one counts; where none has, their union. Naive model: a set of all orders. Cost: that of
 * count_union. One thread. */
#ifndef SSAN_EXPLORE_WAYS_H
#define SSAN_EXPLORE_WAYS_H

#include "explore/classes.h"
#include "explore/count.h"

/* `first`: the first entry of the class. False when out of memory. */
bool ways_count(const struct classes *classes, uint32_t first, const struct count_limits *limits,
                struct order_count *count);

#endif
