/* What failed in a run: the device fault with what it came of, and the failures that were planned.
 */
#ifndef SSAN_CORE_EXPLAIN_FAILURES_H
#define SSAN_CORE_EXPLAIN_FAILURES_H

#include "core/explain_history.h"

/* Fills the members of `run` about them; texts are those of the history. False when out of memory.
 */
bool explain_failures(struct run_info *run, struct arena *arena, const struct history *history);

/* The fix of SSAN-UNCHECKED-LAUNCH for a launch at this place, whose file may be NULL: where the
 * error can be asked for, and how; what to do then is the program's. In the arena; NULL: out of
 * memory. */
const struct fix *explain_ask_error(struct arena *arena, struct place launch);

#endif
