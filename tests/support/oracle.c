/* Events into nodes and edges, accesses into byte sets. Every rule is written where its event comes
 * in. */
#include "support/oracle.h"

#include "support/must.h"
#include "support/oracle_rules.h"
#include "support/oracle_state.h"

#include <string.h>

#define ALL ((unsigned)WORLD_ALL)

bool oracle_invalid(struct oracle *oracle, const char *why)
{
    if (!oracle->why) {
        oracle->why = why;
    }
    return false;
}

struct oracle_thread *oracle_thread_of(struct oracle *oracle, uint32_t id)
{
    while (oracle->threads.count <= id) {
        MUST(VEC_PUSH(&oracle->threads, (struct oracle_thread){.last = -1}));
    }
    return &oracle->threads.items[id];
}

struct oracle_op *oracle_op_of(struct oracle *oracle, uint64_t id)
{
    if (id == 0 || id > oracle->ops.count) {
        oracle_invalid(oracle, "unknown operation");
        return NULL;
    }
    return &oracle->ops.items[id - 1];
}

static struct oracle_stream *stream_of(struct oracle *oracle, uint32_t id)
{
    if (id == 0 || id > oracle->streams.count) {
        oracle_invalid(oracle, "unknown stream");
        return NULL;
    }
    return &oracle->streams.items[id - 1];
}

static struct oracle_event *event_of(struct oracle *oracle, uint32_t id)
{
    if (id == 0 || id > oracle->events.count) {
        oracle_invalid(oracle, "unknown event");
        return NULL;
    }
    return &oracle->events.items[id - 1];
}

/* A new node on the timeline of a host thread (M-3, R-HOST-13), or inside the host function it runs
 * (R-HF-2). */
int oracle_host_node(struct oracle *oracle, uint32_t thread)
{
    int node = graph_node(&oracle->graph);
    struct oracle_thread *self = oracle_thread_of(oracle, thread);
    if (self->inside) {
        struct oracle_op *op = &oracle->ops.items[self->inside - 1];
        graph_edge(&oracle->graph, op->inside, node, ALL);
        graph_edge(&oracle->graph, node, op->end, ALL);
        op->inside = node;
        return node;
    }
    int *last = oracle->strict ? &self->last : &oracle->last_host;
    graph_edge(&oracle->graph, *last, node, ALL);
    *last = node;
    MUST(VEC_PUSH(&oracle->host_nodes, node));
    return node;
}

static bool is_blocking(const struct oracle_stream *stream)
{
    return stream->flavour != SSAN_stream_flavour_NON_BLOCKING;
}

/* R-COPY-14: copies that act in the legacy streams of two contexts, this one or an earlier one. */
static void order_acts(struct oracle *oracle, struct oracle_op *op)
{
    const struct oracle_stream *self = stream_of(oracle, op->op.stream);
    for (size_t i = 0; i < oracle->ops.count; i++) {
        const struct oracle_op *before = &oracle->ops.items[i];
        const struct oracle_stream *other = &oracle->streams.items[before->op.stream - 1];
        bool ordered = is_blocking(self) && oracle_acts_in(before, self->context);
        ordered |= is_blocking(other) && oracle_acts_in(op, other->context);
        for (int k = 0; k < 2; k++) {
            ordered |= op->acts[k] != 0 && oracle_acts_in(before, op->acts[k]);
        }
        if (before->item && ordered) {
            graph_edge(&oracle->graph, before->end, op->begin, ALL);
        }
    }
}

/* R-STREAM-1, 3, 4, 5, 6, 8, 13: what an item of the stream comes behind. */
static void order_item(struct oracle *oracle, struct oracle_op *op)
{
    const struct oracle_stream *self = stream_of(oracle, op->op.stream);
    for (size_t i = 0; i < oracle->streams.count; i++) {
        const struct oracle_stream *other = &oracle->streams.items[i];
        bool legacy = self->flavour == SSAN_stream_flavour_LEGACY ||
                      other->flavour == SSAN_stream_flavour_LEGACY;
        bool barrier =
            legacy && is_blocking(self) && is_blocking(other) && self->context == other->context;
        if ((other == self || barrier) && other->last >= 0) {
            graph_edge(&oracle->graph, oracle->ops.items[other->last].end, op->begin, ALL);
        }
    }
}

