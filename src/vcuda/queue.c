/* Operations and the edges between them.
 *
 * Invariant: an operation is in `ready` iff all it needs is done and it neither runs nor is done;
 * its stream's items form a chain, so at most one of them is ready. The naive model is the
 * rules of docs/model.md with operations in place of clocks: T[s] is the stream's tail, LEG the
 * legacy stream's, BLK the tails of all blocking streams, both for each device. A copy between two
 * devices in a legacy stream is an item of both legacy streams: a device's `barrier` is the latest
 * of those that stand in another one. Submission costs O(1), in a legacy stream O(streams). */
#include "vcuda/queue.h"

#include "vcuda/emit.h"
#include "vcuda/plan_order.h"

#include <string.h>

struct op *queue_create(enum ssan_op_kind kind, struct stream *stream)
{
    struct op *op = mem_zalloc(1, sizeof *op);
    if (op) {
        op->kind = kind;
        op->stream = stream;
        op->refs = 1;
    }
    return op;
}

void queue_hold(struct op *op)
{
    op->refs++;
}

static void free_contents(struct op *op)
{
    if (op->kind == SSAN_op_kind_KERNEL) {
        ptx_exec_destroy(op->launch.exec);
        mem_free(op->launch.params);
        op->launch.exec = NULL;
        op->launch.params = NULL;
    } else if (op->kind == SSAN_op_kind_COPY) {
        mem_free(op->transfer.staged);
        op->transfer.staged = NULL;
    }
}

static void drop_list(struct op_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        queue_drop(list->items[i]);
    }
    VEC_FREE(list);
}

void queue_drop(struct op *op)
{
    if (!op || --op->refs > 0) {
        return;
    }
    /* The last reference of an operation in the queue goes after it is done: then both lists are
     * empty, and this doesn't recurse further than one level. */
    free_contents(op);
    drop_list(&op->needs);
    drop_list(&op->dependents);
    mem_free(op);
}

bool queue_is_blocking(const struct stream *stream)
{
    return stream->flavour == SSAN_stream_flavour_BLOCKING ||
           stream->flavour == SSAN_stream_flavour_PER_THREAD;
}

static bool add_need(struct op *op, struct op *need)
{
    if (!need || need->state == OP_DONE) {
        return true;
    }
    for (size_t i = 0; i < op->needs.count; i++) {
        if (op->needs.items[i] == need) {
            return true;
        }
    }
    if (!VEC_RESERVE(&need->dependents, need->dependents.count + 1) ||
        !VEC_PUSH(&op->needs, need)) {
        return false;
    }
    queue_hold(need);
    return true;
}

/* What the legacy stream of a device has had so far. */
static bool add_legacy(struct op *op, const struct context *context)
{
    return (!context->legacy || add_need(op, context->legacy->tail)) &&
           add_need(op, context->barrier);
}

bool queue_link(struct op *op, struct op *also)
{
    struct stream *stream = op->stream;
    bool is_legacy = stream->flavour == SSAN_stream_flavour_LEGACY;
    uint32_t barriers = op->barriers | (is_legacy ? 1u << stream->ordinal : 0);
    bool ok = add_need(op, stream->tail) && add_need(op, also);
    for (size_t i = 0; ok && barriers && i < device.streams.count; i++) {
        struct stream *other = device.streams.items[i];
        if ((barriers >> other->ordinal & 1) && queue_is_blocking(other)) {
            ok = add_need(op, other->tail);
        }
    }
    if (queue_is_blocking(stream)) {
        barriers |= 1u << stream->ordinal;
    }
    for (uint32_t i = 0; ok && i < device.count; i++) {
        ok = !(barriers >> i & 1) || add_legacy(op, &device.contexts[i]);
    }
    return ok && VEC_RESERVE(&device.ready, device.pending + 1);
}

/* `op` has become the latest item of legacy streams: of its own, and of those of `barriers`. */
static void set_barriers(struct op *op)
{
    struct context *own = &device.contexts[op->stream->ordinal];
    if (op->stream->flavour == SSAN_stream_flavour_LEGACY && own->barrier) {
        queue_drop(own->barrier);
        own->barrier = NULL;
    }
    for (uint32_t i = 0; op->barriers && i < device.count; i++) {
        if (op->barriers >> i & 1) {
            queue_hold(op);
            queue_drop(device.contexts[i].barrier);
            device.contexts[i].barrier = op;
        }
    }
}

uint64_t queue_next_id(void)
{
    return ++device.op_count;
}

void queue_submit(struct op *op)
{
    op->id = queue_next_id();
    op->seq = ++op->stream->seq;
    for (size_t i = 0; i < op->needs.count; i++) {
        struct op *need = op->needs.items[i];
        queue_hold(op);
        need->dependents.items[need->dependents.count++] = op;
    }
    op->unmet = (uint32_t)op->needs.count;
    queue_hold(op); /* the queue's */
    queue_hold(op); /* the tail's */
    queue_drop(op->stream->tail);
    op->stream->tail = op;
    set_barriers(op);
    device.pending++;
    op->state = OP_WAITING;
    plan_order_submitted(op);
    if (op->unmet == 0) {
        queue_put_back(op);
    }
}

