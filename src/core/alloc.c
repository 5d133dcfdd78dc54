/* Generations and the sorted maps from addresses to them. */
#include "core/alloc.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

static_assert(SPANS_RECENT == 1u << 6, "the hash in spans_hold has 6 bits");

struct buffer *buffer_create(const struct ssan_ev_alloc *event, uint32_t place)
{
    struct buffer *buffer = mem_zalloc(1, sizeof *buffer);
    if (buffer) {
        buffer->refs = 1;
        buffer->id = event->alloc;
        buffer->context = event->context;
        buffer->place = place;
        buffer->memory = event->memory;
        buffer->address = event->address;
        buffer->size = event->size;
    }
    return buffer;
}

struct buffer *buffer_ref(struct buffer *buffer)
{
    buffer->refs++;
    return buffer;
}

void buffer_drop(struct buffer *buffer, struct shadow_owner *owner)
{
    if (!buffer || --buffer->refs > 0) {
        return;
    }
    shadow_clear(&buffer->shadow, owner);
    actor_drop(owner->actors, buffer->born);
    actor_drop(owner->actors, buffer->dead);
    mem_free(buffer);
}

/* Index of the first span that ends behind `at`. */
static size_t find(const struct spans *spans, uint64_t at)
{
    size_t low = 0, high = spans->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spans->items[middle].end <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct span *spans_find(const struct spans *spans, uint64_t at)
{
    size_t index = find(spans, at);
    return index < spans->count ? &spans->items[index] : NULL;
}

struct span *spans_hold(struct spans *spans, uint64_t at)
{
    uint32_t *recent = &spans->recent[at * UINT64_C(0x9e3779b97f4a7c15) >> 58];
    size_t index = *recent;
    if (index >= spans->count || at < spans->items[index].begin || at >= spans->items[index].end) {
        index = find(spans, at);
        *recent = (uint32_t)index;
    }
    return index < spans->count && spans->items[index].begin <= at ? &spans->items[index] : NULL;
}

static void insert(struct spans *spans, size_t at, struct span span)
{
    memmove(&spans->items[at + 1], &spans->items[at], (spans->count - at) * sizeof span);
    spans->items[at] = span;
    spans->count++;
}

static void erase(struct spans *spans, size_t at, struct shadow_owner *owner)
{
    buffer_drop(spans->items[at].buffer, owner);
    spans->count--;
    memmove(&spans->items[at], &spans->items[at + 1], (spans->count - at) * sizeof spans->items[0]);
}

bool spans_put(struct spans *spans, uint64_t begin, uint64_t end, struct buffer *buffer,
               struct shadow_owner *owner)
{
    if (!VEC_RESERVE(spans, spans->count + 2)) {
        return false;
    }
    size_t at = find(spans, begin);
    while (at < spans->count && spans->items[at].begin < end) {
        struct span *span = &spans->items[at];
        if (span->begin < begin && span->end > end) { /* a hole in the middle */
            struct span right = {
                .begin = end, .end = span->end, .buffer = buffer_ref(span->buffer)};
            span->end = begin;
            insert(spans, ++at, right);
            break;
        }
        if (span->begin < begin) {
            span->end = begin;
            at++;
        } else if (span->end > end) {
            span->begin = end;
            break;
        } else {
            erase(spans, at, owner);
        }
    }
    if (buffer) {
        insert(spans, at, (struct span){begin, end, buffer_ref(buffer)});
    }
    return true;
}

void spans_finish(struct spans *spans, struct shadow_owner *owner)
{
    for (size_t i = 0; i < spans->count; i++) {
        buffer_drop(spans->items[i].buffer, owner);
    }
    VEC_FREE(spans);
}
