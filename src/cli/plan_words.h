/* What --ignore and --serialize say about a program, as places of a plan. */
#ifndef SSAN_CLI_PLAN_WORDS_H
#define SSAN_CLI_PLAN_WORDS_H

#include "base/status.h"
#include "trace/plan.h"

#include <stddef.h>

/* FILE:LINE in the executable `program` (execvp's rules) as places of `plan`. SSAN_USAGE: no such
 * place, or nothing is called there; SSAN_IO: the program can't be read. */
enum ssan_status plan_words_add_line(struct plan *plan, enum plan_use use, const char *program,
                                     const char *file, uint32_t line, struct ssan_error *err);
/* All words of --ignore (FILE:LINE) and --serialize (all, s2, FILE:LINE), and the plan's note. */
enum ssan_status plan_words_apply(struct plan *plan, const char *program, const char *const *ignore,
                                  size_t ignore_count, const char *const *serialize,
                                  size_t serialize_count, struct ssan_error *err);

#endif
