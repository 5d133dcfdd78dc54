/* Steps of a scanner over the text of a statement of C or C++: literals, comments, words, brackets,
 * calls by token and their arguments.
 *
 * Owns no state, allocates nothing. `end` is behind the text. Naive model: a lexer of all tokens.
 * Cost: one walk over what is passed. Any thread. */
#ifndef SSAN_CORE_EXPLAIN_SCAN_H
#define SSAN_CORE_EXPLAIN_SCAN_H

#include "core/explain_names.h"

/* The text without white space around it. */
struct names_span scan_span(const char *begin, const char *end);
/* Behind white space. */
const char *scan_space(const char *at, const char *end);
/* Behind a word that the text begins with; NULL when it begins with another. */
const char *scan_word(const char *text, const char *word);
/* Behind the template arguments that begin at `at` ('<'); NULL when they are a comparison or shift.
 */
const char *scan_template(const char *at, const char *end);
/* Behind the bracket that closes the one at `at`; `end` when none does. */
const char *scan_brackets(const char *at, const char *end);
/* The arguments from `at` (behind the opening bracket) to the bracket or launch end that closes
 * them. */
void scan_arguments(const char *at, const char *end, bool launch, struct names_call *call);
/* Where the nth call of a function stands, the last one if there are fewer; NULL: none. */
const char *scan_find_call(const char *text, const char *function, size_t nth,
                           struct names_call *call);

#endif
