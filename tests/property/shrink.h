/* Makes a failing trace small: drops groups of events while the failure stays. */
#ifndef SSAN_TESTS_PROPERTY_SHRINK_H
#define SSAN_TESTS_PROPERTY_SHRINK_H

#include "support/tape.h"

/* Whether the tape still shows the failure that is looked for. */
typedef bool shrink_fails(const struct tape *tape, void *self);

/* Fills the empty `small` with a failing tape from which no object and no single event can be
 * dropped any more. Deterministic; a few thousand calls of `fails` for a trace of 1000 events. */
void shrink(struct tape *small, const struct tape *failing, shrink_fails *fails, void *self);

#endif
