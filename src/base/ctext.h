/* Texts of C, C++ and CUDA programs as far as their comments, literals and separated numbers. Any
 * thread. */
#ifndef SSAN_BASE_CTEXT_H
#define SSAN_BASE_CTEXT_H

#include <stdbool.h>

/* Whether it may be part of a name; bytes above ASCII are letters. */
bool ctext_is_word(char c);

/* Behind the comment, string, character or number with separators (1'000) that begins at `at` <
 * `end`, `end` where it does not end; `at` itself when none does. `begin` <= `at`: where the
 * reading began, of which only the character before `at` is looked at. */
const char *ctext_opaque(const char *begin, const char *at, const char *end);

#endif
