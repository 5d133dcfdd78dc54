/* Sparse vector clocks; see clock.h for the model. Released clocks are kept by size class: the
 * engine makes and drops one at nearly every edge. */
#include "core/clock.h"

#include "base/mem.h"

#include <string.h>

#define CLASS_ENTRIES 4u /* entries a size class grows by */

static uint64_t clock_bytes(const struct clock *clock)
{
    return sizeof *clock + (uint64_t)clock->room * sizeof clock->entries[0];
}

static struct clock *clock_create(struct clocks *clocks, uint32_t room)
{
    uint32_t class = (room + CLASS_ENTRIES - 1) / CLASS_ENTRIES;
    struct clock *clock = NULL;
    if (class < CLOCK_CLASSES && clocks->spare[class]) {
        clock = clocks->spare[class];
        memcpy(&clocks->spare[class], clock->entries, sizeof(struct clock *));
    } else {
        uint32_t rounded = (class > 0 ? class : 1) * CLASS_ENTRIES;
        clock = mem_alloc(sizeof *clock + (size_t)rounded * sizeof clock->entries[0]);
        if (!clock) {
            clocks->failed = true;
            return NULL;
        }
        clock->room = rounded;
    }
    clock->refs = 1;
    clock->count = 0;
    clocks->bytes += clock_bytes(clock);
    return clock;
}

struct clock *clock_ref(struct clock *clock)
{
    if (clock) {
        clock->refs++;
    }
    return clock;
}

void clock_drop(struct clocks *clocks, struct clock *clock)
{
    if (!clock || --clock->refs > 0) {
        return;
    }
    clocks->bytes -= clock_bytes(clock);
    uint32_t class = clock->room / CLASS_ENTRIES;
    if (class < CLOCK_CLASSES) {
        memcpy(clock->entries, &clocks->spare[class], sizeof(struct clock *));
        clocks->spare[class] = clock;
    } else {
        mem_free(clock);
    }
}

