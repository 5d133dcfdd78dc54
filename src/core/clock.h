/* Vector clocks in two readings: the documented one and the observed one, which holds every edge of
 * the first.
 *
 * A clock is a vector chain -> tick, kept as a tree: leaves hold the ticks of 32 chains side by
 * side, inner nodes have 32 children, and chains without ticks have no nodes. Nodes are immutable
 * while they are shared (reference counts), and clocks that know the same of some chains share the
 * nodes of those chains, so what ten thousand streams know of each other is kept about once. NULL
 * is the empty clock. Each tick remembers the ordering rule whose observed-only edge brought it (0:
 * a documented edge), so that a portability warning can name it. Naive model: an array of ticks for
 * all chains, joined by maximum. Cost: up to 32 chains one leaf, whose join is one pass of vector
 * instructions; beyond, covers O(depth), a new tick copies one path, a join visits only nodes that
 * differ. One thread at a time. */
#ifndef SSAN_CORE_CLOCK_H
#define SSAN_CORE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* A moment of one chain. tick 0 is before everything: every clock covers it. */
struct epoch {
    uint32_t chain, tick;
};

struct clock_entry {
    uint32_t chain, tick;
    uint32_t rule; /* index in order.def of the observed-only edge that brought it; 0: documented */
};

#define CLOCK_FANOUT 32u
#define CLOCK_BITS   5u /* CLOCK_FANOUT is 2^CLOCK_BITS */

enum clock_kind { CLOCK_LEAF, CLOCK_RULED, CLOCK_INNER, CLOCK_KINDS };

/* The head of every node. The tree under a node of depth d has the chains below 32^(d+1). */
struct clock {
    uint32_t refs;
    uint16_t depth; /* 0: a leaf */
    uint16_t
        kind; /* enum clock_kind; CLOCK_LEAF: all its rules are 0 and it has no room for them */
};

struct clock_leaf {
    struct clock head;
    uint32_t ticks[CLOCK_FANOUT];
    uint8_t rules[CLOCK_FANOUT]; /* CLOCK_RULED only */
};

struct clock_inner {
    struct clock head;
    struct clock *children[CLOCK_FANOUT]; /* NULL: no ticks there */
};

/* Where clocks come from. Zeroed is ready. After a lack of memory `failed` stays true and results
 * are too small: callers ask once per event and give up the run. */
struct clocks {
    struct clock *spare[CLOCK_KINDS]; /* released ones, linked behind their heads */
    uint64_t bytes;                   /* held by live nodes */
    bool failed;
};

/* Both readings of one moment. doc <= obs; they are one clock while equal. */
struct times {
    struct clock *doc, *obs;
};

/* A past and one tick of its own: what an item, a host thread or an event stands at. */
struct stamp {
    struct times past;
    struct epoch own; /* tick 0: none. The past's entry of this chain, if any, is older and void */
};

static inline struct clock *clock_ref(struct clock *clock)
{
    if (clock) {
        clock->refs++;
    }
    return clock;
}

/* The last reference has gone. */
void clock_drop_slow(struct clocks *clocks, struct clock *clock);

/* Gives a reference back; fast as long as others hold the node. */
static inline void clock_drop(struct clocks *clocks, struct clock *clock)
{
    if (clock && --clock->refs == 0) {
        clock_drop_slow(clocks, clock);
    }
}

/* The leaf of a chain in a clock of many chains; NULL: none. */
const struct clock_leaf *clock_leaf_slow(const struct clock *clock, uint32_t chain);

/* The leaf that has the chain, at index chain % CLOCK_FANOUT; fast for clocks of few chains. */
static inline const struct clock_leaf *clock_leaf_of(const struct clock *clock, uint32_t chain)
{
    if (clock && clock->depth == 0 && chain < CLOCK_FANOUT) {
        return (const struct clock_leaf *)clock;
    }
    return clock_leaf_slow(clock, chain);
}

/* The tick that the clock has of the chain; 0: none. */
static inline uint32_t clock_tick(const struct clock *clock, uint32_t chain)
{
    const struct clock_leaf *leaf = clock_leaf_of(clock, chain);
    return leaf ? leaf->ticks[chain % CLOCK_FANOUT] : 0;
}

static inline bool clock_covers(const struct clock *clock, struct epoch at)
{
    return at.tick <= clock_tick(clock, at.chain);
}

/* The rule by which the clock has its tick of the chain; 0: documented, or no tick. */
uint32_t clock_rule(const struct clock *clock, uint32_t chain);
/* Walks the ticks in order of chains: start with *cursor 0; false at the end. */
bool clock_next(const struct clock *clock, uint64_t *cursor, struct clock_entry *entry);
/* Whether `clock` covers all that `part` covers. */
bool clock_within(const struct clock *part, const struct clock *clock);
/* a | b. Takes over the reference `a`. Entries that b adds carry `rule` unless they carry one
 * already. */
struct clock *clock_join(struct clocks *clocks, struct clock *a, const struct clock *b,
                         uint32_t rule);
/* `a` with at.chain at least at.tick. Takes over the reference `a`. */
struct clock *clock_set(struct clocks *clocks, struct clock *a, struct epoch at, uint32_t rule);
/* `a` with the chain's tick lowered to `entry.tick` (0 removes it). Takes over the reference `a`.
 */
struct clock *clock_lower(struct clocks *clocks, struct clock *a, struct clock_entry entry);
bool clock_equal(const struct clock *a, const struct clock *b);
/* Live nodes, each at its depth, rules only where there is room for them. */
bool verify_clock(const struct clock *clock);

static inline struct times times_ref(const struct times *times)
{
    return (struct times){.doc = clock_ref(times->doc), .obs = clock_ref(times->obs)};
}

static inline void times_drop(struct clocks *clocks, struct times *times)
{
    clock_drop(clocks, times->doc);
    clock_drop(clocks, times->obs);
    *times = (struct times){0};
}

void times_join(struct clocks *clocks, struct times *a, const struct times *b);
void times_set(struct clocks *clocks, struct times *a, struct epoch at);
/* The observed reading only, by `rule`. */
void times_join_observed(struct clocks *clocks, struct times *a, const struct times *b,
                         uint32_t rule);
void times_set_observed(struct clocks *clocks, struct times *a, struct epoch at, uint32_t rule);

static inline struct stamp stamp_ref(const struct stamp *stamp)
{
    return (struct stamp){.past = times_ref(&stamp->past), .own = stamp->own};
}

static inline void stamp_drop(struct clocks *clocks, struct stamp *stamp)
{
    times_drop(clocks, &stamp->past);
    stamp->own = (struct epoch){0};
}

/* a |= everything that b has, b's own tick included. */
void times_join_stamp(struct clocks *clocks, struct times *a, const struct stamp *b);
void times_join_stamp_observed(struct clocks *clocks, struct times *a, const struct stamp *b,
                               uint32_t rule);
static inline bool stamp_same(const struct stamp *a, const struct stamp *b)
{
    return a->past.doc == b->past.doc && a->past.obs == b->past.obs &&
           a->own.chain == b->own.chain && a->own.tick == b->own.tick;
}

static inline bool stamp_covers(const struct stamp *stamp, bool observed, struct epoch at)
{
    if (at.chain == stamp->own.chain && stamp->own.tick != 0) {
        return at.tick <= stamp->own.tick;
    }
    return clock_covers(observed ? stamp->past.obs : stamp->past.doc, at);
}

/* The rule that orders `at` before the stamp in the observed reading only. */
uint32_t stamp_rule(const struct stamp *stamp, struct epoch at);
void clocks_finish(struct clocks *clocks);

#endif
