/* Reads traces: live ones while they grow, kept ones (compressed, checksummed), and listings.
 * Validates everything.
 *
 * All three are a struct ssan_source. One thread at a time. */
#ifndef SSAN_TRACE_READER_H
#define SSAN_TRACE_READER_H

#include "trace/sink.h"

struct reader;

/* Opens a trace of any of the three forms, told apart by its first bytes ("-" reads a listing from
 * standard input). SSAN_IO, SSAN_FORMAT (not a trace), SSAN_VERSION (says what to do). */
enum ssan_status reader_open(struct reader **reader, const char *path, struct ssan_error *err);

/* A listing held in memory; `text` is borrowed until reader_close. */
enum ssan_status reader_open_listing(struct reader **reader, const char *name, const char *text,
                                     size_t length, struct ssan_error *err);

/* Also a live trace whose writer still lives gives SSAN_NEXT_WAIT at its end; decided by pid and
 * start time. */
struct ssan_source *reader_source(struct reader *reader);

/* A listing gives its line, a live trace the byte offset of the event given last, a kept one that
 * of its frame. */
uint64_t reader_position(const struct reader *reader);
/* Bytes of the trace so far: a live one up to the event given last, of others the whole file or
 * text. */
uint64_t reader_bytes(const struct reader *reader);
/* Gives the space of a live trace's read chunks back to the file system, so that a run of days
 * stays bounded; rewind is false from then on. Nothing for other forms, or where the file system
 * can't. */
void reader_release(struct reader *reader);
void reader_close(struct reader *reader);

#endif
