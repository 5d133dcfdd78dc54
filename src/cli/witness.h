/* The search of `streamsan witness`: for each finding a legal schedule in which its two operations
 * happen the other way round, what changes under it, and a command that shows it again.
 *
 * One thread. */
#ifndef SSAN_CLI_WITNESS_H
#define SSAN_CLI_WITNESS_H

#include "cli/options.h"
#include "cli/outcome.h"
#include "cli/trial.h"

struct device;

struct witness_search {
    const struct options *options;
    const struct device *device; /* the GPU; NULL: the virtual device */
    struct trials *trials;
    const struct trial *base;              /* what each trial has in common */
    const struct trial_outcome *first;     /* the first run */
    const struct trial_outcome *reference; /* what trials are compared with: the first run, or on a
                                              GPU one where the host waits behind each item */
    struct outcome_noise noise;
    struct timespec begun; /* the time of --time counts from here */
};

/* Sets `witness` of every error finding that is not suppressed; what keeps a search from its end
 * stands there. */
void witness_findings(struct witness_search *search, struct report *report);

/* The same by gates on a GPU (witness_gate.c). */
void witness_gate_findings(struct witness_search *search, struct report *report);

/* Sets the report's diagnosis (--bisect), behind witness_findings. */
void witness_bisect(struct witness_search *search, struct report *report);

/* Whether a finding gets a witness. */
bool witness_is_wanted(const struct finding *finding);
/* Why one has nothing that could be turned round. */
enum witness_kind witness_without_pair(const struct report *report, const struct finding *finding);
/* Whether two trials show the same. */
bool witness_same_effect(const struct witness *a, const struct witness *b);

/* Seconds that are left. */
double witness_left(const struct witness_search *search);
/* How long a trial may run. */
double witness_limit(const struct witness_search *search);

#endif
