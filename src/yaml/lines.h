/* Where everything stands in a YAML document, for messages that name a line. A place is a path such
 * as "faults[2].caught.finding" or "[0].rule". */
#ifndef SSAN_YAML_LINES_H
#define SSAN_YAML_LINES_H

#include "base/arena.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum yaml_form { YAML_FORM_TEXT, YAML_FORM_LIST, YAML_FORM_KEYS };

struct yaml_place {
    const char *path;
    uint32_t line; /* of the key, or of the entry's first word */
    enum yaml_form form;
    const char *text; /* as it stands, without quotes; NULL where a list or keys stand */
};

/* Strings lie in `arena`. Zeroed is empty. */
struct yaml_lines {
    VEC(struct yaml_place) places;
    struct arena arena;
    bool filled;         /* the document holds something */
    enum yaml_form form; /* of a document that does */
};

/* Reads the first document. SSAN_FORMAT: the text is no YAML, has a second document, an alias or a
 * character 0, or is nested too deeply; `position` of the error is the line, its text says what is
 * wrong. `lines` needs yaml_lines_finish in any case. */
enum ssan_status yaml_lines_read(struct yaml_lines *lines, const char *text, size_t length,
                                 struct ssan_error *err);

/* The line of a path, of the last one where a key stands twice; else that of what it lies in, down
 * to 1. */
uint32_t yaml_lines_find(const struct yaml_lines *lines, const char *path);

/* The text that stands at a path, valid until yaml_lines_finish; NULL: there is none. */
const char *yaml_lines_text(const struct yaml_lines *lines, const char *path);

void yaml_lines_finish(struct yaml_lines *lines);

#endif
