/* The copy matrix and the memset rules: what the return of a copy or memset tells the host
 * (docs/model.md, rows C1 to A7, R-COPY-18, R-COPY-19). Decided by the memory kinds of both ends,
 * never by the call's name (R-COPY-1). */
#include "core/engine_parts.h"

/* Up to here the guide calls copies from the host to the device asynchronous to the host. */
#define SMALL_COPY_BYTES 65536u

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

static bool is_host(enum ssan_memory memory)
{
    return memory == SSAN_memory_PINNED || memory == SSAN_memory_PAGEABLE ||
           memory == SSAN_memory_REGISTERED;
}

/* What a row gives at the return, in one reading. */
struct effect {
    bool source_free; /* the host takes the side tick of the source read */
    bool joins_prior; /* ... and what the item began with */
    bool host_sync;   /* ... and its end */
    uint32_t row;
};

/* Synchronous forms; managed memory plays `managed_as`. */
static struct effect sync_row(const struct call *call, bool documented)
{
    bool managed = call->src == SSAN_memory_MANAGED || call->dst == SSAN_memory_MANAGED;
    if (managed && !documented) {
        return (struct effect){.host_sync = true, .row = ORDER_C6};
    }
    enum ssan_memory src = call->src == SSAN_memory_MANAGED ? SSAN_memory_DEVICE : call->src;
    enum ssan_memory dst = call->dst == SSAN_memory_MANAGED ? SSAN_memory_DEVICE : call->dst;
    bool small = call->bytes <= SMALL_COPY_BYTES;
    if (is_host(src) && is_host(dst)) {
        return (struct effect){.host_sync = true, .row = ORDER_C5};
    }
    if (is_host(dst)) {
        return (struct effect){.host_sync = true, .row = ORDER_C3};
    }
    if (!is_host(src)) {
        return (struct effect){.row = ORDER_C4};
    }
    if (src == SSAN_memory_PAGEABLE) {
        return (struct effect){
            .source_free = true, .joins_prior = !documented || !small, .row = ORDER_C1};
    }
    bool synchronous = !documented || !small;
    return (struct effect){.source_free = true, .host_sync = synchronous, .row = ORDER_C2};
}

static struct effect async_row(const struct call *call, bool documented)
{
    if (call->src == SSAN_memory_MANAGED || call->dst == SSAN_memory_MANAGED) {
        return (struct effect){.row = ORDER_A6};
    }
    if (is_host(call->src) && is_host(call->dst)) {
        return (struct effect){.host_sync = true, .row = ORDER_A5};
    }
    if (call->src == SSAN_memory_PAGEABLE) {
        return (struct effect){.source_free = !documented, .row = ORDER_A1};
    }
    if (call->dst == SSAN_memory_PAGEABLE) {
        return (struct effect){.host_sync = !documented, .row = ORDER_A2};
    }
    bool device = call->src == SSAN_memory_DEVICE && call->dst == SSAN_memory_DEVICE;
    return (struct effect){.row = device ? ORDER_A4 : ORDER_A3};
}

static struct effect memset_row(const struct call *call, bool documented)
{
    if (call->form != SSAN_form_SYNC) {
        return (struct effect){.row = ORDER_R_COPY_19};
    }
    bool pinned = is_host(call->dst) && call->dst != SSAN_memory_PAGEABLE;
    bool managed = call->dst == SSAN_memory_MANAGED;
    return (struct effect){.host_sync = pinned || (managed && !documented), .row = ORDER_R_COPY_18};
}

static struct effect effect_of(const struct engine *engine, const struct call *call,
                               bool documented)
{
    struct effect effect = {0};
    if (call->kind == SSAN_op_kind_MEMSET) {
        effect = memset_row(call, documented);
    } else if (call->form == SSAN_form_SYNC) {
        effect = sync_row(call, documented);
    } else {
        effect = async_row(call, documented);
    }
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
                  struct effect documented, struct effect observed)
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
