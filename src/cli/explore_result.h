/* What a trial gave, for the search: its trace as a model, output and memory as hashes.
 *
 * One thread. */
#ifndef SSAN_CLI_EXPLORE_RESULT_H
#define SSAN_CLI_EXPLORE_RESULT_H

#include "cli/output_lines.h"

#include "explore/search.h"

/* Reads what lies in the trial's folder. `model` is zeroed and needs model_finish in any case.
 * `mask`: what does not count of the output. SSAN_IO: there is no trace (no CUDA operation);
 * others: it can't be read. */
enum ssan_status explore_result_read(const struct trial_result *trial,
                                     const struct output_mask *mask, struct model *model,
                                     struct probe_result *result, struct ssan_error *err);

#endif
