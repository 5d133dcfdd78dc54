/* Counting linear extensions; see count.h. A layer holds the down-sets of one size with the number
 * of orders that lead to each; the last layer has one. A walk of an estimate looks at the item of a
 * chain again only when the chain that held it up has gone on. */
#include "explore/count.h"

#include "base/hash.h"
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

/* What may still be used; `bytes` for each of the two layers. */
struct allowance {
    uint64_t sets, bytes;
};

#define READY      (UINT32_MAX - 1) /* the next item of the chain may come */
#define AT_END     UINT32_MAX       /* it has no next one */
#define FIRST_ROOM 64u

static uint64_t hash_of(const uint32_t *set, uint32_t chains)
{
    uint64_t hash = chains;
    for (uint32_t c = 0; c < chains; c++) {
        hash = hash_mix(hash, set[c]);
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

/* False when there is no more memory for it, or none that is allowed. */
static bool grow(struct layer *layer, uint32_t chains, const struct allowance *left)
{
    size_t room = layer->room ? layer->room * 2 : FIRST_ROOM;
    uint64_t each = chains * sizeof *layer->sets + sizeof *layer->ways + 2 * sizeof *layer->slots;
    if (room > left->bytes / each) {
        return false;
    }
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

/* Adds ways that lead to a down-set. False: it is one more than is allowed. */
static bool add(struct layer *layer, const uint32_t *set, uint32_t chains, long double ways,
                struct allowance *left)
{
    if (layer->count == layer->room && !grow(layer, chains, left)) {
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
    if (left->sets == 0) {
        return false;
    }
    left->sets--;
    layer->slots[at] = (uint32_t)layer->count + 1;
    memcpy(layer->sets + layer->count * chains, set, chains * sizeof *set);
    layer->ways[layer->count++] = ways;
    return true;
}

/* What the next item of chain c waits for: a chain, READY, AT_END. */
static uint32_t held_up_by(const struct poset *poset, const uint32_t *need, const uint32_t *done,
                           uint32_t c)
{
    uint32_t index = poset->chain_begin[c] + done[c];
    if (index == poset->chain_begin[c + 1]) {
        return AT_END;
    }
    const uint32_t *row = need + (size_t)poset->chain_items[index] * poset->chains;
    for (uint32_t k = 0; k < poset->chains; k++) {
        if (row[k] > done[k]) {
            return k;
        }
    }
    return READY;
}

/* From one layer to the next. False: there are more down-sets than allowed. */
static bool step(const struct poset *poset, const uint32_t *need, const struct layer *from,
                 struct layer *to, uint32_t *set, struct allowance *left)
{
    for (size_t i = 0; i < from->count; i++) {
        memcpy(set, from->sets + i * poset->chains, poset->chains * sizeof *set);
        for (uint32_t c = 0; c < poset->chains; c++) {
            if (held_up_by(poset, need, set, c) == READY) {
                set[c]++;
                bool fine = add(to, set, poset->chains, from->ways[i], left);
                set[c]--;
                if (!fine) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* False: it takes more down-sets or memory than there may be. */
static bool count_exactly(const struct poset *poset, const uint32_t *need,
                          const struct count_limits *limits, uint32_t *set, long double *count)
{
    struct layer layers[2] = {{0}, {0}};
    struct allowance left = {limits->down_sets, limits->bytes / 2};
    bool fine = add(&layers[0], set, poset->chains, 1, &left);
    for (uint32_t i = 0; fine && i < poset->count; i++) {
        struct layer *from = &layers[i % 2], *to = &layers[(i + 1) % 2];
        fine = step(poset, need, from, to, set, &left);
        finish_layer(from);
    }
    if (fine) {
        const struct layer *last = &layers[poset->count % 2];
        *count = last->count > 0 ? last->ways[0] : 0;
    }
    finish_layer(&layers[0]);
    finish_layer(&layers[1]);
    return fine;
}

/* Arrays of a walk, with a number for each chain. */
struct walk {
    uint32_t *done, *held, *ready;
};

static long double probe(const struct poset *poset, const uint32_t *need, struct rng *rng,
                         const struct walk *walk)
{
    long double product = 1;
    uint32_t last = 0; /* the chain that went on */
    memset(walk->done, 0, poset->chains * sizeof *walk->done);
    memset(walk->held, 0, poset->chains * sizeof *walk->held);
    for (uint32_t i = 0; i < poset->count; i++) {
        uint32_t count = 0;
        for (uint32_t c = 0; c < poset->chains; c++) {
            if (c == last || walk->held[c] == last) {
                walk->held[c] = held_up_by(poset, need, walk->done, c);
            }
            if (walk->held[c] == READY) {
                walk->ready[count++] = c;
            }
        }
        if (count == 0) {
            return 0; /* a need that can't be met */
        }
        product *= (long double)count;
        last = walk->ready[rng_below(rng, count)];
        walk->done[last]++;
    }
    return product;
}

bool count_orders(const struct poset *poset, const uint32_t *need,
                  const struct count_limits *limits, struct order_count *count)
{
    *count = (struct order_count){.count = 1};
    if (poset->count == 0) {
        return true;
    }
    uint32_t *room = mem_zalloc((size_t)poset->chains * 3, sizeof *room);
    if (!room) {
        return false;
    }
    const struct walk walk = {room, room + poset->chains, room + (size_t)poset->chains * 2};
    count->estimated = !count_exactly(poset, need, limits, walk.done, &count->count);
    if (count->estimated) {
        struct rng rng = {limits->seed};
        count->count = 0;
        for (uint32_t i = 0; i < limits->probes; i++) {
            count->count += probe(poset, need, &rng, &walk) / (long double)limits->probes;
        }
    }
    mem_free(room);
    return true;
}

/* All rows of the needs in the mask at once. */
static void merge(const struct poset *poset, const uint32_t *const *needs, size_t mask,
                  uint32_t *rows)
{
    size_t length = (size_t)poset->count * poset->chains;
    memset(rows, 0, length * sizeof *rows);
    for (size_t k = 0; mask >> k != 0; k++) {
        for (size_t i = 0; (mask >> k & 1) && i < length; i++) {
            rows[i] = needs[k][i] > rows[i] ? needs[k][i] : rows[i];
        }
    }
}

bool count_union(const struct poset *poset, const uint32_t *const *needs, size_t need_count,
                 const struct count_limits *limits, struct order_count *count)
{
    uint32_t *rows = mem_zalloc((size_t)poset->count * poset->chains + 1, sizeof *rows);
    bool plain = need_count > COUNT_UNION, fine = rows != NULL;
    size_t masks = (size_t)1 << (plain ? 0 : need_count);
    long double most = 0;
    *count = (struct order_count){.estimated = plain};
    for (size_t i = plain ? 0 : 1; fine && i < (plain ? need_count : masks); i++) {
        struct order_count each;
        bool odd = plain || __builtin_popcountll(i) % 2 == 1;
        if (!plain) {
            merge(poset, needs, i, rows);
        }
        fine = count_orders(poset, plain ? needs[i] : rows, limits, &each);
        count->count += odd ? each.count : -each.count;
        count->estimated = count->estimated || each.estimated;
        most = odd && each.count > most ? each.count : most;
    }
    count->count = count->count > most ? count->count : most; /* estimates need not add up */
    mem_free(rows);
    return fine;
}
