/* Classes by rows. A row says of each chain how long a prefix comes first: that is all, since both
 * `before` and a class are transitive and hold along chains. */
#include "explore/poset.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

bool poset_create(struct poset *poset, uint32_t count, uint32_t chains)
{
    *poset = (struct poset){.count = count, .chains = chains};
    poset->items = mem_zalloc((size_t)count + 1, sizeof *poset->items);
    poset->before = mem_zalloc((size_t)count * chains + 1, sizeof *poset->before);
    return poset->items && poset->before;
}

void poset_finish(struct poset *poset)
{
    mem_free(poset->items);
    mem_free(poset->before);
    mem_free(poset->chain_begin);
    mem_free(poset->chain_items);
    mem_free(poset->link_begin);
    mem_free(poset->links);
    VEC_FREE(&poset->pairs);
    *poset = (struct poset){0};
}

/* Counts into begins[i + 1], summed up to where each begins. */
static void sum_up(uint32_t *begins, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        begins[i + 1] += begins[i];
    }
}

void poset_fix(struct poset *poset, uint32_t x, uint32_t y)
{
    poset->fixed += hash_mix(poset->items[x].name, poset->items[y].name);
}

bool poset_seal(struct poset *poset)
{
    uint32_t count = poset->count, chains = poset->chains;
    size_t links = poset->pairs.count * 2;
    poset->chain_begin = mem_zalloc((size_t)chains + 1, sizeof *poset->chain_begin);
    poset->chain_items = mem_zalloc((size_t)count + 1, sizeof *poset->chain_items);
    poset->link_begin = mem_zalloc((size_t)count + 2, sizeof *poset->link_begin);
    poset->links = mem_zalloc(links + 1, sizeof *poset->links);
    if (!poset->chain_begin || !poset->chain_items || !poset->link_begin || !poset->links) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        poset->chain_begin[poset->items[i].chain + 1]++;
    }
    sum_up(poset->chain_begin, chains);
    for (uint32_t i = 0; i < count; i++) {
        const struct poset_item *item = &poset->items[i];
        poset->chain_items[poset->chain_begin[item->chain] + item->place - 1] = i;
        poset->fixed += hash_mix(hash_mix(count, item->name), item->mark);
    }
    for (size_t i = 0; i < poset->pairs.count; i++) {
        poset->link_begin[poset->pairs.items[i].first + 2]++;
        poset->link_begin[poset->pairs.items[i].second + 2]++;
    }
    /* filling moves each begin to its end, which is where the next one begins */
    sum_up(poset->link_begin, count + 1);
    for (size_t i = 0; i < poset->pairs.count; i++) {
        struct poset_pair pair = poset->pairs.items[i];
        poset->links[poset->link_begin[pair.first + 1]++] = pair.second;
        poset->links[poset->link_begin[pair.second + 1]++] = pair.first;
    }
    return true;
}

/* into |= row of x, and x itself. */
static void take(const struct poset *poset, const uint32_t *need, uint32_t x, uint32_t *into)
{
    const uint32_t *row = need + (size_t)x * poset->chains;
    for (uint32_t c = 0; c < poset->chains; c++) {
        into[c] = row[c] > into[c] ? row[c] : into[c];
    }
    const struct poset_item *item = &poset->items[x];
    into[item->chain] = item->place > into[item->chain] ? item->place : into[item->chain];
}

/* The last item of a chain that a row has; the row has one. */
static uint32_t last_of(const struct poset *poset, uint32_t chain, uint32_t place)
{
    return poset->chain_items[poset->chain_begin[chain] + place - 1];
}

void poset_close(const struct poset *poset, const uint32_t *order, uint32_t *need)
{
    size_t row_bytes = poset->chains * sizeof *need;
    /* Rows of items that come later are zero until it is their turn, and their first entry in their
     * own chain is set last: so a link to one that has no row yet is known by it. */
    memset(need, 0, poset->count * row_bytes);
    for (uint32_t at = 0; at < poset->count; at++) {
        uint32_t y = order ? order[at] : at;
        const uint32_t *before = poset->before + (size_t)y * poset->chains;
        uint32_t *row = poset_row(poset, need, y);
        for (uint32_t c = 0; c < poset->chains; c++) {
            if (before[c] > 0) {
                take(poset, need, last_of(poset, c, before[c]), row);
            }
        }
        for (uint32_t i = poset->link_begin[y]; i < poset->link_begin[y + 1]; i++) {
            uint32_t x = poset->links[i];
            /* an item that has come has itself in its row for now */
            if (poset_row(poset, need, x)[poset->items[x].chain] == poset->items[x].place) {
                take(poset, need, x, row);
            }
        }
        row[poset->items[y].chain] = poset->items[y].place;
    }
    for (uint32_t i = 0; i < poset->count; i++) { /* no item comes before itself */
        poset_row(poset, need, i)[poset->items[i].chain] = poset->items[i].place - 1;
    }
}

