/* The source lines of a trace's sites, for comments in a listing. */
#ifndef SSAN_CLI_REMARKS_H
#define SSAN_CLI_REMARKS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "trace/sink.h"

/* Zeroed is empty: no place is known. */
struct remarks {
    struct map sites;     /* site -> text in the arena */
    struct map libraries; /* site -> 1: that text is of a library's code */
    struct arena arena;
};

/* Reads the lines of all sites from a source that can be read again, and rewinds it; of one that
 * can't, nothing is read. What is wrong with the trace is left for the reader behind to tell.
 * SSAN_NO_MEMORY. */
enum ssan_status remarks_read(struct remarks *remarks, struct ssan_source *source,
                              struct ssan_error *err);

/* Appends "  # file.cu:34: statement" for an event with a site whose line is known, else nothing.
 */
void remarks_comment(struct strbuf *out, const struct remarks *remarks,
                     const struct ssan_event *event);

void remarks_finish(struct remarks *remarks);

#endif
