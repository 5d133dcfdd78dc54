/* The program's own words (annotate.h) as events, but for names and questions, which need the
 * producer's tables. */
#ifndef SSAN_TRACE_ANNOTATION_H
#define SSAN_TRACE_ANNOTATION_H

#include "trace/event.h"

#include <stdbool.h>

/* What ssan_annotate was called with. */
struct annotation {
    uint32_t kind; /* enum ssan_annotation_kind */
    const void *object;
    uint64_t bytes;
    const void *pool;
};

/* Whether the event needs the stack of the call. */
bool annotation_has_site(uint32_t kind);
/* Fills in the event; false when the kind has none of its own, or there is nothing to tell. */
bool annotation_event(const struct annotation *annotation, uint32_t thread, uint32_t site,
                      struct ssan_event *event);

#endif
