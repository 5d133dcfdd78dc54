/* The closure of run classes under turning races round; see classes.h. Classes are looked at in the
 * order in which they came, races in that of their items, so a search takes the same way each time.
 */
#include "explore/classes.h"

/* The entry of a class that has all orders of this poset, and all its races; CLASSES_NONE: none
 * has. */
static uint32_t find_covering(const struct classes *classes, uint64_t hash,
                              const struct poset *poset)
{
    const uint64_t *first = map_find(&classes->index, hash);
    uint32_t i = first ? (uint32_t)*first : CLASSES_NONE;
    while (i != CLASSES_NONE && !poset_covers(classes->entries.items[i].poset, poset)) {
        i = classes->entries.items[i].next;
    }
    return i;
}

bool classes_add(struct classes *classes, uint64_t hash, const struct poset *poset,
                 const uint32_t *need, uint32_t *entry, bool *is_new)
{
    uint32_t known = find_covering(classes, hash, poset);
    *is_new = known == CLASSES_NONE;
    if (known != CLASSES_NONE) {
        *entry = known;
        return true;
    }
    const uint64_t *first = map_find(&classes->index, hash);
    uint32_t count = (uint32_t)classes->entries.count;
    struct class_entry added = {.hash = hash,
                                .poset = poset,
                                .need = need,
                                .first = first ? (uint32_t)*first : count,
                                .next = CLASSES_NONE};
    *entry = count;
    if (!poset_races(poset, need, &added.races) || !VEC_PUSH(&classes->entries, added)) {
        VEC_FREE(&added.races);
        return false;
    }
    if (added.first == count) {
        return map_set(&classes->index, hash, count);
    }
    uint32_t last = added.first;
    while (classes->entries.items[last].next != CLASSES_NONE) {
        last = classes->entries.items[last].next;
    }
    classes->entries.items[last].next = count;
    return true;
}

static bool make_room(struct classes *classes, const struct poset *poset)
{
    return VEC_RESERVE(&classes->order, (size_t)poset->count + 1) &&
           VEC_RESERVE(&classes->need, (size_t)poset->count * poset->chains + 1);
}

/* The order and class of a reversal. */
static bool work_out(struct classes *classes, struct reversal *reversal)
{
    const struct class_entry *entry = &classes->entries.items[reversal->entry];
    const struct poset *poset = entry->poset;
    if (!make_room(classes, poset)) {
        return false;
    }
    uint32_t *order = classes->order.items, *need = classes->need.items;
    poset_reverse(poset, entry->need, reversal->race, order);
    poset_close(poset, order, need);
    reversal->foreseen = poset_hash(poset, need);
    return true;
}

static bool is_under_way(const struct classes *classes, uint64_t hash)
{
    for (size_t i = 0; i < classes->under_way.count; i++) {
        if (classes->under_way.items[i] == hash) {
            return true;
        }
    }
    return false;
}

/* The next one that nobody has looked at. False: there is none. */
static bool take_fresh(struct classes *classes, struct reversal *reversal)
{
    while (classes->current < classes->entries.count) {
        struct class_entry *entry = &classes->entries.items[classes->current];
        if (entry->next_race < entry->races.count) {
            *reversal = (struct reversal){.entry = classes->current,
                                          .race = entry->races.items[entry->next_race++]};
            return true;
        }
        VEC_FREE(&entry->races);
        entry->next_race = 0;
        classes->current++;
    }
    return false;
}

/* Decides about one: true when it is to be run now. */
static bool decide(struct classes *classes, struct reversal *reversal, bool *failed)
{
    *failed = !work_out(classes, reversal);
    const struct poset *poset = classes->entries.items[reversal->entry].poset;
    if (*failed || find_covering(classes, reversal->foreseen, poset) != CLASSES_NONE) {
        return false;
    }
    if (is_under_way(classes, reversal->foreseen)) {
        *failed = !VEC_PUSH(&classes->put_off, *reversal);
        return false;
    }
    *failed = !VEC_PUSH(&classes->under_way, reversal->foreseen);
    return !*failed;
}

enum classes_next classes_next(struct classes *classes, struct reversal *reversal)
{
    bool failed = false;
    while (classes->literals.count > 0) {
        *reversal = classes->literals.items[--classes->literals.count];
        if (decide(classes, reversal, &failed)) {
            return CLASSES_RUN;
        }
        if (failed) {
            return CLASSES_NO_MEMORY;
        }
    }
    for (size_t i = 0; i < classes->put_off.count;) {
        if (is_under_way(classes, classes->put_off.items[i].foreseen)) {
            i++;
            continue;
        }
        *reversal = classes->put_off.items[i];
        classes->put_off.items[i] = classes->put_off.items[--classes->put_off.count];
        if (decide(classes, reversal, &failed)) {
            return CLASSES_RUN;
        }
        if (failed) {
            return CLASSES_NO_MEMORY;
        }
    }
    while (take_fresh(classes, reversal)) {
        if (decide(classes, reversal, &failed)) {
            return CLASSES_RUN;
        }
        if (failed) {
            return CLASSES_NO_MEMORY;
        }
    }
    return classes->under_way.count > 0 ? CLASSES_WAIT : CLASSES_DONE;
}

bool classes_ended(struct classes *classes, const struct reversal *reversal, uint64_t hash)
{
    for (size_t i = 0; i < classes->under_way.count; i++) {
        if (classes->under_way.items[i] == reversal->foreseen) {
            classes->under_way.items[i] = classes->under_way.items[--classes->under_way.count];
            break;
        }
    }
    if (hash == reversal->foreseen || reversal->literal) {
        return true;
    }
    struct reversal literal = *reversal;
    literal.literal = true;
    return VEC_PUSH(&classes->literals, literal);
}

uint64_t classes_left(const struct classes *classes)
{
    uint64_t left = classes->put_off.count + classes->literals.count;
    for (size_t i = classes->current; i < classes->entries.count; i++) {
        left += classes->entries.items[i].races.count - classes->entries.items[i].next_race;
    }
    return left;
}

void classes_finish(struct classes *classes)
{
    for (size_t i = 0; i < classes->entries.count; i++) {
        VEC_FREE(&classes->entries.items[i].races);
    }
    VEC_FREE(&classes->entries);
    VEC_FREE(&classes->under_way);
    VEC_FREE(&classes->put_off);
    VEC_FREE(&classes->literals);
    map_finish(&classes->index);
    VEC_FREE(&classes->order);
    VEC_FREE(&classes->need);
    *classes = (struct classes){0};
}
