/* The runs of `streamsan explore`: probes of the search as trials, several at once.
 *
 * Invariant: results are taken in the order in which the trials were started, and a trial is
 * started only when fewer than `jobs` results are awaited; so equal programs are explored in equal
 * steps whatever takes how long. One thread. */
#ifndef SSAN_CLI_EXPLORE_RUN_H
#define SSAN_CLI_EXPLORE_RUN_H

#include "cli/explore_facts.h"
#include "cli/output_lines.h"
#include "cli/trial.h"

enum explore_end {
    EXPLORE_ENDED,       /* nothing is left to run */
    EXPLORE_LIMIT_RUNS,  /* --limit */
    EXPLORE_LIMIT_TIME,  /* --time */
    EXPLORE_INTERRUPTED, /* by a signal */
    EXPLORE_NO_START     /* the first run gave nothing to explore: `no_start` */
};

struct explore_run {
    const struct options *options;
    struct search search;
    struct trials trials;
    VEC(struct probe) under_way; /* in order of start */
    VEC(struct explore_sample) samples;
    struct strbuf reference; /* output, its beginning */
    struct output_mask mask; /* what varies of it by itself */
    char *first_directory;   /* folder of the first trial, for its report */
    struct trial_result first;
    struct timespec begun, told;
    bool shown; /* progress stands on the terminal */
    enum explore_end end;
    const char *no_start; /* why not, in words */
    bool interrupted;
};

/* Runs all. What can't be started at all is a status (126, 127, memory); a limit isn't. Needs
 * explore_run_finish in any case; until then the first trial's folder stays. */
enum ssan_status explore_run(struct explore_run *run, const struct options *options,
                             struct ssan_error *err);
void explore_run_finish(struct explore_run *run);

#endif
