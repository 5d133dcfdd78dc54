/* Order that holds by accident, and what appears when the program is built otherwise. */
#ifndef SSAN_AUDIT_ACCIDENT_H
#define SSAN_AUDIT_ACCIDENT_H

#include "audit/rerun.h"

/* Fills the accidental part of `audit`: pairs of operations whose order rests only on the legacy
 * stream, on device-wide synchronisation or on a call that blocks, each with the edge that should
 * be there. At most six re-runs, and those of the fixes. Sets `by_accident` of the redundant sites,
 * with at most two re-runs for each of 60. */
enum ssan_status accidents_find(struct audit *audit, struct rerun *rerun, struct sites *sites,
                                struct ssan_error *err);

/* Fills the assumed part of `audit` where options.assume asks for it. */
enum ssan_status assumption_judge(struct audit *audit, struct rerun *rerun, struct ssan_error *err);

#endif
