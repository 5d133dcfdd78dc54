/* A trace into a model. The engine works out the order and tells it (engine_watch); byte sets are
 * kept here and not given to it, so that no time goes into hazards. Invariant: when the engine
 * tells of an item, the item stands last in `items`. */
#include "explore/model_read.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define ROW_BYTES_MAX (UINT64_C(512) << 20)
#define SITE_MAX      (UINT32_C(1) << 24)

static struct ssan_str keep(struct model *model, struct ssan_str text)
{
    char *copy = text.length ? arena_strndup(&model->arena, text.ptr, text.length) : NULL;
    return copy ? (struct ssan_str){copy, text.length} : (struct ssan_str){NULL, 0};
}

static struct thread_state *thread_of(struct reading *reading, uint32_t thread)
{
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

/* How many items of a stream the stamp covers, at least `from`. */
static uint32_t covered(const struct stream_ends *stream, const struct stamp *stamp, uint32_t from)
{
    size_t low = from, high = stream->ends.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stamp_covers(stamp, true, stream->ends.items[middle])) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (uint32_t)low;
}

/* A row of what the stamp covers; `least` (may be NULL) is a row that it covers all of. */
static bool make_row(struct reading *reading, const struct stamp *stamp,
                     const struct model_row *least, struct model_row *row)
{
    uint32_t streams = (uint32_t)reading->streams.count;
    uint64_t size = streams * sizeof *row->counts;
    reading->row_bytes += size;
    if (reading->row_bytes > ROW_BYTES_MAX) {
        reading->status = SSAN_UNSUPPORTED;
        return false;
    }
    row->counts = arena_alloc(&reading->model->arena, size + 1);
    if (!row->counts) {
        reading->status = SSAN_NO_MEMORY;
        return false;
    }
    row->streams = streams;
    for (uint32_t i = 0; i < streams; i++) {
        uint32_t from = least && i < least->streams ? least->counts[i] : 0;
        row->counts[i] = covered(&reading->streams.items[i], stamp, from);
    }
    return true;
}

static void watch_item(void *self, uint64_t op, const struct stamp *begin, const struct epoch *end)
{
    struct reading *reading = self;
    struct model_item *item = &reading->model->items.items[reading->model->items.count - 1];
    struct stream_ends *stream = &reading->streams.items[item->id.stream];
    item->is_void = false;
    if (make_row(reading, begin, stream->last, &item->before)) {
        /* the row goes where the item goes, so the bound is a copy */
        if (!stream->last) {
            stream->last = arena_alloc(&reading->model->arena, sizeof *stream->last);
        }
        if (stream->last) {
            *stream->last = item->before;
        }
    }
    if (!VEC_PUSH(&stream->ends, *end)) {
        reading->status = SSAN_NO_MEMORY;
    }
}

