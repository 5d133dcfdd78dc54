/* Accesses: bytes split by generation as of an operation's submission, lives of allocations and
 * pool blocks. */
#include "support/must.h"
#include "support/oracle_state.h"

#include <string.h>

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
enum ssan_memory oracle_memory_at(const struct oracle *oracle, const struct ssan_ev_op *op,
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

/* cudaMemcpyPeer and its kin act on the devices that they name, be they one (R-COPY-14). */
static bool names_devices(const struct ssan_ev_op *op)
{
    static const char *const calls[] = {"cudaMemcpyPeer", "cudaMemcpy3DPeer", "cuMemcpyPeer",
                                        "cuMemcpy3DPeer"};
    bool found = false;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        found |= op->call.length == strlen(calls[i]) &&
                 memcmp(op->call.ptr, calls[i], op->call.length) == 0;
    }
    return found;
}

void oracle_find_acts(const struct oracle *oracle, struct oracle_op *op)
{
    const struct oracle_alloc *dst = alloc_at(oracle, op->op.dst, op->position);
    const struct oracle_alloc *src = alloc_at(oracle, op->op.src, op->position);
    bool legacy = oracle->streams.items[op->op.stream - 1].flavour == SSAN_stream_flavour_LEGACY;
    bool between = dst && src && dst->alloc.memory == SSAN_memory_DEVICE &&
                   src->alloc.memory == SSAN_memory_DEVICE &&
                   (dst->alloc.context != src->alloc.context || names_devices(&op->op));
    if (op->op.kind == SSAN_op_kind_COPY && legacy && between) {
        op->acts[0] = dst->alloc.context;
        op->acts[1] = src->alloc.context;
    }
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
            bool ends =
                at->freed < as_of && at->alloc.memory != SSAN_memory_REGISTERED && like.op != 0;
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

bool oracle_on_set(struct oracle *oracle, const struct ssan_ev_set *set)
{
    const struct oracle_op *op = oracle_op_of(oracle, set->op);
    if (!op || op->closed) {
        return oracle_invalid(oracle, "set of a closed operation");
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

bool oracle_on_set_leaf(struct oracle *oracle, const struct ssan_ev_set_leaf *set)
{
    const struct oracle_op *op = oracle_op_of(oracle, set->op);
    if (!op || op->closed) {
        return oracle_invalid(oracle, "leaf of a closed operation");
    }
    struct oracle_access like = op_access(oracle, op, set->access, set->sureness);
    for (uint64_t bit = 0; bit < (uint64_t)set->bits.count * 64; bit++) {
        if ((set->bits.ptr[bit / 64] >> (bit % 64)) & 1) {
            uint64_t at = set->address + (bit << set->unit_log2);
            add_bytes(oracle, like, at, at + (UINT64_C(1) << set->unit_log2), op->position);
        }
    }
    return true;
}

/* One access at one node, of a host thread. */
static struct oracle_access host_access(struct oracle *oracle, uint32_t thread,
                                        enum oracle_side side, uint64_t position)
{
    struct oracle_access like = {.side = side, .position = position, .order = position};
    uint64_t inside = oracle_thread_of(oracle, thread)->inside;
    int node = oracle_host_node(oracle, thread);
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

bool oracle_on_host_access(struct oracle *oracle, const struct ssan_ev_host_access *access,
                           uint64_t position)
{
    struct oracle_access like = host_access(oracle, access->thread, ORACLE_HOST, position);
    like.access = access->access;
    add_bytes(oracle, like, access->address, access->address + access->size, like.order);
    return true;
}

bool oracle_on_alloc(struct oracle *oracle, const struct ssan_ev_alloc *alloc, uint64_t position)
{
    if (alloc->alloc != oracle->allocs.count + 1) {
        return oracle_invalid(oracle, "allocation out of order");
    }
    struct oracle_access like = host_access(oracle, alloc->thread, ORACLE_ALLOC, position);
    like.context = alloc->context;
    add_piece(oracle, like, alloc->alloc, false,
              &(struct range){alloc->address, alloc->address + alloc->size});
    MUST(VEC_PUSH(&oracle->allocs, (struct oracle_alloc){*alloc, position, UINT64_MAX}));
    return true;
}

/* R-IMPL-3: whether drivers wait for the operation before they free the memory: all that is on the
 * device which owns it, all there is for page-locked memory. */
static bool free_joins(const struct oracle *oracle, const struct oracle_op *op,
                       const struct ssan_ev_alloc *alloc)
{
    return alloc->memory == SSAN_memory_PINNED || alloc->memory == SSAN_memory_REGISTERED ||
           oracle->streams.items[op->op.stream - 1].context == alloc->context ||
           oracle_acts_in(op, alloc->context);
}

/* R-IMPL-3: closes at entry; the node behind the observed join stands in end[READING_OBSERVED]. */
bool oracle_on_free(struct oracle *oracle, const struct ssan_ev_free *gone, uint64_t position)
{
    if (gone->alloc == 0 || gone->alloc > oracle->allocs.count ||
        oracle->allocs.items[gone->alloc - 1].freed != UINT64_MAX) {
        return oracle_invalid(oracle, "free of an unknown or dead allocation");
    }
    struct oracle_alloc *alloc = &oracle->allocs.items[gone->alloc - 1];
    struct oracle_access like = host_access(oracle, gone->thread, ORACLE_FREE, position);
    int joined = oracle_host_node(oracle, gone->thread);
    for (size_t i = 0; i < oracle->ops.count; i++) {
        const struct oracle_op *op = &oracle->ops.items[i];
        if (op->item && free_joins(oracle, op, &alloc->alloc)) {
            graph_edge(&oracle->graph, op->end, joined, WORLD_ONLY_OBSERVED);
        }
    }
    like.context = alloc->alloc.context;
    like.end[READING_OBSERVED] = joined;
    add_piece(oracle, like, gone->alloc, false,
              &(struct range){alloc->alloc.address, alloc->alloc.address + alloc->alloc.size});
    alloc->freed = position;
    return true;
}

bool oracle_on_pool(struct oracle *oracle, const struct oracle_pool_event *event, uint32_t thread)
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
