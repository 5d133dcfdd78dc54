/* Judges the trace again without some of its calls, and tells what is new. */
#ifndef SSAN_AUDIT_RERUN_H
#define SSAN_AUDIT_RERUN_H

#include "audit/audit.h"
#include "audit/sites.h"

struct rerun {
    const struct history *history;
    struct ssan_source *source;
    const struct audit_options *options;
    struct arena *arena; /* of the bytes of what is kept */
    struct map known;    /* hazard_key -> gravest severity + 1 in the trace as it is */
    struct map counts;   /* hazard_key -> errors and warnings there, dynamic repeats too */
    uint64_t runs;
};

/* Remembers the hazards of the trace as it is. False when out of memory. */
bool rerun_init(struct rerun *rerun, const struct engine *engine);

/* A list of events that have no effect. */
struct drops {
    struct edit *items;
    size_t count, room;
};

/* Adds all instances of a site. False when out of memory. */
bool drops_add_site(struct drops *drops, const struct history *history, const struct site *site);
bool drops_add(struct drops *drops, uint64_t position);
/* In order of the trace, as rerun_judge wants them. */
void drops_sort(struct drops *drops);

/* Reads the trace without `drops` (sorted here). *found: whether it gives an error or a warning
 * that the trace as it is does not give, gives less gravely, or gives less often; `fresh`, where
 * not NULL, gets them, at most `keep`. SSAN_NO_MEMORY; SSAN_IO where it can't be read again. */
enum ssan_status rerun_without(struct rerun *rerun, struct drops *drops, bool *found,
                               struct fresh_list *fresh, size_t keep, struct ssan_error *err);

/* An engine that has judged `source` to its end (the trace, or an altered one); it is the caller's.
 * SSAN_FORMAT: such a trace can't be. */
enum ssan_status rerun_judge(struct rerun *rerun, struct ssan_source *source,
                             const struct edit *edits, size_t edit_count, struct engine **engine,
                             struct ssan_error *err);

/* The keys of what an engine has and the trace as it is has not (keys -> 1); more instances of what
 * it has are none. For sources that keep the positions of events. False when out of memory. */
bool rerun_fresh_keys(const struct rerun *rerun, const struct engine *engine, struct map *keys);

enum severity rerun_severity(const struct rerun *rerun, const struct hazard *hazard);
void rerun_finish(struct rerun *rerun);

#endif
