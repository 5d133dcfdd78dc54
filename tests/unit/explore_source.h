/* A trace built in memory (build_trace.h) as a source of events, and `call` events for it. */
#ifndef SSAN_TESTS_UNIT_EXPLORE_SOURCE_H
#define SSAN_TESTS_UNIT_EXPLORE_SOURCE_H

#include "support/build_trace.h"
#include "trace/sink.h"

struct trace_source {
    struct ssan_source source;
    const struct trace *trace;
    size_t at;
};

static inline enum ssan_next trace_source_next(struct ssan_source *self, struct ssan_event *event,
                                               struct ssan_error *err)
{
    struct trace_source *source = (struct trace_source *)self;
    (void)err;
    if (source->at == source->trace->events.count) {
        return SSAN_NEXT_END;
    }
    *event = source->trace->events.items[source->at++];
    return SSAN_NEXT_EVENT;
}

static inline struct trace_source trace_source(const struct trace *trace)
{
    return (struct trace_source){.source = {.next = trace_source_next}, .trace = trace};
}

static inline void t_call(struct trace *t, uint32_t number, uint32_t query)
{
    t_put(t, (struct ssan_event){.kind = SSAN_EV_call,
                                 .call = {.thread = t->thread, .number = number, .query = query}});
}

#endif
