/* Copies, compares and renumbers events by the field table of event.h, so a new event needs nothing
 * here. */
#include "support/tape.h"

#include "base/map.h"
#include "support/must.h"

#include <string.h>

static const void *keep_bytes(struct tape *tape, const void *bytes, size_t length)
{
    if (length == 0) {
        return NULL;
    }
    void *copy = arena_alloc(&tape->arena, length);
    MUST(copy);
    return memcpy(copy, bytes, length);
}

static void *field_of(struct ssan_event *event, const struct ssan_field *field)
{
    return (char *)event + field->offset;
}

static const void *const_field_of(const struct ssan_event *event, const struct ssan_field *field)
{
    return (const char *)event + field->offset;
}

void tape_put(struct tape *tape, const struct ssan_event *event)
{
    struct ssan_event copy = *event;
    const struct ssan_event_info *info = ssan_event_info(event->kind);
    MUST(info);
    for (size_t i = 0; i < info->field_count; i++) {
        void *at = field_of(&copy, &info->fields[i]);
        if (info->fields[i].type == SSAN_FIELD_STR) {
            struct ssan_str *text = at;
            text->ptr = keep_bytes(tape, text->ptr, text->length);
        } else if (info->fields[i].type == SSAN_FIELD_RUNS) {
            struct ssan_runs *runs = at;
            runs->ptr = keep_bytes(tape, runs->ptr, runs->count * sizeof *runs->ptr);
        } else if (info->fields[i].type == SSAN_FIELD_U64S) {
            struct ssan_u64s *words = at;
            words->ptr = keep_bytes(tape, words->ptr, words->count * sizeof *words->ptr);
        }
    }
    MUST(VEC_PUSH(&tape->events, copy));
}

static bool same_field(const struct ssan_field *field, const void *a, const void *b)
{
    const struct ssan_str *text_a = a, *text_b = b;
    const struct ssan_runs *runs_a = a, *runs_b = b;
    const struct ssan_u64s *words_a = a, *words_b = b;
    switch (field->type) {
    case SSAN_FIELD_U32:
    case SSAN_FIELD_ENUM:
        return memcmp(a, b, sizeof(uint32_t)) == 0;
    case SSAN_FIELD_U64:
    case SSAN_FIELD_X64:
        return memcmp(a, b, sizeof(uint64_t)) == 0;
    case SSAN_FIELD_STR:
        return text_a->length == text_b->length &&
               (text_a->length == 0 || memcmp(text_a->ptr, text_b->ptr, text_a->length) == 0);
    case SSAN_FIELD_RUNS:
        return runs_a->count == runs_b->count &&
               (runs_a->count == 0 ||
                memcmp(runs_a->ptr, runs_b->ptr, runs_a->count * sizeof *runs_a->ptr) == 0);
    case SSAN_FIELD_U64S:
        return words_a->count == words_b->count &&
               (words_a->count == 0 ||
                memcmp(words_a->ptr, words_b->ptr, words_a->count * sizeof *words_a->ptr) == 0);
    }
    return false;
}

bool tape_same_event(const struct ssan_event *a, const struct ssan_event *b)
{
    if (a->kind != b->kind) {
        return false;
    }
    const struct ssan_event_info *info = ssan_event_info(a->kind);
    for (size_t i = 0; i < info->field_count; i++) {
        if (!same_field(&info->fields[i], const_field_of(a, &info->fields[i]),
                        const_field_of(b, &info->fields[i]))) {
            return false;
        }
    }
    return true;
}

/* Id spaces that are numbered again, and the event that opens an id. */
static const struct id_space {
    const char *field;
    enum ssan_event_kind opener;
} spaces[] = {
    {"op", SSAN_EV_op},
    {"stream", SSAN_EV_stream_create},
    {"event", SSAN_EV_event_create},
    {"alloc", SSAN_EV_alloc},
    {"sync", SSAN_EV_sync},
};

#define SPACE_COUNT (sizeof spaces / sizeof *spaces)

static uint64_t get_id(const struct ssan_event *event, const struct ssan_field *field)
{
    uint32_t small = 0;
    uint64_t wide = 0;
    if (field->type == SSAN_FIELD_U64) {
        memcpy(&wide, const_field_of(event, field), sizeof wide);
        return wide;
    }
    memcpy(&small, const_field_of(event, field), sizeof small);
    return small;
}

static void set_id(struct ssan_event *event, const struct ssan_field *field, uint64_t id)
{
    uint32_t small = (uint32_t)id;
    if (field->type == SSAN_FIELD_U64) {
        memcpy(field_of(event, field), &id, sizeof id);
    } else {
        memcpy(field_of(event, field), &small, sizeof small);
    }
}

/* Gives one id its new number; false when the object it names is gone. */
static bool renumber(struct map *maps, uint64_t *next, struct ssan_event *event,
                     const struct ssan_field *field)
{
    for (size_t s = 0; s < SPACE_COUNT; s++) {
        uint64_t id = get_id(event, field);
        if (strcmp(field->name, spaces[s].field) != 0 || id == 0) {
            continue;
        }
        const uint64_t *known = map_find(&maps[s], id);
        if (!known && event->kind == spaces[s].opener) {
            MUST(map_set(&maps[s], id, ++next[s]));
            known = map_find(&maps[s], id);
        }
        if (!known) {
            return false;
        }
        set_id(event, field, *known);
        return true;
    }
    return true;
}

/* The `object` of a sync names a stream or an event by its kind. */
static bool renumber_sync(struct map *maps, struct ssan_event *event)
{
    size_t space = 0;
    switch (event->sync.kind) {
    case SSAN_sync_kind_STREAM:
    case SSAN_sync_kind_STREAM_QUERY:
        space = 1;
        break;
    case SSAN_sync_kind_EVENT:
    case SSAN_sync_kind_EVENT_QUERY:
    case SSAN_sync_kind_ELAPSED:
        space = 2;
        break;
    default:
        return true;
    }
    const uint64_t *known = map_find(&maps[space], event->sync.object);
    if (known) {
        event->sync.object = (uint32_t)*known;
    }
    return known != NULL;
}

void tape_select(struct tape *to, const struct tape *from, const bool *keep)
{
    struct map maps[SPACE_COUNT] = {0};
    uint64_t next[SPACE_COUNT] = {0};
    for (size_t i = 0; i < from->events.count; i++) {
        if (!keep[i]) {
            continue;
        }
        struct ssan_event event = from->events.items[i];
        const struct ssan_event_info *info = ssan_event_info(event.kind);
        bool whole = event.kind != SSAN_EV_sync || renumber_sync(maps, &event);
        /* Two rounds: an event is dropped before it opens an id of its own. */
        for (int round = 0; round < 2 && whole; round++) {
            for (size_t f = 0; f < info->field_count && whole; f++) {
                bool opens = false;
                for (size_t s = 0; s < SPACE_COUNT; s++) {
                    opens |= event.kind == spaces[s].opener &&
                             strcmp(info->fields[f].name, spaces[s].field) == 0;
                }
                if (opens == (round == 1)) {
                    whole = renumber(maps, next, &event, &info->fields[f]);
                }
            }
        }
        if (whole) {
            tape_put(to, &event);
        }
    }
    for (size_t s = 0; s < SPACE_COUNT; s++) {
        map_finish(&maps[s]);
    }
}

void tape_finish(struct tape *tape)
{
    VEC_FREE(&tape->events);
    arena_finish(&tape->arena);
}
