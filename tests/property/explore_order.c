/* The order of a model against the oracle's closure, on random traces.
 *
 *     property_explore_order [--seed N] [--traces N]
 *
 * Whatever a model says comes before must do so in the oracle, and the other way round unless a
 * host function acquires: such order is the program's own and no device keeps it. Copies' early
 * source reads and accesses inside host functions are parts of items, so they are left out. Prints
 * the seed and counts; exit 1 on a difference. */
#include "explore/model.h"
#include "support/must.h"
#include "support/oracle.h"
#include "support/random_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tape_source {
    struct ssan_source source;
    const struct tape *tape;
    size_t at;
};

struct totals {
    uint64_t traces, pairs, ordered, skipped;
};

static enum ssan_next next_event(struct ssan_source *self, struct ssan_event *event,
                                 struct ssan_error *err)
{
    struct tape_source *source = (struct tape_source *)self;
    (void)err;
    if (source->at == source->tape->events.count) {
        return SSAN_NEXT_END;
    }
    *event = source->tape->events.items[source->at++];
    return SSAN_NEXT_EVENT;
}

/* A host function may acquire: order that the model does not have. */
static bool has_own_order(const struct tape *tape)
{
    for (size_t i = 0; i < tape->events.count; i++) {
        const struct ssan_event *event = &tape->events.items[i];
        if (event->kind == SSAN_EV_acquire) {
            return true;
        }
    }
    return false;
}

static bool is_part(const struct model *model, const struct oracle_access *access, bool first)
{
    if (access->side != ORACLE_OP || access->op == 0 || access->op > model->items.count) {
        return true;
    }
    enum ssan_op_kind kind = model->items.items[access->op - 1].kind;
    return kind == SSAN_op_kind_HOSTFUNC ||
           (first && kind == SSAN_op_kind_COPY && access->access == SSAN_access_READ);
}

static bool compare(const struct tape *tape, const struct model *model, const struct oracle *oracle,
                    struct totals *totals)
{
    size_t count = 0;
    const struct oracle_access *accesses = oracle_accesses(oracle, &count);
    bool own = has_own_order(tape);
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < count; b++) {
            if (accesses[a].op == accesses[b].op || is_part(model, &accesses[a], true) ||
                is_part(model, &accesses[b], false)) {
                continue;
            }
            uint32_t x = (uint32_t)accesses[a].op - 1, y = (uint32_t)accesses[b].op - 1;
            bool ours = model_before(model, x, y);
            bool theirs = oracle_behind(oracle, a, b, READING_OBSERVED);
            totals->pairs++;
            totals->ordered += ours;
            totals->skipped += own && theirs && !ours;
            if (ours ? !theirs : theirs && !own) {
                printf("operations %u and %u: the model says %s, the oracle %s\n", x + 1, y + 1,
                       ours ? "before" : "not before", theirs ? "before" : "not before");
                return false;
            }
        }
    }
    return true;
}

static bool run_trace(uint64_t seed, uint64_t index, struct totals *totals)
{
    struct rng rng = {seed + index * UINT64_C(0x9e3779b97f4a7c15)};
    struct tape tape = {0};
    struct model model = {0};
    struct ssan_error err = {0};
    const char *why = NULL;
    random_trace(&tape, &rng, 10 + rng_below(&rng, 60));
    struct tape_source source = {.source = {.next = next_event}, .tape = &tape};
    struct oracle *oracle = oracle_run(&tape, false, &why);
    MUST(oracle != NULL);
    bool fine = model_read(&model, &source.source, &err) == SSAN_OK;
    if (!fine) {
        printf("trace %llu: %s\n", (unsigned long long)index, err.text);
    }
    fine = fine && compare(&tape, &model, oracle, totals);
    if (!fine) {
        printf("trace %llu differs\n", (unsigned long long)index);
    }
    totals->traces++;
    oracle_destroy(oracle);
    model_finish(&model);
    tape_finish(&tape);
    return fine;
}

int main(int argc, char **argv)
{
    uint64_t seed = 20261130, traces = 1000;
    struct totals totals = {0};
    bool fine = true;
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t value = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--seed") == 0) {
            seed = value;
        } else if (strcmp(argv[i], "--traces") == 0) {
            traces = value;
        } else {
            fprintf(stderr, "usage: %s [--seed N] [--traces N]\n", argv[0]);
            return 64;
        }
    }
    printf("seed %llu\n", (unsigned long long)seed);
    for (uint64_t i = 0; fine && i < traces; i++) {
        fine = run_trace(seed, i, &totals);
    }
    printf("%llu traces, %llu pairs of accesses, %llu ordered, %llu by host functions alone: %s\n",
           (unsigned long long)totals.traces, (unsigned long long)totals.pairs,
           (unsigned long long)totals.ordered, (unsigned long long)totals.skipped,
           fine ? "model and oracle agree" : "model and oracle differ");
    return fine && totals.ordered > 1000 ? 0 : 1;
}
