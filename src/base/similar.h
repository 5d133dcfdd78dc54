/* Which word was meant: for messages about words that are none of those that are taken. */
#ifndef SSAN_BASE_SIMILAR_H
#define SSAN_BASE_SIMILAR_H

#include <stddef.h>

/* The one of `words` that is closest to `word` (insertions, losses, changes and swaps of letters;
 * letter case aside), the first among equals; NULL: none is near. Entries may be NULL. */
const char *similar_word(const char *word, const char *const *words, size_t count);

#endif
