/* Events into nodes and edges, accesses into byte sets. Every rule is written where its event comes
 * in. */
#include "support/oracle.h"

#include "support/must.h"
#include "support/oracle_rules.h"
#include "support/oracle_state.h"

#include <string.h>

#define ALL ((unsigned)WORLD_ALL)

static bool invalid(struct oracle *oracle, const char *why)
{
    if (!oracle->why) {
        oracle->why = why;
    }
    return false;
}

static struct oracle_thread *thread_of(struct oracle *oracle, uint32_t id)
{
    while (oracle->threads.count <= id) {
        MUST(VEC_PUSH(&oracle->threads, (struct oracle_thread){.last = -1}));
    }
    return &oracle->threads.items[id];
}

static struct oracle_op *op_of(struct oracle *oracle, uint64_t id)
{
    if (id == 0 || id > oracle->ops.count) {
        invalid(oracle, "unknown operation");
        return NULL;
    }
    return &oracle->ops.items[id - 1];
}

static struct oracle_stream *stream_of(struct oracle *oracle, uint32_t id)
{
    if (id == 0 || id > oracle->streams.count) {
        invalid(oracle, "unknown stream");
        return NULL;
    }
    return &oracle->streams.items[id - 1];
}

static struct oracle_event *event_of(struct oracle *oracle, uint32_t id)
{
    if (id == 0 || id > oracle->events.count) {
        invalid(oracle, "unknown event");
        return NULL;
    }
    return &oracle->events.items[id - 1];
}

/* A new node on the timeline of a host thread (M-3, R-HOST-13), or inside the host function it runs
 * (R-HF-2). */
static int host_node(struct oracle *oracle, uint32_t thread)
{
    int node = graph_node(&oracle->graph);
    struct oracle_thread *self = thread_of(oracle, thread);
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

/* The allocation that holds an address at a place of the trace; NULL: none, pageable. */
static const struct oracle_alloc *alloc_at(const struct oracle *oracle, uint64_t address,
                                           uint64_t position)
{
    for (size_t i = oracle->allocs.count; i-- > 0;) {
        const struct oracle_alloc *at = &oracle->allocs.items[i];
        if (at->position < position && at->freed > position &&
            address - at->alloc.address < at->alloc.size) {
            return at;
        }
    }
    return NULL;
}

/* What an operand of a copy counts as: all of it pageable when only a part is registered
 * (R-COPY-6). */
static enum ssan_memory memory_at(const struct oracle *oracle, const struct ssan_ev_op *op,
                                  bool destination, uint64_t position)
{
    uint64_t address = destination ? op->dst : op->src;
    uint64_t pitch = destination ? op->dst_pitch : op->src_pitch;
    uint64_t extent = op->height > 1 ? (op->height - 1) * pitch + op->width : op->width;
    const struct oracle_alloc *at = alloc_at(oracle, address, position);
    if (!at) {
        return SSAN_memory_PAGEABLE;
    }
    bool half = at->alloc.memory == SSAN_memory_REGISTERED &&
                extent > at->alloc.size - (address - at->alloc.address);
    return half ? SSAN_memory_PAGEABLE : at->alloc.memory;
}

static bool is_blocking(const struct oracle_stream *stream)
{
    return stream->flavour != SSAN_stream_flavour_NON_BLOCKING;
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
        return invalid(oracle, "operation out of order or without stream");
    }
    struct oracle_op self = {.op = *op, .position = position, .item = true, .inside = -1};
    self.sub = host_node(oracle, op->thread);
    self.begin = graph_node(&oracle->graph);
    self.end = graph_node(&oracle->graph);
    self.read_end = -1;
    graph_edge(&oracle->graph, self.sub, self.begin, ALL); /* M-2 */
    graph_edge(&oracle->graph, self.begin, self.end, ALL);
    int index = (int)oracle->ops.count;
    bind_event(oracle, &self, index);
    if (op->kind == SSAN_op_kind_COPY) {
        self.rule = oracle_copy_rule(op->form, memory_at(oracle, op, false, position),
                                     memory_at(oracle, op, true, position), op->width * op->height);
    } else if (op->kind == SSAN_op_kind_MEMSET) {
        self.rule = oracle_memset_rule(op->form, memory_at(oracle, op, true, position));
    }
    if (self.rule.source_free) {
        self.read_end = graph_node(&oracle->graph);
        graph_edge(&oracle->graph, self.read_end, self.end, ALL);
    }
    if (self.item) {
        order_item(oracle, &self);
        oracle->streams.items[op->stream - 1].last = index;
    }
    MUST(VEC_PUSH(&oracle->ops, self));
    return !oracle->why;
}