/* Index of the first entry whose chain is not below `chain`. */
static uint32_t lower_bound(const struct clock *clock, uint32_t chain)
{
    uint32_t low = 0, high = clock->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (clock->entries[middle].chain < chain) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct clock_entry *clock_find(const struct clock *clock, uint32_t chain)
{
    if (!clock) {
        return NULL;
    }
    uint32_t at = lower_bound(clock, chain);
    return at < clock->count && clock->entries[at].chain == chain ? &clock->entries[at] : NULL;
}

bool clock_covers(const struct clock *clock, struct epoch at)
{
    if (at.tick == 0) {
        return true;
    }
    const struct clock_entry *entry = clock_find(clock, at.chain);
    return entry && entry->tick >= at.tick;
}

/* The entry of a joined chain: the later tick, and at equal ticks the better (documented)
 * provenance. */
static struct clock_entry later(struct clock_entry a, struct clock_entry b)
{
    if (a.tick != b.tick) {
        return a.tick > b.tick ? a : b;
    }
    return a.rule == 0 || b.rule != 0 ? a : b;
}

/* How many chains of `b` are missing in `a`, and whether b would change any entry of a. */
static uint32_t count_missing(const struct clock *a, const struct clock *b, uint32_t rule,
                              bool *changes)
{
    uint32_t missing = 0, i = 0;
    *changes = false;
    for (uint32_t j = 0; j < b->count; j++) {
        while (i < a->count && a->entries[i].chain < b->entries[j].chain) {
            i++;
        }
        if (i == a->count || a->entries[i].chain != b->entries[j].chain) {
            missing++;
        } else if (b->entries[j].tick > a->entries[i].tick ||
                   (b->entries[j].tick == a->entries[i].tick && b->entries[j].rule == 0 &&
                    rule == 0 && a->entries[i].rule != 0)) {
            *changes = true;
        }
    }
    *changes = *changes || missing > 0;
    return missing;
}

static struct clock_entry tagged(struct clock_entry entry, uint32_t rule)
{
    if (entry.rule == 0) {
        entry.rule = rule;
    }
    return entry;
}

static void merge(struct clock *into, const struct clock *a, const struct clock *b, uint32_t rule)
{
    uint32_t i = 0, j = 0, n = 0;
    while (i < a->count || j < b->count) {
        if (j == b->count || (i < a->count && a->entries[i].chain < b->entries[j].chain)) {
            into->entries[n++] = a->entries[i++];
        } else if (i == a->count || b->entries[j].chain < a->entries[i].chain) {
            into->entries[n++] = tagged(b->entries[j++], rule);
        } else {
            into->entries[n++] = later(a->entries[i++], tagged(b->entries[j++], rule));
        }
    }
    into->count = n;
}

struct clock *clock_join(struct clocks *clocks, struct clock *a, const struct clock *b,
                         uint32_t rule)
{
    if (!b || a == b) {
        return a;
    }
    if (!a && rule == 0) {
        return clock_ref((struct clock *)b);
    }
    static const struct clock empty = {0};
    const struct clock *left = a ? a : &empty;
    bool changes = false;
    uint32_t missing = count_missing(left, b, rule, &changes);
    if (!changes) {
        return a;
    }
    struct clock *joined = clock_create(clocks, left->count + missing);
    if (!joined) {
        return a;
    }
    merge(joined, left, b, rule);
    clock_drop(clocks, a);
    return joined;
}

struct clock *clock_set(struct clocks *clocks, struct clock *a, struct epoch at, uint32_t rule)
{
    if (at.tick == 0) {
        return a;
    }
    struct clock_entry entry = {.chain = at.chain, .tick = at.tick, .rule = rule};
    const struct clock_entry *old = clock_find(a, at.chain);
    if (old && (old->tick > at.tick || (old->tick == at.tick && (old->rule == 0 || rule != 0)))) {
        return a;
    }
    if (a && a->refs == 1 && old) {
        a->entries[old - a->entries] = entry;
        return a;
    }
    uint32_t count = a ? a->count : 0, position = a ? lower_bound(a, at.chain) : 0;
    struct clock *set = clock_create(clocks, count + (old ? 0 : 1));
    if (!set) {
        return a;
    }
    uint32_t skip = position + (old ? 1 : 0);
    if (position > 0) {
        memcpy(set->entries, a->entries, position * sizeof set->entries[0]);
    }
    set->entries[position] = entry;
    if (count > skip) {
        memcpy(set->entries + position + 1, a->entries + skip,
               (count - skip) * sizeof set->entries[0]);
    }
    set->count = count + (old ? 0 : 1);
    clock_drop(clocks, a);
    return set;
}

struct clock *clock_lower(struct clocks *clocks, struct clock *a, struct clock_entry entry)
{
    const struct clock_entry *old = clock_find(a, entry.chain);
    if (!old || old->tick <= entry.tick) {
        return a;
    }
    struct clock *lower = clock_create(clocks, a->count);
    if (!lower) {
        return a;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        struct clock_entry kept = a->entries[i];
        if (kept.chain == entry.chain) {
            kept.tick = entry.tick;
        }
        if (kept.tick > 0) {
            lower->entries[lower->count++] = kept;
        }
    }
    clock_drop(clocks, a);
    return lower;
}

bool clock_equal(const struct clock *a, const struct clock *b)
{
    if (a == b) {
        return true;
    }
    if (!a || !b || a->count != b->count) {
        return false;
    }
    return memcmp(a->entries, b->entries, a->count * sizeof a->entries[0]) == 0;
}

bool verify_clock(const struct clock *clock)
{
    for (uint32_t i = 0; clock && i < clock->count; i++) {
        if (clock->entries[i].tick == 0 ||
            (i > 0 && clock->entries[i - 1].chain >= clock->entries[i].chain)) {
            return false;
        }
    }
    return !clock || (clock->refs > 0 && clock->count <= clock->room);
}

void clocks_finish(struct clocks *clocks)
{
    for (uint32_t i = 0; i < CLOCK_CLASSES; i++) {
        while (clocks->spare[i]) {
            struct clock *clock = clocks->spare[i];
            memcpy(&clocks->spare[i], clock->entries, sizeof(struct clock *));
            mem_free(clock);
        }
    }
}
