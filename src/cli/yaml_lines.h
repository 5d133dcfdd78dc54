/* Where the entries of a YAML list and their keys stand, for messages that name a line. */
#ifndef SSAN_CLI_YAML_LINES_H
#define SSAN_CLI_YAML_LINES_H

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct yaml_key {
    const char *name;
    uint32_t line;
};

struct yaml_entry {
    uint32_t line; /* where it begins */
    size_t first_key, key_count;
};

/* Strings lie in `arena`. Zeroed is empty. */
struct yaml_lines {
    VEC(struct yaml_entry) entries;
    VEC(struct yaml_key) keys;
    struct arena arena;
    bool filled; /* the document holds something */
};

/* Reads the first document: a list of mappings; of anything else there are fewer entries or keys.
 * SSAN_FORMAT: the text is no YAML, has a second document, or is nested too deeply; `position` of
 * the error is the line, its text says what is wrong. */
enum ssan_status yaml_lines_read(struct yaml_lines *lines, const char *text, size_t length,
                                 struct ssan_error *err);

/* The line of the last key of this name in an entry (both from 0); else that of the entry; 0: there
 * is no such entry. */
uint32_t yaml_lines_find(const struct yaml_lines *lines, size_t entry, const char *key);

void yaml_lines_finish(struct yaml_lines *lines);

#endif
