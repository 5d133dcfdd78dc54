/* Bytes to events: the inverse of record.c, for bytes that nobody vouches for.
 *
 * Every length is compared with what is left before it is used, every enum with its table; a record
 * must end exactly where its fields do. Strings and arrays are not copied. Cost: one pass over the
 * fields and runs. */
#include "trace/record.h"

#include <string.h>

struct cursor {
    const unsigned char *base;
    size_t at, size;
    const char *field, *what; /* the first fault; what is NULL without one */
};

/* Inlined at each field of each event: reading takes a quarter less (tests/bench/trace_bench.c). */
#define LEAF static inline __attribute__((always_inline))

__attribute__((cold, noinline)) static void fail(struct cursor *c, const char *field,
                                                 const char *what)
{
    if (!c->what) {
        c->field = field;
        c->what = what;
    }
}

/* `bytes` bytes at the next multiple of `align` (relative to the record, whose head is 8 bytes);
 * NULL when there are not as many. */
LEAF const unsigned char *take(struct cursor *c, size_t align, uint64_t bytes, const char *field)
{
    size_t at = (c->at + align - 1) & ~(align - 1);
    if (c->what || at > c->size || bytes > c->size - at) {
        fail(c, field, "the record is too short for it");
        return NULL;
    }
    c->at = at + (size_t)bytes;
    return c->base + at;
}

LEAF uint32_t get_u32(struct cursor *c, const char *field)
{
    uint32_t value = 0;
    const unsigned char *from = take(c, 4, sizeof value, field);
    if (from) {
        memcpy(&value, from, sizeof value);
    }
    return value;
}

LEAF uint64_t get_u64(struct cursor *c, const char *field)
{
    uint64_t value = 0;
    const unsigned char *from = take(c, 8, sizeof value, field);
    if (from) {
        memcpy(&value, from, sizeof value);
    }
    return value;
}

LEAF uint32_t get_enum(struct cursor *c, uint32_t count, const char *field)
{
    uint32_t value = get_u32(c, field);
    if (!c->what && value >= count) {
        fail(c, field, "the number has no meaning");
    }
    return c->what ? 0 : value;
}

LEAF struct ssan_str get_str(struct cursor *c, const char *field)
{
    uint32_t length = get_u32(c, field);
    const unsigned char *from = take(c, 1, length, field);
    return (struct ssan_str){(const char *)from, from ? length : 0};
}

/* `from` is aligned for the elements, since the record begins at a multiple of 8. */
LEAF const void *get_array(struct cursor *c, size_t element, uint32_t *count, const char *field)
{
    *count = get_u32(c, field);
    const void *from = take(c, 8, (uint64_t)*count * element, field);
    if (!from) {
        *count = 0;
    }
    return from;
}

#define EVENT(name)                                                                                \
    static void read_##name(struct cursor *c, struct ssan_ev_##name *e)                            \
    {
#define U32(f)         e->f = get_u32(c, #f);
#define U64(f)         e->f = get_u64(c, #f);
#define X64(f)         U64(f)
#define ENUM(f, table) e->f = (enum ssan_##table)get_enum(c, ssan_##table##_count, #f);
#define STR(f)         e->f = get_str(c, #f);
#define RUNS(f)        e->f.ptr = get_array(c, sizeof(struct ssan_run), &e->f.count, #f);
#define U64S(f)        e->f.ptr = get_array(c, sizeof(uint64_t), &e->f.count, #f);
#define END(name)      }
#include "trace/event.def"

bool record_read(const void *from, size_t bytes, uint32_t kind, struct ssan_event *event,
                 struct record_fault *fault)
{
    struct cursor c = {.base = from, .size = bytes};
    event->kind = (enum ssan_event_kind)kind;
    switch (kind) {
#define EVENT(name)                                                                                \
    case SSAN_EV_##name:                                                                           \
        read_##name(&c, &event->name);                                                             \
        break;
#include "trace/event.def"
    default:
        *fault = (struct record_fault){"?", NULL, "an event of this number does not exist"};
        return false;
    }
    if (!c.what && ((c.at + 7) & ~(size_t)7) != bytes) {
        fail(&c, NULL, "the record is longer than its fields");
    }
    if (c.what) {
        *fault = (struct record_fault){ssan_event_info(kind)->name, c.field, c.what};
        return false;
    }
    return record_check(event, fault);
}

static const char *check_runs(struct ssan_runs runs)
{
    for (uint32_t i = 0; i < runs.count; i++) {
        struct ssan_run run = runs.ptr[i];
        uint64_t span, end;
        if (run.length == 0 || run.count == 0) {
            return "a run without bytes";
        }
        if (run.count == 1 ? run.stride != 0 : run.stride < run.length) {
            return "a run whose stride does not fit its length and count";
        }
        if (__builtin_mul_overflow(run.stride, run.count - 1, &span) ||
            __builtin_add_overflow(span, run.length, &span) ||
            __builtin_add_overflow(run.address, span, &end)) {
            return "a run that leaves the address space";
        }
    }
    return NULL;
}

static const char *check_range(uint64_t address, uint64_t size)
{
    return address + size < address ? "the range leaves the address space" : NULL;
}

static const char *check_leaf(const struct ssan_ev_set_leaf *set, const char **field)
{
    if (set->unit_log2 != 0 && set->unit_log2 != 2) {
        *field = "unit_log2";
        return "a bit of a leaf is 1 byte (0) or 4 (2)";
    }
    uint32_t words = SSAN_LEAF_WORDS >> set->unit_log2;
    if (set->bits.count == 0 || set->bits.count % words) {
        *field = "bits";
        return set->unit_log2 ? "a leaf has 16 words of this unit" : "a leaf has 64 words";
    }
    *field = "address";
    if (set->address % SSAN_LEAF_BYTES) {
        return "a leaf begins at a multiple of 4096";
    }
    return ssan_leaf_count(set) ? NULL : "the leaves leave the address space";
}

bool record_check(const struct ssan_event *event, struct record_fault *fault)
{
    const char *field = "size", *what = NULL;
    switch (event->kind) {
    case SSAN_EV_set:
        field = "runs";
        what = check_runs(event->set.runs);
        break;
    case SSAN_EV_set_leaf:
        what = check_leaf(&event->set_leaf, &field);
        break;
    case SSAN_EV_alloc:
        what = check_range(event->alloc.address, event->alloc.size);
        break;
    case SSAN_EV_pool_alloc:
        what = check_range(event->pool_alloc.address, event->pool_alloc.size);
        break;
    case SSAN_EV_ignore:
        what = check_range(event->ignore.address, event->ignore.size);
        break;
    case SSAN_EV_host_access:
        what = check_range(event->host_access.address, event->host_access.size);
        break;
    default:
        break;
    }
    if (what) {
        *fault = (struct record_fault){ssan_event_info(event->kind)->name, field, what};
    }
    return !what;
}
