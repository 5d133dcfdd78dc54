/* Changes one event at a time.
 *
 * Ids stay dense: streams that are added get the next number and later ones move up;
 * synchronisation calls that are left out are replaced by an event without effect and later ones
 * move down. Out of memory is an error of the source. Cost: O(1) an event. */
#include "audit/altered.h"

#include "base/status.h"

/* Contexts are numbered from 1, one for each device. */
#define APART 1024u

static uint64_t thread_key(uint32_t context, uint32_t thread)
{
    return (uint64_t)context << 32 | thread;
}

/* An event that no reader of a finished trace heeds. */
static void blank(struct ssan_event *event)
{
    *event = (struct ssan_event){.kind = SSAN_EV_query_findings};
}

static struct altered_stream *known_stream(struct altered *altered, uint32_t id)
{
    return id > 0 && id < altered->streams.count ? &altered->streams.items[id] : NULL;
}

/* Holds the event back and gives a new per-thread stream in its place. */
static uint32_t add_stream(struct altered *altered, struct ssan_event *event, uint32_t context,
                           uint32_t thread, uint32_t site)
{
    const uint32_t stream = ++altered->last_stream;
    altered->failed |= !map_set(&altered->per_thread, thread_key(context, thread), stream);
    altered->held = *event;
    altered->has_held = true;
    *event = (struct ssan_event){.kind = SSAN_EV_stream_create,
                                 .stream_create = {.stream = stream,
                                                   .context = context,
                                                   .flavour = SSAN_stream_flavour_PER_THREAD,
                                                   .owner = thread,
                                                   .thread = thread,
                                                   .site = site}};
    return stream;
}

/* The stream that a call on `stream` goes to. Where it is new, *event becomes its creation and the
 * call is held; `in_held` tells so. */
static uint32_t stream_of(struct altered *altered, struct ssan_event *event, uint32_t stream,
                          uint32_t thread, uint32_t site)
{
    const struct altered_stream *known = known_stream(altered, stream);
    if (!known) {
        return stream; /* damage: the engine says so */
    }
    if (!known->legacy || !(altered->what & ALTER_PER_THREAD)) {
        return known->id;
    }
    const uint64_t *own = map_find(&altered->per_thread, thread_key(known->context, thread));
    return own ? (uint32_t)*own : add_stream(altered, event, known->context, thread, site);
}

/* Puts a stream into a context of its own on the same device: the creation is held behind the event
 * that says so. */
static void move_apart(struct altered *altered, struct ssan_event *event)
{
    struct ssan_ev_stream_create *create = &event->stream_create;
    const uint64_t *told = map_find(&altered->devices, create->context);
    const uint32_t device = told ? (uint32_t)*told : create->context - 1;
    create->context += APART;
    altered->held = *event;
    altered->has_held = true;
    *event = (struct ssan_event){.kind = SSAN_EV_context,
                                 .context = {altered->held.stream_create.context, device}};
}

static void on_stream_create(struct altered *altered, struct ssan_event *event)
{
    struct ssan_ev_stream_create *create = &event->stream_create;
    struct altered_stream stream = {.context = create->context,
                                    .legacy = create->flavour == SSAN_stream_flavour_LEGACY};
    const uint64_t key = thread_key(create->context, create->owner);
    const bool own = create->flavour == SSAN_stream_flavour_PER_THREAD;
    const uint64_t *known = own ? map_find(&altered->per_thread, key) : NULL;
    if (known) { /* calls that moved have made it already */
        stream.id = (uint32_t)*known;
        altered->failed |= !VEC_PUSH(&altered->streams, stream);
        blank(event);
        return;
    }
    stream.id = ++altered->last_stream;
    altered->failed |= !VEC_PUSH(&altered->streams, stream);
    if (own) {
        altered->failed |= !map_set(&altered->per_thread, key, stream.id);
    }
    create->stream = stream.id;
    const bool unblocks =
        (create->flavour == SSAN_stream_flavour_BLOCKING && (altered->what & ALTER_NON_BLOCKING)) ||
        (create->flavour == SSAN_stream_flavour_LEGACY && (altered->what & ALTER_NO_LEGACY));
    if (unblocks) {
        create->flavour = SSAN_stream_flavour_NON_BLOCKING;
    }
    if (stream.legacy && (altered->what & ALTER_LEGACY_APART) && create->context < APART) {
        move_apart(altered, event);
    }
}

static void on_op(struct altered *altered, struct ssan_event *event)
{
    const struct ssan_ev_op op = event->op;
    const uint32_t stream = stream_of(altered, event, op.stream, op.thread, op.site);
    struct ssan_event *call = altered->has_held ? &altered->held : event;
    call->op.stream = stream;
}