/* All that item i needs is done. */
static bool is_ready(const struct poset *poset, const uint32_t *need, uint32_t item,
                     const uint32_t *done)
{
    const uint32_t *row = need + (size_t)item * poset->chains;
    for (uint32_t c = 0; c < poset->chains; c++) {
        if (row[c] > done[c]) {
            return false;
        }
    }
    return true;
}

bool poset_canonical(const struct poset *poset, const uint32_t *need, uint32_t *order)
{
    uint32_t *done = mem_zalloc((size_t)poset->chains + 1, sizeof *done);
    if (!done) {
        return false;
    }
    for (uint32_t at = 0; at < poset->count; at++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t c = 0; c < poset->chains; c++) {
            uint32_t index = poset->chain_begin[c] + done[c];
            if (index == poset->chain_begin[c + 1]) {
                continue;
            }
            uint32_t item = poset->chain_items[index];
            if ((best == UINT32_MAX || poset->items[item].name < poset->items[best].name) &&
                is_ready(poset, need, item, done)) {
                best = item;
            }
        }
        order[at] = best;
        done[poset->items[best].chain]++;
    }
    mem_free(done);
    return true;
}

/* A sum, so it does not matter in which order the pairs stand, nor which of them `before` orders.
 */
uint64_t poset_hash(const struct poset *poset, const uint32_t *need)
{
    uint64_t hash = poset->fixed;
    for (size_t i = 0; i < poset->pairs.count; i++) {
        struct poset_pair pair = poset->pairs.items[i];
        bool as_numbered = poset_comes_before(poset, need, pair.first, pair.second);
        uint64_t first = poset->items[as_numbered ? pair.first : pair.second].name;
        uint64_t second = poset->items[as_numbered ? pair.second : pair.first].name;
        hash += hash_mix(first, second);
    }
    return hash;
}

bool poset_covers(const struct poset *wide, const struct poset *narrow)
{
    size_t chain_bytes = ((size_t)wide->chains + 1) * sizeof *wide->chain_begin;
    if (wide->count != narrow->count || wide->chains != narrow->chains ||
        memcmp(wide->chain_begin, narrow->chain_begin, chain_bytes) != 0) {
        return false; /* not of one class, whatever their hashes say */
    }
    for (uint32_t i = 0; i < wide->count; i++) {
        const uint32_t *few = poset_row(wide, wide->before, wide->chain_items[i]);
        const uint32_t *many = poset_row(narrow, narrow->before, narrow->chain_items[i]);
        for (uint32_t c = 0; c < wide->chains; c++) {
            if (few[c] > many[c]) {
                return false;
            }
        }
    }
    return true;
}

void poset_translate(const struct poset *from, const uint32_t *rows, const struct poset *to,
                     uint32_t *into)
{
    size_t row_bytes = from->chains * sizeof *rows;
    for (uint32_t i = 0; i < from->count; i++) {
        memcpy(poset_row(to, into, to->chain_items[i]),
               rows + (size_t)from->chain_items[i] * from->chains, row_bytes);
    }
}

/* A third item comes between x and y: then one of y's direct predecessors has x before it. */
static bool has_between(const struct poset *poset, const uint32_t *need, uint32_t x, uint32_t y)
{
    const uint32_t *before = poset->before + (size_t)y * poset->chains;
    for (uint32_t c = 0; c < poset->chains; c++) {
        if (before[c] > 0 && poset_comes_before(poset, need, x, last_of(poset, c, before[c]))) {
            return true;
        }
    }
    for (uint32_t i = poset->link_begin[y]; i < poset->link_begin[y + 1]; i++) {
        uint32_t z = poset->links[i];
        if (z != x && poset_comes_before(poset, need, z, y) &&
            poset_comes_before(poset, need, x, z)) {
            return true;
        }
    }
    return false;
}

bool poset_races(const struct poset *poset, const uint32_t *need, struct poset_races *races)
{
    for (size_t i = 0; i < poset->pairs.count; i++) {
        struct poset_pair pair = poset->pairs.items[i];
        if (!has_between(poset, need, pair.first, pair.second) && !VEC_PUSH(races, pair)) {
            return false;
        }
    }
    return true;
}

void poset_reverse(const struct poset *poset, const uint32_t *need, struct poset_pair race,
                   uint32_t *order)
{
    uint32_t at = 0, x = race.first, y = race.second;
    for (uint32_t i = 0; i < poset->count; i++) {
        if (i != x && i != y && !poset_comes_before(poset, need, x, i) &&
            !poset_comes_before(poset, need, y, i)) {
            order[at++] = i;
        }
    }
    order[at++] = y;
    order[at++] = x;
    for (uint32_t i = 0; i < poset->count; i++) {
        if (i != x && i != y &&
            (poset_comes_before(poset, need, x, i) || poset_comes_before(poset, need, y, i))) {
            order[at++] = i;
        }
    }
}
