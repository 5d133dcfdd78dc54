/* The file behind the writer: created complete, grown by granted chunks, never a signal for the
 * target.
 *
 * The target owns its descriptor table and may close ours: before each use the descriptor is
 * compared with the file it should be, and the file opened again by its name when it is another.
 * Belongs to writer.c; calls are made by one thread at a time, with signals blocked. No malloc. */
#ifndef SSAN_TRACE_LIVE_FILE_H
#define SSAN_TRACE_LIVE_FILE_H

#include "base/status.h"
#include "trace/format.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct live_file {
    char path[PATH_MAX]; /* absolute */
    int fd;
    dev_t device;
    ino_t inode;
};

/* Creates `directory`/PID.live (PID.1.live, ... when that exists) with its header; the name appears
 * when the header is whole. *header is the mapped page, valid for the rest of the process. SSAN_IO;
 * SSAN_FULL without space. */
enum ssan_status live_file_create(struct live_file *file, const char *directory,
                                  struct live_header **header, struct ssan_error *err);

/* Makes file space of [offset, offset + bytes) real. False: refused (full, a limit of the process).
 */
bool live_file_grant(struct live_file *file, uint64_t offset, uint64_t bytes);

/* Bytes of the disk that the file holds now: what the reader has given back is not in it. */
uint64_t live_file_disk_bytes(struct live_file *file);

/* Maps [offset, offset + bytes), which may reach behind the end of the file; over `where` when that
 * isn't NULL (an earlier mapping of the same range, replaced at once). NULL when refused. */
unsigned char *live_file_map(struct live_file *file, void *where, uint64_t offset, uint64_t bytes);

/* Makes the pages of granted and mapped memory present: all faults at once, and one that the file
 * system can't serve in spite of its grant is refused here instead of ending the target with
 * SIGBUS. True where the kernel can't (before Linux 5.14). */
bool live_file_populate(unsigned char *memory, size_t bytes);

#endif
