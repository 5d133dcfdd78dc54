/* Shadow work in the order of the trace. Invariant: when an operation is judged, everything
 * submitted before it is in shadow and nothing submitted after it. The queue is as long as the
 * oldest open operation is old; memory is bounded by the operations in flight. Naive model: sort
 * all accesses by submission at the end of the run. */
#include "core/engine_parts.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

/* Released works have lost their parts already (work_free): the rest is cleared here. */
struct work *queue_add(struct engine *engine, enum work_kind kind)
{
    struct work *work = engine->spare;
    if (work) {
        engine->spare = work->next;
    } else {
        work = mem_zalloc(1, sizeof *work);
    }
    if (!work) {
        return NULL;
    }
    work->kind = kind;
    work->closed = work->on = false;
    work->next = NULL;
    work->position = engine->position;
    work->first_tick = 0;
    work->side = (struct epoch){0};
    engine->work_bytes += sizeof *work;
    if (engine->last) {
        engine->last->next = work;
    } else {
        engine->first = work;
    }
    engine->last = work;
    return work;
}

/* Byte sets of operations in flight come and go at each operation: released ones are kept, empty
 * but for the link. */
struct bytes *way_create(struct engine *engine)
{
    struct bytes *way = engine->spare_way;
    if (!way) {
        return mem_zalloc(1, sizeof *way);
    }
    engine->spare_way = (struct bytes *)(uintptr_t)way->begin;
    way->begin = 0;
    return way;
}

static void way_free(struct engine *engine, struct bytes *way)
{
    if (way->count > 0) { /* else shadow has taken it over */
        bytes_finish(way);
    }
    way->begin = (uint64_t)(uintptr_t)engine->spare_way;
    engine->spare_way = way;
}

static void work_free(struct engine *engine, struct work *work)
{
    actor_drop(&engine->actors, work->actor);
    work->actor = NULL;
    stamp_drop(&engine->clocks, &work->at);
    stamp_drop(&engine->clocks, &work->host);
    for (uint32_t left = work->used; left != 0; left &= left - 1) {
        way_free(engine, work->ways[__builtin_ctz(left)]);
    }
    work->used = 0;
    for (size_t i = 0; i < work->inner.count; i++) {
        actor_drop(&engine->actors, work->inner.items[i].actor);
        times_drop(&engine->clocks, &work->inner.items[i].acquired);
    }
    if (work->inner.room > 0) {
        VEC_FREE(&work->inner);
    }
    buffer_drop(work->buffer, &engine->shadows);
    work->buffer = NULL;
    engine->work_bytes -= sizeof *work;
    work->next = engine->spare;
    engine->spare = work;
}

static void judge_in(struct engine *engine, struct buffer *buffer, struct access *access,
                     const struct work *work)
{
    engine->totals.buffers += buffer->id != 0 && !buffer->touched;
    buffer->touched = true;
    if (access->actor->op != 0 && engine->holes.count > 0) {
        lifetime_use_after_free(engine, &engine->holes, access);
    }
    judge_access(engine, buffer, access, work);
}

/* Where the memory at `at` ends or changes its buffer; *buffer: who owns it, NULL where it is dead.
 */
static uint64_t stretch(struct engine *engine, uint64_t at, uint64_t end, struct buffer **buffer)
{
    const struct span *live = spans_find(&engine->live, at);
    if (live && live->begin <= at) {
        *buffer = live->buffer;
        return live->end < end ? live->end : end;
    }
    end = live && live->begin < end ? live->begin : end;
    const struct span *dead = spans_find(&engine->dead, at);
    if (dead && dead->begin <= at) {
        *buffer = NULL;
        return dead->end < end ? dead->end : end;
    }
    *buffer = &engine->pageable;
    return dead && dead->begin < end ? dead->begin : end;
}

/* First byte of the set at or behind `at`. */
static uint64_t next_byte(const struct bytes *set, uint64_t at)
{
    uint64_t next = set->end;
    for (size_t i = bytes_first_near(set, at); i < set->count && bytes_pieces(set)[i].begin < next;
         i++) {
        const struct piece *piece = &bytes_pieces(set)[i];
        if (piece_end(piece) > at) {
            next = piece->begin > at ? piece->begin : at;
        }
    }
    return next;
}

static bool judge_parts(struct engine *engine, struct access *access, const struct work *work)
{
    struct bytes *whole = access->bytes;
    if (whole->count == 0) {
        return true;
    }
    const struct span *live = spans_hold(&engine->live, whole->begin);
    if (live && live->end >= whole->end) {
        judge_in(engine, live->buffer, access, work);
        return true;
    }
    struct buffer *buffer = NULL;
    uint64_t end = stretch(engine, whole->begin, whole->end, &buffer);
    if (end == whole->end && buffer) {
        judge_in(engine, buffer, access, work);
        return true;
    }
    for (uint64_t at = whole->begin; at < whole->end; at = next_byte(whole, end)) {
        end = stretch(engine, at, whole->end, &buffer);
        struct bytes part = {0};
        if (!bytes_clip(whole, at, end, &part)) {
            bytes_finish(&part);
            return false;
        }
        struct access partial = *access;
        partial.bytes = &part;
        if (part.count > 0 && buffer) {
            judge_in(engine, buffer, &partial, work);
        } else if (part.count > 0 && access->actor->op != 0) {
            lifetime_use_after_free(engine, &engine->dead, &partial);
        }
        bytes_finish(&part);
    }
    return true;
}

