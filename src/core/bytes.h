/* Sets of bytes of one access kind of one operation: dense runs, strided runs, scattered short
 * runs, and bitmaps of 4 KiB leaves, each with the device line it came from. Exact: no byte is
 * added or lost, except by bytes_round.
 *
 * Naive model: a bit per byte and line. Pieces are sorted by their begin after bytes_seal; pieces
 * of different lines may overlap. Cost: meeting and subtracting visit the pairs of pieces whose
 * hulls overlap. */
#ifndef SSAN_CORE_BYTES_H
#define SSAN_CORE_BYTES_H

#include "trace/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEAF_BYTES SSAN_LEAF_BYTES
#define LEAF_WORDS SSAN_LEAF_WORDS
/* Sets with fewer pieces are not sealed while they grow. */
#define BYTES_SEAL_FROM 4096u

/* One of the runs of a scatter: at the scatter's begin + offset. */
struct short_run {
    uint16_t offset, length;
};

/* A run: `count` elements of `length` bytes, `stride` apart (count 1: dense). A leaf: length 0,
 * `count` bits set. A scatter: `count` short runs inside `length` bytes.
 *
 * Layout (32 bytes). N1 count: longer runs are several pieces. N2 site: the line of a site from
 * 2^24 on is not kept (0, unknown). N3 width: above 127 it is not kept either (0). */
struct piece {
    uint64_t begin;
    uint64_t length;
    union {
        uint64_t stride;
        uint64_t *bits;           /* leaf: LEAF_WORDS words, owned */
        struct short_run *shorts; /* scatter: ascending, apart from each other, owned */
    };
    uint32_t count;
    uint32_t site : 24, width : 7, scatter : 1;
};

static inline uint32_t bytes_site(uint32_t site)
{
    return site < 1u << 24 ? site : 0;
}

static inline uint32_t bytes_width(uint32_t width)
{
    return width < 1u << 7 ? width : 0;
}

/* One piece, by far the most common, stands inside; more are on the heap. */
struct bytes {
    union {
        struct piece one; /* room 0 */
        struct {          /* room > 0 */
            struct piece *many;
            uint64_t reach; /* length of the longest piece's hull; set by bytes_seal */
        };
    };
    uint32_t count, room;
    uint64_t begin, end; /* hull; begin == end when empty */
    uint32_t full;       /* pieces from which a growing set is worth another bytes_seal */
    bool owns;           /* at least one piece is a leaf or a scatter */
};

static inline struct piece *bytes_pieces(const struct bytes *set)
{
    return set->room > 0 ? set->many : &((struct bytes *)set)->one;
}

bool bytes_add_run_slow(struct bytes *set, uint64_t address, uint64_t length, uint64_t stride,
                        uint64_t count, uint32_t site, uint32_t width);

/* False when out of memory (the set is then unusable but safe to finish). Ranges never wrap:
 * callers check. Fast for the one dense run that most sets are. */
static inline bool bytes_add_run(struct bytes *set, uint64_t address, uint64_t length,
                                 uint64_t stride, uint64_t count, uint32_t site, uint32_t width)
{
    if (set->count + set->room > 0 || count != 1 || length == 0) {
        return bytes_add_run_slow(set, address, length, stride, count, site, width);
    }
    set->one = (struct piece){.begin = address,
                              .length = length,
                              .count = 1,
                              .site = bytes_site(site),
                              .width = bytes_width(width)};
    set->count = 1;
    set->begin = address;
    set->end = address + length;
    return true;
}
/* `bits`: LEAF_WORDS words, copied; `address` a multiple of LEAF_BYTES. */
bool bytes_add_leaf(struct bytes *set, uint64_t address, const uint64_t *bits, uint32_t site,
                    uint32_t width);
/* All leaves of an event. */
bool bytes_add_leaves(struct bytes *set, const struct ssan_ev_set_leaf *event, uint32_t site,
                      uint32_t width);
bool bytes_seal_slow(struct bytes *set);

/* Sorts, joins touching runs of a line, packs crowded leaves into bitmaps and neighbouring short
 * runs into scatters. Before all functions below. */
