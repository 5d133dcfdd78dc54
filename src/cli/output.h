/* Where text of the tool goes: a file of the user's, or a standard stream. */
#ifndef SSAN_CLI_OUTPUT_H
#define SSAN_CLI_OUTPUT_H

#include "base/status.h"
#include "base/strbuf.h"

/* Makes sure that the file can be written, before anything long is begun; empties it. NULL: nothing
 * to do. */
enum ssan_status output_probe(const char *path, struct ssan_error *err);

/* Writes all of the text to the file, or to the descriptor `otherwise` when `path` is NULL; there a
 * reader that has gone is the end of it, no error.
 * SSAN_FULL, SSAN_IO: part of it may have been written. */
enum ssan_status output_write(const char *path, int otherwise, const struct strbuf *text,
                              struct ssan_error *err);

#endif
