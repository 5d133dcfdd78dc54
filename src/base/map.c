/* Open-addressing map; the naive model is an unordered list of pairs with unique keys. */
#include "base/map.h"

#include "base/mem.h"

enum slot_state { SLOT_EMPTY, SLOT_TAKEN, SLOT_REMOVED };

struct map_slot {
    uint64_t key, value;
    enum slot_state state;
};

static size_t home_of(uint64_t key, size_t room)
{
    key ^= key >> 32;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    key ^= key >> 29;
    return (size_t)key & (room - 1);
}

static struct map_slot *slot_of(const struct map *map, uint64_t key)
{
    if (map->room == 0) {
        return NULL;
    }
    for (size_t i = home_of(key, map->room);; i = (i + 1) & (map->room - 1)) {
        struct map_slot *slot = &map->slots[i];
        if (slot->state == SLOT_EMPTY) {
            return NULL;
        }
        if (slot->state == SLOT_TAKEN && slot->key == key) {
            return slot;
        }
    }
}

uint64_t *map_find(const struct map *map, uint64_t key)
{
    struct map_slot *slot = slot_of(map, key);
    return slot ? &slot->value : NULL;
}

static void place(struct map *map, uint64_t key, uint64_t value)
{
    size_t i = home_of(key, map->room);
    while (map->slots[i].state == SLOT_TAKEN) {
        i = (i + 1) & (map->room - 1);
    }
    map->used += map->slots[i].state == SLOT_EMPTY;
    map->slots[i] = (struct map_slot){key, value, SLOT_TAKEN};
    map->count++;
}

static bool rehash(struct map *map)
{
    struct map bigger = {0};
    size_t cursor = 0;
    uint64_t key, value;
    bigger.room = map->count * 2 >= map->room ? (map->room ? map->room * 2 : 16) : map->room;
    bigger.slots = mem_zalloc(bigger.room, sizeof *bigger.slots);
    if (!bigger.slots) {
        return false;
    }
    while (map_next(map, &cursor, &key, &value)) {
        place(&bigger, key, value);
    }
    mem_free(map->slots);
    *map = bigger;
    return true;
}

bool map_set(struct map *map, uint64_t key, uint64_t value)
{
    struct map_slot *slot = slot_of(map, key);
    if (slot) {
        slot->value = value;
        return true;
    }
    if ((map->used + 1) * 4 > map->room * 3 && !rehash(map)) {
        return false;
    }
    place(map, key, value);
    return true;
}

bool map_remove(struct map *map, uint64_t key)
{
    struct map_slot *slot = slot_of(map, key);
    if (!slot) {
        return false;
    }
    slot->state = SLOT_REMOVED;
    map->count--;
    return true;
}

bool map_next(const struct map *map, size_t *cursor, uint64_t *key, uint64_t *value)
{
    for (; *cursor < map->room; ++*cursor) {
        if (map->slots[*cursor].state == SLOT_TAKEN) {
            *key = map->slots[*cursor].key;
            *value = map->slots[*cursor].value;
            ++*cursor;
            return true;
        }
    }
    return false;
}

void map_finish(struct map *map)
{
    mem_free(map->slots);
    *map = (struct map){0};
}
