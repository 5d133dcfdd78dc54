/* Vector clocks in two readings: the documented one and the observed one, which holds every edge of
 * the first.
 *
 * A clock is a sparse vector chain -> tick, sorted by chain, immutable while it is shared
 * (reference counts). NULL is the empty clock. Each entry remembers the ordering rule whose
 * observed-only edge brought it (0: a documented edge), so that a portability warning can name it.
 * Naive model: an array of ticks for all chains, joined by maximum. Cost: covers O(log width); join
 * O(width), or O(1) where both sides are one clock; a new tick O(1), because a stamp keeps its own
 * chain beside the shared past. One thread at a time. */
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

struct clock {
    uint32_t refs, count, room;
    struct clock_entry entries[]; /* ascending by chain, ticks > 0 */
};

#define CLOCK_CLASSES 32

/* Where clocks come from. Zeroed is ready. After a lack of memory `failed` stays true and results
 * are too small: callers ask once per event and give up the run. */
struct clocks {
    /* Released ones by size, linked through their first entry. */
    struct clock *spare[CLOCK_CLASSES];
    uint64_t bytes; /* held by live clocks */
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

struct clock *clock_ref(struct clock *clock);
void clock_drop(struct clocks *clocks, struct clock *clock);
bool clock_covers(const struct clock *clock, struct epoch at);
/* The entry of a chain, or NULL. */
const struct clock_entry *clock_find(const struct clock *clock, uint32_t chain);
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
/* Sorted, nonzero, in range: what every clock keeps. */
bool verify_clock(const struct clock *clock);

struct times times_ref(const struct times *times);
void times_drop(struct clocks *clocks, struct times *times);
void times_join(struct clocks *clocks, struct times *a, const struct times *b);
void times_set(struct clocks *clocks, struct times *a, struct epoch at);
/* The observed reading only, by `rule`. */
void times_join_observed(struct clocks *clocks, struct times *a, const struct times *b,
                         uint32_t rule);
void times_set_observed(struct clocks *clocks, struct times *a, struct epoch at, uint32_t rule);

struct stamp stamp_ref(const struct stamp *stamp);
void stamp_drop(struct clocks *clocks, struct stamp *stamp);
/* a |= everything that b has, b's own tick included. */
void times_join_stamp(struct clocks *clocks, struct times *a, const struct stamp *b);
void times_join_stamp_observed(struct clocks *clocks, struct times *a, const struct stamp *b,
                               uint32_t rule);
bool stamp_same(const struct stamp *a, const struct stamp *b);
bool stamp_covers(const struct stamp *stamp, bool observed, struct epoch at);
/* The rule that orders `at` before the stamp in the observed reading only. */
uint32_t stamp_rule(const struct stamp *stamp, struct epoch at);
void clocks_finish(struct clocks *clocks);

#endif
