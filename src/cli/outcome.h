/* What a trial left behind, read back: its order, what was in memory, what it printed; and where
 * two of them differ.
 *
 * Two runs under one schedule tell what differs by itself (addresses in memory, times in the
 * output): that is never an effect. One thread. */
#ifndef SSAN_CLI_OUTCOME_H
#define SSAN_CLI_OUTCOME_H

#include "cli/trial.h"

#include "core/finding.h"
#include "explore/facts.h"
#include "explore/snapshot.h"

struct outcome {
    const struct trial_result *result; /* borrowed */
    struct model model;
    struct facts facts;
    struct snapshot memory;
    bool has_memory;
};

/* Reads the files of a trial that ran. `outcome` needs outcome_close in any case. SSAN_IO: there is
 * no trace, which is a program without CUDA operations, or one that was ended at once. */
enum ssan_status outcome_read(struct outcome *outcome, const struct trial_result *result,
                              struct ssan_error *err);
void outcome_close(struct outcome *outcome);

/* What differs between equal schedules. Zeroed: nothing. */
struct outcome_noise {
    VEC(uint32_t) allocs;
    bool output, exit;
};

/* False when out of memory. */
bool outcome_learn_noise(struct outcome_noise *noise, const struct outcome *one,
                         const struct outcome *other);
void outcome_forget_noise(struct outcome_noise *noise);

/* Fills exit, output and memory of `witness` with what `got` has otherwise than `expected`; texts
 * come from the report's arena, a buffer that is not in its tables yet is put there. Among several
 * buffers the one that the host sees, then `buffer` (an index, -1 none). True when anything
 * differs. Without memory for it nothing does. */
bool outcome_compare(struct report *report, const struct outcome *expected,
                     const struct outcome *got, const struct outcome_noise *noise, int buffer,
                     struct witness *witness);

#endif