static bool on_op_return(struct oracle *oracle, uint64_t id)
{
    struct oracle_op *op = op_of(oracle, id);
    if (!op || op->returned) {
        return invalid(oracle, "second return");
    }
    op->returned = true;
    int node = host_node(oracle, op->op.thread);
    graph_edge(&oracle->graph, op->read_end, node, op->rule.source_free);
    graph_edge(&oracle->graph, op->end, node, op->rule.host_sync);
    graph_edge(&oracle->graph, op->begin, node, op->rule.joins_prior);
    return true;
}

/* The entry of the op's list for this kind of access and generation, made when it is new. */
static struct ranges *bytes_of(struct oracle *oracle, struct oracle_access like)
{
    if (like.side == ORACLE_OP) {
        for (size_t i = oracle->accesses.count; i-- > 0;) {
            struct oracle_access *at = &oracle->accesses.items[i];
            if (at->side == ORACLE_OP && at->op == like.op && at->access == like.access &&
                at->may == like.may && at->alloc == like.alloc && at->dead == like.dead) {
                return &at->bytes;
            }
        }
    }
    MUST(VEC_PUSH(&oracle->accesses, like));
    return &oracle->accesses.items[oracle->accesses.count - 1].bytes;
}

static void add_piece(struct oracle *oracle, struct oracle_access like, uint32_t alloc, bool dead,
                      const struct range *piece)
{
    like.alloc = alloc;
    like.dead = dead;
    MUST(ranges_add(bytes_of(oracle, like), piece->begin, piece->end));
}

/* The part of [begin, end) inside an allocation, which is then taken out of `rest`. */
static void take_inside(struct oracle *oracle, struct oracle_access like,
                        const struct oracle_alloc *alloc, bool dead, struct ranges *rest)
{
    uint64_t low = alloc->alloc.address, high = low + alloc->alloc.size;
    for (size_t i = 0; i < rest->count; i++) {
        struct range piece = rest->items[i];
        piece.begin = piece.begin < low ? low : piece.begin;
        piece.end = piece.end > high ? high : piece.end;
        if (piece.begin < piece.end) {
            add_piece(oracle, like, alloc->alloc.alloc, dead, &piece);
        }
    }
    MUST(ranges_remove(rest, low, high));
}

/* Splits bytes by generation as of a place of the trace: live ones, dead ones, pageable. */
static void add_bytes(struct oracle *oracle, struct oracle_access like, uint64_t begin,
                      uint64_t end, uint64_t as_of)
{
    struct ranges rest = {0};
    MUST(ranges_add(&rest, begin, end));
    for (int dead = 0; dead < 2; dead++) {
        for (size_t i = oracle->allocs.count; i-- > 0 && rest.count > 0;) {
            const struct oracle_alloc *at = &oracle->allocs.items[i];
            bool ends = at->freed < as_of && at->alloc.memory != SSAN_memory_REGISTERED &&
                        like.side == ORACLE_OP;
            if (at->position < as_of && (dead ? ends : at->freed > as_of)) {
                take_inside(oracle, like, at, dead != 0, &rest);
            }
        }
    }
    for (size_t i = 0; i < rest.count; i++) {
        add_piece(oracle, like, 0, false, &rest.items[i]);
    }
    ranges_finish(&rest);
}

/* The access that a set of `op` adds to: its phase is [begin, end], or ends early for a source read
 * (4.3). */
static struct oracle_access op_access(const struct oracle *oracle, const struct oracle_op *op,
                                      enum ssan_access access, enum ssan_set_sureness sureness)
{
    struct oracle_access like = {
        .side = ORACLE_OP,
        .position = op->position,
        .order = op->position,
        .op = op->op.op,
        .context = oracle->streams.items[op->op.stream - 1].context,
        .access = access,
        .may = sureness == SSAN_set_sureness_MAY,
        .sub = op->sub,
    };
    bool source = access == SSAN_access_READ && op->op.kind == SSAN_op_kind_COPY;
    for (int r = 0; r < READING_COUNT; r++) {
        unsigned world = r == READING_DOCUMENTED ? WORLD_DOCUMENTED : WORLD_OBSERVED;
        like.begin[r] = op->begin;
        like.end[r] = source && (op->rule.source_free & world) ? op->read_end : op->end;
    }
    return like;
}

static bool on_set(struct oracle *oracle, const struct ssan_ev_set *set)
{
    const struct oracle_op *op = op_of(oracle, set->op);
    if (!op || op->closed) {
        return invalid(oracle, "set of a closed operation");
    }
    struct oracle_access like = op_access(oracle, op, set->access, set->sureness);
    for (uint32_t i = 0; i < set->runs.count; i++) {
        const struct ssan_run *run = &set->runs.ptr[i];
        for (uint64_t k = 0; k < run->count; k++) {
            uint64_t begin = run->address + k * run->stride;
            add_bytes(oracle, like, begin, begin + run->length, op->position);
        }
    }
    return true;
}

