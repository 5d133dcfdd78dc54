/* The search of `streamsan witness`: for each finding a legal schedule in which its two operations
 * happen the other way round, what changes under it, and a command that shows it again.
 *
 * One thread. */
#ifndef SSAN_CLI_WITNESS_H
#define SSAN_CLI_WITNESS_H

#include "cli/options.h"
#include "cli/outcome.h"
#include "cli/trial.h"

struct witness_search {
    const struct options *options;
    struct trials *trials;
    const struct trial *base;              /* what each trial has in common */
    const struct trial_outcome *reference; /* of the first run */
    struct outcome_noise noise;
    struct timespec begun; /* the time of --time counts from here */
};

/* Sets `witness` of every error finding that is not suppressed; what keeps a search from its end
 * stands there. */
void witness_findings(struct witness_search *search, struct report *report);

/* Sets the report's diagnosis (--bisect), behind witness_findings. */
void witness_bisect(struct witness_search *search, struct report *report);

/* Seconds that are left. */
double witness_left(const struct witness_search *search);
/* How long a trial may run. */
double witness_limit(const struct witness_search *search);

#endif
