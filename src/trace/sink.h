/* What a producer writes to, and what the analysis reads from: the two ends of the narrow waist. */
#ifndef SSAN_TRACE_SINK_H
#define SSAN_TRACE_SINK_H

#include "base/status.h"
#include "trace/event.h"

#include <stdbool.h>

/* Takes one event. The event and what it borrows are valid for the call only. Producers call it
 * from any thread and get no answer: what can't be written is counted by the sink and told as a
 * `lost` event. */
struct ssan_sink {
    void (*put)(struct ssan_sink *self, const struct ssan_event *event);
};

static inline void ssan_put(struct ssan_sink *sink, const struct ssan_event *event)
{
    sink->put(sink, event);
}

enum ssan_next {
    SSAN_NEXT_EVENT, /* *event is set; what it borrows holds until the next call on this source */
    SSAN_NEXT_WAIT,  /* nothing yet, the writer still lives */
    SSAN_NEXT_END,   /* the end of a whole trace */
    SSAN_NEXT_CUT,   /* the end of what is there; the writer has gone without finishing */
    SSAN_NEXT_ERROR, /* damaged or not a trace: *err says where; later calls give the same */
};

/* Gives events in the order of the trace. One thread at a time. */
struct ssan_source {
    enum ssan_next (*next)(struct ssan_source *self, struct ssan_event *event,
                           struct ssan_error *err);
    /* Back to the first event, so that a fix can be re-checked on the whole trace; false when it
     * can't. */
    bool (*rewind)(struct ssan_source *self);
};

static inline enum ssan_next ssan_next(struct ssan_source *source, struct ssan_event *event,
                                       struct ssan_error *err)
{
    return source->next(source, event, err);
}

#endif
