/* Interval sets on one sorted array. */
#include "base/ranges.h"

#include "base/vec.h"

#include <string.h>

/* Index of the first interval whose end is > at. */
static size_t index_behind(const struct ranges *set, uint64_t at)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->items[middle].end > at) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Replaces `gone` intervals from `at` by `count` new ones. */
static bool splice(struct ranges *set, size_t at, size_t gone, const struct range *with,
                   size_t count)
{
    if (!VEC_RESERVE(set, set->count + count)) {
        return false;
    }
    memmove(set->items + at + count, set->items + at + gone,
            (set->count - at - gone) * sizeof *set->items);
    memcpy(set->items + at, with, count * sizeof *with);
    set->count += count - gone;
    return true;
}

bool ranges_add(struct ranges *set, uint64_t begin, uint64_t end)
{
    if (begin >= end) {
        return true;
    }
    size_t first = begin == 0 ? 0 : index_behind(set, begin - 1), last = first;
    struct range merged = {begin, end};
    while (last < set->count && set->items[last].begin <= end) {
        if (set->items[last].begin < merged.begin) {
            merged.begin = set->items[last].begin;
        }
        if (set->items[last].end > merged.end) {
            merged.end = set->items[last].end;
        }
        last++;
    }
    return splice(set, first, last - first, &merged, 1);
}

bool ranges_remove(struct ranges *set, uint64_t begin, uint64_t end)
{
    if (begin >= end) {
        return true;
    }
    size_t first = index_behind(set, begin), last = first, kept = 0;
    struct range rest[2];
    while (last < set->count && set->items[last].begin < end) {
        last++;
    }
    if (first == last) {
        return true;
    }
    if (set->items[first].begin < begin) {
        rest[kept++] = (struct range){set->items[first].begin, begin};
    }
    if (set->items[last - 1].end > end) {
        rest[kept++] = (struct range){end, set->items[last - 1].end};
    }
    return splice(set, first, last - first, rest, kept);
}

const struct range *ranges_find(const struct ranges *set, uint64_t at)
{
    size_t index = index_behind(set, at);
    return index < set->count ? &set->items[index] : NULL;
}

bool ranges_contains(const struct ranges *set, uint64_t begin, uint64_t end)
{
    const struct range *found = ranges_find(set, begin);
    return begin >= end || (found && found->begin <= begin && found->end >= end);
}

uint64_t ranges_bytes(const struct ranges *set)
{
    uint64_t total = 0;
    for (size_t i = 0; i < set->count; i++) {
        total += set->items[i].end - set->items[i].begin;
    }
    return total;
}

void ranges_finish(struct ranges *set)
{
    VEC_FREE(set);
}
