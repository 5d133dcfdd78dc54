/* Events of a trace into the tables of explain_history.h.
 *
 * The engine has read and validated the same events before; here an id that is not known is
 * skipped, not judged. Joins follow the same rules as the engine's but serve only to find what
 * nearly ordered a pair: every fix that comes of it is judged by the engine again. Cost: O(1)
 * amortised for each event, about 100 bytes for each item. */
#include "core/explain_read.h"

#include <string.h>

#include "base/strbuf.h"
#include "core/explain_read_parts.h"
#include "core/order.h"

const char *read_text(struct reader_state *state, struct ssan_str text)
{
    return arena_strndup(state->arena, text.length ? text.ptr : "", text.length);
}

/* One copy of each text; NULL when out of memory. */
const char *read_intern(struct reader_state *state, struct ssan_str text)
{
    uint64_t hash = hash_bytes(HASH_SEED, text.length ? text.ptr : "", text.length);
    for (;; hash++) {
        const uint64_t *known = map_find(&state->interned, hash);
        if (!known) {
            const char *copy = read_text(state, text);
            return copy && map_set(&state->interned, hash, (uint64_t)(uintptr_t)copy) ? copy : NULL;
        }
        const char *old = (const char *)(uintptr_t)*known;
        if (strlen(old) == text.length &&
            memcmp(old, text.length ? text.ptr : "", text.length) == 0) {
            return old;
        }
    }
}

bool read_add_call(struct reader_state *state, enum hist_call_kind kind, uint32_t index,
                   uint32_t thread, uint32_t site)
{
    return VEC_PUSH(&state->history->calls,
                    (struct hist_call){state->position, site, thread, index, kind});
}

bool read_add_join(struct reader_state *state, struct hist_join join)
{
    join.position = state->position;
    return VEC_PUSH(&state->history->joins, join);
}

/* One more call of a thread in the count that `counts` holds; 0: out of memory. */
uint32_t read_next_seq(struct map *counts, uint32_t thread)
{
    const uint64_t *known = map_find(counts, thread);
    const uint64_t seq = known ? *known + 1 : 1;
    return map_set(counts, thread, seq) ? (uint32_t)seq : 0;
}

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
                                                            .position = state->position,
                                                            .destroyed = UINT64_MAX}) &&
           read_add_call(state, CALL_CREATE, 0, ev->thread, ev->site);
}

static bool on_context(struct reader_state *state, const struct ssan_ev_context *ev)
{
    struct history *history = state->history;
    if (ev->context > ORDER_MAX_CONTEXTS) {
        return true; /* damage: the engine has refused what is of such a context */
    }
    if (!VEC_RESERVE(&history->devices, (size_t)ev->context + 1)) {
        return false;
    }
    while (history->devices.count <= ev->context) {
        history->devices.items[history->devices.count++] = 0;
    }
    history->devices.items[ev->context] = ev->device + 1;
    return true;
}

static bool on_event_create(struct reader_state *state, const struct ssan_ev_event_create *ev)
{
    struct history *history = state->history;
    const uint32_t index = (uint32_t)history->events.count;
    return map_set(&history->event_of, ev->event, index) &&
           VEC_PUSH(&history->events, (struct hist_event){.id = ev->event,
                                                          .context = ev->context,
                                                          .thread = ev->thread,
                                                          .site = ev->site,
                                                          .ordinal = index + 1,
                                                          .position = state->position,
                                                          .destroyed = UINT64_MAX}) &&
           read_add_call(state, CALL_CREATE, 1, ev->thread, ev->site);
}

static void on_stream_destroy(struct reader_state *state, uint32_t stream)
{
    const uint32_t index = history_find(&state->history->stream_of, stream);
    if (index != HISTORY_NONE) {
        state->history->streams.items[index].destroyed = state->position;
    }
}

static void on_event_destroy(struct reader_state *state, uint32_t event)
{
    const uint32_t index = history_find(&state->history->event_of, event);
    if (index != HISTORY_NONE) {
        state->history->events.items[index].destroyed = state->position;
    }
}

/* The text of a name on one line: control characters are spelled as in C. NULL when out of memory.
 */
