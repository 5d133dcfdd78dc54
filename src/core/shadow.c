/* Cells: judged, replaced, rounded out when memory runs short. See shadow.h for the invariant. */
#include "core/shadow.h"

#include "base/mem.h"
#include "base/vec.h"

#include <assert.h>
#include <string.h>

bool accesses_conflict(enum ssan_access first, enum ssan_access then)
{
    if (first == SSAN_access_READ && then == SSAN_access_READ) {
        return false;
    }
    return first != SSAN_access_ATOMIC || then != SSAN_access_ATOMIC;
}

uint32_t moment_rule(const struct moment *moment, struct epoch at)
{
    if (stamp_covers(moment->stamp, true, at)) {
        return stamp_rule(moment->stamp, at);
    }
    return moment->extra ? clock_rule(moment->extra->obs, at.chain) : 0;
}

bool cell_is_behind(const struct cell *cell, bool observed, const struct access *then)
{
    const struct times *late = cell->actor->late;
    return late && clock_covers(observed ? late->obs : late->doc, then->at);
}

static uint64_t cell_held(const struct cell *cell)
{
    return sizeof *cell + sizeof(struct cell_slot) + bytes_held(&cell->bytes);
}

/* Its key, actor and bytes are up to the caller. */
static struct cell *cell_create(struct shadow *shadow, struct shadow_owner *owner,
                                const struct bytes *hull)
{
    struct cell *cell = owner->spare;
    if (cell) {
        owner->spare = cell->newer;
    } else {
        cell = mem_alloc(sizeof *cell);
    }
    if (!cell) {
        return NULL;
    }
    cell->begin = hull->begin;
    cell->bits = cells_bits(hull->begin, hull->end);
    cell->newer = NULL;
    if (!cells_insert(&shadow->cells, cell)) {
        mem_free(cell);
        return NULL;
    }
    cell->older = owner->newest;
    if (owner->newest) {
        owner->newest->newer = cell;
    } else {
        owner->oldest = cell;
    }
    owner->newest = cell;
    return cell;
}

/* The cell, which no index has any more. */
static void cell_free(struct cell *cell, struct shadow_owner *owner)
{
    owner->bytes -= cell_held(cell);
    if (owner->rounding == cell) {
        owner->rounding = cell->newer;
    }
    *(cell->older ? &cell->older->newer : &owner->oldest) = cell->newer;
    *(cell->newer ? &cell->newer->older : &owner->newest) = cell->older;
    actor_drop(owner->actors, cell->actor);
    bytes_finish(&cell->bytes);
    cell->newer = owner->spare;
    owner->spare = cell;
}

/* Whether everything that conflicts with the cell's kind conflicts with the new access too, at the
 * same sureness. */
static bool replaces(const struct access *access, struct cell_key key)
{
    if (access->may && !cell_may(key)) {
        return false;
    }
    switch (cell_access(key)) {
    case SSAN_access_READ:
        return access->access == SSAN_access_READ || access->access == SSAN_access_WRITE;
    case SSAN_access_ATOMIC:
        return access->access == SSAN_access_ATOMIC || access->access == SSAN_access_WRITE;
    default:
        return access->access == SSAN_access_WRITE;
    }
}

/* An access whose epoch carries no past (a source read on a side chain, an access behind an acquire
 * inside a host function) stands only for earlier ticks of its own chain. */
static bool stands_for(const struct access *access, struct epoch at)
{
    return access->carries || (at.chain == access->at.chain && at.tick <= access->at.tick);
}

/* All that came before `then` only through late order came before `first` too. */
static bool is_late_within(const struct actor *then, const struct actor *first)
{
    const struct times none = {0}, *late = first->late ? first->late : &none;
    return !then->late ||
           (clock_within(then->late->doc, late->doc) && clock_within(then->late->obs, late->obs));
}

/* Drops the cell's bytes that the access replaces; true when none is left. */
static bool replace(struct cell *cell, struct shadow_owner *owner, const struct access *access)
{
    if (bytes_in_one_run(&cell->bytes, access->bytes)) {
        return true;
    }
    uint64_t held = bytes_held(&cell->bytes);
    if (!bytes_subtract(&cell->bytes, access->bytes)) {
        owner->failed = true;
        return false;
    }
    owner->bytes = owner->bytes - held + bytes_held(&cell->bytes);
    return cell->bytes.count == 0;
}

static bool same_operation(const struct actor *a, const struct actor *b)
{
    return a == b || (a->op != 0 && a->op == b->op);
}

