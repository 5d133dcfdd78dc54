/* One engine for each question, fed with the whole trace and the calls that it is to ignore.
 *
 * Advice counts for nothing: a wait that is gone can't be advised on. Of what the trace has already
 * the instances are counted: a pair of operations loses its order for all its bytes or not at all,
 * so order that is lost shows as a new key or as one more pair. Naive model: check the trace
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

/* Adds up the errors and warnings of each key. False when out of memory. */
static bool add_counts(const struct rerun *rerun, const struct engine *engine, struct map *counts)
{
    size_t count;
    const struct hazard *hazards = engine_hazards(engine, &count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = hazard_key(rerun->history, &hazards[i]);
        const uint64_t *so_far = map_find(counts, key);
        if (rerun_severity(rerun, &hazards[i]) != SEVERITY_ADVICE &&
            !map_set(counts, key, (so_far ? *so_far : 0) + hazards[i].count)) {
            return false;
        }
    }
    return true;
}

bool rerun_init(struct rerun *rerun, const struct engine *engine)
{
    size_t count;
    const struct hazard *hazards = engine_hazards(engine, &count);
    if (!add_counts(rerun, engine, &rerun->counts)) {
        return false;
    }
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
    map_finish(&rerun->counts);
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

void drops_sort(struct drops *drops)
{
    if (drops->count > 0) {
        qsort(drops->items, drops->count, sizeof *drops->items, by_position);
    }
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

static bool is_fresh(const struct rerun *rerun, const struct hazard *hazard, uint64_t key)
{
    const uint64_t *known = map_find(&rerun->known, key);
    const enum severity severity = rerun_severity(rerun, hazard);
    return severity != SEVERITY_ADVICE && (!known || *known <= (uint64_t)severity);
}

/* Whether what the trace as it is has already has more instances in the run; `fresh` then tells how
 * many there are, and how many more. Told once for each key. */
static bool is_more(const struct rerun *rerun, const struct map *counts, struct fresh *fresh)
{
    uint64_t *now = map_find(counts, fresh->key);
    const uint64_t *known = map_find(&rerun->counts, fresh->key);
    if (fresh->severity == SEVERITY_ADVICE || !now || !known || *now <= *known) {
        return false;
    }
    fresh->known = *known;
    fresh->hazard.count = *now - *known;
    *now = *known;
    return true;
}

/* What the run has and the trace as it is has not. False when out of memory. */
static bool compare_counts(struct rerun *rerun, const struct engine *engine,
                           const struct map *counts, bool *found, struct fresh_list *fresh,
                           size_t keep)
{
    size_t count;
    const struct hazard *hazards = engine_hazards(engine, &count);
    *found = false;
    for (size_t i = 0; i < count; i++) {
        struct fresh one = {.hazard = hazards[i],
                            .key = hazard_key(rerun->history, &hazards[i]),
                            .severity = rerun_severity(rerun, &hazards[i])};
        if (!is_fresh(rerun, &hazards[i], one.key) && !is_more(rerun, counts, &one)) {
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

static bool compare(struct rerun *rerun, const struct engine *engine, bool *found,
                    struct fresh_list *fresh, size_t keep)
{
    struct map counts = {0};
    const bool ok = add_counts(rerun, engine, &counts) &&
                    compare_counts(rerun, engine, &counts, found, fresh, keep);
    map_finish(&counts);
    return ok;
}

bool rerun_fresh_keys(const struct rerun *rerun, const struct engine *engine, struct map *keys)
{
    size_t count;
    const struct hazard *hazards = engine_hazards(engine, &count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = hazard_key(rerun->history, &hazards[i]);
        if (is_fresh(rerun, &hazards[i], key) && !map_set(keys, key, 1)) {
            return false;
        }
    }
    return true;
}

/* Feeds the whole trace: what there was of it when it was judged first. */
static enum ssan_status feed(struct ssan_source *source, struct engine *engine,
                             struct ssan_error *err)
{
    enum ssan_status status = SSAN_OK;
    enum ssan_next next = SSAN_NEXT_EVENT;
    struct ssan_event event;
    while (status == SSAN_OK && next == SSAN_NEXT_EVENT) {
        next = ssan_next(source, &event, err);
        if (next == SSAN_NEXT_EVENT) {
            status = engine_feed(engine, &event, err);
        } else if (next == SSAN_NEXT_ERROR) {
            return err && err->status ? err->status : SSAN_IO;
        }
    }
    return status == SSAN_OK ? engine_finish(engine, err) : status;
}

enum ssan_status rerun_judge(struct rerun *rerun, struct ssan_source *source,
                             const struct edit *edits, size_t edit_count, struct engine **engine,
                             struct ssan_error *err)
{
    struct engine_options options = rerun->options->engine;
    options.edits = edits;
    options.edit_count = edit_count;
    *engine = NULL;
    if (rerun->options->step) {
        rerun->options->step(rerun->options->step_self, rerun->runs);
    }
    rerun->runs++;
    if (!source->rewind(source)) {
        return ssan_fail(err, SSAN_IO, 0, "the trace can't be read a second time");
    }
    struct engine *run = engine_create(&options);
    if (!run) {
        return ssan_no_memory(err);
    }
    const enum ssan_status status = feed(source, run, err);
    if (status == SSAN_OK) {
        *engine = run;
    } else {
        engine_destroy(run);
    }
    return status;
}

enum ssan_status rerun_without(struct rerun *rerun, struct drops *drops, bool *found,
                               struct fresh_list *fresh, size_t keep, struct ssan_error *err)
{
    struct engine *engine = NULL;
    drops_sort(drops);
    enum ssan_status status =
        rerun_judge(rerun, rerun->source, drops->items, drops->count, &engine, err);
    if (status == SSAN_OK && !compare(rerun, engine, found, fresh, keep)) {
        status = ssan_no_memory(err);
    }
    engine_destroy(engine);
    return status;
}
