/* One trace on its way: from a reader into an engine, and for live traces into a kept copy too.
 *
 * Invariant: engine, kept copy and sites have taken the same events: all that were read, or those
 * up to the limit of the copy. One thread. */
#ifndef SSAN_CLI_FEED_H
#define SSAN_CLI_FEED_H

#include "core/engine.h"
#include "symbol/names.h"
#include "trace/reader.h"

#include <stdbool.h>

enum feed_state {
    FEED_GOING,
    FEED_WHOLE,   /* read to its end */
    FEED_CUT,     /* the writer went without finishing */
    FEED_DAMAGED, /* `error` says where; what came before counts */
};

struct sites;
struct folder;

/* What became of kernels that were to be held. */
struct feed_gates {
    uint32_t told, by_partner, by_limit; /* how many, and how many of them ended so */
    bool submitted;                      /* what the last one was held for was */
};

struct feed {
    char *path;      /* of the trace that is read */
    char *kept_path; /* of the copy, NULL: none is made */
    struct reader *reader;
    struct engine *engine;
    struct keeper *keeper;
    struct sites *sites;
    struct names names;
    struct folder *folder; /* answers query_findings; NULL for kept traces */
    enum feed_state state;
    struct ssan_error error;      /* FEED_DAMAGED */
    struct ssan_error keep_error; /* status SSAN_OK: the copy is good */
    uint64_t limit_bytes;         /* of the copy; 0: none */
    bool full;                    /* it has been reached: engine and copy take no more */
    bool documented;              /* severities to count for query_findings */
    bool has_process;             /* a `process` event was seen: not a hand-written listing */
    uint64_t events;
    uint32_t pid;
    char infeasible[256]; /* why the schedule could not be followed; empty: it was */
    struct feed_gates gates;
};

struct feed_options {
    const struct engine_options *engine;
    const char *kept_path; /* where the copy goes; NULL: none */
    uint64_t limit_bytes;  /* of the copy: behind it nothing is taken; 0: none */
    const char *directory; /* sites are resolved against it; NULL: not at all */
    struct folder *folder;
    bool documented;
};

/* Opens the trace. The feed is to be closed also after a failure. */
enum ssan_status feed_open(struct feed *feed, const char *path, const struct feed_options *options,
                           struct ssan_error *err);

/* Takes up to `most` events; returns how many came. 0 with state FEED_GOING: nothing there yet. */
size_t feed_step(struct feed *feed, size_t most);

/* After the last step: resolves sites into the engine and the copy, closes the copy, finishes the
 * engine. */
void feed_finish(struct feed *feed);

/* Prints to stderr which objects' lines are not known, and why. */
void feed_explain(const struct feed *feed);

/* Findings so far with this severity. */
uint64_t feed_count(const struct feed *feed, enum severity severity);
void feed_close(struct feed *feed);

#endif
