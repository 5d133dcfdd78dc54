/* One name for each block in all parts of an audit. */
#ifndef SSAN_AUDIT_AGREE_H
#define SSAN_AUDIT_AGREE_H

#include "core/finding.h"

#include <stdbool.h>

/* Gives the blocks of `other` the names that they have in `report`, where names are told apart
 * without regard to it; blocks that `report` does not hold get names that none of its blocks has.
 * Both are of one trace. False when out of memory. */
bool agree_on_blocks(const struct report *report, struct report *other);

#endif
