/* From a search to what is printed of it. */
#ifndef SSAN_CLI_EXPLORE_FACTS_H
#define SSAN_CLI_EXPLORE_FACTS_H

#include "base/arena.h"
#include "cli/options.h"
#include "cli/output_lines.h"
#include "explore/search.h"
#include "report/explore.h"

/* What was kept of the first run of a group beside the search: by group. */
struct explore_sample {
    uint64_t output_line;
    char *expected, *got; /* owned */
    enum explore_repeat repeat;
};

/* Fills the facts, whose texts live in the arena or the search; writes schedules that need a file
 * below options->keep, or beside options->output. False when out of memory; files that can't be
 * written are told in `err` and left out. */
bool explore_facts_fill(struct explore_facts *facts, const struct search *search,
                        const struct explore_sample *samples, size_t sample_count,
                        const struct options *options, struct arena *arena, struct ssan_error *err);

/* Adds the lines that are not compared. False when out of memory. */
bool explore_facts_varying(struct explore_facts *facts, const struct output_mask *mask,
                           struct arena *arena);

#endif
