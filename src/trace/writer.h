/* Writes a live trace from inside the target: mapped file space, no malloc, no lock of the target,
 * no exit.
 *
 * The file is a header page and chunks of 1 MiB. The space of a chunk is granted by fallocate
 * before it is mapped; when that is refused (full disk) everything behind is counted and stepped
 * over. A record is committed by its last word, so kill -9 loses nothing committed. See
 * docs/trace-format.md. */
#ifndef SSAN_TRACE_WRITER_H
#define SSAN_TRACE_WRITER_H

#include "trace/sink.h"

struct writer;

/* Creates the live trace in `directory` (named by the pid, control_abi.h). NULL with *err set when
 * it can't; the caller then runs without a trace. One writer a process. `kill_after_records` and
 * `limit_bytes` as in control_abi.h. */
struct writer *writer_create(const char *directory, uint64_t limit_bytes,
                             uint64_t kill_after_records, struct ssan_error *err);

/* The sink that takes events, any thread, until writer_finish. Too large events (above a chunk)
 * count as lost. */
struct ssan_sink *writer_sink(struct writer *writer);

/* Where the file stands; as long as the writer. */
const char *writer_path(const struct writer *writer);

/* From here on the trace grows only while process `tool` lives: nobody would read, or remove, what
 * comes behind. */
void writer_watch(struct writer *writer, int64_t tool);

/* In a forked child: this process writes nothing any more and leaves the file to its parent. */
void writer_detach(struct writer *writer);

/* Seals the file: what comes later is dropped. Does not free the writer: other threads may still be
 * inside. */
void writer_finish(struct writer *writer);

#endif
