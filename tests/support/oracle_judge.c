/* All pairs of accesses against the closed graph, and the checks of misuse. */
#include "support/must.h"
#include "support/oracle_state.h"

static bool writes(enum ssan_access access)
{
    return access != SSAN_access_READ;
}

static bool is_op(const struct oracle_access *access)
{
    return access->op != 0;
}

/* M-6: at least one writes, not both atomic, of different operations. */
static bool conflicts(const struct oracle_access *a, const struct oracle_access *b)
{
    bool atomic = a->access == SSAN_access_ATOMIC && b->access == SSAN_access_ATOMIC;
    return a->alloc == b->alloc && !(a->op && a->op == b->op) && !atomic &&
           (writes(a->access) || writes(b->access));
}

static struct ranges common(const struct ranges *a, const struct ranges *b)
{
    struct ranges both = {0};
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        const struct range *x = &a->items[i], *y = &b->items[k];
        uint64_t begin = x->begin > y->begin ? x->begin : y->begin;
        uint64_t end = x->end < y->end ? x->end : y->end;
        MUST(ranges_add(&both, begin, end));
        if (x->end < y->end) {
            i++;
        } else {
            k++;
        }
    }
    return both;
}

static bool far_apart(const struct ranges *a, const struct ranges *b)
{
    return a->count == 0 || b->count == 0 || a->items[a->count - 1].end <= b->items[0].begin ||
           b->items[b->count - 1].end <= a->items[0].begin;
}

/* Bytes whose findings are not reported at `position` are taken out. */
static void drop_ignored(const struct oracle *oracle, uint64_t position, struct ranges *bytes)
{
    struct ranges ignored = {0};
    for (size_t i = 0; i < oracle->ignores.count; i++) {
        const struct oracle_ignore *at = &oracle->ignores.items[i];
        if (at->position < position) {
            MUST(at->on ? ranges_add(&ignored, at->address, at->address + at->size)
                        : ranges_remove(&ignored, at->address, at->address + at->size));
        }
    }
    for (size_t i = 0; i < ignored.count; i++) {
        MUST(ranges_remove(bytes, ignored.items[i].begin, ignored.items[i].end));
    }
    ranges_finish(&ignored);
}

/* R-ERR-3: nothing is told of a context behind its device fault. */
static bool is_void(const struct oracle *oracle, const struct oracle_access *a,
                    const struct oracle_access *b)
{
    return b->order > oracle->fault_position &&
           (a->context == oracle->fault_context || b->context == oracle->fault_context);
}

/* Takes `bytes`. */
static void tell(struct oracle *oracle, struct oracle_fault fault, struct ranges bytes)
{
    const struct oracle_access *first = &oracle->accesses.items[fault.first];
    const struct oracle_access *then = &oracle->accesses.items[fault.then];
    drop_ignored(oracle, then->order, &bytes);
    if (bytes.count == 0 || is_void(oracle, first, then)) {
        ranges_finish(&bytes);
        return;
    }
    fault.bytes = bytes;
    fault.first_position = first->position;
    fault.then_position = then->position;
    fault.alloc = then->alloc;
    MUST(VEC_PUSH(&oracle->faults, fault));
}

bool oracle_behind(const struct oracle *oracle, size_t first, size_t then,
                   enum oracle_reading reading)
{
    const struct oracle_access *a = &oracle->accesses.items[first];
    const struct oracle_access *b = &oracle->accesses.items[then];
    return graph_path(&oracle->graph, a->end[reading], b->begin[reading],
                      reading == READING_DOCUMENTED ? WORLD_DOCUMENTED : WORLD_OBSERVED);
}

static bool unordered(const struct oracle *oracle, size_t a, size_t b, enum oracle_reading reading)
{
    return !oracle_behind(oracle, a, b, reading) && !oracle_behind(oracle, b, a, reading);
}