/* Rounds out cells from the oldest on until memory fits or all are rounded as far as it goes. */
static void shrink(struct shadow_owner *owner)
{
    static const uint64_t units[] = {1, 64, 4096};
    while (owner->bytes > owner->limit && owner->level <= 2) {
        struct cell *cell = owner->rounding;
        if (!cell) {
            owner->level++;
            owner->rounding = owner->oldest;
            if (owner->level > 2) {
                break;
            }
            continue;
        }
        owner->rounding = cell->newer;
        if (cell->bytes.count < 2 && !cell->bytes.owns) {
            continue;
        }
        uint64_t held = bytes_held(&cell->bytes);
        if (!bytes_round(&cell->bytes, units[owner->level])) {
            owner->failed = true;
            return;
        }
        owner->bytes = owner->bytes - held + bytes_held(&cell->bytes);
        owner->rounded += cell_rounded(cell->key) == 0;
        cell->key = cell_round(cell->key, owner->level);
    }
    if (owner->level > 2) { /* begin anew with what comes later */
        owner->level = 1;
        owner->rounding = owner->newest;
    }
}

static void add(struct shadow *shadow, struct shadow_owner *owner, struct access *access)
{
    struct cell *cell = cell_create(shadow, owner, access->bytes);
    if (!cell) {
        owner->failed = true;
        return;
    }
    cell->key = cell_pack(access->at, access->access, access->may);
    cell->actor = actor_ref(access->actor);
    cell->bytes = *access->bytes;
    *access->bytes = (struct bytes){0};
    owner->bytes += cell_held(cell);
    if (owner->bytes > owner->limit) {
        shrink(owner);
    }
}

/* Judges the access against one cell; `crowd`: cells looked at. True when nothing of the cell is
 * left. */
static inline bool meet(struct cell *cell, struct shadow_owner *owner, const struct access *access,
                        struct judge *judge, size_t crowd)
{
    if (!bytes_near(&cell->bytes, access->bytes) || same_operation(cell->actor, access->actor)) {
        return false;
    }
    struct epoch at = cell_epoch(cell->key);
    bool ordered = moment_covers(&access->begin, false, at);
    bool behind = !ordered && cell_is_behind(cell, false, access);
    if (((!ordered && !behind) || (ordered && judge->also_ordered)) &&
        accesses_conflict(cell_access(cell->key), access->access)) {
        judge->pair(judge, cell, access, ordered);
    }
    return ordered && replaces(access, cell->key) && stands_for(access, at) &&
           (!access->gated || is_late_within(access->actor, cell->actor)) &&
           !(judge->keeps && judge->keeps(judge, cell, access, crowd)) &&
           replace(cell, owner, access);
}

/* Many cells: those near the bytes. */
static void meet_near(struct shadow *shadow, struct shadow_owner *owner,
                      const struct access *access, struct judge *judge)
{
    struct cell_list *near = &owner->near;
    near->count = 0;
    if (!cells_near(&shadow->cells, access->bytes->begin, access->bytes->end, near)) {
        owner->failed = true;
        return;
    }
    for (size_t i = 0; i < near->count; i++) {
        if (meet(near->items[i], owner, access, judge, near->count)) {
            cells_remove(&shadow->cells, near->items[i]);
            cell_free(near->items[i], owner);
        }
    }
}

void shadow_access(struct shadow *shadow, struct shadow_owner *owner, struct access *access,
                   struct judge *judge)
{
    struct cells *cells = &shadow->cells;
    if (access->bytes->count == 0) {
        return;
    }
    if (cells->spread) {
        meet_near(shadow, owner, access, judge);
    } else { /* a few cells: each in turn, those that are left move up */
        size_t kept = 0, count = cells->total;
        for (size_t i = 0; i < count; i++) {
            struct cell *cell = cells->few[i];
            if (meet(cell, owner, access, judge, count)) {
                cell_free(cell, owner);
            } else {
                cells->few[kept++] = cell;
            }
        }
        cells->total = kept;
    }
    add(shadow, owner, access);
    assert(verify_shadow(shadow));
}

bool verify_shadow(const struct shadow *shadow)
{
    const struct cell *cell = cells_any(&shadow->cells); /* bounded: this runs at every access */
    return !cell || (cell->bytes.count > 0 &&
                     (cell->begin < CELLS_SLACK || cell->bytes.begin > cell->begin - CELLS_SLACK) &&
                     cell->bytes.end - cell->bytes.begin <= cells_reach(cell->bits));
}

void shadow_clear(struct shadow *shadow, struct shadow_owner *owner)
{
    assert(verify_cells(&shadow->cells));
    for (struct cell *cell; (cell = cells_any(&shadow->cells)) != NULL;) {
        assert(cell->bytes.count > 64 || verify_bytes(&cell->bytes));
        cells_remove(&shadow->cells, cell);
        cell_free(cell, owner);
    }
    cells_finish(&shadow->cells);
}

void shadow_owner_finish(struct shadow_owner *owner)
{
    while (owner->spare) {
        struct cell *cell = owner->spare;
        owner->spare = cell->newer;
        mem_free(cell);
    }
    VEC_FREE(&owner->near);
}
