/* One engine for each question, fed with the whole trace and the calls that it is to ignore.
 *
 * Advice counts for nothing: a wait that is gone can't be advised on. Naive model: check the trace
 * of a program without those calls. Cost: O(trace). */
#include "audit/rerun.h"

#include <stdlib.h>
#include <string.h>

#include "core/explain_ids.h"

/* Ranges of a hazard that are kept: enough to name its bytes. */
#define RANGES_KEPT 64

enum severity rerun_severity(const struct rerun *rerun, const struct hazard *hazard)
{
    return rerun->options->order_documented ? hazard->documented : hazard->severity;
}

bool rerun_init(struct rerun *rerun, const struct engine *engine)
{
    size_t count;
    const struct hazard *hazards = engine_hazards(engine, &count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = hazard_key(rerun->history, &hazards[i]);
        const uint64_t severity = (uint64_t)rerun_severity(rerun, &hazards[i]) + 1;
        const uint64_t *known = map_find(&rerun->known, key);
        if ((!known || *known < severity) && !map_set(&rerun->known, key, severity)) {
            return false;
        }
    }
    return true;
}

void rerun_finish(struct rerun *rerun)
{
    map_finish(&rerun->known);
}

bool drops_add(struct drops *drops, uint64_t position)
{
    return VEC_PUSH(drops, (struct edit){.before = position, .kind = EDIT_DROP});
}

bool drops_add_site(struct drops *drops, const struct history *history, const struct site *site)
{
    bool ok = true;
    for (size_t i = 0; ok && i < site->calls.count; i++) {
        const struct hist_call *call = &history->calls.items[site->calls.items[i]];
        ok = drops_add(drops, call->position);
        if (ok && call->kind == CALL_SYNC &&
            history->syncs.items[call->index].returned != UINT64_MAX) {
            ok = drops_add(drops, history->syncs.items[call->index].returned);
        }
    }
    return ok;
}

static int by_position(const void *left, const void *right)
{
    const struct edit *a = left, *b = right;
    return (a->before > b->before) - (a->before < b->before);
}

static bool copy_bytes(struct rerun *rerun, struct hazard *hazard)
{
    const size_t count = hazard->bytes.count < RANGES_KEPT ? hazard->bytes.count : RANGES_KEPT;
    struct range *items = arena_alloc(rerun->arena, (count + 1) * sizeof *items);
    if (!items) {
        return false;
    }
    if (count > 0) {
        memcpy(items, hazard->bytes.items, count * sizeof *items);
    }
    hazard->bytes = (struct ranges){.items = items, .count = count, .room = count};
    return true;
}

/* What the run has and the trace as it is has not. False when out of memory. */
static bool compare(struct rerun *rerun, const struct engine *engine, bool *found,
                    struct fresh_list *fresh, size_t keep)
{
    size_t count;
    const struct hazard *hazards = engine_hazards(engine, &count);
    *found = false;
    for (size_t i = 0; i < count; i++) {
        struct fresh one = {.hazard = hazards[i],
                            .key = hazard_key(rerun->history, &hazards[i]),
                            .severity = rerun_severity(rerun, &hazards[i])};
        const uint64_t *known = map_find(&rerun->known, one.key);
        if (one.severity == SEVERITY_ADVICE || (known && *known > (uint64_t)one.severity)) {
            continue;
        }
        *found = true;
        if (fresh && fresh->count < keep) {
            if (!copy_bytes(rerun, &one.hazard) || !VEC_PUSH(fresh, one)) {
                return false;
            }
        } else if (fresh) {
            fresh->more++;
        }
    }
    return true;
}

/* Feeds the whole trace. */
static enum ssan_status feed(struct rerun *rerun, struct engine *engine, struct ssan_error *err)
{
    enum ssan_status status = SSAN_OK;
    struct ssan_event event;
    for (uint64_t i = 0; status == SSAN_OK && i < rerun->history->event_count; i++) {
        if (ssan_next(rerun->source, &event, err) != SSAN_NEXT_EVENT) {
            return ssan_fail(err, SSAN_IO, 0, "the trace changed while it was read again");
        }
        status = engine_feed(engine, &event, err);
    }
    return status == SSAN_OK ? engine_finish(engine, err) : status;
}

enum ssan_status rerun_without(struct rerun *rerun, struct drops *drops, bool *found,
                               struct fresh_list *fresh, size_t keep, struct ssan_error *err)
{
    if (drops->count > 0) {
        qsort(drops->items, drops->count, sizeof *drops->items, by_position);
    }
    struct engine_options options = rerun->options->engine;
    options.edits = drops->items;
    options.edit_count = drops->count;
    if (rerun->options->step) {
        rerun->options->step(rerun->options->step_self, rerun->runs);
    }
    rerun->runs++;
    if (!rerun->source->rewind(rerun->source)) {
        return ssan_fail(err, SSAN_IO, 0, "the trace can't be read a second time");
    }
    struct engine *engine = engine_create(&options);
    if (!engine) {
        return ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory");
    }
    enum ssan_status status = feed(rerun, engine, err);
    if (status == SSAN_OK && !compare(rerun, engine, found, fresh, keep)) {
        status = ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory");
    }
    engine_destroy(engine);
    return status;
}