static inline bool bytes_seal(struct bytes *set)
{
    if (set->count != 1 || set->room > 0) {
        return bytes_seal_slow(set);
    }
    set->full = 2;
    return true;
}

/* One stretch of bytes in both sets; `a` is the piece of the first set. False stops the walk. */
struct bytes_visitor {
    bool (*meet)(struct bytes_visitor *self, const struct piece *a, const struct piece *b,
                 uint64_t begin, uint64_t end);
};
/* Every stretch that both sets have, inside [begin, end), per pair of pieces; stretches may repeat.
 */
void bytes_meet(const struct bytes *a, const struct bytes *b, uint64_t begin, uint64_t end,
                struct bytes_visitor *visitor);
/* True when the hulls overlap: cheap test before the others. */
static inline bool bytes_near(const struct bytes *a, const struct bytes *b)
{
    return a->begin < b->end && b->begin < a->end;
}
/* Removes bytes of `b` from `a`; may keep bytes where removing would cost more pieces than it frees
 * (a dense run against strides or bitmaps). False when out of memory; `a` is then as it was. */
bool bytes_subtract(struct bytes *a, const struct bytes *b);
/* Copies the part inside [begin, end) into the empty set `into`. */
bool bytes_clip(const struct bytes *set, uint64_t begin, uint64_t end, struct bytes *into);
/* Rounds every piece out to multiples of `unit` (a power of two) and joins what touches; lines are
 * lost. */
bool bytes_round(struct bytes *set, uint64_t unit);
uint64_t bytes_held_slow(const struct bytes *set);
void bytes_finish_slow(struct bytes *set);
bool verify_bytes(const struct bytes *set);

/* Heap bytes held. */
static inline uint64_t bytes_held(const struct bytes *set)
{
    return set->room > 0 || set->owns ? bytes_held_slow(set) : 0;
}

static inline void bytes_finish(struct bytes *set)
{
    if (set->room > 0 || set->owns) {
        bytes_finish_slow(set);
    }
    *set = (struct bytes){0};
}

/* The set becomes `made`, sealed; where that `is_made` in part only, or there is no memory to seal
 * it, the set stays as it was, `made` is finished, and the answer is false. */
static inline bool bytes_become(struct bytes *set, struct bytes *made, bool is_made)
{
    if (!is_made || !bytes_seal(made)) {
        bytes_finish(made);
        return false;
    }
    bytes_finish(set);
    *set = *made;
    return true;
}

/* Length of the longest piece's hull. */
static inline uint64_t bytes_reach(const struct bytes *set)
{
    return set->room > 0 ? set->reach : set->end - set->begin;
}

/* Index of the first piece that may reach behind `at`. */
static inline size_t bytes_first_near(const struct bytes *set, uint64_t at)
{
    size_t low = 0, high = set->count;
    uint64_t reach = bytes_reach(set);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bytes_pieces(set)[middle].begin + reach <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* First byte behind the piece's last one. */
static inline uint64_t piece_end(const struct piece *piece)
{
    if (piece->length == 0) {
        return piece->begin + LEAF_BYTES;
    }
    if (piece->scatter) {
        return piece->begin + piece->length;
    }
    return piece->begin + (piece->count - 1) * piece->stride + piece->length;
}

/* One dense run is all of `b`, and holds all of `a`: by far the most common. */
static inline bool bytes_in_one_run(const struct bytes *a, const struct bytes *b)
{
    return b->count == 1 && b->room == 0 && !b->owns && b->one.count == 1 && b->begin <= a->begin &&
           a->end <= b->end;
}

/* scatter.c */
/* Makes scatters of dense short runs that follow one another; the set is sorted by line and has no
 * scatters. False when out of memory; the set then has all its bytes still. */
bool scatter_pack(struct bytes *set);
/* Adds the runs of the set's scatters one by one and drops the scatters; the set is no longer
 * sorted. False when out of memory, some may be left. */
bool scatter_unpack(struct bytes *set);
/* Run `i` of a scatter, as a dense piece. */
struct piece scatter_run(const struct piece *scatter, uint32_t i);
/* Index of the first run that ends behind `at`. */
uint32_t scatter_find(const struct piece *scatter, uint64_t at);

#endif
