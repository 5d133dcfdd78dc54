/* One run of a program: its folder, its processes, and its traces until all have come to their end.
 *
 * One loop: wait for signals, look for new traces, take what is there. One thread; one run a
 * process. */
#ifndef SSAN_CLI_FOLLOW_H
#define SSAN_CLI_FOLLOW_H

#include "cli/feed.h"
#include "cli/folder.h"
#include "cli/live.h"
#include "cli/target.h"

#include "base/arena.h"
#include "base/vec.h"

#include <time.h>

struct follow_options {
    char **arguments; /* of the program */
    struct folder_options folder;
    struct engine_options engine;
    uint64_t kept_limit_bytes; /* of each copy; 0: none */
    const char *kept; /* where the copy of the first trace goes, the n-th to `kept`.n; NULL: into
                         the folder */
    const char *directory; /* sites are resolved against it; NULL: not at all */
    bool documented;       /* severities for query_findings */
    /* A trial: nothing is printed, signals end the program at once, and so do `limit_seconds` (0:
     * none) and more than `output_bytes` in one of the files. */
    bool trial;
    double limit_seconds;
    uint64_t output_bytes;
    const char *const *environment; /* further words for the program (target.h); NULL: none */
    bool live;                      /* error findings are told while it runs... */
    double live_seconds;            /* ... once it has run so long */
    const int *files;               /* its descriptors 0 to 2; NULL: those of the tool */
};

struct follow {
    const struct follow_options *options;
    struct folder folder;
    struct target target;
    VEC(struct feed) feeds;
    struct live live;
    VEC(const char *) reasons;                 /* why the run is not complete, in words */
    bool reason_lost;                          /* a further one, for want of memory */
    struct arena arena;                        /* of reasons */
    struct timespec begun, ended, interrupted; /* `ended`: the program, `interrupted`: by the first
                                                  signal behind that */
    bool timed_out, flooded;                   /* trials: a limit ended it */
};

/* Starts the program and follows it to the end of all its traces; the feeds are not finished.
 * What fails before the program runs comes back as a status. `options` is borrowed until
 * follow_finish, which is needed in any case. */
enum ssan_status follow_run(struct follow *follow, const struct follow_options *options,
                            struct ssan_error *err);

/* Adds a reason; `format` has one %s. */
void follow_add_reason(struct follow *follow, const char *format, const char *word);

/* Takes signals that wait; whether one that asks for an end came behind the program's. */
bool follow_was_interrupted(struct follow *follow);

/* Closes feeds and folder, and gives the signals back. */
void follow_finish(struct follow *follow);

#endif
