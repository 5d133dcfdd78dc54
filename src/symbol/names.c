/* Demangles each name once.
 *
 * Cost: a hash of the name and a look-up for an event with a mangled name, nothing for others. */
#include "symbol/names.h"

#include "symbol/demangle.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

struct entry {
    struct entry *next; /* with the same hash */
    struct ssan_str mangled, name;
};

static uint64_t hash_of(const struct ssan_str *text)
{
    uint64_t hash = text->length, word = 0;
    for (uint32_t i = 0; i < text->length; i++) {
        word = word << 8 | (unsigned char)text->ptr[i];
        if (i % 8 == 7) {
            hash = hash_mix(hash, word);
        }
    }
    return hash_mix(hash, word);
}

static struct ssan_str keep(struct names *names, const char *text, size_t length)
{
    const char *copy = arena_strndup(&names->arena, text, length);
    return (struct ssan_str){copy, copy ? (uint32_t)length : 0};
}

/* NULL when out of memory. */
static const struct entry *find(struct names *names, const struct ssan_str *mangled)
{
    const uint64_t hash = hash_of(mangled), *first = map_find(&names->known, hash);
    struct entry *head = first ? (struct entry *)(uintptr_t)*first : NULL, *made;
    char *copy, *plain;
    for (struct entry *at = head; at; at = at->next) {
        if (at->mangled.length == mangled->length &&
            memcmp(at->mangled.ptr, mangled->ptr, mangled->length) == 0) {
            return at;
        }
    }
    made = arena_alloc(&names->arena, sizeof *made);
    copy = mem_strndup(mangled->ptr, mangled->length);
    plain = copy ? demangle(copy) : NULL;
    if (made && plain) {
        *made = (struct entry){head, keep(names, copy, mangled->length),
                               keep(names, plain, strlen(plain))};
    }
    mem_free(copy);
    mem_free(plain);
    return made && plain && made->mangled.ptr && made->name.ptr &&
                   map_set(&names->known, hash, (uint64_t)(uintptr_t)made)
               ? made
               : NULL;
}

void names_tidy(struct names *names, struct ssan_event *event)
{
    struct ssan_str *name = &event->op.name;
    const struct entry *entry;
    if (event->kind != SSAN_EV_op || name->length < 3 || memcmp(name->ptr, "_Z", 2) != 0) {
        return;
    }
    entry = find(names, name);
    if (entry) {
        *name = entry->name;
    }
}

void names_finish(struct names *names)
{
    map_finish(&names->known);
    arena_finish(&names->arena);
}
