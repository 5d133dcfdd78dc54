/* Who made an access: what a report needs of an operation, host access, alloc or free, kept as long
 * as shadow or a hazard names it. Places are its static part: equal for all dynamic repeats.
 * Reference counts; one thread. */
#ifndef SSAN_CORE_ACTOR_H
#define SSAN_CORE_ACTOR_H

#include "base/map.h"
#include "base/vec.h"
#include "core/clock.h"
#include "core/engine.h"

struct actor {
    uint64_t position, op;
    uint32_t refs, place;
    uint32_t thread, site;
    uint32_t caller; /* thread that submitted the operation; host sides: 0 */
    uint32_t stream;
    uint32_t context : 20; /* ids are at most 2^16 (order.c) */
    uint32_t kind : 4;     /* enum side_kind */
    uint32_t flavour : 4;  /* enum ssan_stream_flavour; host sides: 0 */
    struct times
        *late; /* what it came behind only through host functions' acquires; NULL: nothing */
    struct epoch submitted; /* host epoch of the call, strict threads only */
};

/* Released actors, linked through `position`. Zeroed is ready. */
struct actors {
    struct actor *spare;
    struct clocks *clocks; /* of `late` */
    uint64_t bytes;
};

/* Zeroed, one reference; NULL when out of memory. */
struct actor *actor_create(struct actors *actors);
/* What it came behind only through late order, from here on; false when out of memory. */
bool actor_set_late(struct actors *actors, struct actor *actor, const struct times *late);
/* The last reference has gone. */
void actor_drop_slow(struct actors *actors, struct actor *actor);

static inline struct actor *actor_ref(struct actor *actor)
{
    if (actor) {
        actor->refs++;
    }
    return actor;
}

/* Gives a reference back; fast as long as others hold the actor. */
static inline void actor_drop(struct actors *actors, struct actor *actor)
{
    if (actor && --actor->refs == 0) {
        actor_drop_slow(actors, actor);
    }
}

void actors_finish(struct actors *actors);

/* Static places: side kind, operation kind, site, name, stream flavour -> a small id from 1. */
struct place_key {
    uint32_t kind, op_kind, site, name, flavour;
};

/* Without a site nothing tells two calls apart but what they work on: `instead` (a stream, a
 * buffer, a thread). */
static inline struct place_key place_key(enum side_kind kind, uint32_t what, uint32_t site,
                                         uint32_t flavour, uint32_t instead)
{
    return (struct place_key){.kind = (uint32_t)kind | (site == 0 ? 256u : 0u),
                              .op_kind = what,
                              .site = site == 0 ? instead : site,
                              .flavour = flavour};
}

struct place_name {
    char *text;
    uint32_t length;
};

/* The last call of a site: the same site makes the same call nearly always. */
struct place_recent {
    struct place_key key;
    uint32_t place;
};

#define PLACE_RECENT 256u

struct places {
    struct place_recent recent[PLACE_RECENT];
    struct map index; /* hash -> id; collisions probe on */
    VEC(struct place_key) keys;
    struct map names; /* hash -> name id */
    VEC(struct place_name) texts;
};

/* 0 when out of memory. */
uint32_t place_intern(struct places *places, struct place_key key);
/* The place of a call, by its name: place_name and place_intern in one, with a short way for what
 * came before. */
uint32_t place_of(struct places *places, struct place_key key, struct ssan_str name);
uint32_t place_name(struct places *places, struct ssan_str name);
uint64_t places_bytes(const struct places *places);
void places_finish(struct places *places);

#endif