static const char *one_line(struct reader_state *state, struct ssan_str text)
{
    struct strbuf plain = {0};
    for (uint32_t i = 0; i < text.length; i++) {
        const unsigned char c = (unsigned char)text.ptr[i];
        if (c == '\n' || c == '\t' || c == '\r') {
            strbuf_puts(&plain, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
        } else if (c < 0x20 || c == 0x7f) {
            strbuf_printf(&plain, "\\x%02x", c);
        } else {
            strbuf_add(&plain, text.ptr + i, 1);
        }
    }
    const char *kept = plain.failed ? NULL : read_intern(state, ssan_str(strbuf_text(&plain)));
    strbuf_finish(&plain);
    return kept;
}

static bool on_name(struct reader_state *state, const struct ssan_ev_name *ev)
{
    struct history *history = state->history;
    const char *text = one_line(state, ev->text);
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
    const uint32_t block = read_block_of(state, ev->id);
    if (ev->object == SSAN_object_USAGE) {
        if (block != HISTORY_NONE) {
            history->allocs.items[block].usage = text;
        }
        return true;
    }
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
        .seq = read_next_seq(&state->sync_seq_of, ev->thread),
        .call = read_intern(state, ev->call),
    };
    if (ev->kind == SSAN_sync_kind_STREAM || ev->kind == SSAN_sync_kind_STREAM_QUERY) {
        sync.object = history_find(&history->stream_of, ev->object);
    } else if (ev->kind != SSAN_sync_kind_DEVICE) {
        sync.object = history_find(&history->event_of, ev->object);
        sync.record = history_latest_record(history, sync.object, state->position);
    }
    return sync.call && sync.seq > 0 && map_set(&history->sync_of, ev->sync, index) &&
           VEC_PUSH(&history->syncs, sync) &&
           read_add_call(state, CALL_SYNC, index, ev->thread, ev->site);
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
    sync->blocked_ns = ev->blocked_ns;
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
    return join.object == HISTORY_NONE || read_add_join(state, join);
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
        if (!read_add_join(state, (struct hist_join){.kind = item ? JOIN_ITEM : JOIN_THREAD,
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
           (!begins || read_add_join(state, (struct hist_join){.kind = JOIN_ITEM,
                                                               .object = item,
                                                               .thread = thread,
                                                               .strict_only = true}));
}

static bool take(struct reader_state *state, const struct ssan_event *event)
{
    if (state->light) {
        return read_run(state, event);
    }
    switch (event->kind) {
    case SSAN_EV_alloc:
        return read_alloc(state, &event->alloc);
    case SSAN_EV_free:
        return read_free(state, &event->free);
    case SSAN_EV_pool_alloc:
    case SSAN_EV_pool_free:
        return read_pool(state, event);
    case SSAN_EV_host_access:
        return read_host_access(state, &event->host_access);
    case SSAN_EV_stream_create:
        return on_stream_create(state, &event->stream_create);
    case SSAN_EV_event_create:
        return on_event_create(state, &event->event_create);
    case SSAN_EV_context:
        return on_context(state, &event->context);
    case SSAN_EV_stream_destroy:
        on_stream_destroy(state, event->stream_destroy.stream);
        return true;
    case SSAN_EV_event_destroy:
        on_event_destroy(state, event->event_destroy.event);
        return true;
    case SSAN_EV_name:
        return on_name(state, &event->name);
    case SSAN_EV_op:
        return read_op(state, &event->op);
    case SSAN_EV_op_return:
        return read_op_return(state, &event->op_return);
    case SSAN_EV_sync:
        return on_sync(state, &event->sync);
    case SSAN_EV_sync_return:
        return on_sync_return(state, &event->sync_return);
    case SSAN_EV_release:
        return on_release(state, &event->release);
    case SSAN_EV_acquire:
        return on_acquire(state, &event->acquire);
    case SSAN_EV_site:
        return read_site(state, event->site.site) != HISTORY_NONE;
    case SSAN_EV_thread_start:
        return read_add_join(state, (struct hist_join){.kind = JOIN_THREAD,
                                                       .bound = state->position,
                                                       .object = event->thread_start.parent,
                                                       .thread = event->thread_start.thread});
    case SSAN_EV_thread_join:
        return read_add_join(state, (struct hist_join){.kind = JOIN_THREAD,
                                                       .bound = state->position,
                                                       .object = event->thread_join.joined,
                                                       .thread = event->thread_join.thread});
    case SSAN_EV_callback_begin:
        return on_callback(state, event->callback_begin.thread, event->callback_begin.op, true);
    case SSAN_EV_callback_end:
        return on_callback(state, event->callback_end.thread, event->callback_end.op, false);
    default:
        return read_run(state, event);
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
    map_finish(&state->pool_sizes);
    map_finish(&state->seq_of);
    map_finish(&state->sync_seq_of);
    map_finish(&state->failed_seq_of);
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
    if (status == SSAN_OK &&
        (!read_settle_sites(&state) || (!light && !read_index_places(&state)))) {
        status = ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory while explaining findings");
    }
    finish_state(&state);
    return status;
}
