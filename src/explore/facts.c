/* One pass over the trace, and searches in what it left. Cost: a width is looked for in all
 * operations, and in all sets of accesses for each kernel that may have written the byte; a host
 * access by number in all of them, by position in their logarithm. */
#include "explore/facts.h"

static bool on_host_access(struct facts *facts, const struct ssan_ev_host_access *access)
{
    while (facts->host_counts.count <= access->thread) {
        if (!VEC_PUSH(&facts->host_counts, 0)) {
            return false;
        }
    }
    return VEC_PUSH(&facts->hosts,
                    (struct fact_host){.thread = access->thread,
                                       .number = ++facts->host_counts.items[access->thread],
                                       .site = access->site,
                                       .access = access->access,
                                       .address = access->address,
                                       .size = access->size,
                                       .position = facts->position,
                                       .op = access->thread < facts->callbacks.count
                                                 ? facts->callbacks.items[access->thread]
                                                 : 0});
}

static bool on_callback(struct facts *facts, uint32_t thread, uint64_t op)
{
    while (facts->callbacks.count <= thread) {
        if (!VEC_PUSH(&facts->callbacks, 0)) {
            return false;
        }
    }
    facts->callbacks.items[thread] = op;
    return true;
}

static bool on_op(struct facts *facts, const struct ssan_ev_op *op)
{
    struct fact_copy copy = {0};
    if (op->kind == SSAN_op_kind_COPY) {
        copy = (struct fact_copy){op->dst,    op->src,       op->width,
                                  op->height, op->dst_pitch, op->src_pitch};
    }
    return op->op != facts->copies.count + 1 || VEC_PUSH(&facts->copies, copy);
}

static bool add_width(struct facts *facts, uint64_t op, uint64_t begin, uint64_t end,
                      uint32_t width)
{
    struct fact_width *last =
        facts->widths.count ? &facts->widths.items[facts->widths.count - 1] : NULL;
    if (op == 0 || op > UINT32_MAX || width == 0 || begin >= end) {
        return true;
    }
    if (last && last->item == op - 1 && last->width == width && last->begin <= begin &&
        begin <= last->end) { /* pieces of one set, in order */
        last->end = end > last->end ? end : last->end;
        return true;
    }
    return VEC_PUSH(&facts->widths, (struct fact_width){begin, end, (uint32_t)(op - 1), width});
}

static bool on_set(struct facts *facts, const struct ssan_ev_set *set)
{
    for (uint32_t i = 0; i < set->runs.count; i++) {
        const struct ssan_run *run = &set->runs.ptr[i];
        uint64_t end;
        if (ssan_run_end(run, &end) && !add_width(facts, set->op, run->address, end, set->width)) {
            return false;
        }
    }
    return true;
}

static bool take(struct facts *facts, const struct ssan_event *event)
{
    switch (event->kind) {
    case SSAN_EV_host_access:
        return on_host_access(facts, &event->host_access);
    case SSAN_EV_callback_begin:
        return on_callback(facts, event->callback_begin.thread, event->callback_begin.op);
    case SSAN_EV_callback_end:
        return on_callback(facts, event->callback_end.thread, 0);
    case SSAN_EV_op:
        return on_op(facts, &event->op);
    case SSAN_EV_set:
        return on_set(facts, &event->set);
    case SSAN_EV_set_leaf:
        return ssan_leaf_count(&event->set_leaf) == 0 ||
               add_width(facts, event->set_leaf.op, event->set_leaf.address,
                         event->set_leaf.address +
                             ssan_leaf_count(&event->set_leaf) * (uint64_t)LEAF_BYTES,
                         event->set_leaf.width);
    default:
        return true;
    }
}

enum ssan_status facts_read(struct facts *facts, struct ssan_source *source, struct ssan_error *err)
{
    for (;;) {
        struct ssan_event event;
        enum ssan_next next = ssan_next(source, &event, err);
        if (next == SSAN_NEXT_ERROR) {
            return err ? err->status : SSAN_FORMAT;
        }
        if (next != SSAN_NEXT_EVENT) {
            return SSAN_OK;
        }
        if (!take(facts, &event)) {
            return ssan_no_memory(err);
        }
        facts->position++;
    }
}

void facts_finish(struct facts *facts)
{
    VEC_FREE(&facts->hosts);
    VEC_FREE(&facts->widths);
    VEC_FREE(&facts->copies);
    VEC_FREE(&facts->host_counts);
    VEC_FREE(&facts->callbacks);
}

/* Whether a copy writes `address`; *from is then where it takes it. */
static bool comes_from(const struct fact_copy *copy, uint64_t address, uint64_t *from)
{
    uint64_t offset = address - copy->dst, row = 0, column = offset;
    if (copy->height == 0 || address < copy->dst) {
        return false;
    }
    if (copy->height > 1 && copy->dst_pitch > 0) {
        row = offset / copy->dst_pitch;
        column = offset % copy->dst_pitch;
    }
    if (row >= copy->height || column >= copy->width) {
        return false;
    }
    *from = copy->src + row * copy->src_pitch + column;
    return true;
}

/* Of the accesses of `item` (MODEL_NONE: of any) that may touch the address. */
static uint32_t width_of(const struct facts *facts, uint32_t item, uint64_t address)
{
    for (size_t i = facts->widths.count; i-- > 0;) {
        const struct fact_width *width = &facts->widths.items[i];
        if ((item == MODEL_NONE || width->item == item) && address >= width->begin &&
            address < width->end) {
            return width->width;
        }
    }
    return 0;
}

static bool holds(const struct bytes *set, uint64_t address)
{
    return address >= set->begin && address < set->end;
}

uint32_t facts_width(const struct facts *facts, const struct model *model, uint64_t address)
{
    uint64_t here = address;
    uint32_t width;
    for (size_t i = model->order.count; i-- > 0;) {
        uint32_t item = model->order.items[i];
        const struct model_item *op = &model->items.items[item];
        if (item < facts->copies.count && comes_from(&facts->copies.items[item], here, &here)) {
            continue;
        }
        if (op->kind == SSAN_op_kind_KERNEL && (holds(&op->ways[SSAN_access_WRITE], here) ||
                                                holds(&op->ways[SSAN_access_ATOMIC], here))) {
            width = width_of(facts, item, here);
            if (width) {
                return width;
            }
        }
    }
    width = width_of(facts, MODEL_NONE, here);
    return width ? width : width_of(facts, MODEL_NONE, address);
}

const struct fact_host *facts_host(const struct facts *facts, uint32_t thread, uint32_t number)
{
    for (size_t i = 0; i < facts->hosts.count; i++) {
        const struct fact_host *host = &facts->hosts.items[i];
        if (host->thread == thread && host->number == number) {
            return host;
        }
    }
    return NULL;
}

const struct fact_host *facts_host_at(const struct facts *facts, uint64_t position)
{
    size_t low = 0, high = facts->hosts.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (facts->hosts.items[middle].position < position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < facts->hosts.count && facts->hosts.items[low].position == position
               ? &facts->hosts.items[low]
               : NULL;
}