static void bind_event(struct oracle *oracle, struct oracle_op *op, int index)
{
    struct oracle_event *event = NULL;
    op->bound = -1;
    if (op->op.kind == SSAN_op_kind_RECORD || op->op.kind == SSAN_op_kind_WAIT) {
        event = event_of(oracle, op->op.event);
    }
    if (!event) {
        return;
    }
    if (op->op.kind == SSAN_op_kind_RECORD) { /* R-EVENT-1, 2 */
        event->record = index;
    } else if (event->record < 0) { /* R-EVENT-4 */
        op->item = false;
    } else { /* R-EVENT-3, 5 */
        op->bound = event->record;
        graph_edge(&oracle->graph, oracle->ops.items[op->bound].end, op->begin, ALL);
    }
}

static bool on_op(struct oracle *oracle, const struct ssan_ev_op *op, uint64_t position)
{
    if (op->op != oracle->ops.count + 1 || !stream_of(oracle, op->stream)) {
        return oracle_invalid(oracle, "operation out of order or without stream");
    }
    struct oracle_op self = {.op = *op, .position = position, .item = true, .inside = -1};
    self.sub = oracle_host_node(oracle, op->thread);
    self.begin = graph_node(&oracle->graph);
    self.end = graph_node(&oracle->graph);
    self.read_end = -1;
    graph_edge(&oracle->graph, self.sub, self.begin, ALL); /* M-2 */
    graph_edge(&oracle->graph, self.begin, self.end, ALL);
    int index = (int)oracle->ops.count;
    bind_event(oracle, &self, index);
    if (op->kind == SSAN_op_kind_COPY) {
        self.rule =
            oracle_copy_rule(op->form, oracle_memory_at(oracle, op, false, position),
                             oracle_memory_at(oracle, op, true, position), op->width * op->height);
    } else if (op->kind == SSAN_op_kind_MEMSET) {
        self.rule = oracle_memset_rule(op->form, oracle_memory_at(oracle, op, true, position));
    }
    if (self.rule.source_free) {
        self.read_end = graph_node(&oracle->graph);
        graph_edge(&oracle->graph, self.read_end, self.end, ALL);
    }
    if (self.item) {
        oracle_find_acts(oracle, &self);
        order_item(oracle, &self);
        order_acts(oracle, &self);
        oracle->streams.items[op->stream - 1].last = index;
    }
    MUST(VEC_PUSH(&oracle->ops, self));
    return !oracle->why;
}

static bool on_op_return(struct oracle *oracle, uint64_t id)
{
    struct oracle_op *op = oracle_op_of(oracle, id);
    if (!op || op->returned) {
        return oracle_invalid(oracle, "second return");
    }
    op->returned = true;
    int node = oracle_host_node(oracle, op->op.thread);
    graph_edge(&oracle->graph, op->read_end, node, op->rule.source_free);
    graph_edge(&oracle->graph, op->end, node, op->rule.host_sync);
    graph_edge(&oracle->graph, op->begin, node, op->rule.joins_prior);
    return true;
}

bool oracle_sync_covers(const struct oracle *oracle, const struct ssan_ev_sync *sync,
                        uint32_t stream)
{
    const struct oracle_stream *other = &oracle->streams.items[stream - 1];
    if (sync->kind == SSAN_sync_kind_DEVICE) { /* R-HOST-1 */
        return other->context == sync->object;
    }
    if (sync->kind != SSAN_sync_kind_STREAM && sync->kind != SSAN_sync_kind_STREAM_QUERY) {
        return false;
    }
    const struct oracle_stream *self = &oracle->streams.items[sync->object - 1];
    bool legacy = self->flavour == SSAN_stream_flavour_LEGACY; /* R-HOST-3 */
    return stream == sync->object ||
           (legacy && is_blocking(other) && other->context == self->context);
}

