/* Events of a trace into the tables of explain_history.h.
 *
 * The engine has read and validated the same events before; here an id that is not known is
 * skipped, not judged. Joins follow the same rules as the engine's but serve only to find what
 * nearly ordered a pair: every fix that comes of it is judged by the engine again. Cost: O(1)
 * amortised for each event, about 100 bytes for each item. */
#include "core/explain_read.h"

#include <stdlib.h>
#include <string.h>

/* A block that lives at this point of the trace. */
struct live {
    uint64_t address, end;
    uint32_t alloc;
};

/* A frame as it came; sorted into sites at the end. */
struct frame {
    uint32_t site, depth; /* site: index */
    struct place place;
};

/* A release of an object, by a thread or (op not HISTORY_NONE) inside a host function. */
struct release {
    uint64_t position;
    uint32_t thread, item, next;
};

/* What the return of a copy or memset joins into its caller. */
struct returning {
    bool item, item_observed;   /* the item itself; only in the observed reading */
    bool prior, prior_observed; /* all before it on its stream */
};

struct reader_state {
    struct history *history;
    struct arena *arena;
    bool light;
    uint64_t position;
    VEC(struct live) live; /* by address */
    VEC(struct frame) frames;
    VEC(struct release) releases;
    VEC(struct returning) returnings; /* of items that have yet to return */
    struct map returning_of;          /* item -> index into returnings */
    struct map releases_of;           /* object -> newest release + 1 */
    struct map lives;                 /* address -> generations so far */
    struct map seq_of;                /* thread -> host accesses, allocs and frees so far */
    struct map sync_seq_of;           /* thread -> syncs so far */
    struct map callback_of;           /* thread -> item + 1 whose function it runs */
    struct map interned;              /* hash -> text */
    struct map operand_of;            /* address -> index + 1 */
};

static const char *text_copy(struct reader_state *state, struct ssan_str text)
{
    return arena_strndup(state->arena, text.length ? text.ptr : "", text.length);
}

/* One copy of each text; NULL when out of memory. */
static const char *intern(struct reader_state *state, struct ssan_str text)
{
    uint64_t hash = hash_bytes(HASH_SEED, text.length ? text.ptr : "", text.length);
    for (;; hash++) {
        const uint64_t *known = map_find(&state->interned, hash);
        if (!known) {
            const char *copy = text_copy(state, text);
            return copy && map_set(&state->interned, hash, (uint64_t)(uintptr_t)copy) ? copy : NULL;
        }
        const char *old = (const char *)(uintptr_t)*known;
        if (strlen(old) == text.length &&
            memcmp(old, text.length ? text.ptr : "", text.length) == 0) {
            return old;
        }
    }
}

static bool add_call(struct reader_state *state, enum hist_call_kind kind, uint32_t index,
                     uint32_t thread, uint32_t site)
{
    return VEC_PUSH(&state->history->calls,
                    (struct hist_call){state->position, site, thread, index, kind});
}

static bool add_join(struct reader_state *state, struct hist_join join)
{
    join.position = state->position;
    return VEC_PUSH(&state->history->joins, join);
}

/* -- blocks
 * -------------------------------------------------------------------------------------------------------
 */

