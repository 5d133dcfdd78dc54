/* Suppression files: YAML, read against a schema (docs/suppressions.md). */
#ifndef SSAN_CLI_SUPPRESS_FILE_H
#define SSAN_CLI_SUPPRESS_FILE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"
#include "core/finding.h"

/* The entries of all files that were read, in their order. Texts lie in `arena`. Zeroed is empty.
 */
struct suppress_list {
    VEC(struct suppression) entries;
    struct arena arena;
};

/* Appends the entries of one text. `name` stands in messages and entries. SSAN_FORMAT: the text
 * says name, line and key; nothing was appended. SSAN_NO_MEMORY. */
enum ssan_status suppress_file_parse(struct suppress_list *list, const char *name, const char *text,
                                     size_t length, struct ssan_error *err);

/* The same from a file. SSAN_IO: it can't be read. */
enum ssan_status suppress_file_read(struct suppress_list *list, const char *path,
                                    struct ssan_error *err);

void suppress_list_finish(struct suppress_list *list);

#endif
