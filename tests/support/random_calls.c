/* The calls a host thread makes: operations, joins, hand-overs, lives of streams and events. */
#include "support/must.h"
#include "support/random_state.h"

#define DEVICE   (1u << SSAN_memory_DEVICE)
#define LOCKED   (1u << SSAN_memory_PINNED | 1u << SSAN_memory_REGISTERED)
#define MANAGED  (1u << SSAN_memory_MANAGED)
#define PAGEABLE (1u << SSAN_memory_PAGEABLE)

static uint32_t create_stream(struct random_state *state, uint32_t thread,
                              enum ssan_stream_flavour flavour, uint32_t context)
{
    struct ssan_event event = {.kind = SSAN_EV_stream_create};
    uint32_t owner = flavour == SSAN_stream_flavour_PER_THREAD ? thread : 0;
    MUST(VEC_PUSH(&state->streams, (struct random_stream){flavour, context, owner, true}));
    event.stream_create = (struct ssan_ev_stream_create){
        (uint32_t)state->streams.count, context, flavour, owner, thread, ++state->site};
    emit(state, &event);
    return (uint32_t)state->streams.count;
}

/* A default stream, made at its first use. */
static uint32_t default_stream(struct random_state *state, uint32_t thread, uint32_t context)
{
    bool own = chance(state, 30);
    enum ssan_stream_flavour flavour =
        own ? SSAN_stream_flavour_PER_THREAD : SSAN_stream_flavour_LEGACY;
    for (uint32_t s = 1; s <= state->streams.count; s++) {
        const struct random_stream *at = &state->streams.items[s - 1];
        if (at->flavour == flavour && at->context == context && at->owner == (own ? thread : 0)) {
            return s;
        }
    }
    return create_stream(state, thread, flavour, context);
}

static bool is_created(const struct random_stream *stream)
{
    return stream->live && stream->flavour != SSAN_stream_flavour_LEGACY &&
           stream->flavour != SSAN_stream_flavour_PER_THREAD;
}

static uint32_t any_context(struct random_state *state)
{
    return 1 + (uint32_t)pick(state, state->contexts);
}

static uint32_t created_stream(struct random_state *state)
{
    uint32_t found = 0;
    uint64_t seen = 0;
    for (uint32_t s = 1; s <= state->streams.count; s++) {
        if (is_created(&state->streams.items[s - 1]) && pick(state, ++seen) == 0) {
            found = s;
        }
    }
    return found;
}

static uint32_t any_stream(struct random_state *state, uint32_t thread)
{
    if (chance(state, 20)) {
        return default_stream(state, thread, any_context(state));
    }
    uint32_t found = created_stream(state);
    if (found && !chance(state, 5)) {
        return found;
    }
    return create_stream(state, thread,
                         chance(state, 50) ? SSAN_stream_flavour_BLOCKING
                                           : SSAN_stream_flavour_NON_BLOCKING,
                         any_context(state));
}

static struct ssan_event new_op(struct random_state *state, uint32_t thread, uint32_t stream,
                                enum ssan_op_kind kind, const char *call)
{
    struct ssan_event event = {.kind = SSAN_EV_op};
    event.op = (struct ssan_ev_op){
        .op = ++state->ops,
        .stream = stream,
        .kind = kind,
        .call = ssan_str(call),
        .thread = thread,
        .site = ++state->site,
    };
    return event;
}

static void hold_until_closed(struct random_state *state, const struct ssan_event *op, size_t from)
{
    struct random_late late = {
        .op = op->op.op,
        .stream = op->op.stream,
        .next = from,
        .end = state->held.events.count,
        .callback = op->op.kind == SSAN_op_kind_HOSTFUNC,
    };
    MUST(VEC_PUSH(&state->late, late));
}

static enum ssan_set_sureness sureness(struct random_state *state)
{
    return chance(state, 6) ? SSAN_set_sureness_MAY : SSAN_set_sureness_EXACT;
}

