/* What a trial gave, for the search: its trace as a model, output and memory as hashes; and where
 * the output of two trials differs.
 *
 * One thread. */
#ifndef SSAN_CLI_EXPLORE_RESULT_H
#define SSAN_CLI_EXPLORE_RESULT_H

#include "cli/trial.h"

#include "base/strbuf.h"
#include "explore/search.h"

/* Reads what lies in the trial's folder. `model` is zeroed and needs model_finish in any case.
 * SSAN_IO: there is no trace (no CUDA operation); others: it can't be read. */
enum ssan_status explore_result_read(const struct trial_result *trial, struct model *model,
                                     struct probe_result *result, struct ssan_error *err);
/* Appends the beginning of the trial's output. */
void explore_result_output(const struct trial_result *trial, struct strbuf *output);
/* The first line in which two outputs differ, from 1, and the lines; NULL where an output has
 * ended. 0: they are equal as far as they were kept. The lines are mem_free'd. */
uint64_t explore_result_difference(const struct strbuf *reference, const struct strbuf *other,
                                   char **expected, char **got);

#endif