/* The context whose legacy actions a join covers; UINT32_MAX: none. */
static uint32_t joined_context(const struct oracle *oracle, const struct ssan_ev_sync *sync)
{
    if (sync->kind == SSAN_sync_kind_DEVICE) {
        return sync->object;
    }
    if (sync->kind == SSAN_sync_kind_STREAM || sync->kind == SSAN_sync_kind_STREAM_QUERY) {
        const struct oracle_stream *self = &oracle->streams.items[sync->object - 1];
        return self->flavour == SSAN_stream_flavour_LEGACY ? self->context : UINT32_MAX;
    }
    return UINT32_MAX;
}

/* R-EVENT-9, 10, 11; R-HOST-1, 2, 3; R-STREAM-14: binds at entry. */
static bool on_sync(struct oracle *oracle, const struct ssan_ev_sync *sync, uint64_t position)
{
    if (sync->sync != oracle->syncs.count + 1) {
        return oracle_invalid(oracle, "sync out of order");
    }
    struct oracle_sync self = {.sync = *sync, .position = position, .bound = -1};
    self.call = oracle_host_node(oracle, sync->thread);
    if (sync->kind == SSAN_sync_kind_STREAM || sync->kind == SSAN_sync_kind_STREAM_QUERY) {
        if (!stream_of(oracle, sync->object)) {
            return false;
        }
    } else if (sync->kind != SSAN_sync_kind_DEVICE) {
        const struct oracle_event *event = event_of(oracle, sync->object);
        if (!event) {
            return false;
        }
        self.bound = event->record;
        if (self.bound >= 0) {
            MUST(VEC_PUSH(&self.ends, oracle->ops.items[self.bound].end));
        }
    }
    for (uint32_t s = 1; s <= oracle->streams.count; s++) {
        int last = oracle->streams.items[s - 1].last;
        if (last >= 0 && oracle_sync_covers(oracle, sync, s)) {
            MUST(VEC_PUSH(&self.ends, oracle->ops.items[last].end));
        }
    }
    for (size_t i = 0; i < oracle->ops.count; i++) {
        if (oracle_acts_in(&oracle->ops.items[i], joined_context(oracle, sync))) {
            MUST(VEC_PUSH(&self.ends, oracle->ops.items[i].end));
        }
    }
    MUST(VEC_PUSH(&oracle->syncs, self));
    return true;
}

static bool on_sync_return(struct oracle *oracle, const struct ssan_ev_sync_return *back)
{
    if (back->sync == 0 || back->sync > oracle->syncs.count ||
        oracle->syncs.items[back->sync - 1].returned) {
        return oracle_invalid(oracle, "return of an unknown sync");
    }
    struct oracle_sync *sync = &oracle->syncs.items[back->sync - 1];
    unsigned worlds = back->ok ? ALL : (unsigned)WORLD_ONLY_LIFE; /* R-HOST-7 */
    if (sync->sync.kind == SSAN_sync_kind_ELAPSED) {
        worlds &= (unsigned)WORLD_ONLY_OBSERVED;
    }
    sync->returned = true;
    int node = oracle_host_node(oracle, sync->sync.thread);
    for (size_t i = 0; i < sync->ends.count; i++) {
        graph_edge(&oracle->graph, sync->ends.items[i], node, worlds);
    }
    return true;
}

