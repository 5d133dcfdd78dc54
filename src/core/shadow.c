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

bool moment_covers(const struct moment *moment, bool observed, struct epoch at)
{
    const struct stamp *stamp = moment->stamp;
    if (moment->side.tick != 0 && at.chain == moment->side.chain && at.tick >= moment->side.tick) {
        return false;
    }
    if (moment->first_tick != 0 && at.chain == stamp->own.chain) {
        return at.tick < moment->first_tick;
    }
    if (stamp_covers(stamp, observed, at)) {
        return true;
    }
    return moment->extra && clock_covers(observed ? moment->extra->obs : moment->extra->doc, at);
}

uint32_t moment_rule(const struct moment *moment, struct epoch at)
{
    if (stamp_covers(moment->stamp, true, at)) {
        return stamp_rule(moment->stamp, at);
    }
    const struct clock_entry *entry =
        moment->extra ? clock_find(moment->extra->obs, at.chain) : NULL;
    return entry ? entry->rule : 0;
}

bool cell_is_behind(const struct cell *cell, bool observed, const struct access *then)
{
    const struct times *late = &cell->actor->late;
    return late->obs && clock_covers(observed ? late->obs : late->doc, then->at);
}

static uint64_t cell_held(const struct cell *cell)
{
    return sizeof *cell + sizeof(struct cell *) + bytes_held(&cell->bytes);
}

static struct cell *cell_create(struct shadow *shadow, struct shadow_owner *owner)
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
    *cell = (struct cell){.shadow = shadow, .index = (uint32_t)shadow->count};
    if (!VEC_PUSH(shadow, cell)) {
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

static void cell_remove(struct cell *cell, struct shadow_owner *owner)
{
    struct shadow *shadow = cell->shadow;
    owner->bytes -= cell_held(cell);
    if (owner->rounding == cell) {
        owner->rounding = cell->newer;
    }
    *(cell->older ? &cell->older->newer : &owner->oldest) = cell->newer;
    *(cell->newer ? &cell->newer->older : &owner->newest) = cell->older;
    shadow->items[cell->index] = shadow->items[--shadow->count];
    shadow->items[cell->index]->index = cell->index;
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

/* Drops the cell's bytes that the access replaces; true when the cell is gone. */
static bool replace(struct cell *cell, struct shadow_owner *owner, const struct access *access)
{
    uint64_t held = bytes_held(&cell->bytes);
    if (!bytes_subtract(&cell->bytes, access->bytes)) {
        owner->failed = true;
        return false;
    }
    owner->bytes = owner->bytes - held + bytes_held(&cell->bytes);
    if (cell->bytes.count > 0) {
        return false;
    }
    cell_remove(cell, owner);
    return true;
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
        if (cell->bytes.count < 2 && !cell->bytes.leaves) {
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
    struct cell *cell = cell_create(shadow, owner);
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

void shadow_access(struct shadow *shadow, struct shadow_owner *owner, struct access *access,
                   struct judge *judge)
{
    if (access->bytes->count == 0) {
        return;
    }
    for (size_t i = 0; i < shadow->count;) {
        struct cell *cell = shadow->items[i++];
        if (!bytes_near(&cell->bytes, access->bytes) ||
            same_operation(cell->actor, access->actor)) {
            continue;
        }
        struct epoch at = cell_epoch(cell->key);
        bool ordered = moment_covers(&access->begin, false, at);
        bool behind = !ordered && cell_is_behind(cell, false, access);
        if (((!ordered && !behind) || (ordered && judge->also_ordered)) &&
            accesses_conflict(cell_access(cell->key), access->access)) {
            judge->pair(judge, cell, access, ordered);
        }
        if (ordered && replaces(access, cell->key) && stands_for(access, at) &&
            !(judge->keeps && judge->keeps(judge, cell, access, shadow->count)) &&
            replace(cell, owner, access)) {
            i--;
        }
    }
    add(shadow, owner, access);
    assert(verify_shadow(shadow));
}

bool verify_shadow(const struct shadow *shadow)
{
    size_t checked = shadow->count < 2 ? shadow->count : 2; /* bounded: this runs at every access */
    for (size_t i = shadow->count - checked; i < shadow->count; i++) {
        const struct cell *cell = shadow->items[i];
        if (cell->index != i || cell->shadow != shadow || cell->bytes.count == 0 ||
            (cell->bytes.count <= 64 && !verify_bytes(&cell->bytes))) {
            return false;
        }
    }
    return true;
}

void shadow_clear(struct shadow *shadow, struct shadow_owner *owner)
{
    while (shadow->count > 0) {
        cell_remove(shadow->items[shadow->count - 1], owner);
    }
    VEC_FREE(shadow);
}

void shadow_owner_finish(struct shadow_owner *owner)
{
    while (owner->spare) {
        struct cell *cell = owner->spare;
        owner->spare = cell->newer;
        mem_free(cell);
    }
}
