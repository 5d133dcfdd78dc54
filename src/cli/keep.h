/* Schedules kept in the folder of --keep. */
#ifndef SSAN_CLI_KEEP_H
#define SSAN_CLI_KEEP_H

#include "base/status.h"
#include "base/strbuf.h"
#include "trace/plan.h"

/* Makes the folder unless it is there, and appends "folder/name" to `path`. SSAN_IO, SSAN_FULL,
 * SSAN_NO_MEMORY. */
enum ssan_status keep_path(const char *folder, const char *name, struct strbuf *path,
                           struct ssan_error *err);
/* Whether files can be written there: makes the folder unless it is there. NULL: nothing to ask. */
enum ssan_status keep_probe(const char *folder, struct ssan_error *err);
/* Writes the file of a plan. */
enum ssan_status keep_plan(const char *path, const struct plan *plan, struct ssan_error *err);

#endif
