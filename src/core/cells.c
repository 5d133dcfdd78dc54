/* A few cells in a list, more in sorted levels; see cells.h. */
#include "core/cells.h"

#include "core/shadow.h"

#include "base/mem.h"
#include "base/vec.h"

#include <assert.h>
#include <string.h>

static uint32_t bits_of(uint64_t begin, uint64_t end)
{
    uint64_t length = end - begin;
    return length < 2 ? 2 : 64 - (uint32_t)__builtin_clzll(length);
}

static struct cell_level *find_level(const struct cells *cells, uint32_t bits)
{
    for (size_t i = 0; i < cells->count; i++) {
        if (cells->items[i].bits == bits) {
            return &cells->items[i];
        }
    }
    return NULL;
}

/* Index of the first slot whose begin is not below `begin`. */
static size_t lower(const struct cell_level *level, uint64_t begin)
{
    size_t low = 0, high = level->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (level->items[middle].begin < begin) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool insert(struct cells *cells, struct cell *cell)
{
    uint32_t bits = bits_of(cell->begin, cell->end);
    struct cell_level *level = find_level(cells, bits);
    if (!level) {
        if (!VEC_PUSH(cells, (struct cell_level){.bits = bits})) {
            return false;
        }
        level = &cells->items[cells->count - 1];
    }
    if (!VEC_RESERVE(level, level->count + 1)) {
        return false;
    }
    size_t at = cell->begin == UINT64_MAX ? level->count : lower(level, cell->begin + 1);
    memmove(&level->items[at + 1], &level->items[at], (level->count - at) * sizeof level->items[0]);
    level->items[at] = (struct cell_slot){.begin = cell->begin, .cell = cell};
    level->count++;
    return true;
}

/* Moves the few into levels; false when out of memory, they then stay where they are. */
static bool spread(struct cells *cells)
{
    for (size_t i = 0; i < cells->total; i++) {
        if (!insert(cells, cells->few[i])) {
            for (size_t k = 0; k < cells->count; k++) {
                cells->items[k].count = 0;
            }
            return false;
        }
    }
    cells->spread = true;
    return true;
}

bool cells_insert_slow(struct cells *cells, struct cell *cell)
{
    if ((!cells->spread && !spread(cells)) || !insert(cells, cell)) {
        return false;
    }
    cells->total++;
    return true;
}

static void remove_few(struct cells *cells, const struct cell *cell)
{
    size_t kept = 0;
    for (size_t i = 0; i < cells->total; i++) {
        cells->few[kept] = cells->few[i];
        kept += cells->few[i] != cell;
    }
    assert(kept + 1 == cells->total);
    cells->total = kept;
}

void cells_remove(struct cells *cells, const struct cell *cell)
{
    if (!cells->spread) {
        remove_few(cells, cell);
        return;
    }
    struct cell_level *level = find_level(cells, bits_of(cell->begin, cell->end));
    assert(level);
    size_t at = lower(level, cell->begin);
    while (at < level->count && level->items[at].cell != cell) {
        at++;
    }
    assert(at < level->count);
    level->count--;
    memmove(&level->items[at], &level->items[at + 1], (level->count - at) * sizeof level->items[0]);
    cells->total--;
    cells->spread = cells->total > 0;
}

bool cells_near(const struct cells *cells, uint64_t begin, uint64_t end, struct cell_list *found)
{
    for (size_t i = 0; !cells->spread && i < cells->total; i++) {
        if (!VEC_PUSH(found, cells->few[i])) {
            return false;
        }
    }
    for (size_t i = 0; cells->spread && i < cells->count; i++) {
        const struct cell_level *level = &cells->items[i];
        uint64_t reach =
            (level->bits < 63 ? UINT64_C(1) << level->bits : UINT64_MAX / 2) + CELLS_SLACK;
        uint64_t last = end < UINT64_MAX - CELLS_SLACK ? end + CELLS_SLACK : UINT64_MAX;
        for (size_t k = lower(level, begin > reach ? begin - reach : 0);
             k < level->count && level->items[k].begin < last; k++) {
            if (!VEC_PUSH(found, level->items[k].cell)) {
                return false;
            }
        }
    }
    return true;
}

struct cell *cells_any(const struct cells *cells)
{
    if (!cells->spread) {
        return cells->total > 0 ? cells->few[cells->total - 1] : NULL;
    }
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell_level *level = &cells->items[i];
        if (level->count > 0) {
            return level->items[level->count - 1].cell;
        }
    }
    return NULL;
}

bool verify_cells(const struct cells *cells)
{
    size_t total = 0;
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell_level *level = &cells->items[i];
        total += level->count;
        for (size_t k = 1; k < level->count; k++) {
            if (level->items[k - 1].begin > level->items[k].begin) {
                return false;
            }
        }
    }
    return cells->spread ? total == cells->total : total == 0 && cells->total <= CELLS_FEW;
}

void cells_finish(struct cells *cells)
{
    for (size_t i = 0; i < cells->count; i++) {
        VEC_FREE(&cells->items[i]);
    }
    VEC_FREE(cells);
    cells->total = 0;
    cells->spread = false;
}