/* First live block that ends behind `address`. */
static size_t live_at(const struct reader_state *state, uint64_t address)
{
    size_t low = 0, high = state->live.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (state->live.items[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint32_t block_of(const struct reader_state *state, uint64_t address)
{
    const size_t at = live_at(state, address);
    const bool inside = at < state->live.count && state->live.items[at].address <= address;
    return inside ? state->live.items[at].alloc : HISTORY_NONE;
}

static enum ssan_memory memory_of(const struct reader_state *state, uint64_t address)
{
    const uint32_t block = block_of(state, address);
    return block == HISTORY_NONE ? SSAN_memory_PAGEABLE
                                 : state->history->allocs.items[block].memory;
}

/* Remembers pageable bytes that a call names. */
static bool add_operand(struct reader_state *state, uint64_t address, uint64_t size, uint32_t site,
                        const char *call, bool source)
{
    struct history *history = state->history;
    if (size == 0 || size > UINT64_MAX - address || block_of(state, address) != HISTORY_NONE) {
        return true;
    }
    if (!ranges_add(&history->pageable, address, address + size)) {
        return false;
    }
    if (map_find(&state->operand_of, address)) {
        return true;
    }
    return map_set(&state->operand_of, address, 1) &&
           VEC_PUSH(&history->operands,
                    (struct hist_operand){address, size, state->position, site, call, source});
}

/* One more call of a thread in the count that `counts` holds; 0: out of memory. */
static uint32_t next_seq(struct map *counts, uint32_t thread)
{
    const uint64_t *known = map_find(counts, thread);
    const uint64_t seq = known ? *known + 1 : 1;
    return map_set(counts, thread, seq) ? (uint32_t)seq : 0;
}

static bool add_host(struct reader_state *state, struct hist_host host)
{
    struct history *history = state->history;
    host.position = state->position;
    host.seq = next_seq(&state->seq_of, host.thread);
    return host.seq > 0 &&
           add_call(state, CALL_HOST, (uint32_t)history->hosts.count, host.thread, host.site) &&
           VEC_PUSH(&history->hosts, host);
}

static bool on_alloc(struct reader_state *state, const struct ssan_ev_alloc *ev)
{
    struct history *history = state->history;
    const uint32_t index = (uint32_t)history->allocs.count;
    const uint64_t *lives = map_find(&state->lives, ev->address);
    const uint32_t generation = lives ? (uint32_t)*lives + 1 : 1;
    const char *call = intern(state, ev->call);
    const uint64_t end = ev->address + (ev->size ? ev->size : 1);
    const struct hist_alloc alloc = {
        .id = ev->alloc,
        .thread = ev->thread,
        .site = ev->site,
        .memory = ev->memory,
        .address = ev->address,
        .size = ev->size,
        .position = state->position,
        .freed = UINT64_MAX,
        .generation = generation,
        .call = call,
    };
    if (!call || !map_set(&state->lives, ev->address, generation) ||
        !map_set(&history->alloc_of, ev->alloc, index) || !VEC_PUSH(&history->allocs, alloc) ||
        !VEC_RESERVE(&state->live, state->live.count + 1)) {
        return false;
    }
    const size_t at = live_at(state, ev->address);
    memmove(&state->live.items[at + 1], &state->live.items[at],
            (state->live.count - at) * sizeof *state->live.items);
    state->live.items[at] = (struct live){ev->address, end, index};
    state->live.count++;
    return add_host(state, (struct hist_host){.thread = ev->thread,
                                              .site = ev->site,
                                              .alloc = index,
                                              .address = ev->address,
                                              .size = ev->size,
                                              .kind = ROP_ALLOC});
}

static bool on_free(struct reader_state *state, const struct ssan_ev_free *ev)
{
    struct history *history = state->history;
    const uint32_t index = history_find(&history->alloc_of, ev->alloc);
    const char *call = intern(state, ev->call);
    if (index == HISTORY_NONE || !call) {
        return call != NULL;
    }
    struct hist_alloc *alloc = &history->allocs.items[index];
    alloc->freed = state->position;
    alloc->free_call = call;
    alloc->free_thread = ev->thread;
    alloc->free_site = ev->site;
    for (size_t i = live_at(state, alloc->address); i < state->live.count; i++) {
        if (state->live.items[i].alloc == index) {
            state->live.count--;
            memmove(&state->live.items[i], &state->live.items[i + 1],
                    (state->live.count - i) * sizeof *state->live.items);
            break;
        }
    }
    /* R-IMPL-3: drivers wait for the device here, no manual promises it. The context of blocks is
     * not kept: one device. */
    return add_host(state, (struct hist_host){.thread = ev->thread,
                                              .site = ev->site,
                                              .alloc = index,
                                              .address = alloc->address,
                                              .size = alloc->size,
                                              .kind = ROP_FREE}) &&
           add_join(state, (struct hist_join){.bound = state->position,
                                              .kind = JOIN_CONTEXT,
                                              .object = UINT32_MAX,
                                              .thread = ev->thread,
                                              .observed_only = true});
}

static bool on_host_access(struct reader_state *state, const struct ssan_ev_host_access *ev)
{
    const bool reads = ev->access == SSAN_access_READ;
    const struct hist_host host = {
        .thread = ev->thread,
        .site = ev->site,
        .alloc = block_of(state, ev->address),
        .address = ev->address,
        .size = ev->size,
        .kind = reads ? ROP_HOST_READ : ROP_HOST_WRITE,
    };
    return add_host(state, host) &&
           add_operand(state, ev->address, ev->size, ev->site,
                       reads ? "SSAN_HOST_READ" : "SSAN_HOST_WRITE", reads);
}

/* -- streams and events
 * ------------------------------------------------------------------------------------------- */

static bool on_stream_create(struct reader_state *state, const struct ssan_ev_stream_create *ev)
{
    struct history *history = state->history;
    const uint32_t index = (uint32_t)history->streams.count;
    return map_set(&history->stream_of, ev->stream, index) &&
           VEC_PUSH(&history->streams, (struct hist_stream){.id = ev->stream,
                                                            .context = ev->context,
                                                            .thread = ev->thread,
                                                            .site = ev->site,
                                                            .ordinal = index + 1,
                                                            .flavour = ev->flavour,
                                                            .position = state->position}) &&
           add_call(state, CALL_CREATE, HISTORY_NONE, ev->thread, ev->site);
}

static bool on_event_create(struct reader_state *state, const struct ssan_ev_event_create *ev)
{
    struct history *history = state->history;
    const uint32_t index = (uint32_t)history->events.count;
    return map_set(&history->event_of, ev->event, index) &&
           VEC_PUSH(&history->events, (struct hist_event){.id = ev->event,
                                                          .thread = ev->thread,
                                                          .site = ev->site,
                                                          .ordinal = index + 1,
                                                          .position = state->position}) &&
           add_call(state, CALL_CREATE, HISTORY_NONE, ev->thread, ev->site);
}

static bool on_name(struct reader_state *state, const struct ssan_ev_name *ev)
{
    struct history *history = state->history;
    const char *text = intern(state, ev->text);
    if (!text || ev->text.length == 0) {
        return text != NULL;
    }
    if (ev->object == SSAN_object_STREAM || ev->object == SSAN_object_EVENT) {
        const bool stream = ev->object == SSAN_object_STREAM;
        const uint32_t index =
            history_find(stream ? &history->stream_of : &history->event_of, ev->id);
        if (index != HISTORY_NONE && stream) {
            history->streams.items[index].given = text;
        } else if (index != HISTORY_NONE) {
            history->events.items[index].given = text;
        }
        return true;
    }
    const uint32_t block = block_of(state, ev->id);
    if (block == HISTORY_NONE) {
        if (!VEC_RESERVE(&history->pointer_names, history->pointer_names.count + 1)) {
            return false;
        }
        history->pointer_names.items[history->pointer_names.count].address = ev->id;
        history->pointer_names.items[history->pointer_names.count++].text = text;
        return true;
    }
    struct hist_alloc *alloc = &history->allocs.items[block];
    if (alloc->address == ev->id) {
        alloc->given = text;
    } else {
        alloc->given_inside = text;
    }
    return true;
}

/* -- items
 * --------------------------------------------------------------------------------------------------------
 */

/* What the return of a copy joins (matrix 4.3); width and height in bytes and rows. */
static struct returning copy_returns(const struct ssan_ev_op *ev, enum ssan_memory dst,
                                     enum ssan_memory src)
{
    const bool small = ev->width * (ev->height ? ev->height : 1) <= UINT64_C(65536);
    const bool managed = dst == SSAN_memory_MANAGED || src == SSAN_memory_MANAGED;
    const bool dst_host = dst != SSAN_memory_DEVICE && dst != SSAN_memory_MANAGED;
    const bool src_host = src != SSAN_memory_DEVICE && src != SSAN_memory_MANAGED;
    const bool pageable = src == SSAN_memory_PAGEABLE;
    if (ev->form == SSAN_form_ASYNC) {
        if (dst_host && src_host) {
            return (struct returning){.item = true};
        }
        return (struct returning){.item = dst == SSAN_memory_PAGEABLE && !managed,
                                  .item_observed = true};
    }
    if (dst_host) {
        return (struct returning){.item = true};
    }
    if (managed) {
        return (struct returning){.item = true, .item_observed = true};
    }
    if (src_host && pageable) {
        return (struct returning){.prior = true, .prior_observed = small};
    }
    if (src_host) {
        return (struct returning){.item = true, .item_observed = small};
    }
    return (struct returning){0};
}

static struct returning memset_returns(const struct ssan_ev_op *ev, enum ssan_memory dst)
{
    const bool locked = dst == SSAN_memory_PINNED || dst == SSAN_memory_REGISTERED;
    const bool managed = dst == SSAN_memory_MANAGED;
    return (struct returning){.item = ev->form == SSAN_form_SYNC && (locked || managed),
                              .item_observed = managed};
}

/* Bytes that a copy's operand spans. */
static uint64_t span_bytes(uint64_t width, uint64_t height, uint64_t pitch)
{
    return height > 1 && pitch < UINT64_C(1) << 40 && height < UINT64_C(1) << 20
               ? pitch * (height - 1) + width
               : width;
}

static bool note_copy(struct reader_state *state, const struct ssan_ev_op *ev,
                      struct hist_item *item, uint32_t index)
{
    const enum ssan_memory dst = memory_of(state, ev->dst);
    const bool copy = ev->kind == SSAN_op_kind_COPY;
    const enum ssan_memory src = copy ? memory_of(state, ev->src) : dst;
    const struct returning returns = copy ? copy_returns(ev, dst, src) : memset_returns(ev, dst);
    item->pageable_source = copy && src == SSAN_memory_PAGEABLE && dst == SSAN_memory_DEVICE;
    if (!add_operand(state, ev->dst, span_bytes(ev->width, ev->height, ev->dst_pitch), ev->site,
                     item->call, false) ||
        (copy && !add_operand(state, ev->src, span_bytes(ev->width, ev->height, ev->src_pitch),
                              ev->site, item->call, true))) {
        return false;
    }
    if (!returns.item && !returns.prior) {
        return true;
    }
    return map_set(&state->returning_of, index, state->returnings.count) &&
           VEC_PUSH(&state->returnings, returns);
}

static bool on_op(struct reader_state *state, const struct ssan_ev_op *ev)
{
    struct history *history = state->history;
    const uint32_t index = (uint32_t)history->items.count;
    const uint32_t stream = history_find(&history->stream_of, ev->stream);
    if (stream == HISTORY_NONE) {
        return true;
    }
    struct hist_stream *owner = &history->streams.items[stream];
    struct hist_item item = {
        .op = ev->op,
        .position = state->position,
        .stream = stream,
        .seq = (uint32_t)owner->items.count + 1,
        .record = HISTORY_NONE,
        .thread = ev->thread,
        .site = ev->site,
        .call = intern(state, ev->call),
        .name = intern(state, ev->name),
        .event = HISTORY_NONE,
        .kind = ev->kind,
        .form = ev->form,
    };
    if (!item.call || !item.name) {
        return false;
    }
    if (ev->kind == SSAN_op_kind_RECORD || ev->kind == SSAN_op_kind_WAIT) {
        item.event = history_find(&history->event_of, ev->event);
        item.record = history_latest_record(history, item.event, state->position);
    }
    if ((ev->kind == SSAN_op_kind_COPY || ev->kind == SSAN_op_kind_MEMSET) &&
        !note_copy(state, ev, &item, index)) {
        return false;
    }
    if (!map_set(&history->item_of, ev->op, index) || !VEC_PUSH(&history->items, item) ||
        !VEC_PUSH(&owner->items, index) ||
        !add_call(state, CALL_ITEM, index, ev->thread, ev->site)) {
        return false;
    }
    if (item.event == HISTORY_NONE) {
        return true;
    }
    struct hist_event *event = &history->events.items[item.event];
    return ev->kind == SSAN_op_kind_RECORD ? VEC_PUSH(&event->records, index)
                                           : VEC_PUSH(&event->waits, index);
}

static bool on_op_return(struct reader_state *state, const struct ssan_ev_op_return *ev)
{
    const uint32_t index = history_find(&state->history->item_of, ev->op);
    const uint32_t found =
        index == HISTORY_NONE ? HISTORY_NONE : history_find(&state->returning_of, index);
    if (found == HISTORY_NONE) {
        return true;
    }
    const struct hist_item *item = &state->history->items.items[index];
    const struct returning returns = state->returnings.items[found];
    bool ok = true;
    if (returns.item) {
        ok = add_join(state, (struct hist_join){.kind = JOIN_ITEM,
                                                .object = index,
                                                .thread = item->thread,
                                                .observed_only = returns.item_observed});
    }
    if (ok && returns.prior) {
        ok = add_join(state, (struct hist_join){.kind = JOIN_STREAM,
                                                .object = item->stream,
                                                .bound = item->position,
                                                .thread = item->thread,
                                                .observed_only = returns.prior_observed});
    }
    return ok;
}

/* -- joins and host threads
 * --------------------------------------------------------------------------------------- */

static bool on_sync(struct reader_state *state, const struct ssan_ev_sync *ev)
{
    struct history *history = state->history;
    const uint32_t index = (uint32_t)history->syncs.count;
    struct hist_sync sync = {
        .position = state->position,
        .returned = UINT64_MAX,
        .kind = ev->kind,
        .object = ev->object,
        .record = HISTORY_NONE,
        .thread = ev->thread,
        .site = ev->site,
        .seq = next_seq(&state->sync_seq_of, ev->thread),
        .call = intern(state, ev->call),
    };
    if (ev->kind == SSAN_sync_kind_STREAM || ev->kind == SSAN_sync_kind_STREAM_QUERY) {
        sync.object = history_find(&history->stream_of, ev->object);
    } else if (ev->kind != SSAN_sync_kind_DEVICE) {
        sync.object = history_find(&history->event_of, ev->object);
        sync.record = history_latest_record(history, sync.object, state->position);
    }
    return sync.call && sync.seq > 0 && map_set(&history->sync_of, ev->sync, index) &&
           VEC_PUSH(&history->syncs, sync) &&
           add_call(state, CALL_SYNC, index, ev->thread, ev->site);
}

static bool on_sync_return(struct reader_state *state, const struct ssan_ev_sync_return *ev)
{
    const uint32_t index = history_find(&state->history->sync_of, ev->sync);
    if (index == HISTORY_NONE) {
        return true;
    }
    struct hist_sync *sync = &state->history->syncs.items[index];
    sync->returned = state->position;
    sync->ok = ev->ok != 0;
    struct hist_join join = {
        .bound = sync->position, .object = sync->object, .thread = sync->thread};
    switch (sync->kind) {
    case SSAN_sync_kind_DEVICE:
        join.kind = JOIN_CONTEXT;
        break;
    case SSAN_sync_kind_STREAM:
    case SSAN_sync_kind_STREAM_QUERY:
        join.kind = JOIN_STREAM;
        break;
    default:
        join.kind = JOIN_ITEM;
        join.object = sync->record;
        join.observed_only = sync->kind == SSAN_sync_kind_ELAPSED;
    }
    return join.object == HISTORY_NONE || add_join(state, join);
}

static bool on_release(struct reader_state *state, const struct ssan_ev_release *ev)
{
    const uint32_t callback = history_find(&state->callback_of, ev->thread);
    const uint64_t *newest = map_find(&state->releases_of, ev->object);
    const uint32_t next = newest ? (uint32_t)*newest : 0;
    const bool inside = callback != HISTORY_NONE && callback > 0;
    for (uint32_t at = next; at > 0; at = state->releases.items[at - 1].next) {
        struct release *old = &state->releases.items[at - 1];
        if (!inside && old->item == HISTORY_NONE && old->thread == ev->thread) {
            old->position = state->position; /* the later covers the earlier */
            return true;
        }
    }
    return VEC_PUSH(&state->releases,
                    (struct release){state->position, ev->thread,
                                     inside ? callback - 1 : HISTORY_NONE, next}) &&
           map_set(&state->releases_of, ev->object, state->releases.count);
}

static bool on_acquire(struct reader_state *state, const struct ssan_ev_acquire *ev)
{
    const uint64_t *newest = map_find(&state->releases_of, ev->object);
    for (uint64_t at = newest ? *newest : 0; at > 0; at = state->releases.items[at - 1].next) {
        const struct release *from = &state->releases.items[at - 1];
        const bool item = from->item != HISTORY_NONE;
        if (!add_join(state, (struct hist_join){.kind = item ? JOIN_ITEM : JOIN_THREAD,
                                                .object = item ? from->item : from->thread,
                                                .bound = from->position,
                                                .thread = ev->thread})) {
            return false;
        }
    }
    return true;
}

static bool on_callback(struct reader_state *state, uint32_t thread, uint64_t op, bool begins)
{
    const uint32_t item = history_find(&state->history->item_of, op);
    if (item == HISTORY_NONE) {
        return true;
    }
    return map_set(&state->callback_of, thread, begins ? (uint64_t)item + 1 : 0) &&
           (!begins || add_join(state, (struct hist_join){.kind = JOIN_ITEM,
                                                          .object = item,
                                                          .thread = thread,
                                                          .strict_only = true}));
}

/* -- the run and the places
 * --------------------------------------------------------------------------------------- */

static bool on_process(struct reader_state *state, const struct ssan_ev_process *ev)
{
    struct history *history = state->history;
    if (history->event_count > 1) {
        return true;
    }
    history->producer = ev->source;
    history->accesses = ev->accesses;
    history->host_scope = ev->host;
    history->schedule = ev->schedule.length ? text_copy(state, ev->schedule) : NULL;
    for (uint32_t at = 0; at < ev->command.length;) {
        const char *word = ev->command.ptr + at;
        const size_t length = strnlen(word, ev->command.length - at);
        const char *copy = arena_strndup(state->arena, word, length);
        if (!copy || !VEC_RESERVE(&history->command, history->command.count + 1)) {
            return false;
        }
        history->command.items[history->command.count++].text = copy;
        at += (uint32_t)length + 1;
    }
    return !ev->schedule.length || history->schedule;
}

static bool on_unsupported(struct reader_state *state, const struct ssan_ev_unsupported *ev)
{
    struct history *history = state->history;
    const char *call = intern(state, ev->call);
    for (size_t i = 0; call && i < history->unsupported.count; i++) {
        if (history->unsupported.items[i].call == call) {
            history->unsupported.items[i].count++;
            return true;
        }
    }
    if (!call || !VEC_RESERVE(&history->unsupported, history->unsupported.count + 1)) {
        return false;
    }
    history->unsupported.items[history->unsupported.count].call = call;
    history->unsupported.items[history->unsupported.count++].count = 1;
    return true;
}

static uint32_t site_index(struct reader_state *state, uint32_t site)
{
    struct history *history = state->history;
    const uint32_t known = history_find(&history->site_of, site);
    if (known != HISTORY_NONE) {
        return known;
    }
    const uint32_t index = (uint32_t)history->sites.count;
    const struct hist_site new_site = {.stack_key = hash_bytes(HASH_SEED, &site, sizeof site),
                                       .place = HISTORY_NONE};
    return map_set(&history->site_of, site, index) && VEC_PUSH(&history->sites, new_site)
               ? index
               : HISTORY_NONE;
}

static bool on_line(struct reader_state *state, const struct ssan_ev_line *ev)
{
    const uint32_t index = site_index(state, ev->site);
    const struct place place = {
        .file = ev->file.length ? intern(state, ev->file) : NULL,
        .function = ev->function.length ? intern(state, ev->function) : NULL,
        .line = ev->line,
        .text = ev->text.length ? intern(state, ev->text) : NULL,
    };
    return index != HISTORY_NONE && (place.file || !ev->file.length) &&
           (place.function || !ev->function.length) && (place.text || !ev->text.length) &&
           VEC_PUSH(&state->frames, (struct frame){index, ev->depth, place});
}

static int compare_frames(const void *left, const void *right)
{
    const struct frame *a = left, *b = right;
    if (a->site != b->site) {
        return a->site < b->site ? -1 : 1;
    }
    return (a->depth > b->depth) - (a->depth < b->depth);
}

static bool is_own_header(const char *file)
{
    return !file || strstr(file, "/streamsan/include/") != NULL;
}

/* Gives each site its frames and keys. */
static bool settle_sites(struct reader_state *state)
{
    struct history *history = state->history;
    if (state->frames.count == 0) {
        return true;
    }
    qsort(state->frames.items, state->frames.count, sizeof *state->frames.items, compare_frames);
    struct place *places = arena_alloc(state->arena, state->frames.count * sizeof *places);
    for (size_t i = 0; places && i < state->frames.count;) {
        struct hist_site *site = &history->sites.items[state->frames.items[i].site];
        const size_t begin = i;
        uint64_t key = HASH_SEED;
        site->frames = &places[begin];
        for (; i < state->frames.count &&
               state->frames.items[i].site == state->frames.items[begin].site;
             i++) {
            const struct place *place = &state->frames.items[i].place;
            places[i] = *place;
            key = hash_text(hash_text(key, place->file), place->function);
            key = hash_bytes(key, &place->line, sizeof place->line);
        }
        site->frame_count = i - begin;
        site->stack_key = key;
        while (site->user < site->frame_count && is_own_header(site->frames[site->user].file)) {
            site->user++;
        }
        site->user = site->user < site->frame_count ? site->user : 0;
        const struct place *shown = &site->frames[site->user];
        if (shown->file) {
            key = hash_text(HASH_SEED, shown->file);
            site->place_key = hash_bytes(key, &shown->line, sizeof shown->line) | 1;
        }
    }
    return places != NULL;
}

/* Numbers the places of all sites and sorts the calls by them. */
static bool index_places(struct reader_state *state)
{
    struct history *history = state->history;
    struct map numbers = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < history->sites.count; i++) {
        struct hist_site *site = &history->sites.items[i];
        if (site->place_key != 0) {
            const uint32_t known = history_find(&numbers, site->place_key);
            ok = known != HISTORY_NONE || map_set(&numbers, site->place_key, history->place_count);
            site->place = known != HISTORY_NONE ? known : history->place_count++;
        }
    }
    map_finish(&numbers);
    uint32_t *begins = mem_zalloc((size_t)history->place_count + 2, sizeof *begins);
    history->place_calls = mem_zalloc(history->calls.count + 1, sizeof *history->place_calls);
    history->place_begins = begins;
    if (!ok || !begins || !history->place_calls) {
        return false;
    }
    for (size_t i = 0; i < history->calls.count; i++) {
        const uint32_t place = history_site(history, history->calls.items[i].site)->place;
        begins[place == HISTORY_NONE ? history->place_count + 1 : place + 1]++;
    }
    for (uint32_t place = 1; place <= history->place_count; place++) {
        begins[place] += begins[place - 1];
    }
    /* begins[p + 1] is where p ends; filling from the end makes it where p begins */
    const uint32_t elsewhere = begins[history->place_count + 1];
    for (size_t i = history->calls.count; i-- > 0;) {
        const uint32_t place = history_site(history, history->calls.items[i].site)->place;
        if (place != HISTORY_NONE) {
            history->place_calls[--begins[place + 1]] = (uint32_t)i;
        }
    }
    memmove(begins, begins + 1, history->place_count * sizeof *begins);
    begins[history->place_count] = (uint32_t)history->calls.count - elsewhere;
    return true;
}

/* -- dispatch
 * -----------------------------------------------------------------------------------------------------
 */

/* What both passes need. */
static bool take_run(struct reader_state *state, const struct ssan_event *event)
{
    struct history *history = state->history;
    switch (event->kind) {
    case SSAN_EV_process:
        return on_process(state, &event->process);
    case SSAN_EV_exit:
        history->exited = true;
        history->exit_code = event->exit.code;
        return true;
    case SSAN_EV_unsupported:
        return on_unsupported(state, &event->unsupported);
    case SSAN_EV_fault:
        if (!history->fault) {
            history->fault = text_copy(state, event->fault.text);
            history->fault_site = event->fault.site;
            return history->fault != NULL;
        }
        return true;
    case SSAN_EV_line:
        return on_line(state, &event->line);
    default:
        return true;
    }
}

static bool take(struct reader_state *state, const struct ssan_event *event)
{
    if (state->light) {
        return take_run(state, event);
    }
    switch (event->kind) {
    case SSAN_EV_alloc:
        return on_alloc(state, &event->alloc);
    case SSAN_EV_free:
        return on_free(state, &event->free);
    case SSAN_EV_host_access:
        return on_host_access(state, &event->host_access);
    case SSAN_EV_stream_create:
        return on_stream_create(state, &event->stream_create);
    case SSAN_EV_event_create:
        return on_event_create(state, &event->event_create);
    case SSAN_EV_name:
        return on_name(state, &event->name);
    case SSAN_EV_op:
        return on_op(state, &event->op);
    case SSAN_EV_op_return:
        return on_op_return(state, &event->op_return);
    case SSAN_EV_sync:
        return on_sync(state, &event->sync);
    case SSAN_EV_sync_return:
        return on_sync_return(state, &event->sync_return);
    case SSAN_EV_release:
        return on_release(state, &event->release);
    case SSAN_EV_acquire:
        return on_acquire(state, &event->acquire);
    case SSAN_EV_site:
        return site_index(state, event->site.site) != HISTORY_NONE;
    case SSAN_EV_thread_start:
        return add_join(state, (struct hist_join){.kind = JOIN_THREAD,
                                                  .bound = state->position,
                                                  .object = event->thread_start.parent,
                                                  .thread = event->thread_start.thread});
    case SSAN_EV_thread_join:
        return add_join(state, (struct hist_join){.kind = JOIN_THREAD,
                                                  .bound = state->position,
                                                  .object = event->thread_join.joined,
                                                  .thread = event->thread_join.thread});
    case SSAN_EV_callback_begin:
        return on_callback(state, event->callback_begin.thread, event->callback_begin.op, true);
    case SSAN_EV_callback_end:
        return on_callback(state, event->callback_end.thread, event->callback_end.op, false);
    default:
        return take_run(state, event);
    }
}

static void finish_state(struct reader_state *state)
{
    VEC_FREE(&state->live);
    VEC_FREE(&state->frames);
    VEC_FREE(&state->releases);
    VEC_FREE(&state->returnings);
    map_finish(&state->returning_of);
    map_finish(&state->releases_of);
    map_finish(&state->lives);
    map_finish(&state->seq_of);
    map_finish(&state->sync_seq_of);
    map_finish(&state->callback_of);
    map_finish(&state->interned);
    map_finish(&state->operand_of);
}

enum ssan_status history_read(struct history *history, struct arena *arena,
                              struct ssan_source *source, bool light, bool strict,
                              struct ssan_error *err)
{
    struct reader_state state = {.history = history, .arena = arena, .light = light};
    enum ssan_status status = SSAN_OK;
    struct ssan_event event;
    struct ssan_error reason = {0};
    history->arena = arena;
    history->strict = strict;
    for (bool more = true; more && status == SSAN_OK;) {
        switch (ssan_next(source, &event, &reason)) {
        case SSAN_NEXT_EVENT:
            history->event_count++;
            if (!take(&state, &event)) {
                status =
                    ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory while explaining findings");
            }
            state.position++;
            break;
        case SSAN_NEXT_CUT:
            history->cut = true;
            more = false;
            break;
        case SSAN_NEXT_WAIT:
        case SSAN_NEXT_END:
            more = false;
            break;
        case SSAN_NEXT_ERROR:
            status = ssan_fail(err, reason.status, reason.position, "%s", reason.text);
            break;
        }
    }
    if (status == SSAN_OK && (!settle_sites(&state) || (!light && !index_places(&state)))) {
        status = ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory while explaining findings");
    }
    finish_state(&state);
    return status;
}
