/* Counting linear extensions; see count.h. A layer holds the down-sets of one size with the number
 * of orders that lead to each; the last layer has one. */
#include "explore/count.h"

#include "base/mem.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

/* Down-sets of one size: `sets` has `chains` numbers for each. */
struct layer {
    uint32_t *sets;
    long double *ways;
    uint32_t *slots; /* open addressing: index + 1 */
    size_t count, room, slot_room;
};

static uint64_t hash_of(const uint32_t *set, uint32_t chains)
{
    uint64_t hash = chains;
    for (uint32_t c = 0; c < chains; c++) {
        hash = (hash ^ set[c]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static void finish_layer(struct layer *layer)
{
    mem_free(layer->sets);
    mem_free(layer->ways);
    mem_free(layer->slots);
    *layer = (struct layer){0};
}

static bool grow(struct layer *layer, uint32_t chains)
{
    size_t room = layer->room ? layer->room * 2 : 64;
    uint32_t *sets = mem_resize(layer->sets, room * chains, sizeof *sets);
    layer->sets = sets ? sets : layer->sets;
    long double *ways = mem_resize(layer->ways, room, sizeof *ways);
    layer->ways = ways ? ways : layer->ways;
    uint32_t *slots = mem_zalloc(room * 2, sizeof *slots);
    if (!sets || !ways || !slots) {
        mem_free(slots);
        return false;
    }
    mem_free(layer->slots);
    layer->slots = slots;
    layer->room = room;
    layer->slot_room = room * 2;
    for (size_t i = 0; i < layer->count; i++) {
        size_t at = hash_of(sets + i * chains, chains) & (layer->slot_room - 1);
        while (slots[at] != 0) {
            at = (at + 1) & (layer->slot_room - 1);
        }
        slots[at] = (uint32_t)i + 1;
    }
    return true;
}

/* Adds ways that lead to a down-set. */
static bool add(struct layer *layer, const uint32_t *set, uint32_t chains, long double ways)
{
    if (layer->count == layer->room && !grow(layer, chains)) {
        return false;
    }
    size_t at = hash_of(set, chains) & (layer->slot_room - 1);
    for (; layer->slots[at] != 0; at = (at + 1) & (layer->slot_room - 1)) {
        size_t index = layer->slots[at] - 1;
        if (memcmp(layer->sets + index * chains, set, chains * sizeof *set) == 0) {
            layer->ways[index] += ways;
            return true;
        }
    }
    layer->slots[at] = (uint32_t)layer->count + 1;
    memcpy(layer->sets + layer->count * chains, set, chains * sizeof *set);
    layer->ways[layer->count++] = ways;
    return true;
}

/* The item of chain c that comes next, when all that it needs is done; UINT32_MAX: none. */
static uint32_t next_of(const struct poset *poset, const uint32_t *need, const uint32_t *done,
                        uint32_t c)
{
    uint32_t index = poset->chain_begin[c] + done[c];
    if (index == poset->chain_begin[c + 1]) {
        return UINT32_MAX;
    }
    uint32_t item = poset->chain_items[index];
    const uint32_t *row = need + (size_t)item * poset->chains;
    for (uint32_t k = 0; k < poset->chains; k++) {
        if (row[k] > done[k]) {
            return UINT32_MAX;
        }
    }
    return item;
}

/* From one layer to the next. */
static bool step(const struct poset *poset, const uint32_t *need, const struct layer *from,
                 struct layer *to, uint32_t *set)
{
    for (size_t i = 0; i < from->count; i++) {
        memcpy(set, from->sets + i * poset->chains, poset->chains * sizeof *set);
        for (uint32_t c = 0; c < poset->chains; c++) {
            if (next_of(poset, need, set, c) != UINT32_MAX) {
                set[c]++;
                bool fine = add(to, set, poset->chains, from->ways[i]);
                set[c]--;
                if (!fine) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* *whole false: there are more down-sets than allowed. */
static bool count_exactly(const struct poset *poset, const uint32_t *need, uint64_t limit,
                          uint32_t *set, long double *count, bool *whole)
{
    struct layer layers[2] = {{0}, {0}};
    uint64_t seen = 1;
    bool fine = add(&layers[0], set, poset->chains, 1);
    *whole = true;
    for (uint32_t i = 0; fine && *whole && i < poset->count; i++) {
        struct layer *from = &layers[i % 2], *to = &layers[(i + 1) % 2];
        fine = step(poset, need, from, to, set);
        finish_layer(from);
        seen += to->count;
        *whole = seen <= limit;
    }
    if (fine && *whole) {
        *count = layers[poset->count % 2].ways[0];
    }
    finish_layer(&layers[0]);
    finish_layer(&layers[1]);
    return fine;
}

static long double probe(const struct poset *poset, const uint32_t *need, struct rng *rng,
                         uint32_t *done, uint32_t *ready)
{
    long double product = 1;
    memset(done, 0, poset->chains * sizeof *done);
    for (uint32_t i = 0; i < poset->count; i++) {
        uint32_t count = 0;
        for (uint32_t c = 0; c < poset->chains; c++) {
            if (next_of(poset, need, done, c) != UINT32_MAX) {
                ready[count++] = c;
            }
        }
        product *= (long double)count;
        done[ready[rng_below(rng, count)]]++;
    }
    return product;
}

bool count_orders(const struct poset *poset, const uint32_t *need,
                  const struct count_limits *limits, struct order_count *count)
{
    if (poset->count == 0) {
        *count = (struct order_count){.count = 1};
        return true;
    }
    uint32_t *set = mem_zalloc((size_t)poset->chains + 1, sizeof *set);
    uint32_t *ready = mem_zalloc((size_t)poset->chains + 1, sizeof *ready);
    bool whole = true, fine = set && ready;
    fine = fine && count_exactly(poset, need, limits->down_sets, set, &count->count, &whole);
    count->estimated = !whole;
    if (fine && !whole) {
        struct rng rng = {limits->seed};
        count->count = 0;
        for (uint32_t i = 0; i < limits->probes; i++) {
            count->count += probe(poset, need, &rng, set, ready) / (long double)limits->probes;
        }
    }
    mem_free(set);
    mem_free(ready);
    return fine;
}
