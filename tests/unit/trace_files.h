/* A directory of its own for a test's files, and traces made there. */
#ifndef SSAN_TESTS_UNIT_TRACE_FILES_H
#define SSAN_TESTS_UNIT_TRACE_FILES_H

#include "trace/event.h"
#include "trace/keeper.h"
#include "trace/reader.h"
#include "trace/writer.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Makes a directory below $TMPDIR, in memory where that is not set; files_finish removes it with
 * the files in it. */
struct files {
    char directory[256];
};

void files_init(struct files *files);
void files_finish(struct files *files);
/* Path of a file in it; valid until the fourth call from now. */
const char *files_path(const struct files *files, const char *name);
/* Path of the live trace that `pid` wrote there first. */
const char *files_live(const struct files *files, long pid);

/* All bytes of a file, malloc'ed. */
unsigned char *files_read(const char *path, size_t *length);
void files_write(const char *path, const void *bytes, size_t length);

/* Keeps `count` events at `path`. */
void files_keep(const char *path, const struct ssan_event *events, size_t count, bool whole);

/* What reading a trace came to. */
struct outcome {
    enum ssan_status opened; /* not SSAN_OK: the rest is empty */
    enum ssan_next end;      /* END, CUT or ERROR; WAIT when it came before any of them */
    uint64_t events, lost;   /* events but `lost` ones; sum of the counts of those */
    struct ssan_error error;
};

/* Reads to the end. Events that equal `expected` in their order are counted in `events` only; with
 * `expected` NULL any are. An event that differs ends the reading with end SSAN_NEXT_EVENT. */
struct outcome files_outcome(const char *path, const struct ssan_event *expected, size_t count);

#endif
