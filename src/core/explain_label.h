/* Names for people: of streams, events, blocks; labels of operations. */
#ifndef SSAN_CORE_EXPLAIN_LABEL_H
#define SSAN_CORE_EXPLAIN_LABEL_H

#include "core/explain_history.h"

/* A name before names are told apart; `text` NULL: out of memory. */
struct label {
    const char *text;
    enum name_from from;
};

/* `arena` owns the texts. Indices into the history. */
struct label label_stream(const struct history *history, struct arena *arena, uint32_t stream);
struct label label_event(const struct history *history, struct arena *arena, uint32_t event);
/* A block by its key (explain_window.h); without any name "buffer #<ordinal>". */
struct label label_block(const struct history *history, struct arena *arena, uint64_t key,
                         uint32_t ordinal);

/* Tells `count` names apart: the second "x" becomes "x#2". `names` are the addresses of the texts.
 */
bool label_distinct(struct arena *arena, const char ***names, size_t count);

/* The begin of each stream's labels ("P" for 'producer'), by index into report->streams: the
 * shortest beginning that no other stream has; NULL where ids serve better. False when out of
 * memory. */
bool label_prefixes(struct report *report, const char **prefixes);

#endif