/* R-HOST-13: edges between host threads; those of one timeline add nothing. */
static bool on_thread(struct oracle *oracle, const struct ssan_event *event)
{
    int node = -1;
    switch (event->kind) {
    case SSAN_EV_thread_start:
        node =
            event->thread_start.parent ? oracle_host_node(oracle, event->thread_start.parent) : -1;
        graph_edge(&oracle->graph, node, oracle_host_node(oracle, event->thread_start.thread), ALL);
        return true;
    case SSAN_EV_thread_join:
        node = oracle_thread_of(oracle, event->thread_join.joined)->last;
        graph_edge(&oracle->graph, node, oracle_host_node(oracle, event->thread_join.thread), ALL);
        return true;
    case SSAN_EV_release:
        node = oracle_host_node(oracle, event->release.thread);
        MUST(VEC_PUSH(&oracle->releases, (struct oracle_release){event->release.object, node}));
        return true;
    default:
        node = oracle_host_node(oracle, event->acquire.thread);
        for (size_t i = 0; i < oracle->releases.count; i++) {
            if (oracle->releases.items[i].object == event->acquire.object) {
                graph_edge(&oracle->graph, oracle->releases.items[i].node, node, ALL);
            }
        }
        return true;
    }
}

static bool on_callback(struct oracle *oracle, uint32_t thread, uint64_t id, bool begin)
{
    struct oracle_op *op = oracle_op_of(oracle, id);
    struct oracle_thread *self = oracle_thread_of(oracle, thread);
    if (!op || op->op.kind != SSAN_op_kind_HOSTFUNC || self->inside != (begin ? 0 : id)) {
        return oracle_invalid(oracle, "callback of no host function");
    }
    if (begin) {
        op->inside = op->begin;
    }
    self->inside = begin ? id : 0;
    return true;
}

static bool on_close(struct oracle *oracle, uint64_t id)
{
    struct oracle_op *op = oracle_op_of(oracle, id);
    if (!op || op->closed) {
        return oracle_invalid(oracle, "second close");
    }
    op->closed = true;
    return true;
}

static bool on_create(struct oracle *oracle, const struct ssan_event *event)
{
    if (event->kind == SSAN_EV_stream_create) {
        if (event->stream_create.stream != oracle->streams.count + 1) {
            return oracle_invalid(oracle, "stream out of order");
        }
        MUST(VEC_PUSH(&oracle->streams, (struct oracle_stream){event->stream_create.flavour,
                                                               event->stream_create.context, -1}));
        return true;
    }
    if (event->event_create.event != oracle->events.count + 1) {
        return oracle_invalid(oracle, "event out of order");
    }
    MUST(VEC_PUSH(&oracle->events, (struct oracle_event){-1}));
    return true;
}

static bool on_fault(struct oracle *oracle, const struct ssan_ev_fault *fault, uint64_t position)
{
    const struct oracle_op *op = oracle_op_of(oracle, fault->op);
    if (op && oracle->fault_position == UINT64_MAX) {
        oracle->fault_position = position;
        oracle->fault_context = oracle->streams.items[op->op.stream - 1].context;
    }
    return op != NULL;
}

