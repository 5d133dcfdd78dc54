/* Where the cells of one buffer are: by the hull that each had when it came.
 *
 * A few cells are a plain list, by age. More of them stand in levels by size (powers of two), each
 * sorted by begin, so that the cells near some bytes are found in a logarithmic step for each level
 * in use. A hull only shrinks, and rounding grows it by less than SLACK: the key stays a cover of
 * it. Naive model: a list of all cells. Cost: finding O(levels log n + hits); adding and removing
 * move a part of a chunk. */
#ifndef SSAN_CORE_CELLS_H
#define SSAN_CORE_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cell;

struct cell_slot {
    uint64_t begin; /* of the hull when the cell came */
    struct cell *cell;
};

/* A chunk of a level: adding and removing move no more than this. */
#define CHUNK_SLOTS 64u

struct cell_chunk {
    uint32_t count; /* at least 1 */
    struct cell_slot slots[CHUNK_SLOTS];
};

struct cell_level {
    struct cell_chunk **items; /* slots ascend by begin from chunk to chunk */
    size_t count, room;
    uint32_t bits; /* hulls are shorter than 2^bits */
};

#define CELLS_FEW 8u

struct cells {
    struct cell *few[CELLS_FEW]; /* all cells, oldest first, while they aren't spread */
    struct cell_level *items;
    size_t count, room; /* levels */
    size_t total;       /* cells */
    bool spread;        /* they stand in levels, from the first cell too many until none is left */
};

/* Cells found. */
struct cell_list {
    struct cell **items;
    size_t count, room;
};

#define CELLS_SLACK UINT64_C(8192)

/* The level of a hull: it is shorter than 2^bits. */
static inline uint32_t cells_bits(uint64_t begin, uint64_t end)
{
    return end - begin < 2 ? 2 : 64 - (uint32_t)__builtin_clzll(end - begin);
}

/* No hull of the level is longer now. */
static inline uint64_t cells_reach(uint32_t bits)
{
    return (bits < 63 ? UINT64_C(1) << bits : UINT64_MAX / 2) + CELLS_SLACK;
}

bool cells_insert_slow(struct cells *cells, struct cell *cell);

/* Adds a cell by its `begin` and `bits`, which stay as they are from here on. False when out of
 * memory. */
static inline bool cells_insert(struct cells *cells, struct cell *cell)
{
    if (cells->spread || cells->total == CELLS_FEW) {
        return cells_insert_slow(cells, cell);
    }
    cells->few[cells->total++] = cell;
    return true;
}

void cells_remove(struct cells *cells, const struct cell *cell);
/* Appends all cells whose hull may meet [begin, end). False when out of memory. */
bool cells_near(const struct cells *cells, uint64_t begin, uint64_t end, struct cell_list *found);
/* Any cell, NULL when there is none. */
struct cell *cells_any(const struct cells *cells);
bool verify_cells(const struct cells *cells);
void cells_finish(struct cells *cells);

#endif
