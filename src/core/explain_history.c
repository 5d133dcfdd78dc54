/* Questions to the history of a trace.
 *
 * Owns nothing but the tables' memory. Tables are in the order of the trace, so that "before a
 * position" is a binary search; what is asked seldom (blocks by address, equal calls on a line)
 * walks. */
#include "core/explain_history.h"

#include <string.h>

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

int history_device(const struct history *history, uint32_t context)
{
    uint32_t told = context < history->devices.count ? history->devices.items[context] : 0;
    return (int)(told ? told : context) - 1;
}

int history_device_of(const struct history *history, const struct hist_item *item)
{
    return history_device(history, history->streams.items[item->stream].context);
}

bool history_is_default(const struct history *history, const struct hist_item *item)
{
    const struct hist_stream *stream = &history->streams.items[item->stream];
    return stream->flavour == SSAN_stream_flavour_LEGACY ||
           stream->flavour == SSAN_stream_flavour_PER_THREAD;
}

/* Devices above are told apart no more. */
#define MOST_DEVICES 1024u

/* Whether the device of a context is a new one, which is then seen. */
static bool see_device(const struct history *history, uint32_t context, uint64_t *seen)
{
    const uint32_t device = (uint32_t)history_device(history, context) % MOST_DEVICES;
    const bool is_new = !(seen[device / 64] >> device % 64 & 1);
    seen[device / 64] |= UINT64_C(1) << device % 64;
    return is_new;
}

uint32_t history_count_devices(const struct history *history)
{
    uint64_t seen[MOST_DEVICES / 64] = {0};
    uint32_t count = 0;
    for (size_t i = 0; i < history->streams.count; i++) {
        count += see_device(history, history->streams.items[i].context, seen);
    }
    for (size_t i = 0; i < history->allocs.count; i++) {
        const struct hist_alloc *alloc = &history->allocs.items[i];
        count += alloc->memory == SSAN_memory_DEVICE && see_device(history, alloc->context, seen);
    }
    return count;
}

uint32_t history_find(const struct map *ids, uint64_t id)
{
    const uint64_t *index = map_find(ids, id);
    return index ? (uint32_t)*index : HISTORY_NONE;
}

const struct hist_site *history_site(const struct history *history, uint32_t site)
{
    static const struct hist_site unknown = {.place = HISTORY_NONE};
    const uint32_t index = history_find(&history->site_of, site);
    return index == HISTORY_NONE ? &unknown : &history->sites.items[index];
}

struct place history_place(const struct history *history, uint32_t site)
{
    const struct hist_site *found = history_site(history, site);
    return found->frame_count > 0 ? found->frames[found->user] : (struct place){.file = NULL};
}

uint32_t history_alloc_at(const struct history *history, uint64_t address, uint64_t position)
{
    for (size_t i = history->allocs.count; i-- > 0;) {
        const struct hist_alloc *alloc = &history->allocs.items[i];
        if (address - alloc->address < alloc->size && alloc->position < position &&
            alloc->freed >= position) {
            return (uint32_t)i;
        }
    }
    return HISTORY_NONE;
}

/* How many of `count` items (indices, ascending) stand before `position`. */
static uint32_t count_before(const struct history *history, const uint32_t *items, size_t count,
                             uint64_t position)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (history->items.items[items[middle]].position < position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (uint32_t)low;
}

uint32_t history_latest_record(const struct history *history, uint32_t event, uint64_t position)
{
    if (event >= history->events.count) {
        return HISTORY_NONE;
    }
    const struct hist_event *found = &history->events.items[event];
    const uint32_t before =
        count_before(history, found->records.items, found->records.count, position);
    return before > 0 ? found->records.items[before - 1] : HISTORY_NONE;
}

uint32_t history_items_before(const struct history *history, uint32_t stream, uint64_t position)
{
    const struct hist_stream *found = &history->streams.items[stream];
    return count_before(history, found->items.items, found->items.count, position);
}

