/* One line of a listing to one event. Knows nothing of files. */
#ifndef SSAN_TRACE_LISTING_PARSE_H
#define SSAN_TRACE_LISTING_PARSE_H

#include "trace/event.h"

#include "base/status.h"

#include <stdbool.h>

/* A line while it is read; strings and arrays of the event lie in `scratch`. */
struct line_parser {
    const char *name; /* of the listing, for messages */
    uint64_t line;    /* from 1 */
    const char *at, *end;
    unsigned char *scratch; /* LINE_SCRATCH(line length) bytes, aligned for any type */
    struct ssan_str place;  /* the text of an `at` field, length 0 without one */
};

/* What any line can turn into: a run of "0+1," (4 characters) takes 32 bytes, an element of "0,"
 * takes 8, and each field may lose 7 to alignment. */
#define LINE_SCRATCH(length) ((length)*16 + 64)

/* False: nothing but blanks and a comment. Else *event is set, or *err (status SSAN_FORMAT,
 * position the line). */
bool line_parse(struct line_parser *parser, struct ssan_event *event, struct ssan_error *err);

/* Splits the text of an `at` field, "FILE:LINE" or "FILE:LINE FUNCTION", into a `line` event
 * without site. */
bool place_parse(const struct line_parser *parser, struct ssan_ev_line *line,
                 struct ssan_error *err);

/* Offset of the field `site` of an event; 0 when it has none. */
size_t site_offset(enum ssan_event_kind kind);

#endif
