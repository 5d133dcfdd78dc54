/* Orders of a class that was run in several ways; see ways.h. */
#include "explore/ways.h"

#include "base/mem.h"

/* The rows of all ways of a class in the numbers of its first; but of those that another has all
 * orders of. */
struct ways {
    uint32_t **items;
    size_t count, room;
};

static bool is_outdone(const struct classes *classes, uint32_t entry)
{
    const struct class_entry *entries = classes->entries.items;
    for (uint32_t i = entries[entry].first; i != CLASSES_NONE; i = entries[i].next) {
        if (i != entry && poset_covers(entries[i].poset, entries[entry].poset)) {
            return true; /* no two ways cover each other */
        }
    }
    return false;
}

static bool add_way(const struct class_entry *way, const struct poset *poset, struct ways *ways)
{
    uint32_t *rows = mem_zalloc((size_t)poset->count * poset->chains + 1, sizeof *rows);
    if (!rows || !VEC_PUSH(ways, rows)) {
        mem_free(rows);
        return false;
    }
    poset_translate(way->poset, way->need, poset, rows);
    return true;
}

bool ways_count(const struct classes *classes, uint32_t first, const struct count_limits *limits,
                struct order_count *count)
{
    const struct class_entry *entries = classes->entries.items;
    struct ways ways = {0};
    bool fine = true;
    for (uint32_t i = first; fine && i != CLASSES_NONE; i = entries[i].next) {
        fine = is_outdone(classes, i) || add_way(&entries[i], entries[first].poset, &ways);
    }
    fine = fine && count_union(entries[first].poset, (const uint32_t *const *)ways.items,
                               ways.count, limits, count);
    for (size_t i = 0; i < ways.count; i++) {
        mem_free(ways.items[i]);
    }
    VEC_FREE(&ways);
    return fine;
}
