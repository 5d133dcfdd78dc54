/* What programs said in the files of their outputs, a line or two of it for a message; without
 * control characters. Out of memory shows in the text. */
#ifndef SSAN_CONTRACT_SAID_H
#define SSAN_CONTRACT_SAID_H

#include "base/status.h"
#include "base/strbuf.h"

/* Appends what a program wrote into one of those files, a space for each byte 0: that would end the
 * text. Statuses as file_read's. */
enum ssan_status said_read(struct strbuf *out, const char *path, size_t most_bytes,
                           struct ssan_error *err);

/* The first line of a file of the folder that is marked as an error, or else that holds something;
 * "" if there is none. */
void said_first_line(struct strbuf *out, const char *folder, const char *file);

/* The last line of the run's standard error that `streamsan` wrote: the verdict, or in front of it
 * what it had to say; "" if there is none. */
void said_by_tool(struct strbuf *out, const char *folder, bool verdict);

/* The header that a compiler's line says it has not found, as the source names it; "": none. */
void said_missing_header(struct strbuf *out, const char *line);

/* The last lines of a text, "one | two"; "" if it is empty. */
void said_last_lines(struct strbuf *out, const char *text, unsigned count);

#endif