void queue_put_back(struct op *op)
{
    op->state = OP_READY;
    device.ready.items[device.ready.count++] = op;
    if (device.asleep) {
        pthread_cond_signal(&device.work); /* its clock for silence begins now */
    }
}

void queue_take(struct op *op)
{
    for (size_t i = 0; i < device.ready.count; i++) {
        if (device.ready.items[i] == op) {
            memmove(&device.ready.items[i], &device.ready.items[i + 1],
                    (device.ready.count - i - 1) * sizeof *device.ready.items);
            device.ready.count--;
            return;
        }
    }
}

static void free_stream_if_idle(struct stream *stream)
{
    if (!stream->destroyed || (stream->tail && stream->tail->state != OP_DONE)) {
        return;
    }
    for (size_t i = 0; i < device.streams.count; i++) {
        if (device.streams.items[i] == stream) {
            device.streams.items[i] = device.streams.items[--device.streams.count];
            break;
        }
    }
    queue_drop(stream->tail);
    mem_free(stream);
}

void queue_complete(struct op *op)
{
    struct op_list dependents = op->dependents;
    memset(&op->dependents, 0, sizeof op->dependents);
    op->state = OP_DONE;
    op->time = device.clock;
    device.pending--;
    plan_order_done(op);
    device.progress++;
    free_contents(op);
    drop_list(&op->needs);
    for (size_t i = 0; i < dependents.count; i++) {
        struct op *next = dependents.items[i];
        if (--next->unmet == 0 && next->state == OP_WAITING) {
            queue_put_back(next);
        }
    }
    drop_list(&dependents);
    if (op->stream->tail == op) {
        free_stream_if_idle(op->stream);
    }
    queue_drop(op);
}

static bool add_target(struct op_list *targets, struct op *op)
{
    if (!op || op->state == OP_DONE) {
        return true;
    }
    if (!VEC_PUSH(targets, op)) {
        return false;
    }
    queue_hold(op);
    return true;
}

/* All that is in streams of a device, or all but non-blocking ones. */
static bool add_targets(struct op_list *targets, uint32_t ordinal, bool non_blocking)
{
    bool ok = true;
    for (size_t i = 0; ok && i < device.streams.count; i++) {
        struct stream *other = device.streams.items[i];
        if ((ordinal == EVERY_DEVICE || other->ordinal == ordinal) &&
            (non_blocking || other->flavour != SSAN_stream_flavour_NON_BLOCKING)) {
            ok = add_target(targets, other->tail);
        }
    }
    return ok && (ordinal == EVERY_DEVICE || add_target(targets, device.contexts[ordinal].barrier));
}

bool queue_targets(struct op_list *targets, struct stream *stream)
{
    return stream->flavour == SSAN_stream_flavour_LEGACY
               ? add_targets(targets, stream->ordinal, false)
               : add_target(targets, stream->tail);
}

bool queue_targets_of(struct op_list *targets, uint32_t ordinal)
{
    return add_targets(targets, ordinal, true);
}

void queue_targets_finish(struct op_list *targets)
{
    drop_list(targets);
}

bool queue_all_done(const struct op_list *targets)
{
    for (size_t i = 0; i < targets->count; i++) {
        if (targets->items[i]->state != OP_DONE) {
            return false;
        }
    }
    return true;
}

/* Visits what is listed, and puts on the stack where the walk is to go on. */
static bool visit_list(const struct op_list *list, struct op_list *stack,
                       bool (*visit)(struct op *op, void *self), void *self)
{
    bool ok = true;
    for (size_t i = 0; ok && i < list->count; i++) {
        struct op *op = list->items[i];
        if (op->visit != device.visits && op->state != OP_DONE) {
            op->visit = device.visits;
            if (visit(op, self)) {
                ok = VEC_PUSH(stack, op);
            }
        }
    }
    return ok;
}

bool queue_walk(const struct op_list *targets, bool (*visit)(struct op *op, void *self), void *self)
{
    struct op_list stack = {0};
    device.visits++;
    bool ok = visit_list(targets, &stack, visit, self);
    while (ok && stack.count > 0) {
        ok = visit_list(&stack.items[--stack.count]->needs, &stack, visit, self);
    }
    VEC_FREE(&stack);
    return ok;
}

bool queue_walk_op(struct op *target, bool (*visit)(struct op *op, void *self), void *self)
{
    const struct op_list targets = {&target, 1, 1};
    return queue_walk(&targets, visit, self);
}

struct stream *queue_new_stream(enum ssan_stream_flavour flavour, uint32_t ordinal)
{
    struct stream *stream = mem_zalloc(1, sizeof *stream);
    if (!stream || !VEC_PUSH(&device.streams, stream)) {
        mem_free(stream);
        return NULL;
    }
    stream->flavour = flavour;
    stream->ordinal = ordinal;
    stream->id = ++device.stream_count;
    return stream;
}

void queue_abandon_stream(struct stream *stream)
{
    stream->destroyed = true;
    free_stream_if_idle(stream);
}