/* Whether everything that stands in the trace before the last acquire is judged: what comes in the
 * queue behind `work` can't have been released to it. Until then an access that came late must not
 * replace what it came behind. */
static bool is_settled(const struct engine *engine, const struct access *access,
                       const struct work *work)
{
    uint64_t last = access->actor->kind == SIDE_HOST ? access->actor->position : 0;
    if (engine->late.count > 0 && engine->late.items[engine->late.count - 1].position > last) {
        last = engine->late.items[engine->late.count - 1].position;
    }
    return !work->next || work->next->position > last;
}

/* Judges each part of an access with the buffer that it lies in. */
static bool judge_everywhere(struct engine *engine, struct access *access, const struct work *work)
{
    if (engine->late.count == 0 && !access->begin.extra) {
        return judge_parts(engine, access, work);
    }
    struct times late = late_closure(engine, &access->begin, false);
    access->begin.extra = &late;
    bool fine = actor_set_late(&engine->actors, access->actor, &late);
    access->gated = late.obs && !is_settled(engine, access, work);
    fine = fine && judge_parts(engine, access, work);
    times_drop(&engine->clocks, &late);
    return fine;
}

static bool judge_inner(struct engine *engine, struct work *work)
{
    for (size_t i = 0; i < work->inner.count; i++) {
        struct inner_access *inner = &work->inner.items[i];
        struct bytes bytes = {0};
        if (!bytes_add_run(&bytes, inner->address, inner->size, 0, 1, 0, 0)) {
            return false;
        }
        bytes_seal(&bytes);
        struct access access = {
            .actor = inner->actor,
            .access = inner->access,
            .carries = !inner->acquired.obs,
            .at = {.chain = work->at.own.chain, .tick = inner->tick},
            .begin = {.stamp = &work->at,
                      .first_tick = work->first_tick,
                      .extra = inner->acquired.obs ? &inner->acquired : NULL},
            .bytes = &bytes,
        };
        bool fine = judge_everywhere(engine, &access, work);
        bytes_finish(&bytes);
        if (!fine) {
            return false;
        }
    }
    return true;
}

static bool judge_op(struct engine *engine, struct work *work)
{
    for (uint32_t left = work->used; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (!bytes_seal(work->ways[i])) {
            return false;
        }
        enum ssan_access kind = (enum ssan_access)(i / 2);
        bool side = kind == SSAN_access_READ && work->side.tick != 0;
        struct access access = {
            .actor = work->actor,
            .access = kind,
            .may = i % 2 == 1,
            .carries = !side,
            .at = side ? work->side : work->at.own,
            .begin = {.stamp = &work->at, .first_tick = work->first_tick, .side = work->side},
            .bytes = work->ways[i],
        };
        if (!judge_everywhere(engine, &access, work)) {
            return false;
        }
    }
    return judge_inner(engine, work);
}

static bool judge_host(struct engine *engine, struct work *work)
{
    struct bytes bytes = {0};
    if (!bytes_add_run(&bytes, work->address, work->size, 0, 1, 0, 0)) {
        return false;
    }
    bytes_seal(&bytes);
    struct access access = {
        .actor = work->actor,
        .access = work->access,
        .carries = true,
        .at = work->at.own,
        .begin = {.stamp = &work->at},
        .bytes = &bytes,
    };
    bool fine = judge_everywhere(engine, &access, work);
    bytes_finish(&bytes);
    return fine;
}

static bool judge_work(struct engine *engine, struct work *work)
{
    switch (work->kind) {
    case WORK_OP:
        return judge_op(engine, work);
    case WORK_HOST:
        return judge_host(engine, work);
    case WORK_ALLOC:
        return lifetime_begin(engine, work);
    case WORK_FREE:
        return lifetime_end(engine, work);
    case WORK_HOLE:
        return lifetime_hole(engine, work);
    case WORK_FILL:
        return spans_put(&engine->holes, work->address, work->address + work->size, NULL,
                         &engine->shadows);
    case WORK_IGNORE:
        return work->on
                   ? ranges_add(&engine->ignored, work->address, work->address + work->size)
                   : ranges_remove(&engine->ignored, work->address, work->address + work->size);
    }
    return true;
}

bool queue_run(struct engine *engine, bool all)
{
    while (queue_is_ready(engine) || (all && engine->first)) {
        struct work *work = engine->first;
        engine->judged = work->actor ? work->actor->position : 0;
        if (!judge_work(engine, work)) {
            return false;
        }
        engine->first = work->next;
        engine->last = engine->first ? engine->last : NULL;
        work_free(engine, work);
    }
    engine->totals.rounded_sets = engine->shadows.rounded;
    return !engine->shadows.failed && !engine->clocks.failed;
}

uint64_t queue_bytes(const struct engine *engine)
{
    uint64_t bytes = engine->work_bytes;
    for (const struct work *work = engine->first; work; work = work->next) {
        for (uint32_t left = work->used; left != 0; left &= left - 1) {
            const struct bytes *way = work->ways[__builtin_ctz(left)];
            bytes += sizeof *way + bytes_held(way);
        }
    }
    return bytes;
}

void queue_finish(struct engine *engine)
{
    while (engine->first) {
        struct work *work = engine->first;
        engine->first = work->next;
        work_free(engine, work);
    }
    while (engine->spare_way) {
        struct bytes *way = engine->spare_way;
        engine->spare_way = (struct bytes *)(uintptr_t)way->begin;
        mem_free(way);
    }
    while (engine->spare) {
        struct work *work = engine->spare;
        engine->spare = work->next;
        mem_free(work);
    }
}
