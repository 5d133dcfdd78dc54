/* Proposes fixes: source edits, and what they change in the order of the trace.
 *
 * A proposal says nothing of whether it works; explain_check.h has the engine judge it. */
#ifndef SSAN_CORE_EXPLAIN_FIX_H
#define SSAN_CORE_EXPLAIN_FIX_H

#include "core/explain_nearest.h"

enum change_kind {
    CHANGE_DROP,     /* the record, wait or free there goes */
    CHANGE_WAIT,     /* the stream of `to` waits for the latest record of the event of `event` */
    CHANGE_RECORD,   /* the event of `event` is recorded on the stream of `from` */
    CHANGE_WAIT_NEW, /* the stream of `to` waits for a new event that is recorded on the stream of
                        `from` */
    CHANGE_JOIN_STREAM, /* the host waits for the stream of `from` */
    CHANGE_JOIN_DEVICE, /* the host waits for all of the device, of which the stream of `from`
                           counts */
    CHANGE_JOIN_EVENT,  /* the host waits for the latest record of the event of `event` */
};

/* One change at a place of the source, hence at each time the trace passed it. Items stand for the
 * variable that their call names: what it held when the trace passed is looked up at the instance
 * of that call next to it. */
struct change {
    enum change_kind kind;
    uint32_t call;            /* index of the call at whose place it stands */
    uint32_t to, from, event; /* items; HISTORY_NONE where it doesn't apply */
    uint32_t record_call; /* CHANGE_WAIT_NEW: before which call's place the new event is recorded */
};

#define PROPOSAL_EDITS   8
#define PROPOSAL_CHANGES 4
#define PROPOSAL_FOREIGN 3 /* two streams and an event */

struct proposal {
    enum fix_kind kind;
    bool partial, borrowed;
    bool broken;                           /* an edit would tear a statement without braces apart */
    const char *foreign[PROPOSAL_FOREIGN]; /* made-up words for what a library has made */
    size_t foreign_count;
    struct source_edit edits[PROPOSAL_EDITS];
    size_t edit_count;
    struct change changes[PROPOSAL_CHANGES];
    size_t change_count;
};

#define FIX_PROPOSALS 5

/* Shared by all proposals of a report. */
struct fix_maker {
    const struct history *history;
    struct arena *arena; /* of the edits' texts */
    uint32_t devices;    /* of the run */
    uint32_t new_events; /* names given so far */
    uint32_t new_devices;
};

/* Fills `proposals` with fixes for the pair, the one to prefer first, and returns how many; *failed
 * is set when out of memory. The edits' texts live in the maker's arena. */
size_t fix_propose(struct fix_maker *maker, const struct pair *pair, const struct miss *miss,
                   struct proposal proposals[FIX_PROPOSALS], bool *failed);

/* An edit of the engine, with the order among those at one position. */
struct placed_edit {
    struct edit edit;
    uint64_t order;
};

struct placed_edits {
    struct placed_edit *items;
    size_t count, room;
    bool impossible; /* a statement would use a stream or an event that is destroyed by then */
};

/* Appends what a proposal means to the engine, at each instance of its places. False when out of
 * memory. */
bool fix_place(const struct history *history, const struct proposal *proposal,
               struct placed_edits *edits);

#endif
