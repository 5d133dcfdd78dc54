/* What the trace orders before a point, and by which calls, with one site's calls left out.
 *
 * A walk goes backwards from a root over streams, events, the legacy barrier and host joins, the
 * fewest steps first, and remembers for each step what made it. It tells words for reports; that a
 * call is redundant is the engine's verdict alone. */
#ifndef SSAN_AUDIT_WALK_H
#define SSAN_AUDIT_WALK_H

#include "audit/audit.h"
#include "audit/sites.h"

/* What a walk needs to know of a trace besides its history. */
struct walk_map {
    const struct history *history;
    struct map returned; /* position of a sync's return -> index into history.calls */
    bool documented;
};

bool walk_map_init(struct walk_map *map, const struct history *history, bool documented);
void walk_map_finish(struct walk_map *map);

/* Why a step was made. */
enum walk_via {
    WALK_ORDER, /* the order of a stream, of a host thread, of a submission; the root */
    WALK_SYNC,
    WALK_CALL,
    WALK_LEGACY,
    WALK_HAND_OVER,
};

/* From here on the first `until` items of stream `what` are seen, or what thread `what` did before
 * position `until`. */
struct step {
    uint32_t parent; /* index of the step it follows from; HISTORY_NONE: the root */
    enum walk_via via;
    uint32_t call; /* WALK_SYNC, WALK_CALL: index into history.calls */
    bool host;
    uint32_t what;
    uint64_t until;
};

struct walk {
    const struct walk_map *map;
    struct map without; /* positions of events that count for nothing */
    bool failed;        /* out of memory */
    VEC(struct step) steps;
    size_t next;                     /* steps before it were followed */
    uint64_t *seen, *done;           /* by stream: items */
    struct map host_seen, host_done; /* thread -> position */
};

/* `without`: a site whose calls are left out; NULL: none. */
void walk_init(struct walk *walk, const struct walk_map *map, const struct site *without);
/* Roots: what is ordered before an item begins, before a host call at a position, and what a
 * synchronisation call (history.calls) waits for. */
void walk_from_item(struct walk *walk, uint32_t item);
void walk_from_host(struct walk *walk, uint32_t thread, uint64_t position);
void walk_from_sync(struct walk *walk, uint32_t call);
/* Follows all. */
void walk_run(struct walk *walk);
/* The step by which item `seq` of a stream is seen; HISTORY_NONE: it is not. */
uint32_t walk_find(const struct walk *walk, uint32_t stream, uint64_t seq);
void walk_finish(struct walk *walk);

#endif
