/* Pairs of accesses into hazards: which check, how grave in which reading, over which bytes, how
 * sure. Report.md 5.5 and 5.7 say what they mean. Cost: the intersection of two byte sets, for
 * pairs without order only. */
#include "core/engine_parts.h"

#include <string.h>

/* Bytes of a hazard are exact up to this many ranges; behind, the last one reaches to the end. */
#define MAX_RANGES 65536u

/* A shadow with more cells than this is crowded. */
#define CROWD 256u

struct collector {
    struct bytes_visitor visitor;
    const struct ranges *ignored;
    struct ranges bytes;
    struct side *first, *then;
    bool failed;
};

static void add_line(struct side *side, const struct piece *piece)
{
    side->width = piece->width > side->width ? piece->width : side->width;
    for (size_t i = 0; i < HAZARD_LINES && piece->site != 0; i++) {
        if (side->lines[i] == piece->site) {
            return;
        }
        if (side->lines[i] == 0) {
            side->lines[i] = piece->site;
            return;
        }
    }
}

static bool collect(struct bytes_visitor *self, const struct piece *a, const struct piece *b,
                    uint64_t begin, uint64_t end)
{
    struct collector *collector = (struct collector *)self;
    bool any = false;
    while (begin < end && !collector->failed) {
        const struct range *ignored = ranges_find(collector->ignored, begin);
        uint64_t stop = ignored && ignored->begin < end ? ignored->begin : end;
        if (begin < stop) {
            struct ranges *bytes = &collector->bytes;
            struct range *last = bytes->count > 0 ? &bytes->items[bytes->count - 1] : NULL;
            if (bytes->count >= MAX_RANGES && begin >= last->begin) {
                last->end = stop > last->end ? stop : last->end;
            } else {
                collector->failed = !ranges_add(bytes, begin, stop);
            }
            any = true;
        }
        begin = ignored && ignored->begin < end ? ignored->end : end;
    }
    if (any) {
        add_line(collector->first, a);
        add_line(collector->then, b);
    }
    return !collector->failed;
}

static struct side side_of(const struct actor *actor, enum ssan_access access)
{
    return (struct side){
        .kind = (enum side_kind)actor->kind,
        .position = actor->position,
        .op = actor->op,
        .thread = actor->thread,
        .site = actor->site,
        .access = access,
    };
}

void judge_readings(struct verdict *verdict, bool observed, uint32_t rule)
{
    verdict->severity = observed ? SEVERITY_WARNING : SEVERITY_ERROR;
    verdict->documented = SEVERITY_ERROR;
    verdict->rule = observed ? rule : 0;
}

static struct hazard hazard_of(const struct verdict *verdict)
{
    const struct order_info *info = order_info(verdict->rule);
    struct hazard hazard = {
        .check = verdict->check,
        .severity = verdict->severity,
        .documented = verdict->documented,
        .ordered_by = info ? info->id : NULL,
        .sureness = verdict->sureness,
    };
    if (verdict->sureness == SURENESS_POSSIBLE) {
        hazard.severity = hazard.documented = SEVERITY_WARNING;
    }
    return hazard;
}

/* R-ERR-3: nothing is told of a context behind the sticky error that ended it. */
static bool is_silenced(const struct engine *engine, const struct actor *actor)
{
    const struct context *contexts = engine->order.contexts.items;
    uint64_t dead =
        actor->context < engine->order.contexts.count ? contexts[actor->context].dead_position : 0;
    return dead != 0 && engine->judged > dead;
}

void judge_bytes(struct engine *engine, const struct verdict *verdict, const struct buffer *buffer,
                 const struct actor *first, enum ssan_access first_access,
                 const struct bytes *first_bytes, const struct actor *then,
                 enum ssan_access then_access, const struct bytes *then_bytes)
{
    if (is_silenced(engine, first) || is_silenced(engine, then)) {
        return;
    }
    struct hazard hazard = hazard_of(verdict);
    hazard.first = side_of(first, first_access);
    hazard.then = side_of(then, then_access);
    struct collector collector = {
        .visitor = {.meet = collect},
        .ignored = &engine->ignored,
        .first = &hazard.first,
        .then = &hazard.then,
    };
    bytes_meet(first_bytes, then_bytes, 0, UINT64_MAX, &collector.visitor);
    if (collector.failed || collector.bytes.count == 0) {
        engine->shadows.failed = engine->shadows.failed || collector.failed;
        ranges_finish(&collector.bytes);
        return;
    }
    hazard.alloc = buffer->id;
    hazard.base = buffer->id != 0 ? buffer->address : collector.bytes.items[0].begin;
    hazard.bytes = collector.bytes;
    for (size_t i = 0; i < hazard.bytes.count; i++) {
        hazard.bytes.items[i].begin -= hazard.base;
        hazard.bytes.items[i].end -= hazard.base;
    }
    struct hazard_key key = {.check = (uint32_t)verdict->check,
                             .first = first->place,
                             .then = then->place,
                             .alloc = buffer->place};
    if (!hazards_add(&engine->hazards, key, &hazard)) {
        engine->shadows.failed = true;
    }
}