/* Report.md 5.5: a pair with a may access is possible, unless the other side is sure to write. */
static enum oracle_sureness sureness_of(const struct oracle_access *a,
                                        const struct oracle_access *b)
{
    if (!a->may && !b->may) {
        return ORACLE_EXACT;
    }
    const struct oracle_access *sure = a->may ? b : a;
    return !sure->may && writes(sure->access) ? ORACLE_FOOTPRINT : ORACLE_POSSIBLE;
}

static enum oracle_check race_of(const struct oracle_access *first,
                                 const struct oracle_access *then)
{
    if (!writes(first->access)) {
        return ORACLE_WAR;
    }
    return writes(then->access) ? ORACLE_WAW : ORACLE_RAW;
}

/* R-HOST-10, R-HOST-11: the order of two conflicting items rests on which call came first. */
static bool submit_race(const struct oracle *oracle, const struct oracle_access *a,
                        const struct oracle_access *b, enum graph_world world)
{
    if (!oracle->strict || !is_op(a) || !is_op(b)) {
        return false;
    }
    uint32_t stream_a = oracle->ops.items[a->op - 1].op.stream;
    uint32_t stream_b = oracle->ops.items[b->op - 1].op.stream;
    const struct oracle_stream *x = &oracle->streams.items[stream_a - 1];
    const struct oracle_stream *y = &oracle->streams.items[stream_b - 1];
    bool barrier =
        x->context == y->context && x->flavour != SSAN_stream_flavour_NON_BLOCKING &&
        y->flavour != SSAN_stream_flavour_NON_BLOCKING &&
        (x->flavour == SSAN_stream_flavour_LEGACY || y->flavour == SSAN_stream_flavour_LEGACY);
    return (stream_a == stream_b || barrier) && !graph_path(&oracle->graph, a->sub, b->sub, world);
}

/* R-IMPL-4: `then` is a free. Drivers wait for all of its context, and so for all that comes before
 * that: its end stands behind this join. */
static void judge_free(struct oracle *oracle, size_t i, size_t k)
{
    const struct oracle_access *first = &oracle->accesses.items[i];
    const struct oracle_access *gone = &oracle->accesses.items[k];
    if (first->side == ORACLE_FREE ||
        graph_path(&oracle->graph, first->end[0], gone->begin[0], WORLD_DOCUMENTED_LIFE)) {
        return;
    }
    struct oracle_fault fault = {.check = ORACLE_FREE_IN_FLIGHT, .first = i, .then = k};
    fault.sureness = first->may ? ORACLE_FOOTPRINT : ORACLE_EXACT;
    fault.observed = !graph_path(&oracle->graph, first->end[1], gone->end[1], WORLD_OBSERVED_LIFE);
    tell(oracle, fault, common(&first->bytes, &gone->bytes));
}

static void judge_pair(struct oracle *oracle, size_t i, size_t k)
{
    const struct oracle_access *first = &oracle->accesses.items[i];
    const struct oracle_access *then = &oracle->accesses.items[k];
    if (first->alloc != then->alloc || first->dead || then->dead ||
        far_apart(&first->bytes, &then->bytes)) {
        return;
    }
    if (then->side == ORACLE_FREE) {
        judge_free(oracle, i, k);
        return;
    }
    if (first->side == ORACLE_FREE || !conflicts(first, then)) {
        return;
    }
    struct oracle_fault fault = {.first = i, .then = k, .sureness = sureness_of(first, then)};
    if (unordered(oracle, i, k, READING_DOCUMENTED)) {
        fault.check = race_of(first, then);
        fault.observed = unordered(oracle, i, k, READING_OBSERVED);
        tell(oracle, fault, common(&first->bytes, &then->bytes));
    } else if (submit_race(oracle, first, then, WORLD_DOCUMENTED)) {
        fault.check = ORACLE_SUBMIT_RACE;
        fault.observed = submit_race(oracle, first, then, WORLD_OBSERVED);
        tell(oracle, fault, common(&first->bytes, &then->bytes));
    }
}