static void kernel(struct random_state *state, uint32_t thread)
{
    struct ssan_event op =
        new_op(state, thread, any_stream(state, thread), SSAN_op_kind_KERNEL, "cudaLaunchKernel");
    size_t from = state->held.events.count;
    enum ssan_set_sureness sure = sureness(state);
    uint64_t address = 0;
    for (uint64_t i = pick(state, 4); i > 0; i--) {
        struct random_place *place = random_find_place(state, DEVICE | LOCKED | MANAGED);
        struct random_place *dead = &state->places[pick(state, 6)];
        if (chance(state, 3) && dead->used && !dead->alloc && dead->memory != SSAN_memory_PINNED) {
            place = dead; /* used after its free */
        }
        enum ssan_access access = chance(state, 12)   ? SSAN_access_ATOMIC
                                  : chance(state, 50) ? SSAN_access_READ
                                                      : SSAN_access_WRITE;
        if (place) {
            random_hold_set(state, op.op.op, place, access, sure, &address);
        }
    }
    op.op.name = ssan_str("kernel");
    op.op.grid_x = op.op.grid_y = op.op.grid_z = 1;
    op.op.block_x = 32;
    op.op.block_y = op.op.block_z = 1;
    emit(state, &op);
    hold_until_closed(state, &op, from);
}

static void set_size(struct random_state *state, struct ssan_ev_op *op)
{
    static const uint64_t sizes[] = {16, 4096, 65535, 65536, 65537, 1 << 20};
    op->height = 1;
    op->width = sizes[pick(state, sizeof sizes / sizeof *sizes)];
    if (chance(state, 10)) { /* rows: 64 KiB, or one row more */
        op->width = 64;
        op->height = 1024 + pick(state, 2);
        op->dst_pitch = op->src_pitch = 128;
    }
}

/* Emits a call that returns later: the thread is busy until then. */
static void begin_call(struct random_state *state, size_t thread, const struct ssan_event *op,
                       size_t from)
{
    emit(state, op);
    hold_until_closed(state, op, from);
    state->threads.items[thread].op = op->op.op;
}

static void copy(struct random_state *state, size_t thread)
{
    uint32_t id = state->threads.items[thread].id;
    bool sync = chance(state, 45);
    uint32_t stream = sync ? default_stream(state, id, any_context(state)) : any_stream(state, id);
    unsigned ends = DEVICE | LOCKED | MANAGED | PAGEABLE;
    struct random_place *src, *dst;
    if (state->contexts > 1 && chance(state, 50) && random_find_place(state, DEVICE)) {
        ends = DEVICE; /* between two devices, often */
    }
    src = random_find_place(state, ends);
    dst = random_find_place(state, ends);
    struct ssan_event op =
        new_op(state, id, stream, SSAN_op_kind_COPY, sync ? "cudaMemcpy" : "cudaMemcpyAsync");
    size_t from = state->held.events.count;
    op.op.form = sync ? SSAN_form_SYNC : SSAN_form_ASYNC;
    random_hold_set(state, op.op.op, src, SSAN_access_READ, SSAN_set_sureness_EXACT, &op.op.src);
    random_hold_set(state, op.op.op, dst, SSAN_access_WRITE, SSAN_set_sureness_EXACT, &op.op.dst);
    set_size(state, &op.op);
    begin_call(state, thread, &op, from);
}

static void memset_call(struct random_state *state, size_t thread)
{
    uint32_t id = state->threads.items[thread].id;
    bool sync = chance(state, 50);
    uint32_t stream = sync ? default_stream(state, id, any_context(state)) : any_stream(state, id);
    struct random_place *dst = random_find_place(state, DEVICE | LOCKED | MANAGED);
    if (!dst) {
        return;
    }
    struct ssan_event op =
        new_op(state, id, stream, SSAN_op_kind_MEMSET, sync ? "cudaMemset" : "cudaMemsetAsync");
    size_t from = state->held.events.count;
    op.op.form = sync ? SSAN_form_SYNC : SSAN_form_ASYNC;
    random_hold_set(state, op.op.op, dst, SSAN_access_WRITE, SSAN_set_sureness_EXACT, &op.op.dst);
    set_size(state, &op.op);
    begin_call(state, thread, &op, from);
}

static struct ssan_event host_touch(struct random_state *state, uint32_t thread)
{
    struct ssan_event event = {.kind = SSAN_EV_host_access};
    struct random_place *place = random_find_place(state, LOCKED | MANAGED | PAGEABLE);
    event.host_access = (struct ssan_ev_host_access){
        .thread = thread,
        .access = chance(state, 50) ? SSAN_access_READ : SSAN_access_WRITE,
        .site = ++state->site,
    };
    event.host_access.address = random_host_bytes(state, place, &event.host_access.size);
    return event;
}

static struct ssan_event hand_over(struct random_state *state, uint32_t thread, bool may_acquire)
{
    uint64_t object = 0x9000 + pick(state, 3);
    if (may_acquire && chance(state, 50)) {
        return (struct ssan_event){.kind = SSAN_EV_acquire, .acquire = {thread, object}};
    }
    return (struct ssan_event){.kind = SSAN_EV_release, .release = {thread, object}};
}

