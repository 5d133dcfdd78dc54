/* What a search found for a finding, and the words that show it again. */
#ifndef SSAN_CLI_WITNESS_REPLAY_H
#define SSAN_CLI_WITNESS_REPLAY_H

#include "cli/witness.h"

#include "explore/invert.h"
#include "trace/plan.h"

struct witness_found {
    bool there, visible;
    struct invert_pair pair;
    enum invert_variant variant;
    struct plan plan;  /* under which it happened, without what the options leave out or add */
    struct plan order; /* all items in the order in which they ran */
    struct witness witness;
};

/* A trial under a plan, with what all trials of the search have in common. */
struct trial witness_trial(const struct witness_search *search, const char *schedule,
                           const struct plan *plan);

/* A trial turned the pair round: keeps it, unless something better was found before. SHOWN when the
 * effect is visible, else SILENT; FAILED when out of memory. */
enum witness_kind witness_note(struct witness_search *search, struct report *report,
                               const struct finding *finding, const struct invert_pair *pair,
                               enum invert_variant variant, const struct trial_outcome *outcome,
                               struct witness_found *found);

/* Chooses the shortest words for `run --schedule` that show it again, and counts how often they do.
 */
void witness_replay(struct witness_search *search, struct report *report,
                    const struct finding *finding, struct witness_found *found);

void witness_found_finish(struct witness_found *found);

#endif