static void watch_call(void *self, const struct ssan_ev_call *event, const struct stamp *now)
{
    struct reading *reading = self;
    struct model *model = reading->model;
    struct model_call *call = &model->calls.items[model->calls.count - 1];
    const struct model_row *least =
        model->calls.count > 1 ? &model->calls.items[model->calls.count - 2].joined : NULL;
    make_row(reading, now, least, &call->joined);
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

static bool on_stream(struct reading *reading, uint32_t stream)
{
    if (stream >= SITE_MAX) {
        return true; /* the engine refuses it */
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
        .id = {op->stream, (uint32_t)reading->streams.items[op->stream].ends.count + 1},
        .op = op->op,
        .kind = op->kind,
        .form = op->form,
        .event = op->event,
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

/* Behind the engine: a void item stands in its stream's numbers too. */
static bool settle_op(struct reading *reading)
{
    const struct model_item *item = &reading->model->items.items[reading->model->items.count - 1];
    struct stream_ends *stream = &reading->streams.items[item->id.stream];
    if (!item->is_void) {
        return true;
    }
    struct epoch last =
        stream->ends.count > 0 ? stream->ends.items[stream->ends.count - 1] : (struct epoch){0};
    return VEC_PUSH(&stream->ends, last);
}

static bool on_set(struct model *model, const struct ssan_ev_set *set)
{
    struct model_item *item = item_of(model, set->op);
    bool fine = true;
    for (uint32_t i = 0; item && fine && i < set->runs.count; i++) {
        const struct ssan_run *run = &set->runs.ptr[i];
        uint64_t span = 0;
        bool sane = run->length > 0 && run->count > 0 &&
                    !__builtin_mul_overflow(run->count - 1, run->stride, &span) &&
                    !__builtin_add_overflow(span, run->length, &span) &&
                    !__builtin_add_overflow(span, run->address, &span);
        fine = !sane || bytes_add_run(&item->ways[set->access], run->address, run->length,
                                      run->stride, run->count, 0, 0);
    }
    return fine;
}

static bool on_leaf(struct model *model, const struct ssan_ev_set_leaf *leaf)
{
    struct model_item *item = item_of(model, leaf->op);
    bool sane = item && leaf->bits.count == LEAF_WORDS && leaf->address % LEAF_BYTES == 0 &&
                leaf->address <= UINT64_MAX - 2 * LEAF_BYTES;
    return !sane || bytes_add_leaf(&item->ways[leaf->access], leaf->address, leaf->bits.ptr, 0, 0);
}

static bool on_host_access(struct reading *reading, const struct ssan_ev_host_access *access)
{
    const struct thread_state *thread = thread_of(reading, access->thread);
    struct model_item *item = thread ? item_of(reading->model, thread->callback) : NULL;
    return thread &&
           (!item || access->size == 0 || access->address + access->size < access->size ||
            bytes_add_run(&item->ways[access->access], access->address, access->size, 0, 1, 0, 0));
}

static bool on_alloc(struct reading *reading, const struct ssan_ev_alloc *alloc)
{
    struct model *model = reading->model;
    return map_set(&reading->alloc_ids, alloc->alloc, model->allocs.count) &&
           VEC_PUSH(&model->allocs, (struct model_alloc){.memory = alloc->memory,
                                                         .address = alloc->address,
                                                         .size = alloc->size,
                                                         .born = reading->position,
                                                         .dead = UINT64_MAX,
                                                         .id = alloc->alloc});
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
    if (line->site == 0 || line->site >= SITE_MAX || line->file.length == 0 ||
        memmem(line->file.ptr, line->file.length, "/streamsan/include/", 19)) {
        return true;
    }
    while (model->lines.count <= line->site) {
        if (!VEC_PUSH(&model->lines, (struct model_line){.depth = UINT32_MAX})) {
            return false;
        }
    }
    struct model_line *known = &model->lines.items[line->site];
    if (line->depth < known->depth) {
        *known = (struct model_line){.file = keep(model, line->file),
                                     .text = keep(model, line->text),
                                     .line = line->line,
                                     .depth = line->depth};
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
        return true; /* the context is dead: it ended without having run */
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
    case SSAN_EV_infeasible:
        if (model->infeasible.length == 0) {
            model->infeasible = keep(model, event->infeasible.text);
            model->infeasible_at = reading->position;
        }
        break;
    case SSAN_EV_progress_forced:
        model->progress_forced = true;
        break;
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

/* False when out of memory. */
static bool take(struct reading *reading, const struct ssan_event *event)
{
    struct model *model = reading->model;
    switch (event->kind) {
    case SSAN_EV_stream_create:
        return on_stream(reading, event->stream_create.stream);
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
    case SSAN_EV_free: {
        const uint64_t *index = map_find(&reading->alloc_ids, event->free.alloc);
        if (index) {
            model->allocs.items[*index].dead = reading->position;
        }
        return true;
    }
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

/* Whether a set lies in memory that the host sees, even in part. */
static bool is_host_visible(const struct model *model, const struct bytes *set, uint64_t position)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct model_alloc *alloc =
            model_alloc_at(model, bytes_pieces(set)[i].begin, position);
        if (!alloc || alloc->memory != SSAN_memory_DEVICE) {
            return true;
        }
    }
    return false;
}

static int compare_allocs(const void *left, const void *right)
{
    const struct model_alloc *a = left, *b = right;
    if (a->address != b->address) {
        return a->address < b->address ? -1 : 1;
    }
    return a->born < b->born ? -1 : 1;
}

/* After the last event. */
static bool settle(struct model *model)
{
    uint64_t reach = 0;
    if (model->allocs.count > 0) {
        qsort(model->allocs.items, model->allocs.count, sizeof *model->allocs.items,
              compare_allocs);
    }
    for (size_t i = 0; i < model->allocs.count; i++) {
        struct model_alloc *alloc = &model->allocs.items[i];
        reach = alloc->address + alloc->size > reach ? alloc->address + alloc->size : reach;
        alloc->reach = reach;
    }
    for (size_t i = 0; i < model->items.count; i++) {
        struct model_item *item = &model->items.items[i];
        for (unsigned way = 0; way < ssan_access_count; way++) {
            struct bytes *set = &item->ways[way];
            if (!bytes_seal(set)) {
                return false;
            }
            bool visible = is_host_visible(model, set, item->submitted);
            item->host_reads |= visible && way != SSAN_access_WRITE;
            item->host_writes |= visible && way != SSAN_access_READ;
        }
    }
    return true;
}

static enum ssan_status feed(struct reading *reading, const struct ssan_event *event,
                             struct ssan_error *err)
{
    bool fine = note_step(reading, event) && take(reading, event);
    enum ssan_status status = fine ? SSAN_OK : SSAN_NO_MEMORY;
    if (!status && event->kind != SSAN_EV_set && event->kind != SSAN_EV_set_leaf &&
        event->kind != SSAN_EV_host_access) {
        status = engine_feed(reading->engine, event, err);
        if (status) {
            return status;
        }
    }
    if (!status && event->kind == SSAN_EV_op && !settle_op(reading)) {
        status = SSAN_NO_MEMORY;
    }
    status = status ? status : reading->status;
    if (status == SSAN_UNSUPPORTED) {
        return ssan_fail(err, status, reading->position,
                         "the program has too many items and streams to keep their order");
    }
    reading->position++;
    return status ? ssan_fail(err, status, reading->position, "out of memory") : SSAN_OK;
}

static void finish_reading(struct reading *reading)
{
    for (size_t i = 0; i < reading->streams.count; i++) {
        VEC_FREE(&reading->streams.items[i].ends);
    }
    VEC_FREE(&reading->streams);
    VEC_FREE(&reading->threads);
    map_finish(&reading->alloc_ids);
    engine_destroy(reading->engine);
}

enum ssan_status model_read(struct model *model, struct ssan_source *source, struct ssan_error *err)
{
    struct reading reading = {.model = model};
    const struct engine_watch watch = {&reading, watch_item, watch_call};
    const struct engine_options options = {.watch = &watch};
    enum ssan_status status = SSAN_OK;
    enum ssan_next next = SSAN_NEXT_EVENT;
    reading.engine = engine_create(&options);
    if (!reading.engine || !on_stream(&reading, 0)) {
        status = ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory");
    }
    while (!status && next == SSAN_NEXT_EVENT) {
        struct ssan_event event;
        next = ssan_next(source, &event, err);
        if (next == SSAN_NEXT_EVENT) {
            status = feed(&reading, &event, err);
        } else if (next == SSAN_NEXT_ERROR) {
            status = err ? err->status : SSAN_FORMAT;
        }
    }
    if (!status && !settle(model)) {
        status = ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory");
    }
    finish_reading(&reading);
    return status;
}