static void host_function(struct random_state *state, uint32_t thread)
{
    struct ssan_event op = new_op(state, thread, any_stream(state, thread), SSAN_op_kind_HOSTFUNC,
                                  "cudaLaunchHostFunc");
    struct ssan_event edge = {.kind = SSAN_EV_callback_begin};
    size_t from = state->held.events.count;
    edge.callback_begin = (struct ssan_ev_callback_begin){0, op.op.op};
    tape_put(&state->held, &edge);
    for (uint64_t i = pick(state, 5); i > 0; i--) {
        struct ssan_event inside = chance(state, 60)
                                       ? host_touch(state, 0)
                                       : hand_over(state, 0, state->callback_acquires);
        tape_put(&state->held, &inside);
    }
    edge.kind = SSAN_EV_callback_end;
    edge.callback_end = (struct ssan_ev_callback_end){0, op.op.op};
    tape_put(&state->held, &edge);
    op.op.name = ssan_str("callback");
    emit(state, &op);
    hold_until_closed(state, &op, from);
}

/* A live event, sometimes a new one; 0: only events of other contexts are left. */
static uint32_t any_event(struct random_state *state, uint32_t thread, uint32_t context)
{
    uint32_t found = 0;
    uint64_t seen = 0;
    for (uint32_t e = 1; e <= state->events.count; e++) {
        const struct random_event *at = &state->events.items[e - 1];
        bool fits = context == 0 || at->context == 0 || at->context == context;
        if (at->live && fits && pick(state, ++seen) == 0) {
            found = e;
        }
    }
    if (!found || (seen < 3 && chance(state, 15))) {
        struct ssan_event event = {.kind = SSAN_EV_event_create};
        MUST(VEC_PUSH(&state->events, (struct random_event){0, true}));
        found = (uint32_t)state->events.count;
        event.event_create =
            (struct ssan_ev_event_create){found, context, 2, thread, ++state->site};
        emit(state, &event);
    }
    return found;
}

static void record(struct random_state *state, uint32_t thread)
{
    uint32_t stream = any_stream(state, thread);
    uint32_t context = state->streams.items[stream - 1].context;
    uint32_t event = any_event(state, thread, context);
    struct ssan_event op = new_op(state, thread, stream, SSAN_op_kind_RECORD, "cudaEventRecord");
    op.op.event = event;
    state->events.items[event - 1].context = context;
    emit(state, &op);
    hold_until_closed(state, &op, state->held.events.count);
}

static void wait(struct random_state *state, uint32_t thread)
{
    uint32_t stream = any_stream(state, thread), event = any_event(state, thread, 0);
    struct ssan_event op = new_op(state, thread, stream, SSAN_op_kind_WAIT, "cudaStreamWaitEvent");
    op.op.event = event;
    emit(state, &op);
    hold_until_closed(state, &op, state->held.events.count);
}

static void join(struct random_state *state, size_t thread)
{
    struct random_thread *self = &state->threads.items[thread];
    struct ssan_event event = {.kind = SSAN_EV_sync};
    enum ssan_sync_kind kind = (enum ssan_sync_kind)pick(state, ssan_sync_kind_count);
    event.sync = (struct ssan_ev_sync){
        .kind = kind,
        .call = ssan_str("join"),
        .thread = self->id,
        .site = ++state->site,
    };
    if (kind == SSAN_sync_kind_DEVICE) {
        event.sync.object = any_context(state);
    } else if (kind == SSAN_sync_kind_STREAM || kind == SSAN_sync_kind_STREAM_QUERY) {
        event.sync.object = any_stream(state, self->id);
    } else {
        event.sync.object = any_event(state, self->id, 0);
        if (kind == SSAN_sync_kind_ELAPSED && !state->events.items[event.sync.object - 1].context) {
            return;
        }
    }
    event.sync.sync = ++state->syncs;
    emit(state, &event);
    self->sync = event.sync.sync;
    self->ok = true;
    if (kind <= SSAN_sync_kind_EVENT) {
        self->ok = !chance(state, 6);
    } else { /* these are written once they have succeeded */
        random_return(state, thread);
    }
}