static bool on_set_leaf(struct oracle *oracle, const struct ssan_ev_set_leaf *set)
{
    const struct oracle_op *op = op_of(oracle, set->op);
    if (!op || op->closed) {
        return invalid(oracle, "leaf of a closed operation");
    }
    struct oracle_access like = op_access(oracle, op, set->access, set->sureness);
    for (uint64_t bit = 0; bit < (uint64_t)set->bits.count * 64; bit++) {
        if ((set->bits.ptr[bit / 64] >> (bit % 64)) & 1) {
            uint64_t at = set->address + bit;
            add_bytes(oracle, like, at, at + 1, op->position);
        }
    }
    return true;
}

/* One access at one node, of a host thread. */
static struct oracle_access host_access(struct oracle *oracle, uint32_t thread,
                                        enum oracle_side side, uint64_t position)
{
    struct oracle_access like = {.side = side, .position = position, .order = position};
    uint64_t inside = thread_of(oracle, thread)->inside;
    int node = host_node(oracle, thread);
    like.begin[0] = like.begin[1] = like.end[0] = like.end[1] = like.sub = node;
    like.access = SSAN_access_WRITE;
    if (inside) {
        const struct oracle_op *op = &oracle->ops.items[inside - 1];
        like.op = inside;
        like.order = op->position;
        like.sub = op->sub;
        like.context = oracle->streams.items[op->op.stream - 1].context;
    }
    return like;
}

static bool on_host_access(struct oracle *oracle, const struct ssan_ev_host_access *access,
                           uint64_t position)
{
    struct oracle_access like = host_access(oracle, access->thread, ORACLE_HOST, position);
    like.access = access->access;
    add_bytes(oracle, like, access->address, access->address + access->size, like.order);
    return true;
}

static bool on_alloc(struct oracle *oracle, const struct ssan_ev_alloc *alloc, uint64_t position)
{
    if (alloc->alloc != oracle->allocs.count + 1) {
        return invalid(oracle, "allocation out of order");
    }
    struct oracle_access like = host_access(oracle, alloc->thread, ORACLE_ALLOC, position);
    like.context = alloc->context;
    add_piece(oracle, like, alloc->alloc, false,
              &(struct range){alloc->address, alloc->address + alloc->size});
    MUST(VEC_PUSH(&oracle->allocs, (struct oracle_alloc){*alloc, position, UINT64_MAX}));
    return true;
}

/* R-IMPL-3: closes at entry; what follows on the thread is behind the context in the observed
 * reading. */
static bool on_free(struct oracle *oracle, const struct ssan_ev_free *gone, uint64_t position)
{
    if (gone->alloc == 0 || gone->alloc > oracle->allocs.count ||
        oracle->allocs.items[gone->alloc - 1].freed != UINT64_MAX) {
        return invalid(oracle, "free of an unknown or dead allocation");
    }
    struct oracle_alloc *alloc = &oracle->allocs.items[gone->alloc - 1];
    struct oracle_access like = host_access(oracle, gone->thread, ORACLE_FREE, position);
    int joined = host_node(oracle, gone->thread);
    for (size_t i = 0; i < oracle->streams.count; i++) {
        const struct oracle_stream *stream = &oracle->streams.items[i];
        if (stream->context == alloc->alloc.context && stream->last >= 0) {
            graph_edge(&oracle->graph, oracle->ops.items[stream->last].end, joined,
                       WORLD_ONLY_OBSERVED);
        }
    }
    like.context = alloc->alloc.context;
    add_piece(oracle, like, gone->alloc, false,
              &(struct range){alloc->alloc.address, alloc->alloc.address + alloc->alloc.size});
    alloc->freed = position;
    return true;
}

