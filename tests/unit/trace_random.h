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

/* An event to know by its thread and number (from 0), of a size that depends on both: most are
 * small, one in 64 holds about 50 KB. Its text is constant. */
struct ssan_event numbered_event(uint32_t thread, uint64_t number);
/* The number when `event` is the numbered event of *thread, which is set. */
bool is_numbered(const struct ssan_event *event, uint32_t *thread, uint64_t *number);

#endif
