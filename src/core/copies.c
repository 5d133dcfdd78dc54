/* What the return of a copy or memset adds to the host's clock: the rows of copy_matrix.c applied,
 * in both readings. Cost: O(width) a return. */
#include "core/copy_matrix.h"
#include "core/engine_parts.h"

enum ssan_memory copies_kind(const struct engine *engine, uint64_t address, uint64_t size)
{
    const struct span *span = spans_find(&engine->front, address);
    if (!span || span->begin > address) {
        return SSAN_memory_PAGEABLE;
    }
    enum ssan_memory memory = span->buffer->memory;
    if (memory != SSAN_memory_REGISTERED) {
        return memory;
    }
    /* R-COPY-6: a range that is registered in part is pageable as a whole */
    bool whole = size <= span->end - address;
    return whole || order_broken(&engine->order, ORDER_R_COPY_6) ? SSAN_memory_PINNED
                                                                 : SSAN_memory_PAGEABLE;
}

uint32_t copies_context(const struct engine *engine, uint64_t address)
{
    const struct span *span = spans_find(&engine->front, address);
    bool is_device = span && span->begin <= address && span->buffer->memory == SSAN_memory_DEVICE;
    return is_device ? span->buffer->context : 0;
}

static struct copy_effect effect_of(const struct engine *engine, const struct call *call,
                                    bool documented)
{
    const struct copy_shape shape = {
        .is_memset = call->kind == SSAN_op_kind_MEMSET,
        .form = call->form,
        .dst = call->dst,
        .src = call->src,
        .bytes = call->bytes,
    };
    struct copy_effect effect = copy_matrix_effect(&shape, documented);
    if (order_broken(&engine->order, (enum order_rule)effect.row)) {
        /* the mutant: rows with an effect lose it, rows without get one */
        bool had = effect.host_sync || effect.joins_prior || effect.source_free;
        effect.host_sync = !had;
        effect.joins_prior = effect.source_free = false;
    }
    return effect;
}

bool copies_need_side(const struct engine *engine, const struct call *call, bool *documented)
{
    *documented = effect_of(engine, call, true).source_free;
    return *documented || effect_of(engine, call, false).source_free;
}

/* What the item began with: its end without its own ticks. */
static struct stamp beginning(struct engine *engine, const struct call *call)
{
    struct stamp begin = stamp_ref(&call->end);
    begin.own.tick = call->first_tick - 1;
    if (call->side.tick != 0) { /* its own source read is no part of its beginning */
        struct clock_entry own = {.chain = call->side.chain, .tick = call->side.tick - 1};
        begin.past.doc = clock_lower(&engine->clocks, begin.past.doc, own);
        begin.past.obs = clock_lower(&engine->clocks, begin.past.obs, own);
    }
    return begin;
}

static void apply(struct engine *engine, struct host *host, const struct call *call,
                  struct copy_effect documented, struct copy_effect observed)
{
    struct clocks *clocks = &engine->clocks;
    struct times *now = &host->now.past;
    if (documented.source_free) {
        times_set(clocks, now, call->side);
    } else if (observed.source_free) {
        times_set_observed(clocks, now, call->side, observed.row);
    }
    if (documented.joins_prior || observed.joins_prior) {
        struct stamp begin = beginning(engine, call);
        if (documented.joins_prior) {
            times_join_stamp(clocks, now, &begin);
        } else {
            times_join_stamp_observed(clocks, now, &begin, observed.row);
        }
        stamp_drop(clocks, &begin);
    }
    if (documented.host_sync) {
        times_join_stamp(clocks, now, &call->end);
    } else if (observed.host_sync) {
        times_join_stamp_observed(clocks, now, &call->end, observed.row);
    }
}

enum ssan_status on_op_return(struct engine *engine, uint64_t op, struct ssan_error *err)
{
    for (uint32_t i = 0; i < engine->threads.count; i++) {
        struct call *call = &engine->threads.items[i].call;
        if (call->op != op || op == 0) {
            continue;
        }
        if (call->kind == SSAN_op_kind_COPY || call->kind == SSAN_op_kind_MEMSET) {
            struct host *host = order_host(&engine->order, i);
            if (!host) {
                return engine_no_memory(engine, err);
            }
            apply(engine, host, call, effect_of(engine, call, true),
                  effect_of(engine, call, false));
        }
        stamp_drop(&engine->clocks, &call->end);
        call->op = 0;
        return SSAN_OK;
    }
    return engine_refuse(engine, err, "call in progress of operation", op);
}
