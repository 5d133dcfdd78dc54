/* One table for each kind: a map from handle to an index or id, and for streams an array of facts.
 *
 * Invariant: a stream that is in the table with an id has its stream_create in the trace and no
 * stream_destroy. Streams have no id until something goes to them: the driver makes many for
 * itself, and libraries make pools of them. Cost: one or two look-ups in a hash map; linear in
 * streams where one is made, where an argument names the per-thread default stream, and for an item
 * that comes without its handle. */
#include "capture/handles.h"

#include "capture/emit.h"

#include "base/arena.h"
#include "base/demangle.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"

#include <string.h>

struct context_facts {
    CUcontext context; /* NULL: destroyed */
    struct sanitizer_stream *legacy;
};

struct stream_facts {
    struct sanitizer_stream *handle; /* NULL: destroyed, the place is free */
    CUstream stream;                 /* the public handle; NULL: a stream of the driver's */
    CUcontext context;
    uint32_t id; /* 0: not in the trace */
    struct caller creator;
    bool non_blocking;
    bool is_internal; /* made by the driver for itself: no default stream */
    bool ends_in_kernel;
};

static struct {
    VEC(struct context_facts) contexts; /* id - 1 */
    VEC(struct stream_facts) streams;
    struct map by_handle, by_public; /* to index + 1 of streams */
    uint32_t stream_count;           /* ids given */
    uint32_t captures;               /* in progress */
    VEC(struct event_facts) events;  /* id - 1 */
    struct map event_ids;            /* CUevent to id */
    struct map kernels;              /* CUfunction to its name */
    struct map names;                /* hash of a mangled name to struct kernel_name */
    struct arena arena;              /* of names: for good */
} tables;

struct kernel_name {
    const char *mangled, *name;
    struct kernel_name *next; /* of the same hash */
};

/* Without memory: what an object is, or what is done with it, is not known from here on. */
static void tell_lost(void)
{
    emit_lost(SSAN_loss_OPERATIONS, 0);
}

