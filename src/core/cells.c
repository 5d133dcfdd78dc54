/* A few cells in a list, more in sorted levels; see cells.h. */
#include "core/cells.h"

#include "core/shadow.h"

#include "base/mem.h"
#include "base/vec.h"

#include <assert.h>
#include <string.h>

/* A slot of a level. */
struct place {
    size_t chunk;
    uint32_t slot;
};

static struct cell_level *find_level(const struct cells *cells, uint32_t bits)
{
    for (size_t i = 0; i < cells->count; i++) {
        if (cells->items[i].bits == bits) {
            return &cells->items[i];
        }
    }
    return NULL;
}

/* Index of the first slot of the chunk whose begin is not below `begin`. */
static uint32_t lower(const struct cell_chunk *chunk, uint64_t begin)
{
    uint32_t low = 0, high = chunk->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (chunk->slots[middle].begin < begin) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first slot of the level whose begin is not below `begin`; at the end behind the last one of
 * the last chunk. */
static struct place find(const struct cell_level *level, uint64_t begin)
{
    size_t low = 0, high = level->count;
    while (low < high) { /* the first chunk that has such a slot */
        size_t middle = low + (high - low) / 2;
        const struct cell_chunk *chunk = level->items[middle];
        if (chunk->slots[chunk->count - 1].begin < begin) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == level->count) {
        return (struct place){low, 0};
    }
    return (struct place){low, lower(level->items[low], begin)};
}

/* Makes room for a chunk at index `at`, empty; NULL when out of memory. */
static struct cell_chunk *add_chunk(struct cell_level *level, size_t at)
{
    struct cell_chunk *chunk =
        VEC_RESERVE(level, level->count + 1) ? mem_alloc(sizeof *chunk) : NULL;
    if (!chunk) {
        return NULL;
    }
    chunk->count = 0;
    memmove(&level->items[at + 1], &level->items[at], (level->count - at) * sizeof level->items[0]);
    level->items[at] = chunk;
    level->count++;
    return chunk;
}

/* Where a new slot goes: a chunk with room, and the index in it. A full chunk is cut in half, or,
 * at the end of the level, followed by a new one. */
static bool make_room(struct cell_level *level, struct place *place)
{
    if (place->chunk == level->count && level->count > 0) {
        place->chunk--;
        place->slot = level->items[place->chunk]->count;
    }
    struct cell_chunk *chunk = level->count > 0 ? level->items[place->chunk] : NULL;
    if (chunk && chunk->count < CHUNK_SLOTS) {
        return true;
    }
    bool last = !chunk || (place->chunk + 1 == level->count && place->slot == chunk->count);
    struct cell_chunk *next = add_chunk(level, place->chunk + (chunk ? 1 : 0));
    if (!next) {
        return false;
    }
    if (last) {
        *place = (struct place){place->chunk + (chunk ? 1 : 0), 0};
        return true;
    }
    uint32_t half = CHUNK_SLOTS / 2;
    next->count = chunk->count - half;
    memcpy(next->slots, &chunk->slots[half], next->count * sizeof chunk->slots[0]);
    chunk->count = half;
    if (place->slot > half) {
        *place = (struct place){place->chunk + 1, place->slot - half};
    }
    return true;
}

static bool insert(struct cells *cells, struct cell *cell)
{
    struct cell_level *level = find_level(cells, cell->bits);
    if (!level) {
        if (!VEC_PUSH(cells, (struct cell_level){.bits = cell->bits})) {
            return false;
        }
        level = &cells->items[cells->count - 1];
    }
    struct place at =
        cell->begin == UINT64_MAX ? (struct place){level->count, 0} : find(level, cell->begin + 1);
    if (!make_room(level, &at)) {
        return false;
    }
    struct cell_chunk *chunk = level->items[at.chunk];
    memmove(&chunk->slots[at.slot + 1], &chunk->slots[at.slot],
            (chunk->count - at.slot) * sizeof chunk->slots[0]);
    chunk->slots[at.slot] = (struct cell_slot){.begin = cell->begin, .cell = cell};
    chunk->count++;
    return true;
}

/* The next slot; NULL at the end. */
static const struct cell_slot *slot_at(const struct cell_level *level, struct place *place)
{
    if (place->chunk < level->count && place->slot == level->items[place->chunk]->count) {
        *place = (struct place){place->chunk + 1, 0};
    }
    return place->chunk < level->count ? &level->items[place->chunk]->slots[place->slot] : NULL;
}

static void remove_slot(struct cell_level *level, struct place at)
{
    struct cell_chunk *chunk = level->items[at.chunk];
    chunk->count--;
    memmove(&chunk->slots[at.slot], &chunk->slots[at.slot + 1],
            (chunk->count - at.slot) * sizeof chunk->slots[0]);
    if (chunk->count == 0) {
        mem_free(chunk);
        level->count--;
        memmove(&level->items[at.chunk], &level->items[at.chunk + 1],
                (level->count - at.chunk) * sizeof level->items[0]);
    }
}

static void empty(struct cell_level *level)
{
    while (level->count > 0) {
        mem_free(level->items[--level->count]);
    }
}

/* Moves the few into levels; false when out of memory, they then stay where they are. */
static bool spread(struct cells *cells)
{
    for (size_t i = 0; i < cells->total; i++) {
        if (!insert(cells, cells->few[i])) {
            for (size_t k = 0; k < cells->count; k++) {
                empty(&cells->items[k]);
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
    struct cell_level *level = find_level(cells, cell->bits);
    assert(level);
    struct place at = find(level, cell->begin);
    const struct cell_slot *slot = slot_at(level, &at);
    while (slot && slot->cell != cell) {
        at.slot++;
        slot = slot_at(level, &at);
    }
    assert(slot);
    remove_slot(level, at);
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
        uint64_t reach = cells_reach(level->bits);
        uint64_t last = end < UINT64_MAX - CELLS_SLACK ? end + CELLS_SLACK : UINT64_MAX;
        struct place at = find(level, begin > reach ? begin - reach : 0);
        for (const struct cell_slot *slot; (slot = slot_at(level, &at)) && slot->begin < last;
             at.slot++) {
            if (!VEC_PUSH(found, slot->cell)) {
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
            const struct cell_chunk *chunk = level->items[level->count - 1];
            return chunk->slots[chunk->count - 1].cell;
        }
    }
    return NULL;
}

bool verify_cells(const struct cells *cells)
{
    size_t total = 0;
    for (size_t i = 0; i < cells->count; i++) {
        struct place at = {0};
        uint64_t before = 0;
        for (const struct cell_slot *slot; (slot = slot_at(&cells->items[i], &at)); at.slot++) {
            if (slot->begin < before) {
                return false;
            }
            before = slot->begin;
            total++;
        }
    }
    return cells->spread ? total == cells->total : total == 0 && cells->total <= CELLS_FEW;
}

void cells_finish(struct cells *cells)
{
    for (size_t i = 0; i < cells->count; i++) {
        empty(&cells->items[i]);
        VEC_FREE(&cells->items[i]);
    }
    VEC_FREE(cells);
    cells->total = 0;
    cells->spread = false;
}