static bool on_pool(struct oracle *oracle, const struct oracle_pool_event *event, uint32_t thread)
{
    struct oracle_pool_event self = *event;
    struct oracle_access like = host_access(oracle, thread, ORACLE_FREE, event->position);
    if (event->free) {
        for (size_t i = oracle->pools.count; i-- > 0 && self.size == 0;) {
            const struct oracle_pool_event *block = &oracle->pools.items[i];
            self.size = !block->free && block->address == event->address ? block->size : 0;
        }
        /* Only its place counts: it is no access, and takes part in no pair by itself. */
        like.dead = true;
        self.access = oracle->accesses.count;
        MUST(VEC_PUSH(&oracle->accesses, like));
    }
    MUST(VEC_PUSH(&oracle->pools, self));
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

/* R-EVENT-9, 10, 11; R-HOST-1, 2, 3; R-STREAM-14: binds at entry. */
static bool on_sync(struct oracle *oracle, const struct ssan_ev_sync *sync, uint64_t position)
{
    if (sync->sync != oracle->syncs.count + 1) {
        return invalid(oracle, "sync out of order");
    }
    struct oracle_sync self = {.sync = *sync, .position = position, .bound = -1};
    self.call = host_node(oracle, sync->thread);
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
    MUST(VEC_PUSH(&oracle->syncs, self));
    return true;
}

static bool on_sync_return(struct oracle *oracle, const struct ssan_ev_sync_return *back)
{
    if (back->sync == 0 || back->sync > oracle->syncs.count ||
        oracle->syncs.items[back->sync - 1].returned) {
        return invalid(oracle, "return of an unknown sync");
    }
    struct oracle_sync *sync = &oracle->syncs.items[back->sync - 1];
    unsigned worlds = back->ok ? ALL : (unsigned)WORLD_ONLY_LIFE; /* R-HOST-7 */
    if (sync->sync.kind == SSAN_sync_kind_ELAPSED) {
        worlds &= (unsigned)WORLD_ONLY_OBSERVED;
    }
    sync->returned = true;
    int node = host_node(oracle, sync->sync.thread);
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
        node = event->thread_start.parent ? host_node(oracle, event->thread_start.parent) : -1;
        graph_edge(&oracle->graph, node, host_node(oracle, event->thread_start.thread), ALL);
        return true;
    case SSAN_EV_thread_join:
        node = thread_of(oracle, event->thread_join.joined)->last;
        graph_edge(&oracle->graph, node, host_node(oracle, event->thread_join.thread), ALL);
        return true;
    case SSAN_EV_release:
        node = host_node(oracle, event->release.thread);
        MUST(VEC_PUSH(&oracle->releases, (struct oracle_release){event->release.object, node}));
        return true;
    default:
        node = host_node(oracle, event->acquire.thread);
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
    struct oracle_op *op = op_of(oracle, id);
    struct oracle_thread *self = thread_of(oracle, thread);
    if (!op || op->op.kind != SSAN_op_kind_HOSTFUNC || self->inside != (begin ? 0 : id)) {
        return invalid(oracle, "callback of no host function");
    }
    if (begin) {
        op->inside = op->begin;
    }
    self->inside = begin ? id : 0;
    return true;
}

static bool on_close(struct oracle *oracle, uint64_t id)
{
    struct oracle_op *op = op_of(oracle, id);
    if (!op || op->closed) {
        return invalid(oracle, "second close");
    }
    op->closed = true;
    return true;
}

static bool on_create(struct oracle *oracle, const struct ssan_event *event)
{
    if (event->kind == SSAN_EV_stream_create) {
        if (event->stream_create.stream != oracle->streams.count + 1) {
            return invalid(oracle, "stream out of order");
        }
        MUST(VEC_PUSH(&oracle->streams, (struct oracle_stream){event->stream_create.flavour,
                                                               event->stream_create.context, -1}));
        return true;
    }
    if (event->event_create.event != oracle->events.count + 1) {
        return invalid(oracle, "event out of order");
    }
    MUST(VEC_PUSH(&oracle->events, (struct oracle_event){-1}));
    return true;
}

static bool on_fault(struct oracle *oracle, const struct ssan_ev_fault *fault, uint64_t position)
{
    const struct oracle_op *op = op_of(oracle, fault->op);
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
        return on_set(oracle, &event->set);
    case SSAN_EV_set_leaf:
        return on_set_leaf(oracle, &event->set_leaf);
    case SSAN_EV_sync:
        return on_sync(oracle, &event->sync, position);
    case SSAN_EV_sync_return:
        return on_sync_return(oracle, &event->sync_return);
    case SSAN_EV_host_access:
        return on_host_access(oracle, &event->host_access, position);
    case SSAN_EV_alloc:
        return on_alloc(oracle, &event->alloc, position);
    case SSAN_EV_free:
        return on_free(oracle, &event->free, position);
    case SSAN_EV_pool_alloc:
        return on_pool(oracle,
                       &(struct oracle_pool_event){position, event->pool_alloc.address,
                                                   event->pool_alloc.size, false, SIZE_MAX},
                       event->pool_alloc.thread);
    case SSAN_EV_pool_free:
        return on_pool(
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
            invalid(oracle, "invalid event");
        }
    }
    if (!oracle->why && !graph_close(&oracle->graph)) {
        invalid(oracle, "the order has a cycle");
    }
    if (oracle->why) {
        *why = oracle->why;
        oracle_destroy(oracle);
        return NULL;
    }
    oracle_judge(oracle);
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