static uint64_t key_of(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

void handles_add_context(CUcontext context, struct sanitizer_stream *legacy)
{
    uint32_t id = handles_context(context);
    if (id <= tables.contexts.count) {
        tables.contexts.items[id - 1].legacy = legacy;
    }
}

bool handles_lacks_legacy(CUcontext context)
{
    uint32_t id = handles_find_context(context);
    return id && !tables.contexts.items[id - 1].legacy;
}

void handles_tell_device(CUcontext context, CUdevice device)
{
    struct ssan_event event = {.kind = SSAN_EV_context};
    uint32_t id = handles_context(context);
    if (device >= 0 && id != (uint32_t)device + 1) {
        event.context = (struct ssan_ev_context){id, (uint32_t)device};
        emit_put(&event);
    }
}

void handles_remove_context(CUcontext context)
{
    for (size_t i = 0; i < tables.contexts.count; i++) {
        if (tables.contexts.items[i].context == context) {
            tables.contexts.items[i].context = NULL;
        }
    }
}

uint32_t handles_find_context(CUcontext context)
{
    for (size_t i = 0; context && i < tables.contexts.count; i++) {
        if (tables.contexts.items[i].context == context) {
            return (uint32_t)i + 1;
        }
    }
    return 0;
}

uint32_t handles_context(CUcontext context)
{
    uint32_t id = handles_find_context(context);
    if (id) {
        return id;
    }
    if (!context) {
        return 1;
    }
    if (!VEC_PUSH(&tables.contexts, (struct context_facts){.context = context})) {
        tell_lost();
        return 1;
    }
    return (uint32_t)tables.contexts.count;
}

static struct stream_facts *find_stream(struct sanitizer_stream *handle)
{
    const uint64_t *at = map_find(&tables.by_handle, key_of(handle));
    return at ? &tables.streams.items[*at - 1] : NULL;
}

/* Where a new stream's facts go; NULL without memory. */
static struct stream_facts *place_for(struct sanitizer_stream *handle, CUstream stream)
{
    size_t at = 0;
    while (at < tables.streams.count && tables.streams.items[at].handle) {
        at++;
    }
    if ((at == tables.streams.count && !VEC_PUSH(&tables.streams, (struct stream_facts){0})) ||
        !map_set(&tables.by_handle, key_of(handle), at + 1) ||
        (stream && !map_set(&tables.by_public, key_of(stream), at + 1))) {
        tell_lost();
        return NULL;
    }
    return &tables.streams.items[at];
}

/* Of the streams that the driver makes with a context, the only one that a program can reach. */
static bool is_legacy(const struct stream_facts *facts)
{
    for (size_t i = 0; i < tables.contexts.count; i++) {
        if (tables.contexts.items[i].context == facts->context) {
            return tables.contexts.items[i].legacy
                       ? tables.contexts.items[i].legacy == facts->handle
                       : facts->is_internal;
        }
    }
    return false;
}

static enum ssan_stream_flavour flavour_of(const struct stream_facts *facts)
{
    if (!facts->stream) { /* default streams have no public handle */
        return is_legacy(facts) ? SSAN_stream_flavour_LEGACY : SSAN_stream_flavour_PER_THREAD;
    }
    return facts->non_blocking ? SSAN_stream_flavour_NON_BLOCKING : SSAN_stream_flavour_BLOCKING;
}

/* Tells the trace of the stream: as made where it was made, default streams where they are used. */
static void begin_stream(struct stream_facts *facts, struct caller caller)
{
    struct ssan_event event = {.kind = SSAN_EV_stream_create};
    enum ssan_stream_flavour flavour = flavour_of(facts);
    bool per_thread = flavour == SSAN_stream_flavour_PER_THREAD;
    struct caller by = facts->stream ? facts->creator : caller;
    facts->id = ++tables.stream_count;
    event.stream_create =
        (struct ssan_ev_stream_create){.stream = facts->id,
                                       .context = handles_context(facts->context),
                                       .flavour = flavour,
                                       .owner = per_thread ? facts->creator.thread : 0,
                                       .thread = by.thread,
                                       .site = by.site};
    emit_put(&event);
}

void handles_add_stream(const struct sanitizer_stream_data *data, unsigned flags, bool is_internal,
                        struct caller caller)
{
    struct stream_facts *facts = place_for(data->handle, data->stream);
    if (facts) {
        *facts = (struct stream_facts){.handle = data->handle,
                                       .stream = data->stream,
                                       .context = data->context,
                                       .creator = caller,
                                       .is_internal = is_internal,
                                       .non_blocking = flags & CUDA_STREAM_NON_BLOCKING};
    }
}

void handles_remove_stream(const struct sanitizer_stream_data *data, struct caller caller)
{
    struct stream_facts *facts = find_stream(data->handle);
    struct ssan_event event = {.kind = SSAN_EV_stream_destroy};
    if (!facts) {
        return;
    }
    if (facts->id && !is_legacy(facts)) {
        event.stream_destroy =
            (struct ssan_ev_stream_destroy){facts->id, caller.thread, caller.site};
        emit_put(&event);
    }
    map_remove(&tables.by_handle, key_of(facts->handle));
    if (facts->stream) {
        map_remove(&tables.by_public, key_of(facts->stream));
    }
    facts->handle = NULL;
}

uint32_t handles_stream(CUcontext context, CUstream stream, struct sanitizer_stream *handle,
                        struct caller caller)
{
    struct stream_facts *facts = find_stream(handle);
    if (!facts) {
        facts = place_for(handle, stream);
        if (!facts) {
            return 0;
        }
        *facts = (struct stream_facts){
            .handle = handle, .stream = stream, .context = context, .creator = caller};
    }
    if (!facts->id) {
        begin_stream(facts, caller);
    }
    return facts->id;
}

static struct stream_facts *find_legacy(CUcontext context, struct caller caller)
{
    for (size_t i = 0; i < tables.contexts.count; i++) {
        const struct context_facts *facts = &tables.contexts.items[i];
        if (facts->context == context && facts->legacy) {
            (void)handles_stream(context, NULL, facts->legacy, caller);
            return find_stream(facts->legacy);
        }
    }
    return NULL;
}

static struct stream_facts *find_per_thread(CUcontext context, uint32_t thread)
{
    for (size_t i = 0; i < tables.streams.count; i++) {
        struct stream_facts *facts = &tables.streams.items[i];
        if (facts->handle && !facts->stream && !facts->is_internal && facts->context == context &&
            facts->creator.thread == thread && !is_legacy(facts)) {
            return facts;
        }
    }
    return NULL;
}

uint32_t handles_stream_argument(CUcontext context, CUstream stream, bool per_thread,
                                 struct caller caller)
{
    struct stream_facts *facts;
    const uint64_t *at;
    if (!stream || stream == CUDA_STREAM_LEGACY || stream == CUDA_STREAM_PER_THREAD) {
        bool own = stream == CUDA_STREAM_PER_THREAD || (!stream && per_thread);
        facts = own ? find_per_thread(context, caller.thread) : find_legacy(context, caller);
    } else {
        at = map_find(&tables.by_public, key_of(stream));
        facts = at ? &tables.streams.items[*at - 1] : NULL;
    }
    if (facts && !facts->id) {
        begin_stream(facts, caller); /* a join of the legacy stream covers the blocking ones */
    }
    return facts ? facts->id : 0;
}

bool handles_behind_kernel(struct sanitizer_stream *handle, enum ssan_op_kind kind)
{
    struct stream_facts *facts = find_stream(handle);
    bool is_behind = !facts || facts->ends_in_kernel;
    if (facts && kind != SSAN_op_kind_RECORD) {
        facts->ends_in_kernel = kind == SSAN_op_kind_KERNEL || kind == SSAN_op_kind_MEMSET;
    }
    return is_behind;
}

bool handles_is_default(struct sanitizer_stream *handle)
{
    const struct stream_facts *facts = find_stream(handle);
    return facts && !facts->stream;
}

struct sanitizer_stream *handles_of_stream(uint32_t id)
{
    for (size_t i = 0; i < tables.streams.count; i++) {
        if (tables.streams.items[i].handle && tables.streams.items[i].id == id) {
            return tables.streams.items[i].handle;
        }
    }
    return NULL;
}

bool handles_next_stream(size_t *cursor, CUcontext *context, struct sanitizer_stream **handle)
{
    while (*cursor < tables.streams.count) {
        const struct stream_facts *facts = &tables.streams.items[(*cursor)++];
        if (facts->handle && facts->id) {
            *context = facts->context;
            *handle = facts->handle;
            return true;
        }
    }
    return false;
}

void handles_capture(bool begins)
{
    if (begins) {
        tables.captures++;
    } else if (tables.captures > 0) {
        tables.captures--;
    }
}

bool handles_is_capturing(void)
{
    return tables.captures > 0;
}

void handles_add_event(CUevent event, CUcontext context, unsigned flags, struct caller caller)
{
    struct ssan_event out = {.kind = SSAN_EV_event_create};
    struct event_facts facts = {.id = (uint32_t)tables.events.count + 1};
    if (!VEC_PUSH(&tables.events, facts) || !map_set(&tables.event_ids, key_of(event), facts.id)) {
        tell_lost();
        return;
    }
    out.event_create = (struct ssan_ev_event_create){
        facts.id, context ? handles_context(context) : 0, flags, caller.thread, caller.site};
    emit_put(&out);
}

void handles_remove_event(CUevent event, struct caller caller)
{
    struct ssan_event out = {.kind = SSAN_EV_event_destroy};
    const struct event_facts *facts = handles_find_event(event);
    if (facts) {
        out.event_destroy = (struct ssan_ev_event_destroy){facts->id, caller.thread, caller.site};
        emit_put(&out);
        map_remove(&tables.event_ids, key_of(event));
    }
}

struct event_facts *handles_find_event(CUevent event)
{
    const uint64_t *id = map_find(&tables.event_ids, key_of(event));
    return id ? &tables.events.items[*id - 1] : NULL;
}

struct event_facts *handles_event(CUevent event, struct caller caller)
{
    struct event_facts *facts = handles_find_event(event);
    if (!facts) {
        handles_add_event(event, NULL, 0, caller);
        facts = handles_find_event(event);
    }
    return facts;
}

bool handles_find_object(const void *handle, CUcontext context, struct caller caller,
                         enum ssan_object *kind, uint64_t *id)
{
    CUcontext in = context                     ? context
                   : tables.contexts.count > 0 ? tables.contexts.items[0].context
                                               : NULL;
    CUstream stream = (CUstream)(uintptr_t)handle;
    const struct event_facts *event = handles_find_event((CUevent)(uintptr_t)handle);
    uint32_t found = handle ? handles_stream_argument(in, stream, false, caller) : 0;
    *kind = found ? SSAN_object_STREAM : SSAN_object_EVENT;
    *id = found ? found : event ? event->id : 0;
    return *id != 0;
}

/* Made once. */
const char *handles_name(const char *mangled)
{
    uint64_t hash = hash_bytes(0, mangled, strlen(mangled));
    const uint64_t *first = map_find(&tables.names, hash);
    struct kernel_name *head = first ? (struct kernel_name *)(uintptr_t)*first : NULL;
    struct kernel_name *made;
    for (struct kernel_name *at = head; at; at = at->next) {
        if (strcmp(at->mangled, mangled) == 0) {
            return at->name;
        }
    }
    made = arena_alloc(&tables.arena, sizeof *made);
    if (!made) {
        return "";
    }
    made->mangled = arena_strdup(&tables.arena, mangled);
    made->name = demangle_name(&tables.arena, mangled);
    made->next = head;
    if (!made->mangled || !made->name || !map_set(&tables.names, hash, (uint64_t)(uintptr_t)made)) {
        return made->name ? made->name : "";
    }
    return made->name;
}

const char *handles_kernel_name(CUfunction function, const char *mangled)
{
    const uint64_t *known = map_find(&tables.kernels, key_of(function));
    const char *name;
    if (known) {
        return (const char *)(uintptr_t)*known;
    }
    name = mangled ? handles_name(mangled) : "";
    (void)map_set(&tables.kernels, key_of(function), (uint64_t)(uintptr_t)name);
    return name;
}

void handles_forget_kernels(void)
{
    map_finish(&tables.kernels);
    memset(&tables.kernels, 0, sizeof tables.kernels);
}

void handles_detach(void)
{
    memset(&tables, 0, sizeof tables); /* what it held stays, unused */
}