void random_return(struct random_state *state, size_t thread)
{
    const struct random_thread *before = &state->threads.items[thread];
    struct ssan_event event = {0};
    if (before->ok || before->op || state->callback_acquires || chance(state, 60)) {
        random_run_callbacks(state); /* adds threads */
    }
    struct random_thread *self = &state->threads.items[thread];
    if (self->sync) {
        event.kind = SSAN_EV_sync_return;
        event.sync_return = (struct ssan_ev_sync_return){self->sync, self->ok, pick(state, 1000)};
    } else {
        event.kind = SSAN_EV_op_return;
        event.op_return = (struct ssan_ev_op_return){self->op};
    }
    emit(state, &event);
    self->sync = self->op = 0;
    self->ok = false;
}

static void thread_call(struct random_state *state, size_t thread)
{
    struct random_thread *self = &state->threads.items[thread];
    struct ssan_event event = {0};
    size_t other = pick(state, state->threads.count);
    struct random_thread *gone = &state->threads.items[other];
    if (other != thread && other != 0 && gone->live && !gone->callback && !gone->sync &&
        !gone->op && chance(state, 60)) {
        gone->live = false;
        event.kind = SSAN_EV_thread_join;
        event.thread_join = (struct ssan_ev_thread_join){self->id, gone->id};
        emit(state, &event);
    } else if (state->threads.count < state->max_threads) {
        uint32_t id = (uint32_t)state->threads.count + 1;
        event.kind = SSAN_EV_thread_start;
        event.thread_start = (struct ssan_ev_thread_start){id, self->id, ++state->site};
        emit(state, &event);
        MUST(VEC_PUSH(&state->threads, (struct random_thread){.id = id, .live = true}));
    }
}

static void destroy(struct random_state *state, uint32_t thread)
{
    struct ssan_event event = {0};
    uint32_t stream = created_stream(state);
    if (chance(state, 50) && stream) {
        state->streams.items[stream - 1].live = false;
        event.kind = SSAN_EV_stream_destroy;
        event.stream_destroy = (struct ssan_ev_stream_destroy){stream, thread, ++state->site};
    } else {
        uint32_t gone = any_event(state, thread, 0);
        state->events.items[gone - 1].live = false;
        event.kind = SSAN_EV_event_destroy;
        event.event_destroy = (struct ssan_ev_event_destroy){gone, thread, ++state->site};
    }
    emit(state, &event);
}

static void misc(struct random_state *state, uint32_t thread)
{
    struct ssan_event event = {0};
    if (state->ignores && chance(state, 40)) {
        random_ignore(state);
        return;
    }
    if (state->pools && chance(state, 60)) {
        random_pool_call(state, thread);
        return;
    }
    switch (pick(state, 5)) {
    case 0:
        event.kind = SSAN_EV_name;
        event.name = (struct ssan_ev_name){SSAN_object_STREAM, 1, ssan_str("a name")};
        break;
    case 1:
        event.kind = SSAN_EV_query_findings;
        event.query_findings = (struct ssan_ev_query_findings){1, thread};
        break;
    case 2:
        event.kind = SSAN_EV_unsupported;
        event.unsupported = (struct ssan_ev_unsupported){ssan_str("cudaGraphLaunch"), thread, 0};
        break;
    case 3:
        event.kind = SSAN_EV_lost;
        event.lost = (struct ssan_ev_lost){SSAN_loss_ACCESSES, 0, 1};
        break;
    default:
        if (state->ops == 0) {
            return;
        }
        event.kind = SSAN_EV_progress_forced;
        event.progress_forced = (struct ssan_ev_progress_forced){1 + pick(state, state->ops)};
        break;
    }
    emit(state, &event);
}

void random_call(struct random_state *state, size_t thread)
{
    uint32_t id = state->threads.items[thread].id;
    uint64_t dice = pick(state, 100 + state->join_weight + state->misc_weight);
    struct ssan_event event;
    if (chance(state, 4)) {
        random_errors(state, id);
    } else if (dice < 28) {
        kernel(state, id);
    } else if (dice < 40) {
        copy(state, thread);
    } else if (dice < 45) {
        memset_call(state, thread);
    } else if (dice < 50) {
        host_function(state, id);
    } else if (dice < 61) {
        record(state, id);
    } else if (dice < 72) {
        wait(state, id);
    } else if (dice < 82) {
        event = host_touch(state, id);
        emit(state, &event);
    } else if (dice < 89) {
        random_lifetime_call(state, id);
    } else if (dice < 92) {
        destroy(state, id);
    } else if (dice < 95) {
        thread_call(state, thread);
    } else if (dice < 100) {
        event = hand_over(state, id, true);
        emit(state, &event);
    } else if (dice < 100 + state->join_weight) {
        join(state, thread);
    } else {
        misc(state, id);
    }
}
