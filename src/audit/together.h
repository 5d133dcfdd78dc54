/* The largest set of call sites whose loss together changes nothing. */
#ifndef SSAN_AUDIT_TOGETHER_H
#define SSAN_AUDIT_TOGETHER_H

#include "audit/rerun.h"

/* Marks the set among the redundant sites (site.together). *exact: no larger set passes; false when
 * the search ended early (its budget of re-runs, or more than 64 redundant sites). Of sets of one
 * size the one that keeps fewer calls that block the host, then the earlier ones. */
enum ssan_status together_find(struct sites *sites, struct rerun *rerun, uint64_t max_runs,
                               bool *exact, struct ssan_error *err);

#endif
