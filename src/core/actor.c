/* Actors from a free list, places from hash maps that compare what they find. */
#include "core/actor.h"

#include "base/mem.h"

#include <string.h>

struct actor *actor_create(struct actors *actors)
{
    struct actor *actor = actors->spare;
    if (actor) {
        memcpy(&actors->spare, &actor->position, sizeof(struct actor *));
        memset(actor, 0, sizeof *actor);
    } else {
        actor = mem_zalloc(1, sizeof *actor);
    }
    if (actor) {
        actor->refs = 1;
        actors->bytes += sizeof *actor;
    }
    return actor;
}

static void drop_late(struct actors *actors, struct actor *actor)
{
    if (actor->late) {
        times_drop(actors->clocks, actor->late);
        mem_free(actor->late);
        actor->late = NULL;
    }
}

bool actor_set_late(struct actors *actors, struct actor *actor, const struct times *late)
{
    drop_late(actors, actor);
    if (!late->obs) {
        return true;
    }
    actor->late = mem_alloc(sizeof *actor->late);
    if (actor->late) {
        *actor->late = times_ref(late);
    }
    return actor->late != NULL;
}

void actor_drop_slow(struct actors *actors, struct actor *actor)
{
    drop_late(actors, actor);
    actors->bytes -= sizeof *actor;
    memcpy(&actor->position, &actors->spare, sizeof(struct actor *));
    actors->spare = actor;
}

void actors_finish(struct actors *actors)
{
    while (actors->spare) {
        struct actor *actor = actors->spare;
        memcpy(&actors->spare, &actor->position, sizeof(struct actor *));
        mem_free(actor);
    }
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

uint32_t place_intern(struct places *places, struct place_key key)
{
    uint64_t hash =
        mix(mix(mix(mix(mix(1, key.kind), key.op_kind), key.site), key.name), key.flavour);
    for (;; hash++) {
        const uint64_t *found = map_find(&places->index, hash);
        if (!found) {
            break;
        }
        if (memcmp(&places->keys.items[*found - 1], &key, sizeof key) == 0) {
            return (uint32_t)*found;
        }
    }
    if (!VEC_PUSH(&places->keys, key)) {
        return 0;
    }
    if (!map_set(&places->index, hash, places->keys.count)) {
        places->keys.count--;
        return 0;
    }
    return (uint32_t)places->keys.count;
}

uint32_t place_name(struct places *places, struct ssan_str name)
{
    uint64_t hash = name.length;
    for (uint32_t i = 0; i < name.length; i++) {
        hash = mix(hash, (unsigned char)name.ptr[i]);
    }
    for (;; hash++) {
        const uint64_t *found = map_find(&places->names, hash);
        if (!found) {
            break;
        }
        const struct place_name *known = &places->texts.items[*found - 1];
        if (known->length == name.length &&
            (name.length == 0 || memcmp(known->text, name.ptr, name.length) == 0)) {
            return (uint32_t)*found;
        }
    }
    char *text = mem_strndup(name.ptr ? name.ptr : "", name.length);
    if (!text || !VEC_PUSH(&places->texts, (struct place_name){text, name.length})) {
        mem_free(text);
        return 0;
    }
    if (!map_set(&places->names, hash, places->texts.count)) {
        mem_free(places->texts.items[--places->texts.count].text);
        return 0;
    }
    return (uint32_t)places->texts.count;
}

static bool is_recent(const struct places *places, const struct place_recent *recent,
                      struct place_key key, struct ssan_str name)
{
    const struct place_key *known = &recent->key;
    if (recent->place == 0 || known->kind != key.kind || known->op_kind != key.op_kind ||
        known->site != key.site || known->flavour != key.flavour) {
        return false;
    }
    const struct place_name *text = &places->texts.items[known->name - 1];
    return text->length == name.length &&
           (name.length == 0 || memcmp(text->text, name.ptr, name.length) == 0);
}

uint32_t place_of(struct places *places, struct place_key key, struct ssan_str name)
{
    struct place_recent *recent = &places->recent[key.site % PLACE_RECENT];
    if (is_recent(places, recent, key, name)) {
        return recent->place;
    }
    key.name = place_name(places, name);
    uint32_t place = key.name == 0 ? 0 : place_intern(places, key);
    if (place != 0) {
        *recent = (struct place_recent){.key = key, .place = place};
    }
    return place;
}

uint64_t places_bytes(const struct places *places)
{
    uint64_t bytes = (places->index.room + places->names.room) * 24 +
                     places->keys.room * sizeof(struct place_key) +
                     places->texts.room * sizeof(struct place_name);
    for (size_t i = 0; i < places->texts.count; i++) {
        bytes += places->texts.items[i].length + 1;
    }
    return bytes;
}

void places_finish(struct places *places)
{
    for (size_t i = 0; i < places->texts.count; i++) {
        mem_free(places->texts.items[i].text);
    }
    VEC_FREE(&places->texts);
    VEC_FREE(&places->keys);
    map_finish(&places->index);
    map_finish(&places->names);
}
