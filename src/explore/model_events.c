/* What each event adds to a model, in front of the engine. Byte sets are kept here and not given to
 * it. Invariant: when the engine tells of an item, the item stands last in `items`. */
#include "explore/model_read.h"

#include "base/mem.h"
#include "core/order.h"
#include "trace/own_header.h"

#include <string.h>

#define STREAMS_MAX (UINT32_C(1) << 20)
#define SITES_MAX   (UINT32_C(1) << 24)

static struct ssan_str keep(struct model *model, struct ssan_str text)
{
    char *copy = text.length ? arena_strndup(&model->arena, text.ptr, text.length) : NULL;
    return copy ? (struct ssan_str){copy, text.length} : (struct ssan_str){NULL, 0};
}

/* NULL: out of memory, or the id is damage, as reading->status tells. */
static struct thread_state *thread_of(struct reading *reading, uint32_t thread)
{
    if (thread > ORDER_MAX_THREADS) {
        reading->status = SSAN_FORMAT;
        return NULL;
    }
    while (reading->threads.count <= thread) {
        if (!VEC_PUSH(&reading->threads, (struct thread_state){.call = MODEL_NONE})) {
            return NULL;
        }
    }
    return &reading->threads.items[thread];
}

/* The thread has submitted or joined. */
static struct thread_state *active_thread(struct reading *reading, uint32_t thread)
{
    struct thread_state *state = thread_of(reading, thread);
    if (state && !state->active) {
        state->active = true;
        reading->model->threads++;
    }
    return state;
}

static bool add_step(struct reading *reading, enum model_step_kind kind, uint32_t site,
                     uint64_t amount, uint64_t hash)
{
    return VEC_PUSH(&reading->model->steps, (struct model_step){.kind = kind,
                                                                .site = site,
                                                                .amount = amount,
                                                                .position = reading->position,
                                                                .hash = hash});
}

bool model_add_stream(struct reading *reading, uint32_t stream)
{
    if (stream >= STREAMS_MAX) {
        reading->status = SSAN_FORMAT;
        return false;
    }
    while (reading->streams.count <= stream) {
        if (!VEC_PUSH(&reading->streams, (struct stream_ends){0})) {
            return false;
        }
    }
    reading->model->streams = stream > reading->model->streams ? stream : reading->model->streams;
    return true;
}

/* In front of the engine. Void until the engine tells otherwise. */
static bool on_op(struct reading *reading, const struct ssan_event *event)
{
    const struct ssan_ev_op *op = &event->op;
    struct model *model = reading->model;
    const struct thread_state *thread = active_thread(reading, op->thread);
    if (!thread || op->stream >= reading->streams.count) {
        return thread != NULL; /* the engine refuses it */
    }
    struct model_item item = {
        .id = {.stream = op->stream,
               .seq = (uint32_t)reading->streams.items[op->stream].ends.count + 1},
        .op = op->op,
        .kind = op->kind,
        .form = op->form,
        .event = op->event,
        .blocks =
            op->kind == SSAN_op_kind_KERNEL ? (uint64_t)op->grid_x * op->grid_y * op->grid_z : 0,
        .thread = op->thread,
        .site = op->site,
        .call = thread->call,
        .submitted = reading->position,
        .is_void = true,
        .hash = model_hash_event(reading, event),
        .name = keep(model, op->name.length ? op->name : op->call),
    };
    item.host_reads = item.host_writes = op->kind == SSAN_op_kind_HOSTFUNC;
    return VEC_PUSH(&model->items, item);
}

static struct model_item *item_of(struct model *model, uint64_t op)
{
    return op != 0 && op <= model->items.count ? &model->items.items[op - 1] : NULL;
}

static bool on_set(struct model *model, const struct ssan_ev_set *set)
{
    struct model_item *item = item_of(model, set->op);
    bool fine = true;
    for (uint32_t i = 0; item && fine && i < set->runs.count; i++) {
        const struct ssan_run *run = &set->runs.ptr[i];
        uint64_t end;
        fine =
            !ssan_run_end(run, &end) || bytes_add_run(&item->ways[set->access], run->address,
                                                      run->length, run->stride, run->count, 0, 0);
    }
    return fine;
}

static bool on_leaf(struct model *model, const struct ssan_ev_set_leaf *leaf)
{
    struct model_item *item = item_of(model, leaf->op);
    return !item || bytes_add_leaves(&item->ways[leaf->access], leaf, 0, 0);
}

static bool on_host_access(struct reading *reading, const struct ssan_ev_host_access *access)
{
    const struct thread_state *thread = thread_of(reading, access->thread);
    struct model_item *item = thread ? item_of(reading->model, thread->callback) : NULL;
    return thread &&
           (!item || access->size == 0 || access->address + access->size < access->size ||
            bytes_add_run(&item->ways[access->access], access->address, access->size, 0, 1, 0, 0));
}

