/* What orders that which a redundant call orders. */
#ifndef SSAN_AUDIT_COVER_H
#define SSAN_AUDIT_COVER_H

#include "audit/sites.h"
#include "audit/walk.h"

/* Sets `why` and `covers` of every site without fresh hazards. `needs`: what the trace gives when
 * all synchronisation calls are gone, that is, which operations need order. False when out of
 * memory. O(items + joins) for each of a bounded number of instances and needs of a site. */
bool cover_find(struct sites *sites, const struct history *history, const struct fresh_list *needs,
                bool documented);

#endif
