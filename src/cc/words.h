/* A command line being built: words in one arena.
 *
 * Out of memory sets `failed` and drops the word, so that builders check once, before they run the
 * command; everything lives until the arena ends. Not thread-safe. */
#ifndef SSAN_CC_WORDS_H
#define SSAN_CC_WORDS_H

#include "base/arena.h"
#include "base/vec.h"

struct words {
    const char **items; /* count of them, not NULL-terminated; NULL-terminated after words_end */
    size_t count, room;
    struct arena *arena;
    bool failed;
};

void words_init(struct words *words, struct arena *arena);
void words_finish(struct words *words);
/* `word` is borrowed and must live as long as the list. */
void words_add(struct words *words, const char *word);
void words_add_all(struct words *words, const struct words *more);
void words_printf(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds the parts of `text` between `separator`. */
void words_split(struct words *words, const char *text, char separator);
/* Adds the terminating NULL that exec wants; false when any word was lost. */
bool words_end(struct words *words);

/* Text in the arena; NULL when out of memory. */
char *words_text(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
