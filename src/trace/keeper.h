/* Writes kept traces. One thread at a time. */
#ifndef SSAN_TRACE_KEEPER_H
#define SSAN_TRACE_KEEPER_H

#include "trace/event.h"

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Compresses events into a kept trace (zstd frames, xxhash each, an end mark with the totals): the
 * tool's side. What stands at `path` is replaced. */
struct keeper;
enum ssan_status keeper_open(struct keeper **keeper, const char *path, struct ssan_error *err);
/* Errors (a full disk, memory) stick: nothing is kept behind one, and keeper_close tells it. */
void keeper_put(struct keeper *keeper, const struct ssan_event *event);
/* Bytes in the file so far. */
uint64_t keeper_bytes(const struct keeper *keeper);
/* Whether nothing has failed so far. */
bool keeper_is_good(const struct keeper *keeper);
/* Frees the keeper, whatever it returns: SSAN_OK, SSAN_FULL (disk), SSAN_IO, SSAN_NO_MEMORY,
 * SSAN_FORMAT (an event above 64 MiB). The file of a keeper that failed stays: it reads as a cut
 * trace up to its last whole frame. `whole`: the source ended with SSAN_NEXT_END; a cut trace stays
 * one when read back. */
enum ssan_status keeper_close(struct keeper *keeper, bool whole, struct ssan_error *err);

#endif