/* Operations submitted after a free that touch the dead bytes. */
static void judge_dead(struct oracle *oracle, size_t k)
{
    const struct oracle_access *then = &oracle->accesses.items[k];
    for (size_t i = 0; i < oracle->accesses.count && then->dead && is_op(then); i++) {
        const struct oracle_access *gone = &oracle->accesses.items[i];
        if (gone->side == ORACLE_FREE && !gone->dead && gone->alloc == then->alloc) {
            struct oracle_fault fault = {.check = ORACLE_USE_AFTER_FREE, .observed = true};
            fault.first = i;
            fault.then = k;
            fault.sureness = then->may ? ORACLE_FOOTPRINT : ORACLE_EXACT;
            tell(oracle, fault, common(&gone->bytes, &then->bytes));
        }
    }
}

/* The same for blocks of the program's own allocator: dead from pool_free to the next pool_alloc.
 */
static void judge_pool(struct oracle *oracle, size_t k)
{
    for (size_t f = 0; f < oracle->pools.count; f++) {
        const struct oracle_access *then = &oracle->accesses.items[k];
        const struct oracle_pool_event *gone = &oracle->pools.items[f];
        if (!gone->free || !is_op(then) || then->dead || gone->position > then->order) {
            continue;
        }
        struct ranges block = {0};
        MUST(ranges_add(&block, gone->address, gone->address + gone->size));
        for (size_t i = f + 1; i < oracle->pools.count; i++) {
            const struct oracle_pool_event *later = &oracle->pools.items[i];
            if (later->position < then->order) {
                MUST(ranges_remove(&block, later->address, later->address + later->size));
            }
        }
        struct oracle_fault fault = {.check = ORACLE_USE_AFTER_FREE, .observed = true};
        fault.first = gone->access;
        fault.then = k;
        fault.sureness = then->may ? ORACLE_FOOTPRINT : ORACLE_EXACT;
        bool older =
            then->alloc == 0 || oracle->allocs.items[then->alloc - 1].position < gone->position;
        struct ranges bytes = common(&block, &then->bytes);
        ranges_finish(&block);
        if (older) {
            tell(oracle, fault, bytes);
        } else {
            ranges_finish(&bytes);
        }
    }
}

static void tell_misuse(struct oracle *oracle, enum oracle_check check, uint64_t first,
                        uint64_t then, uint32_t stream, uint32_t event, bool observed)
{
    if (then > oracle->fault_position) {
        return;
    }
    struct oracle_fault fault = {.check = check, .first = SIZE_MAX, .then = SIZE_MAX};
    fault.first_position = first;
    fault.then_position = then;
    fault.stream = stream;
    fault.event = event;
    fault.observed = observed;
    MUST(VEC_PUSH(&oracle->faults, fault));
}

/* R-EVENT-14: nothing orders the record before the call that binds to it. */
static void judge_binding(struct oracle *oracle, int record, int call, uint64_t position)
{
    const struct oracle_op *op = &oracle->ops.items[record];
    if (oracle->strict && !graph_path(&oracle->graph, op->sub, call, WORLD_DOCUMENTED)) {
        tell_misuse(oracle, ORACLE_EVENT_RACE, op->position, position, op->op.stream, op->op.event,
                    !graph_path(&oracle->graph, op->sub, call, WORLD_OBSERVED));
    }
}

static void judge_waits(struct oracle *oracle)
{
    for (size_t i = 0; i < oracle->ops.count; i++) {
        const struct oracle_op *op = &oracle->ops.items[i];
        if (op->bound >= 0) {
            judge_binding(oracle, op->bound, op->sub, op->position);
        } else if (!op->item) { /* R-EVENT-4 */
            tell_misuse(oracle, ORACLE_EVENT_UNRECORDED, 0, op->position, op->op.stream,
                        op->op.event, true);
        }
    }
}