size_t history_call_at(const struct history *history, uint64_t position)
{
    size_t low = 0, high = history->calls.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (history->calls.items[middle].position < position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct hist_failed *history_failed_at(const struct history *history, uint64_t position)
{
    const size_t at = history_call_at(history, position);
    const struct hist_call *call = at < history->calls.count ? &history->calls.items[at] : NULL;
    return call && call->position == position && call->kind == CALL_FAILED
               ? &history->failed.items[call->index]
               : NULL;
}

const char *history_call_name(const struct history *history, const struct hist_call *call)
{
    switch (call->kind) {
    case CALL_ITEM:
        return history->items.items[call->index].call;
    case CALL_SYNC:
        return history->syncs.items[call->index].call;
    case CALL_HOST:
        return history->hosts.items[call->index].call;
    case CALL_CREATE:
        return call->index == 0 ? NTH_STREAM : NTH_EVENT;
    case CALL_FAILED:
        return history->failed.items[call->index].call;
    }
    return NULL;
}

const uint32_t *history_calls_of(const struct history *history, uint32_t place, size_t *count)
{
    *count = 0;
    if (place >= history->place_count) {
        return NULL;
    }
    *count = history->place_begins[place + 1] - history->place_begins[place];
    return &history->place_calls[history->place_begins[place]];
}

/* Whether two sites that show one line have the same callers, by line. */
static bool same_callers(const struct hist_site *a, const struct hist_site *b)
{
    if (a->frame_count - a->user != b->frame_count - b->user) {
        return false;
    }
    bool same = true;
    for (size_t i = 1; same && a->user + i < a->frame_count; i++) {
        const struct place *one = &a->frames[a->user + i], *other = &b->frames[b->user + i];
        same = one->line == other->line && history_same_function(*one, *other);
    }
    return same;
}

size_t history_nth_on_line(const struct history *history, uint32_t site, const char *call)
{
    enum { SEEN_MAX = 8 };
    uint32_t seen[SEEN_MAX];
    size_t known = 0, count;
    const struct hist_site *found = history_site(history, site);
    const uint32_t *calls = history_calls_of(history, found->place, &count);
    const char *text = history_place(history, site).text;
    for (size_t i = 0; call && i < count; i++) {
        const struct hist_call *at = &history->calls.items[calls[i]];
        const char *name = history_call_name(history, at);
        /* another statement of the line has another text */
        if (!name || strcmp(name, call) != 0 || history_place(history, at->site).text != text ||
            !same_callers(history_site(history, at->site), found)) {
            continue;
        }
        size_t nth = 0;
        while (nth < known && seen[nth] != at->site) {
            nth++;
        }
        if (at->site == site) {
            return nth;
        }
        if (nth == known && known < SEEN_MAX) {
            seen[known++] = at->site;
        }
    }
    return 0;
}

bool history_same_function(struct place a, struct place b)
{
    if (!a.file || !b.file || strcmp(a.file, b.file) != 0) {
        return false;
    }
    return a.function && b.function ? strcmp(a.function, b.function) == 0
                                    : a.function == b.function;
}

void history_finish(struct history *history)
{
    for (size_t i = 0; i < history->streams.count; i++) {
        VEC_FREE(&history->streams.items[i].items);
    }
    for (size_t i = 0; i < history->events.count; i++) {
        VEC_FREE(&history->events.items[i].records);
        VEC_FREE(&history->events.items[i].waits);
    }
    VEC_FREE(&history->devices);
    VEC_FREE(&history->streams);
    VEC_FREE(&history->events);
    VEC_FREE(&history->items);
    VEC_FREE(&history->peers);
    VEC_FREE(&history->syncs);
    VEC_FREE(&history->allocs);
    VEC_FREE(&history->hosts);
    VEC_FREE(&history->joins);
    VEC_FREE(&history->failed);
    VEC_FREE(&history->missed);
    VEC_FREE(&history->calls);
    VEC_FREE(&history->operands);
    VEC_FREE(&history->pointer_names);
    VEC_FREE(&history->sites);
    VEC_FREE(&history->unsupported);
    VEC_FREE(&history->command);
    mem_free(history->place_calls);
    mem_free(history->place_begins);
    ranges_finish(&history->pageable);
    map_finish(&history->stream_of);
    map_finish(&history->event_of);
    map_finish(&history->item_of);
    map_finish(&history->sync_of);
    map_finish(&history->alloc_of);
    map_finish(&history->site_of);
    *history = (struct history){0};
}

size_t history_join_at(const struct history *history, uint64_t position)
{
    size_t low = 0, high = history->joins.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (history->joins.items[middle].position < position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool history_is_barrier(const struct history *history, uint32_t stream, uint32_t other)
{
    const struct hist_stream *a = &history->streams.items[stream];
    const struct hist_stream *b = &history->streams.items[other];
    return a->context == b->context && a->flavour != SSAN_stream_flavour_NON_BLOCKING &&
           b->flavour != SSAN_stream_flavour_NON_BLOCKING &&
           (a->flavour == SSAN_stream_flavour_LEGACY) != (b->flavour == SSAN_stream_flavour_LEGACY);
}

/* The last copy between devices before `position` that acts in a context. */
static void see_last_peer(const struct history *history, uint32_t context, uint64_t position,
                          history_see *see, void *self)
{
    for (size_t i = history->peers.count; i-- > 0;) {
        const struct hist_peer *peer = &history->peers.items[i];
        const struct hist_item *item = &history->items.items[peer->item];
        if (item->position < position &&
            (peer->contexts[0] == context || peer->contexts[1] == context)) {
            see(self, item->stream, item->seq);
            return;
        }
    }
}

void history_each_barrier(const struct history *history, uint32_t stream, uint64_t position,
                          history_see *see, void *self)
{
    const struct hist_stream *own = &history->streams.items[stream];
    for (uint32_t i = 0; i < history->streams.count; i++) {
        if (history_is_barrier(history, stream, i)) {
            see(self, i, (uint32_t)history_items_before(history, i, position));
        }
    }
    if (own->flavour != SSAN_stream_flavour_NON_BLOCKING) {
        see_last_peer(history, own->context, position, see, self);
    }
}

void history_each_of_context(const struct history *history, uint32_t context, uint64_t bound,
                             history_see *see, void *self)
{
    for (uint32_t i = 0; i < history->streams.count; i++) {
        if (context == HISTORY_NONE || history->streams.items[i].context == context) {
            see(self, i, (uint32_t)history_items_before(history, i, bound));
        }
    }
    see_last_peer(history, context, bound, see, self);
}

static const struct hist_peer *find_peer(const struct history *history, uint32_t item)
{
    size_t low = 0, high = history->peers.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (history->peers.items[middle].item < item) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < history->peers.count && history->peers.items[low].item == item
               ? &history->peers.items[low]
               : NULL;
}

void history_each_peer(const struct history *history, uint32_t item, history_see *see, void *self)
{
    const struct hist_peer *peer = find_peer(history, item);
    const uint64_t position = history->items.items[item].position;
    for (size_t k = 0; peer && k < 2; k++) {
        for (uint32_t i = 0; i < history->streams.count; i++) {
            const struct hist_stream *other = &history->streams.items[i];
            if (other->context == peer->contexts[k] && i != history->items.items[item].stream &&
                other->flavour != SSAN_stream_flavour_NON_BLOCKING) {
                see(self, i, (uint32_t)history_items_before(history, i, position));
            }
        }
        see_last_peer(history, peer->contexts[k], position, see, self);
    }
}
