/* Shadow memory of one buffer: which accesses a new one may still conflict with.
 *
 * A cell is what one operation did to the buffer in one way (read, write, atomic; exact or may). A
 * cell's bytes go when a later access covers them that is ordered behind it in the documented
 * reading and conflicts with everything that the cell conflicts with: whoever races with the
 * dropped bytes races with those that replaced them. Naive model: all accesses ever made, compared
 * in pairs. Cost: one test of order and hull for each cell of the buffer near the new bytes. One
 * thread at a time. */
#ifndef SSAN_CORE_SHADOW_H
#define SSAN_CORE_SHADOW_H

#include "core/actor.h"
#include "core/bytes.h"
#include "core/cell.h"
#include "core/cells.h"

struct shadow;

struct cell {
    struct cell_key key;
    uint32_t bits;       /* hull when it came, shorter than 2^bits: its key in the shadow's index */
    uint64_t begin;      /* ... and where it began */
    struct actor *actor; /* one reference */
    struct bytes bytes;
    struct cell *older, *newer; /* all cells, by age, for rounding */
};

struct shadow {
    struct cells cells;
};

/* What all shadows share. */
struct shadow_owner {
    struct actors *actors;
    struct cell *oldest, *newest, *rounding; /* rounding: the next cell to round out */
    struct cell *spare;
    struct cell_list near; /* for the access at hand */
    unsigned level;        /* of rounding under way: 1 to 64 bytes, 2 to 4096 */
    uint64_t bytes;        /* held by cells */
    uint64_t limit;
    uint64_t rounded; /* cells rounded out so far */
    bool failed;      /* out of memory */
};

/* When an access began: everything but the operation's own ticks. */
struct moment {
    const struct stamp *stamp; /* end of the item, or the host's present */
    uint32_t first_tick;       /* own ticks from here on are the operation's; 0: none are (host) */
    struct epoch side;         /* its side tick, tick 0: none */
    const struct times *extra; /* acquired inside a host function, may be NULL */
};

struct access {
    struct actor *actor;
    enum ssan_access access;
    bool may;
    bool carries; /* who covers `at` covers all that the access began with */
    bool gated;   /* it came behind accesses that are not judged yet (late.c) */
    struct epoch at;
    struct moment begin;
    struct bytes *bytes; /* sealed; taken over by shadow_access */
};

/* Told of every pair of conflicting kinds whose hulls meet. */
struct judge {
    bool also_ordered; /* tell ordered pairs too */
    /* May be NULL. True: the cell stays although `then` replaces it; `crowd`: cells beside it. */
    bool (*keeps)(struct judge *self, const struct cell *cell, const struct access *then,
                  size_t crowd);
    void (*pair)(struct judge *self, const struct cell *first, const struct access *then,
                 bool ordered);
};

/* The rule that orders `at` before the moment in the observed reading only. */
uint32_t moment_rule(const struct moment *moment, struct epoch at);
/* Whether the access began behind `at`. */
static inline bool moment_covers(const struct moment *moment, bool observed, struct epoch at)
{
    const struct stamp *stamp = moment->stamp;
    if (moment->first_tick != 0 && at.chain == stamp->own.chain) {
        return at.tick < moment->first_tick;
    }
    if (moment->side.tick != 0 && at.chain == moment->side.chain && at.tick >= moment->side.tick) {
        return false;
    }
    return stamp_covers(stamp, observed, at) ||
           (moment->extra && clock_covers(observed ? moment->extra->obs : moment->extra->doc, at));
}

/* Whether the cell's access came behind `then`, though it was submitted before. */
bool cell_is_behind(const struct cell *cell, bool observed, const struct access *then);
/* Judges an access against the cells, drops what it replaces, and adds it. */
void shadow_access(struct shadow *shadow, struct shadow_owner *owner, struct access *access,
                   struct judge *judge);
/* Whether two kinds of access to one byte conflict (M-6). */
bool accesses_conflict(enum ssan_access first, enum ssan_access then);
bool verify_shadow(const struct shadow *shadow);
void shadow_clear(struct shadow *shadow, struct shadow_owner *owner);
void shadow_owner_finish(struct shadow_owner *owner);

#endif
