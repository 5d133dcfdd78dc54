/* Values lean to the edges: zero, all bits set, and small numbers; strings hold every byte. */
#include "unit/trace_random.h"

#include <assert.h>
#include <string.h>

enum { MAX_TEXT = 40, MAX_RUNS = 6, LEAF_WORDS = 64 };

static uint64_t random_number(struct rng *rng)
{
    switch (rng_below(rng, 4)) {
    case 0:
        return 0;
    case 1:
        return rng_below(rng, 100);
    case 2:
        return UINT64_MAX;
    default:
        return rng_next(rng) >> rng_below(rng, 64);
    }
}

static struct ssan_str random_text(struct rng *rng, struct arena *arena)
{
    uint32_t length = (uint32_t)rng_below(rng, MAX_TEXT);
    char *text = arena_alloc(arena, length + 1);
    assert(text);
    for (uint32_t i = 0; i < length; i++) {
        text[i] = (char)rng_below(rng, 256);
    }
    return (struct ssan_str){text, length};
}

static struct ssan_runs random_runs(struct rng *rng, struct arena *arena)
{
    uint32_t count = (uint32_t)rng_below(rng, MAX_RUNS);
    struct ssan_run *runs = arena_alloc(arena, (count + 1) * sizeof *runs);
    assert(runs);
    for (uint32_t i = 0; i < count; i++) {
        struct ssan_run *run = &runs[i];
        run->address = rng_next(rng) >> 1;
        run->length = 1 + (rng_next(rng) >> (2 + rng_below(rng, 62)));
        run->count = 1;
        if (rng_below(rng, 2)) {
            run->length = 1 + rng_below(rng, 1 << 20);
            run->stride = run->length + rng_below(rng, 1 << 20);
            run->count = 2 + rng_below(rng, 1 << 20);
        }
    }
    return (struct ssan_runs){runs, count};
}

static struct ssan_u64s random_words(struct rng *rng, struct arena *arena, uint32_t count)
{
    uint64_t *words = arena_alloc(arena, (count + 1) * sizeof *words);
    assert(words);
    for (uint32_t i = 0; i < count; i++) {
        words[i] = random_number(rng);
    }
    return (struct ssan_u64s){words, count};
}

static uint32_t table_size(enum ssan_enum_table table)
{
    uint32_t size = 0;
    while (ssan_enum_word(table, size)) {
        size++;
    }
    return size;
}

/* What record_check demands beyond the types. */
static void make_valid(struct ssan_event *event, struct rng *rng)
{
    if (event->kind == SSAN_EV_alloc) {
        event->alloc.address >>= 1;
        event->alloc.size >>= 1;
    } else if (event->kind == SSAN_EV_pool_alloc) {
        event->pool_alloc.address >>= 1;
        event->pool_alloc.size >>= 1;
    } else if (event->kind == SSAN_EV_ignore) {
        event->ignore.address >>= 1;
        event->ignore.size >>= 1;
    } else if (event->kind == SSAN_EV_host_access) {
        event->host_access.address >>= 1;
        event->host_access.size >>= 1;
    } else if (event->kind == SSAN_EV_set_leaf) {
        event->set_leaf.address = rng_next(rng) >> 1 & ~UINT64_C(4095);
        event->set_leaf.unit_log2 = rng_below(rng, 2) ? 2 : 0;
        event->set_leaf.bits.count =
            event->set_leaf.unit_log2 ? 16 * (1 + (uint32_t)rng_below(rng, 4)) : 64;
    }
}

struct ssan_event random_event(struct rng *rng, struct arena *arena, uint32_t kind)
{
    struct ssan_event event = {
        .kind = (enum ssan_event_kind)(kind ? kind : 1 + rng_below(rng, SSAN_EV_count - 1))};
    const struct ssan_event_info *info = ssan_event_info((uint32_t)event.kind);
    for (size_t i = 0; i < info->field_count; i++) {
        const struct ssan_field *field = &info->fields[i];
        void *at = (char *)&event + field->offset;
        uint64_t number = random_number(rng);
        uint32_t narrow = (uint32_t)number;
        switch (field->type) {
        case SSAN_FIELD_U32:
            memcpy(at, &narrow, sizeof narrow);
            break;
        case SSAN_FIELD_U64:
        case SSAN_FIELD_X64:
            memcpy(at, &number, sizeof number);
            break;
        case SSAN_FIELD_ENUM:
            narrow = (uint32_t)rng_below(rng, table_size(field->table));
            memcpy(at, &narrow, sizeof narrow);
            break;
        case SSAN_FIELD_STR:
            *(struct ssan_str *)at = random_text(rng, arena);
            break;
        case SSAN_FIELD_RUNS:
            *(struct ssan_runs *)at = random_runs(rng, arena);
            break;
        case SSAN_FIELD_U64S:
            *(struct ssan_u64s *)at = random_words(
                rng, arena,
                event.kind == SSAN_EV_set_leaf ? LEAF_WORDS : (uint32_t)rng_below(rng, MAX_RUNS));
            break;
        }
    }
    make_valid(&event, rng);
    return event;
}

static bool bytes_equal(const void *a, uint32_t count_a, const void *b, uint32_t count_b,
                        size_t size)
{
    return count_a == count_b && (count_a == 0 || memcmp(a, b, count_a * size) == 0);
}

bool event_equal(const struct ssan_event *a, const struct ssan_event *b)
{
    const struct ssan_event_info *info = ssan_event_info((uint32_t)a->kind);
    bool equal = a->kind == b->kind && info;
    for (size_t i = 0; equal && i < info->field_count; i++) {
        const void *x = (const char *)a + info->fields[i].offset;
        const void *y = (const char *)b + info->fields[i].offset;
        const struct ssan_str *s = x, *t = y;
        const struct ssan_runs *r = x, *q = y;
        const struct ssan_u64s *u = x, *v = y;
        switch (info->fields[i].type) {
        case SSAN_FIELD_U32:
        case SSAN_FIELD_ENUM:
            equal = memcmp(x, y, sizeof(uint32_t)) == 0;
            break;
        case SSAN_FIELD_U64:
        case SSAN_FIELD_X64:
            equal = memcmp(x, y, sizeof(uint64_t)) == 0;
            break;
        case SSAN_FIELD_STR:
            equal = bytes_equal(s->ptr, s->length, t->ptr, t->length, 1);
            break;
        case SSAN_FIELD_RUNS:
            equal = bytes_equal(r->ptr, r->count, q->ptr, q->count, sizeof *r->ptr);
            break;
        case SSAN_FIELD_U64S:
            equal = bytes_equal(u->ptr, u->count, v->ptr, v->count, sizeof *u->ptr);
            break;
        }
    }
    return equal;
}

struct ssan_event numbered_event(uint32_t thread, uint64_t number)
{
    static const char text[65536];
    uint32_t length = (uint32_t)(number * 7 + thread) % 24;
    if ((number + thread) % 64 == 63) {
        length = 50000 + (uint32_t)(number % 1000);
    }
    return (struct ssan_event){
        .kind = SSAN_EV_name,
        .name = {.object = SSAN_object_STREAM,
                 .id = (uint64_t)thread << 40 | number,
                 .text = {text, length}},
    };
}

bool is_numbered(const struct ssan_event *event, uint32_t *thread, uint64_t *number)
{
    *thread = event->kind == SSAN_EV_name ? (uint32_t)(event->name.id >> 40) : 0;
    *number = event->kind == SSAN_EV_name ? event->name.id & ((UINT64_C(1) << 40) - 1) : 0;
    struct ssan_event same = numbered_event(*thread, *number);
    return event_equal(event, &same);
}
