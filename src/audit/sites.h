/* The synchronisation call sites of a trace: event waits, joins of streams, events and devices,
 * successful queries. Records and copies are none. */
#ifndef SSAN_AUDIT_SITES_H
#define SSAN_AUDIT_SITES_H

#include "core/explain_history.h"

/* A hazard that the trace did not have, less gravely, or less often. */
struct fresh {
    struct hazard hazard; /* its bytes lie in the report's arena */
    uint64_t key;
    enum severity severity;
    uint64_t known; /* instances that the trace has; hazard.count are those that are added */
};

struct fresh_list {
    struct fresh *items;
    size_t count, room;
    size_t more; /* that were not kept */
};

/* A cover as the history has it. */
struct found_cover {
    uint32_t kind; /* enum audit_cover_kind */
    uint32_t call; /* index into history.calls; HISTORY_NONE */
};

struct site {
    const char *call; /* name of the CUDA call */
    uint64_t key;
    bool is_wait;
    VEC(uint32_t) calls; /* indices into history.calls, in order */
    uint64_t blocked_ns;
    struct fresh_list fresh; /* without it; empty: redundant */
    bool together;
    bool by_accident; /* redundant, but for order by accident */
    uint32_t why;     /* enum audit_why */
    VEC(struct found_cover) covers;
};

struct sites {
    VEC(struct site) items; /* in order of the trace */
    struct map of;          /* key -> index */
};

/* Sites are told apart by file, line and the name of the call; where the line is unknown by their
 * stack. False when out of memory. */
bool sites_collect(struct sites *sites, const struct history *history);
/* The site of a call (index into history.calls); NULL when it is none. */
struct site *sites_of_call(const struct sites *sites, const struct history *history, uint32_t call);
/* Whether a call waits, and is no record and no copy. */
bool sites_is_sync(const struct history *history, const struct hist_call *call);
void sites_finish(struct sites *sites);

#endif
