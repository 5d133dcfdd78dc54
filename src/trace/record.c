/* Events to bytes: a size and a write function for each event, made from event.def.
 *
 * The two macro sets below must walk the fields alike; record_read.c is their inverse. Cost: one
 * pass over the fields, two for events with strings or arrays. */
#include "trace/record.h"

#include <string.h>

static inline size_t up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

/* Behind a count and its elements. */
static inline size_t array_end(size_t n, uint32_t count, size_t element)
{
    return up(up(n, 4) + sizeof count, 8) + count * element;
}

#define EVENT(name)                                                                                \
    static inline size_t bytes_##name(const struct ssan_ev_##name *e)                              \
    {                                                                                              \
        size_t n = sizeof(struct record_head);
#define U32(field)         n = up(n, 4) + 4;
#define U64(field)         n = up(n, 8) + 8;
#define X64(field)         U64(field)
#define ENUM(field, table) U32(field)
#define STR(field)         n = up(n, 4) + 4 + e->field.length;
#define RUNS(field)        n = array_end(n, e->field.count, sizeof(struct ssan_run));
#define U64S(field)        n = array_end(n, e->field.count, sizeof(uint64_t));
#define END(name)                                                                                  \
    return up(n, 8);                                                                               \
    }
#include "trace/event.def"

/* Zeroes up to the next multiple of `to`. */
static inline size_t pad(unsigned char *base, size_t n, size_t to)
{
    for (; n % to; n++) {
        base[n] = 0;
    }
    return n;
}

static inline size_t put_u32(unsigned char *base, size_t n, uint32_t value)
{
    n = pad(base, n, 4);
    memcpy(base + n, &value, sizeof value);
    return n + sizeof value;
}

static inline size_t put_u64(unsigned char *base, size_t n, uint64_t value)
{
    n = pad(base, n, 8);
    memcpy(base + n, &value, sizeof value);
    return n + sizeof value;
}

static inline size_t put_bytes(unsigned char *base, size_t n, const void *from, size_t bytes)
{
    if (bytes) {
        memcpy(base + n, from, bytes);
    }
    return n + bytes;
}

static inline size_t put_array(unsigned char *base, size_t n, const void *from, uint32_t count,
                               size_t bytes)
{
    n = pad(base, put_u32(base, n, count), 8);
    return put_bytes(base, n, from, bytes);
}

#define EVENT(name)                                                                                \
    static inline void write_##name(unsigned char *base, const struct ssan_ev_##name *e)           \
    {                                                                                              \
        size_t n = sizeof(struct record_head);
#define U32(field)         n = put_u32(base, n, e->field);
#define U64(field)         n = put_u64(base, n, e->field);
#define X64(field)         U64(field)
#define ENUM(field, table) n = put_u32(base, n, (uint32_t)e->field);
#define STR(field)                                                                                 \
    n = put_u32(base, n, e->field.length);                                                         \
    n = put_bytes(base, n, e->field.ptr, e->field.length);
#define ARRAY(field)                                                                               \
    n = put_array(base, n, e->field.ptr, e->field.count,                                           \
                  (size_t)e->field.count * sizeof *e->field.ptr);
#define RUNS(field) ARRAY(field)
#define U64S(field) ARRAY(field)
#define END(name)                                                                                  \
    pad(base, n, 8);                                                                               \
    }
#include "trace/event.def"
#undef ARRAY

size_t record_bytes(const struct ssan_event *event)
{
    switch (event->kind) {
#define EVENT(name)                                                                                \
    case SSAN_EV_##name:                                                                           \
        return bytes_##name(&event->name);
#include "trace/event.def"
    case SSAN_EV_none:
    case SSAN_EV_count:
        break;
    }
    return 0;
}

void record_write(void *to, uint32_t size, const struct ssan_event *event)
{
    struct record_head head = {size, (uint32_t)event->kind};
    memcpy(to, &head, sizeof head);
    switch (event->kind) {
#define EVENT(name)                                                                                \
    case SSAN_EV_##name:                                                                           \
        write_##name(to, &event->name);                                                            \
        break;
#include "trace/event.def"
    case SSAN_EV_none:
    case SSAN_EV_count:
        break;
    }
}

/* FNV-1a, the NUL included so that words don't run together. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    do {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    } while (*text++);
    return hash;
}

uint64_t record_vocabulary(void)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t kind = SSAN_EV_none + 1; kind < SSAN_EV_count; kind++) {
        const struct ssan_event_info *info = ssan_event_info(kind);
        hash = hash_text(hash, info->name);
        for (size_t i = 0; i < info->field_count; i++) {
            hash = hash_text(hash, info->fields[i].name);
            hash = record_mix(hash, (uint64_t)info->fields[i].type << 32 | info->fields[i].table);
        }
    }
    for (uint32_t table = 0; table < SSAN_TABLE_count; table++) {
        const char *word;
        for (uint32_t value = 0; (word = ssan_enum_word((enum ssan_enum_table)table, value));
             value++) {
            hash = hash_text(hash, word);
        }
        hash = record_mix(hash, table);
    }
    return hash;
}
