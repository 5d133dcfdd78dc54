/* What --ignore, --serialize and --fail say about a program, as parts of a plan. */
#ifndef SSAN_CLI_PLAN_WORDS_H
#define SSAN_CLI_PLAN_WORDS_H

#include "base/status.h"
#include "trace/plan.h"

#include <stddef.h>

/* FILE:LINE in the executable `program` (execvp's rules) as places of `plan`. SSAN_USAGE: no such
 * place, or nothing is called there; SSAN_IO: the program can't be read. */
enum ssan_status plan_words_add_line(struct plan *plan, enum plan_use use, const char *program,
                                     const char *file, uint32_t line, struct ssan_error *err);
/* The words of one option, in their order. */
struct plan_word_list {
    const char *const *items;
    size_t count;
};

/* All words of --ignore (FILE:LINE), --serialize (all, s2, FILE:LINE) and --fail (plan_add_fail),
 * and the plan's note. */
enum ssan_status plan_words_apply(struct plan *plan, const char *program,
                                  struct plan_word_list ignore, struct plan_word_list serialize,
                                  struct plan_word_list fail, struct ssan_error *err);

#endif