static void judge_syncs(struct oracle *oracle)
{
    for (size_t i = 0; i < oracle->syncs.count; i++) {
        const struct oracle_sync *sync = &oracle->syncs.items[i];
        if (sync->bound >= 0) {
            judge_binding(oracle, sync->bound, sync->call, sync->position);
        } else if (sync->sync.kind == SSAN_sync_kind_EVENT) {
            tell_misuse(oracle, ORACLE_EVENT_UNRECORDED, 0, sync->position, 0, sync->sync.object,
                        true);
        }
        /* R-HOST-6: the join covers an item that another thread may as well have submitted later.
         */
        for (size_t k = 0; oracle->strict && k < oracle->ops.count; k++) {
            const struct oracle_op *op = &oracle->ops.items[k];
            if (op->item && op->position < sync->position &&
                oracle_sync_covers(oracle, &sync->sync, op->op.stream) &&
                !graph_path(&oracle->graph, op->sub, sync->call, WORLD_DOCUMENTED)) {
                tell_misuse(oracle, ORACLE_SUBMIT_RACE, op->position, sync->position, op->op.stream,
                            0, !graph_path(&oracle->graph, op->sub, sync->call, WORLD_OBSERVED));
            }
        }
    }
}

/* Work whose end no host thread ever comes behind; records and waits are none by themselves. */
static void judge_pending(struct oracle *oracle)
{
    bool tells = oracle->exited && oracle->fault_position == UINT64_MAX && /* R-ERR-3 */
                 !oracle->stopped;
    for (size_t i = 0; tells && i < oracle->ops.count; i++) {
        const struct oracle_op *op = &oracle->ops.items[i];
        bool joined =
            !op->item || op->op.kind == SSAN_op_kind_RECORD || op->op.kind == SSAN_op_kind_WAIT;
        for (size_t h = oracle->host_nodes.count; h-- > 0 && !joined;) {
            joined =
                graph_path(&oracle->graph, op->end, oracle->host_nodes.items[h], WORLD_OBSERVED);
        }
        if (!joined) {
            tell_misuse(oracle, ORACLE_PENDING_AT_EXIT, 0, op->position, op->op.stream, 0, true);
        }
    }
}

void oracle_judge(struct oracle *oracle)
{
    size_t count = oracle->accesses.count;
    for (size_t i = 0; i < count; i++) {
        judge_dead(oracle, i);
        judge_pool(oracle, i);
        for (size_t k = i + 1; k < count; k++) {
            const struct oracle_access *a = &oracle->accesses.items[i];
            const struct oracle_access *b = &oracle->accesses.items[k];
            bool swap = a->order > b->order || (a->order == b->order && a->position > b->position);
            judge_pair(oracle, swap ? k : i, swap ? i : k);
        }
    }
    judge_waits(oracle);
    judge_syncs(oracle);
    judge_pending(oracle);
}

const char *oracle_check_word(enum oracle_check check)
{
    static const char *const words[ORACLE_CHECK_COUNT] = {
        [ORACLE_USE_AFTER_FREE] = "SSAN-USE-AFTER-FREE",
        [ORACLE_FREE_IN_FLIGHT] = "SSAN-FREE-IN-FLIGHT",
        [ORACLE_RAW] = "SSAN-RAW",
        [ORACLE_WAW] = "SSAN-WAW",
        [ORACLE_WAR] = "SSAN-WAR",
        [ORACLE_EVENT_RACE] = "SSAN-EVENT-RACE",
        [ORACLE_SUBMIT_RACE] = "SSAN-SUBMIT-RACE",
        [ORACLE_UNCHECKED_LAUNCH] = "SSAN-UNCHECKED-LAUNCH",
        [ORACLE_LATE_ERROR] = "SSAN-LATE-ERROR",
        [ORACLE_EVENT_UNRECORDED] = "SSAN-EVENT-UNRECORDED",
        [ORACLE_PENDING_AT_EXIT] = "SSAN-PENDING-AT-EXIT",
    };
    return words[check];
}