static void on_sync(struct altered *altered, struct ssan_event *event)
{
    const struct ssan_ev_sync sync = event->sync;
    const bool left_out =
        sync.kind == SSAN_sync_kind_DEVICE && (altered->what & ALTER_NO_DEVICE) != 0;
    while (altered->syncs.count <= sync.sync && !altered->failed) {
        altered->failed |= !VEC_PUSH(&altered->syncs, 0);
    }
    if (altered->failed || sync.sync >= altered->syncs.count) {
        return;
    }
    if (left_out) {
        altered->failed |= !map_set(&altered->dropped, sync.sync, 1);
        blank(event);
        return;
    }
    altered->syncs.items[sync.sync] = ++altered->last_sync;
    uint32_t object = sync.object;
    if (sync.kind == SSAN_sync_kind_STREAM || sync.kind == SSAN_sync_kind_STREAM_QUERY) {
        object = stream_of(altered, event, sync.object, sync.thread, sync.site);
    }
    struct ssan_event *call = altered->has_held ? &altered->held : event;
    call->sync.object = object;
    call->sync.sync = altered->last_sync;
}

static void on_sync_return(struct altered *altered, struct ssan_event *event)
{
    const uint64_t sync = event->sync_return.sync;
    if (map_find(&altered->dropped, sync)) {
        blank(event);
    } else if (sync < altered->syncs.count) {
        event->sync_return.sync = altered->syncs.items[sync];
    }
}

static void alter(struct altered *altered, struct ssan_event *event)
{
    const struct altered_stream *stream;
    switch (event->kind) {
    case SSAN_EV_context:
        altered->failed |=
            !map_set(&altered->devices, event->context.context, event->context.device);
        break;
    case SSAN_EV_stream_create:
        on_stream_create(altered, event);
        break;
    case SSAN_EV_stream_destroy:
        stream = known_stream(altered, event->stream_destroy.stream);
        event->stream_destroy.stream = stream ? stream->id : event->stream_destroy.stream;
        break;
    case SSAN_EV_op:
        on_op(altered, event);
        break;
    case SSAN_EV_op_return:
        if ((altered->what & ALTER_NO_BLOCKING) && altered->blocking &&
            map_find(altered->blocking, event->op_return.op)) {
            blank(event);
        }
        break;
    case SSAN_EV_sync:
        on_sync(altered, event);
        break;
    case SSAN_EV_sync_return:
        on_sync_return(altered, event);
        break;
    case SSAN_EV_name:
        if (event->name.object == SSAN_object_STREAM && event->name.id <= UINT32_MAX) {
            stream = known_stream(altered, (uint32_t)event->name.id);
            event->name.id = stream ? stream->id : event->name.id;
        }
        break;
    default:
        break;
    }
}

static enum ssan_next next(struct ssan_source *self, struct ssan_event *event,
                           struct ssan_error *err)
{
    struct altered *altered = (struct altered *)self;
    if (altered->has_held) { /* what it borrows still holds: the inner source was not asked since */
        *event = altered->held;
        altered->has_held = false;
        return SSAN_NEXT_EVENT;
    }
    const enum ssan_next state = ssan_next(altered->inner, event, err);
    if (state == SSAN_NEXT_EVENT) {
        alter(altered, event);
    }
    if (altered->failed) {
        ssan_no_memory(err);
        return SSAN_NEXT_ERROR;
    }
    return state;
}

static void reset(struct altered *altered)
{
    map_finish(&altered->per_thread);
    map_finish(&altered->dropped);
    map_finish(&altered->devices);
    VEC_FREE(&altered->streams);
    VEC_FREE(&altered->syncs);
    altered->last_stream = 0;
    altered->last_sync = 0;
    altered->has_held = false;
    altered->failed = !VEC_PUSH(&altered->streams, (struct altered_stream){0});
}

static bool rewind_source(struct ssan_source *self)
{
    struct altered *altered = (struct altered *)self;
    reset(altered);
    return altered->inner->rewind(altered->inner);
}

void altered_init(struct altered *altered, struct ssan_source *inner, unsigned what,
                  const struct map *blocking)
{
    *altered = (struct altered){.source = {.next = next, .rewind = rewind_source},
                                .inner = inner,
                                .what = what,
                                .blocking = blocking};
    reset(altered);
}

void altered_finish(struct altered *altered)
{
    reset(altered);
    VEC_FREE(&altered->streams);
}
