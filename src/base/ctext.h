/* Texts of C, C++ and CUDA programs as far as their comments and literals. Any thread. */
#ifndef SSAN_BASE_CTEXT_H
#define SSAN_BASE_CTEXT_H

/* Behind the comment, string or character that begins at `at` < `end`, `end` where it does not end;
 * `at` itself when none does. */
const char *ctext_opaque(const char *at, const char *end);

#endif
