/* What a trial left behind, read back: its order, what was in memory, what it printed; and where
 * two of them differ.
 *
 * Two runs under one schedule tell what differs by itself (addresses in memory, times in the
 * output): that is never an effect. One thread. */
#ifndef SSAN_CLI_OUTCOME_H
#define SSAN_CLI_OUTCOME_H

#include "cli/output_lines.h"

#include "core/finding.h"
#include "explore/facts.h"
#include "explore/snapshot.h"

struct trial_outcome {
    const struct trial_result *result; /* borrowed */
    struct model model;
    struct facts facts;
    struct snapshot memory;
    bool has_memory;
};

/* Reads the files of a trial that ran. `outcome` needs outcome_close in any case. SSAN_IO: there is
 * no trace, which is a program without CUDA operations, or one that was ended at once, when the
 * result counts no process; SSAN_FORMAT, SSAN_NO_MEMORY. */
enum ssan_status outcome_read(struct trial_outcome *outcome, const struct trial_result *result,
                              struct ssan_error *err);
void outcome_close(struct trial_outcome *outcome);

/* What differs between equal schedules. Zeroed: nothing. */
struct outcome_noise {
    VEC(uint32_t) allocs;
    struct output_mask output;
    bool exit;
};

/* False when out of memory. */
bool outcome_learn_noise(struct outcome_noise *noise, const struct trial_outcome *one,
                         const struct trial_outcome *other);
void outcome_forget_noise(struct outcome_noise *noise);

/* Fills exit, output and memory of `witness` with what `got` has otherwise than `expected`; texts
 * come from the report's arena, a buffer that is not in its tables yet is put there. Among several
 * buffers the one that the host sees, then `buffer` (an index, -1 none). Gives what it sets as the
 * witness's kind: SHOWN when anything differs, else SILENT; FAILED without memory to tell. */
enum witness_kind outcome_compare(struct report *report, const struct trial_outcome *expected,
                                  const struct trial_outcome *got,
                                  const struct outcome_noise *noise, int buffer,
                                  struct witness *witness);

#endif