void judge_plain(struct engine *engine, const struct verdict *verdict, const struct actor *first,
                 const struct actor *then, uint32_t stream, uint32_t event)
{
    if (engine->dead_position != 0 && then->position > engine->dead_position &&
        verdict->check != CHECK_LATE_ERROR) {
        return;
    }
    struct hazard hazard = hazard_of(verdict);
    if (first) {
        hazard.first = side_of(first, SSAN_access_READ);
    }
    hazard.then = side_of(then, SSAN_access_READ);
    hazard.stream = stream;
    hazard.event = event;
    struct hazard_key key = {
        .check = (uint32_t)verdict->check, .first = first ? first->place : 0, .then = then->place};
    if (!hazards_add(&engine->hazards, key, &hazard)) {
        engine->shadows.failed = true;
    }
}

struct pair_judge {
    struct judge base;
    struct engine *engine;
    struct buffer *buffer;
    const struct work *work;
};

/* Report.md 5.7: by the order of issue; an atomic counts as a write. */
static enum check race_of(enum ssan_access first, enum ssan_access then)
{
    if (first == SSAN_access_READ) {
        return CHECK_WAR;
    }
    return then == SSAN_access_READ ? CHECK_RAW : CHECK_WAW;
}

/* Report.md 5.5: one declared (may) side conflicts whatever its direction when the other side
 * surely writes. */
static enum sureness sureness_of(const struct cell *first, const struct access *then)
{
    bool first_may = cell_may(first->key);
    if (cell_rounded(first->key) != 0 || (first_may && then->may)) {
        return SURENESS_POSSIBLE;
    }
    if (!first_may && !then->may) {
        return SURENESS_EXACT;
    }
    enum ssan_access sure = first_may ? then->access : cell_access(first->key);
    return sure != SSAN_access_READ ? SURENESS_FOOTPRINT : SURENESS_POSSIBLE;
}

/* R-HOST-10, R-HOST-11: order that rests on which of two threads' calls came first. */
static bool submitted_apart(const struct pair_judge *self, const struct actor *a,
                            const struct actor *b)
{
    const struct order *order = &self->engine->order;
    if (a->op == 0 || b->op == 0 || a->caller == b->caller || a->context != b->context) {
        return false;
    }
    bool same = a->stream == b->stream && !order_broken(order, ORDER_R_HOST_10);
    bool barrier =
        (a->flavour == SSAN_stream_flavour_LEGACY || b->flavour == SSAN_stream_flavour_LEGACY) &&
        a->flavour != SSAN_stream_flavour_NON_BLOCKING &&
        b->flavour != SSAN_stream_flavour_NON_BLOCKING && a->stream != b->stream &&
        !order_broken(order, ORDER_R_HOST_11);
    return (same || barrier) && !stamp_covers(&self->work->host, false, a->submitted);
}

static void judge_pair(struct judge *base, const struct cell *first, const struct access *then,
                       bool ordered)
{
    struct pair_judge *self = (struct pair_judge *)base;
    struct engine *engine = self->engine;
    struct verdict verdict = {.check = race_of(cell_access(first->key), then->access),
                              .sureness = sureness_of(first, then)};
    struct epoch at = cell_epoch(first->key);
    if (ordered) {
        if (!submitted_apart(self, first->actor, then->actor)) {
            return;
        }
        verdict.check = CHECK_SUBMIT_RACE;
        at = first->actor->submitted;
        bool observed = stamp_covers(&self->work->host, true, at);
        judge_readings(&verdict, observed, stamp_rule(&self->work->host, at));
    } else {
        bool observed = moment_covers(&then->begin, true, at);
        uint32_t rule = observed ? moment_rule(&then->begin, at) : 0;
        if (!observed && cell_is_behind(first, true, then)) {
            observed = true;
            rule = clock_rule(first->actor->late->obs, then->at.chain);
        }
        judge_readings(&verdict, observed, rule);
    }
    judge_bytes(engine, &verdict, self->buffer, first->actor, cell_access(first->key),
                &first->bytes, then->actor, then->access, then->bytes);
}

/* Threads in strict mode: a cell whose bytes a later access replaces stays, as long as an item of a
 * third thread may still race with its submission. Crowded shadows keep it only while some thread
 * is not behind that submission. */
static bool keeps(struct judge *base, const struct cell *cell, const struct access *then,
                  size_t crowd)
{
    const struct pair_judge *self = (const struct pair_judge *)base;
    const struct actor *first = cell->actor;
    if (first->op == 0) {
        return false;
    }
    if (then->actor->op != 0 && then->actor->stream == first->stream &&
        (first->caller == then->actor->caller ||
         stamp_covers(&self->work->host, false, first->submitted))) {
        return false;
    }
    return crowd < CROWD || !order_is_common(&self->engine->order, first->submitted);
}

void judge_access(struct engine *engine, struct buffer *buffer, struct access *access,
                  const struct work *work)
{
    struct pair_judge judge = {
        .base = {.pair = judge_pair,
                 .also_ordered = is_strict(engine) && access->actor->op != 0,
                 .keeps = is_strict(engine) ? keeps : NULL},
        .engine = engine,
        .buffer = buffer,
        .work = work,
    };
    shadow_access(&buffer->shadow, &engine->shadows, access, &judge.base);
}
