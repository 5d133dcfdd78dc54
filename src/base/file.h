/* Whole files, where temporary ones go, and the words for what went wrong with one. Any thread. */
#ifndef SSAN_BASE_FILE_H
#define SSAN_BASE_FILE_H

#include "base/status.h"
#include "base/strbuf.h"

/* "can't create /a/b: Permission denied" from "can't create" (`what`) and an errno; returns
 * SSAN_FULL where there is no room left or no more may be written, else SSAN_IO. */
enum ssan_status file_fail(struct ssan_error *err, int error, const char *what, const char *path);

/* Appends all of the file to `text`, which the caller finishes in any case. SSAN_IO: it can't be
 * read; SSAN_FORMAT: it is longer than `most_bytes`; SSAN_NO_MEMORY. The words begin with the
 * path. */
enum ssan_status file_read(struct strbuf *text, const char *path, size_t most_bytes,
                           struct ssan_error *err);

/* Appends the last `most_bytes` of a plain file, or all of a shorter one; nothing of one that can't
 * be read. Nothing is waited for. */
void file_read_end(struct strbuf *text, const char *path, size_t most_bytes);

/* Writes all of it, however many calls that takes; 0, or the errno of the one that failed. */
int file_write(int fd, const void *bytes, size_t length_bytes);

/* Where temporary files and folders are made: TMPDIR, or /tmp where that is not set or empty. As
 * long as the environment is not changed. */
const char *file_temporary_folder(void);

/* Removes a folder with all that is in it, links and not what they lead to. What can't be removed
 * stays. */
void file_remove_tree(const char *path);

#endif
