/* From sites and hazards to the facts of struct audit: names, places, tables. */
#ifndef SSAN_AUDIT_TELL_H
#define SSAN_AUDIT_TELL_H

#include "audit/audit.h"
#include "audit/sites.h"

/* Fills the tables and sites of `audit`. Reads `source` once for the operands of what is told.
 * SSAN_NO_MEMORY, SSAN_IO. */
enum ssan_status tell(struct audit *audit, const struct sites *sites, struct history *history,
                      struct ssan_source *source, struct ssan_error *err);

#endif