size_t model_alive_behind(const struct reading *reading, uint64_t address)
{
    size_t low = 0, high = reading->alive.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (reading->model->allocs.items[reading->alive.items[middle]].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool on_alloc(struct reading *reading, const struct ssan_ev_alloc *alloc)
{
    struct model *model = reading->model;
    size_t index = model->allocs.count, at = model_alive_behind(reading, alloc->address);
    if (!map_set(&reading->alloc_ids, alloc->alloc, index) ||
        !VEC_PUSH(&model->allocs, (struct model_alloc){.memory = alloc->memory,
                                                       .address = alloc->address,
                                                       .size = alloc->size,
                                                       .born = reading->position,
                                                       .dead = UINT64_MAX,
                                                       .id = alloc->alloc}) ||
        !VEC_PUSH(&reading->alive, 0)) {
        return false;
    }
    uint32_t *alive = reading->alive.items;
    memmove(alive + at + 1, alive + at, (reading->alive.count - 1 - at) * sizeof *alive);
    alive[at] = (uint32_t)index;
    return true;
}

static void on_free(struct reading *reading, const struct ssan_ev_free *event)
{
    const uint64_t *index = map_find(&reading->alloc_ids, event->alloc);
    if (!index || reading->model->allocs.items[*index].dead != UINT64_MAX) {
        return; /* the engine refuses it */
    }
    struct model_alloc *alloc = &reading->model->allocs.items[*index];
    uint32_t *alive = reading->alive.items;
    alloc->dead = reading->position;
    for (size_t i = model_alive_behind(reading, alloc->address); i-- > 0;) {
        if (alive[i] == *index) {
            memmove(alive + i, alive + i + 1, (--reading->alive.count - i) * sizeof *alive);
            return;
        }
    }
}

static bool on_call(struct reading *reading, const struct ssan_ev_call *event)
{
    struct model *model = reading->model;
    struct thread_state *thread = thread_of(reading, event->thread);
    if (!thread) {
        return false;
    }
    thread->call = (uint32_t)model->calls.count;
    return VEC_PUSH(&model->calls,
                    (struct model_call){.id = {event->thread, event->number, event->query},
                                        .position = reading->position,
                                        .items = (uint32_t)model->items.count});
}

static bool on_sync(struct reading *reading, const struct ssan_ev_sync *event)
{
    struct model *model = reading->model;
    const struct thread_state *thread = active_thread(reading, event->thread);
    if (thread && thread->call != MODEL_NONE && model->calls.items[thread->call].id.query != 0) {
        model->calls.items[thread->call].answered = true;
    }
    return thread && VEC_PUSH(&model->syncs, (struct model_sync){.kind = event->kind,
                                                                 .object = event->object,
                                                                 .thread = event->thread,
                                                                 .site = event->site,
                                                                 .call = thread->call,
                                                                 .position = reading->position});
}

static void on_sync_return(struct reading *reading, const struct ssan_ev_sync_return *event)
{
    if (event->sync != 0 && event->sync <= reading->model->syncs.count) {
        struct model_sync *sync = &reading->model->syncs.items[event->sync - 1];
        sync->returned = reading->position;
        sync->ok = event->ok != 0;
    }
}

static bool on_line(struct model *model, const struct ssan_ev_line *line)
{
    if (line->site == 0 || line->site >= SITES_MAX ||
        is_own_header(line->file.ptr, line->file.length)) {
        return true;
    }
    while (model->lines.count <= line->site) {
        if (!VEC_PUSH(&model->lines, (struct model_line){.depth = UINT32_MAX})) {
            return false;
        }
    }
    struct model_line *known = &model->lines.items[line->site];
    uint32_t depth = line->depth & INT32_MAX;
    if (is_library_file(line->file.ptr, line->file.length)) {
        depth |= UINT32_C(1) << 31; /* behind all of the user's code */
    }
    if (depth < known->depth) {
        *known = (struct model_line){.file = keep(model, line->file),
                                     .text = keep(model, line->text),
                                     .line = line->line,
                                     .depth = depth};
    }
    return true;
}

static bool on_closed(struct reading *reading, uint64_t op)
{
    struct model *model = reading->model;
    struct model_item *item = item_of(model, op);
    if (!item || item->closed != 0) {
        return true; /* the engine refuses it */
    }
    if (model->fault && model->fault_op != op) {
        item->dead = true; /* the context is: it ended without having run */
        return true;
    }
    item->closed = reading->position;
    return item->is_void || (VEC_PUSH(&model->order, (uint32_t)(op - 1)) &&
                             add_step(reading, MODEL_STEP_RUN, item->site, 0, op));
}

/* What only tells how the run went. */
static bool on_fact(struct reading *reading, const struct ssan_event *event)
{
    struct model *model = reading->model;
    switch (event->kind) {
    case SSAN_EV_exit:
        model->exited = true;
        model->exit_code = event->exit.code;
        break;
    case SSAN_EV_lost:
        model->lost += event->lost.count;
        break;
    case SSAN_EV_unsupported:
        model->unsupported++;
        break;
    case SSAN_EV_fault:
        if (!model->fault) {
            model->fault = true;
            model->fault_op = event->fault.op;
            model->fault_text = keep(model, event->fault.text);
        }
        break;
    case SSAN_EV_printed: {
        struct model_item *item = item_of(model, event->printed.op);
        if (item) {
            item->prints = item->host_writes = true;
        }
        break;
    }
    case SSAN_EV_infeasible:
        if (model->infeasible.length == 0) {
            model->infeasible = keep(model, event->infeasible.text);
            model->infeasible_at = reading->position;
        }
        break;
    case SSAN_EV_progress_forced: {
        struct model_item *item = item_of(model, event->progress_forced.op);
        model->progress_forced = true;
        if (item) {
            item->forced = reading->position;
        }
        break;
    }
    default:
        break;
    }
    return true;
}

/* Bytes of a copy or memset, blocks of a kernel. */
static uint64_t amount_of(const struct ssan_ev_op *op)
{
    return op->kind == SSAN_op_kind_KERNEL ? (uint64_t)op->grid_x * op->grid_y * op->grid_z
                                           : op->width * (op->height > 0 ? op->height : 1);
}

/* What a host call did becomes a step; a query is one whether it succeeded or not. */
static bool note_step(struct reading *reading, const struct ssan_event *event)
{
    uint64_t amount = 0;
    uint32_t site = 0;
    switch (event->kind) {
    case SSAN_EV_op:
        site = event->op.site;
        amount = amount_of(&event->op);
        break;
    case SSAN_EV_alloc:
        site = event->alloc.site;
        amount = event->alloc.size;
        break;
    case SSAN_EV_free:
        site = event->free.site;
        break;
    case SSAN_EV_sync:
        if (event->sync.kind == SSAN_sync_kind_STREAM_QUERY ||
            event->sync.kind == SSAN_sync_kind_EVENT_QUERY ||
            event->sync.kind == SSAN_sync_kind_ELAPSED) {
            return true;
        }
        site = event->sync.site;
        break;
    case SSAN_EV_stream_create:
        site = event->stream_create.site;
        break;
    case SSAN_EV_call:
        return event->call.query == 0 ||
               add_step(reading, MODEL_STEP_QUERY, 0, 0, model_hash_event(reading, event));
    default:
        return true;
    }
    return add_step(reading, MODEL_STEP_CALL, site, amount, model_hash_event(reading, event));
}

static bool take(struct reading *reading, const struct ssan_event *event)
{
    struct model *model = reading->model;
    switch (event->kind) {
    case SSAN_EV_stream_create:
        return model_add_stream(reading, event->stream_create.stream);
    case SSAN_EV_op:
        return on_op(reading, event);
    case SSAN_EV_set:
        return on_set(model, &event->set);
    case SSAN_EV_set_leaf:
        return on_leaf(model, &event->set_leaf);
    case SSAN_EV_op_closed:
        return on_closed(reading, event->op_closed.op);
    case SSAN_EV_alloc:
        return on_alloc(reading, &event->alloc);
    case SSAN_EV_free:
        on_free(reading, &event->free);
        return true;
    case SSAN_EV_call:
        return on_call(reading, &event->call);
    case SSAN_EV_sync:
        return on_sync(reading, &event->sync);
    case SSAN_EV_sync_return:
        on_sync_return(reading, &event->sync_return);
        return true;
    case SSAN_EV_callback_begin:
    case SSAN_EV_callback_end: {
        bool begins = event->kind == SSAN_EV_callback_begin;
        uint32_t id = begins ? event->callback_begin.thread : event->callback_end.thread;
        struct thread_state *thread = thread_of(reading, id);
        if (thread) {
            thread->callback = begins ? event->callback_begin.op : 0;
        }
        return thread != NULL;
    }
    case SSAN_EV_host_access:
        return on_host_access(reading, &event->host_access);
    case SSAN_EV_line:
        return on_line(model, &event->line);
    default:
        return on_fact(reading, event);
    }
}

bool model_take(struct reading *reading, const struct ssan_event *event)
{
    return note_step(reading, event) && take(reading, event);
}
