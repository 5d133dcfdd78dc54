/* Allocations and their generations: which life of which memory an address belongs to.
 *
 * A buffer is one generation. Two maps lead to it: the front map is the present of the trace
 * (memory kinds of copies are decided there), the back map is the present of the shadow, which lags
 * behind while earlier operations are open; it also remembers dead ranges until their addresses
 * live again. Naive model: a list of all generations with birth and death. Cost: binary search;
 * births and deaths move the tail of a sorted array. One thread at a time. */
#ifndef SSAN_CORE_ALLOC_H
#define SSAN_CORE_ALLOC_H

#include "base/vec.h"
#include "core/actor.h"
#include "core/shadow.h"
#include "trace/event.h"

struct buffer {
    uint32_t id; /* generation: the alloc event's id; 0 for pageable memory */
    uint32_t refs;
    uint32_t context, place; /* place: of its alloc event, 0 none */
    enum ssan_memory memory;
    uint64_t address, size;
    bool touched;              /* an access was seen */
    struct actor *born, *dead; /* the alloc, the free once it is dead */
    struct shadow shadow;
};

struct span {
    uint64_t begin, end;
    struct buffer *buffer; /* one reference */
};

#define SPANS_RECENT 64u

struct spans {
    struct span *items;
    size_t count, room;
    uint32_t recent[SPANS_RECENT]; /* where addresses were found last, by their hash: a guess */
};

struct buffer *buffer_create(const struct ssan_ev_alloc *event, uint32_t place);
struct buffer *buffer_ref(struct buffer *buffer);
/* Gives a reference back; the last one frees it. */
void buffer_drop(struct buffer *buffer, struct shadow_owner *owner);

/* First span that ends behind `at`, or NULL. */
struct span *spans_find(const struct spans *spans, uint64_t at);
/* The span that holds `at`, or NULL; fast for addresses that were asked for before. */
struct span *spans_hold(struct spans *spans, uint64_t at);
/* Cuts [begin, end) out of all spans, then adds it for `buffer` (takes a reference); NULL: only
 * cuts. */
bool spans_put(struct spans *spans, uint64_t begin, uint64_t end, struct buffer *buffer,
               struct shadow_owner *owner);
void spans_finish(struct spans *spans, struct shadow_owner *owner);

#endif