static bool feed(struct oracle *oracle, const struct ssan_event *event, uint64_t position)
{
    switch (event->kind) {
    case SSAN_EV_stream_create:
    case SSAN_EV_event_create:
        return on_create(oracle, event);
    case SSAN_EV_op:
        return on_op(oracle, &event->op, position);
    case SSAN_EV_op_return:
        return on_op_return(oracle, event->op_return.op);
    case SSAN_EV_op_closed:
        return on_close(oracle, event->op_closed.op);
    case SSAN_EV_set:
        return oracle_on_set(oracle, &event->set);
    case SSAN_EV_set_leaf:
        return oracle_on_set_leaf(oracle, &event->set_leaf);
    case SSAN_EV_sync:
        return on_sync(oracle, &event->sync, position);
    case SSAN_EV_sync_return:
        return on_sync_return(oracle, &event->sync_return);
    case SSAN_EV_host_access:
        return oracle_on_host_access(oracle, &event->host_access, position);
    case SSAN_EV_alloc:
        return oracle_on_alloc(oracle, &event->alloc, position);
    case SSAN_EV_free:
        return oracle_on_free(oracle, &event->free, position);
    case SSAN_EV_pool_alloc:
        return oracle_on_pool(oracle,
                              &(struct oracle_pool_event){position, event->pool_alloc.address,
                                                          event->pool_alloc.size, false, SIZE_MAX},
                              event->pool_alloc.thread);
    case SSAN_EV_pool_free:
        return oracle_on_pool(
            oracle,
            &(struct oracle_pool_event){position, event->pool_free.address, 0, true, SIZE_MAX},
            event->pool_free.thread);
    case SSAN_EV_ignore:
        MUST(VEC_PUSH(&oracle->ignores,
                      (struct oracle_ignore){position, event->ignore.address, event->ignore.size,
                                             event->ignore.on != 0}));
        return true;
    case SSAN_EV_thread_start:
    case SSAN_EV_thread_join:
    case SSAN_EV_release:
    case SSAN_EV_acquire:
        return on_thread(oracle, event);
    case SSAN_EV_callback_begin:
        return on_callback(oracle, event->callback_begin.thread, event->callback_begin.op, true);
    case SSAN_EV_callback_end:
        return on_callback(oracle, event->callback_end.thread, event->callback_end.op, false);
    case SSAN_EV_fault:
        return on_fault(oracle, &event->fault, position);
    case SSAN_EV_exit:
        oracle->exited = true;
        return true;
    default:
        return true; /* nothing that order or memory depend on */
    }
}

struct oracle *oracle_run(const struct tape *tape, bool strict, const char **why)
{
    struct oracle *oracle = mem_zalloc(1, sizeof *oracle);
    MUST(oracle);
    oracle->strict = strict;
    oracle->last_host = -1;
    oracle->fault_position = UINT64_MAX;
    for (size_t i = 0; i < tape->events.count && !oracle->why; i++) {
        if (!feed(oracle, &tape->events.items[i], i)) {
            oracle_invalid(oracle, "invalid event");
        }
    }
    if (!oracle->why && !graph_close(&oracle->graph)) {
        oracle_invalid(oracle, "the order has a cycle");
    }
    if (oracle->why) {
        *why = oracle->why;
        oracle_destroy(oracle);
        return NULL;
    }
    oracle->stopped = oracle_has_stopped(tape);
    oracle_judge(oracle);
    oracle_judge_errors(oracle, tape);
    return oracle;
}

const struct oracle_access *oracle_accesses(const struct oracle *oracle, size_t *count)
{
    *count = oracle->accesses.count;
    return oracle->accesses.items;
}

const struct oracle_fault *oracle_faults(const struct oracle *oracle, size_t *count)
{
    *count = oracle->faults.count;
    return oracle->faults.items;
}

void oracle_destroy(struct oracle *oracle)
{
    if (!oracle) {
        return;
    }
    for (size_t i = 0; i < oracle->accesses.count; i++) {
        ranges_finish(&oracle->accesses.items[i].bytes);
    }
    for (size_t i = 0; i < oracle->faults.count; i++) {
        ranges_finish(&oracle->faults.items[i].bytes);
    }
    for (size_t i = 0; i < oracle->syncs.count; i++) {
        VEC_FREE(&oracle->syncs.items[i].ends);
    }
    graph_finish(&oracle->graph);
    VEC_FREE(&oracle->ops);
    VEC_FREE(&oracle->streams);
    VEC_FREE(&oracle->events);
    VEC_FREE(&oracle->allocs);
    VEC_FREE(&oracle->threads);
    VEC_FREE(&oracle->syncs);
    VEC_FREE(&oracle->releases);
    VEC_FREE(&oracle->pools);
    VEC_FREE(&oracle->ignores);
    VEC_FREE(&oracle->accesses);
    VEC_FREE(&oracle->faults);
    VEC_FREE(&oracle->host_nodes);
    mem_free(oracle);
}
