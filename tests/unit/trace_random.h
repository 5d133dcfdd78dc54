/* Random valid events of every kind, and their comparison, by the field tables alone. */
#ifndef SSAN_TESTS_UNIT_TRACE_RANDOM_H
#define SSAN_TESTS_UNIT_TRACE_RANDOM_H

#include "base/arena.h"
#include "base/rng.h"
#include "trace/event.h"

#include <stdbool.h>

/* An event of `kind` (0: any) that record_check accepts; what it borrows lives in `arena`. */
struct ssan_event random_event(struct rng *rng, struct arena *arena, uint32_t kind);

/* Field by field; empty strings and arrays are equal wherever they point. */
bool event_equal(const struct ssan_event *a, const struct ssan_event *b);

/* Small events with a number to know them by: releases by `thread` with object `number`. */
struct ssan_event numbered_event(uint32_t thread, uint64_t number);

#endif
