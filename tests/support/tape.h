/* A trace held in memory: events with everything they borrow copied into an arena.
 *
 * Random traces are written to one, oracle and engine read it as often as they like, the shrinker
 * drops events and numbers the ids again. Zeroed is empty. Out of memory ends the test (must.h).
 * Not thread-safe. */
#ifndef SSAN_TESTS_SUPPORT_TAPE_H
#define SSAN_TESTS_SUPPORT_TAPE_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "trace/event.h"

struct tape {
    struct arena arena;
    VEC(struct ssan_event) events;
};

/* Appends a deep copy of the event. */
void tape_put(struct tape *tape, const struct ssan_event *event);
/* A copy of the events whose `keep` flag is set, with op, stream, event, alloc and sync ids dense
 * again. Records that name an object that is gone go with it. `to` must be empty. */
void tape_select(struct tape *to, const struct tape *from, const bool *keep);
/* True when the two events are equal field by field. */
bool tape_same_event(const struct ssan_event *a, const struct ssan_event *b);
void tape_finish(struct tape *tape);

#endif
