/* Texts of one directive a line, which the tool and a target hand to each other: schedules (plan.h)
 * and what is to be observed (observe_plan.h).
 *
 * A line is words with blanks between them; `#` begins a comment; %xx in a word stands for the byte
 * with that number, so that a word may hold what would end it. Errors name the text and the line.
 * One thread; cost: O(length). */
#ifndef SSAN_TRACE_DIRECTIVE_H
#define SSAN_TRACE_DIRECTIVE_H

#include "base/status.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is being read: the rest of one line. */
struct directive {
    const char *name; /* of the text, for messages */
    uint64_t line;    /* 0: the words of an option */
    const char *at, *end;
    struct ssan_error *err;
};

/* "NAME:LINE: what 'word'" as SSAN_FORMAT, without a line as SSAN_USAGE; `word` may be NULL. */
enum ssan_status directive_refuse(const struct directive *directive, const char *what,
                                  const char *word);
enum ssan_status directive_no_memory(const struct directive *directive);

/* The next word of the line, NUL-terminated in `word`; false at the end of the line. A word that
 * is too long is cut to room - 1 bytes, and so is refused by whoever reads it. */
bool directive_word(struct directive *directive, char *word, size_t room);
/* All that is left of the line, without blanks at its ends, as a copy (mem_free); an empty text
 * when nothing is left, NULL when out of memory. */
char *directive_rest(struct directive *directive);
/* A whole word as a number of this base, which fits 64 bits. */
bool directive_number(const char *word, unsigned base, uint64_t *number);

/* One of the words that a line can begin with. */
struct directive_kind {
    const char *word;
    enum ssan_status (*parse)(struct directive *directive, void *self);
};

/* Reads a whole text: `first` is its first line, every other is empty or one of the `count` kinds,
 * whose `parse` gets the rest of the line and `self`, and has to take all of it. */
enum ssan_status directive_parse(struct directive *directive, const char *first,
                                 const struct directive_kind *kinds, size_t count, void *self,
                                 const char *text, size_t length);

/* Appends what would end a word, a line or its meaning as %xx; `word`: blanks inside too. */
void directive_print(const char *text, bool word, struct strbuf *out);

#endif
