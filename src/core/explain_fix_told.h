/* The fix that a report tells of a finding, from what the re-check found. */
#ifndef SSAN_CORE_EXPLAIN_FIX_TOLD_H
#define SSAN_CORE_EXPLAIN_FIX_TOLD_H

#include "core/explain_check.h"

/* Sets *told for the finding of that index: the proposal that passed, with which findings go and
 * which stay (folded ones go by who tells them); what the owner of its buffer says instead, where
 * the program touches what a library owns; else NULL. `ids` are by finding. In the arena. False
 * when out of memory. */
bool fix_tell(struct arena *arena, const struct checker *checker, size_t index,
              const char *const *ids, const struct fix **told);

#endif
