/* Engine against oracle on random traces: the sum of all rules at once.
 *
 *     property_order [--seed N] [--operations N] [--traces N] [--trace K] [--threads
 * observed|strict]
 *
 * Trace K of a seed is the same whatever else runs. Prints the seed, counts of every event kind and
 * fault; on a difference the shrunk trace as a listing and how to replay it. Exit 1 on a
 * difference, or when an event kind that the engine judges was too rare. */
#include "property/shrink.h"
#include "support/compare.h"
#include "support/must.h"
#include "support/random_trace.h"
#include "trace/listing.h"

#include <string.h>
#include <time.h>

struct settings {
    uint64_t seed, operations, traces, trace;
    bool one;    /* only `trace` */
    int threads; /* -1: both */
    uint32_t mutant;
};

struct totals {
    uint64_t traces, operations, events[SSAN_EV_count];
    struct compare_counts counts[2];
};

/* Kinds the engine only counts, or never sees in a random trace. */
static bool is_judged(enum ssan_event_kind kind)
{
    return kind != SSAN_EV_module && kind != SSAN_EV_site && kind != SSAN_EV_frame &&
           kind != SSAN_EV_line && kind != SSAN_EV_call && kind != SSAN_EV_infeasible &&
           kind != SSAN_EV_printed && kind != SSAN_EV_gate && kind != SSAN_EV_missed;
}

static bool parse(int argc, char **argv, struct settings *settings)
{
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!value) {
            return false;
        }
        if (strcmp(argv[i], "--seed") == 0) {
            settings->seed = strtoull(value, NULL, 0);
        } else if (strcmp(argv[i], "--operations") == 0) {
            settings->operations = strtoull(value, NULL, 0);
        } else if (strcmp(argv[i], "--traces") == 0) {
            settings->traces = strtoull(value, NULL, 0);
        } else if (strcmp(argv[i], "--trace") == 0) {
            settings->trace = strtoull(value, NULL, 0);
            settings->one = true;
        } else if (strcmp(argv[i], "--mutant") == 0) {
            settings->mutant = (uint32_t)strtoul(value, NULL, 0);
        } else if (strcmp(argv[i], "--threads") == 0) {
            settings->threads = strcmp(value, "strict") == 0;
        } else {
            return false;
        }
    }
    return true;
}

/* Trace `index` of the seed, of 10 to 200 operations. */
static void make_trace(struct tape *tape, uint64_t seed, uint64_t index)
{
    struct rng rng = {seed ^ (index * UINT64_C(0xd1342543de82ef95))};
    uint64_t operations = 10 + rng_below(&rng, rng_below(&rng, 4) == 0 ? 191 : 61);
    random_trace(tape, &rng, operations);
}

/* Shrinking keeps to the same kind of difference: the words before the places. */
struct failure {
    bool strict;
    uint32_t mutant;
    char kind[160];
};

static void take_kind(const char *why, char *kind, size_t size)
{
    const char *places = strstr(why, " events ");
    size_t length = places ? (size_t)(places - why) : strlen(why);
    snprintf(kind, size, "%.*s", (int)length, why);
}

static bool differs(const struct tape *tape, void *self)
{
    const struct failure *failure = self;
    struct strbuf why = {0};
    char kind[sizeof failure->kind];
    bool differ =
        compare_tape(tape, failure->strict, failure->mutant, &why, NULL) == COMPARE_DIFFER;
    take_kind(strbuf_text(&why), kind, sizeof kind);
    strbuf_finish(&why);
    return differ && strcmp(kind, failure->kind) == 0;
}

static void print_tape(const struct tape *tape)
{
    struct strbuf text = {0};
    strbuf_puts(&text, LISTING_FIRST_LINE "\n");
    for (size_t i = 0; i < tape->events.count; i++) {
        listing_print(&text, &tape->events.items[i]);
    }
    printf("%s", strbuf_text(&text));
    strbuf_finish(&text);
}

static void tell_difference(const struct settings *settings, uint64_t index, bool strict,
                            const struct tape *tape, const char *why)
{
    struct failure failure = {.strict = strict, .mutant = settings->mutant};
    struct tape small = {0};
    take_kind(why, failure.kind, sizeof failure.kind);
    printf("\nseed %llu trace %llu, threads %s: engine and oracle differ\n%s\n",
           (unsigned long long)settings->seed, (unsigned long long)index,
           strict ? "strict" : "observed", why);
    if (differs(tape, &failure)) {
        struct strbuf small_why = {0};
        shrink(&small, tape, differs, &failure);
        printf("shrunk from %zu events to %zu:\n", tape->events.count, small.events.count);
        print_tape(&small);
        compare_tape(&small, strict, settings->mutant, &small_why, NULL);
        printf("there (events are numbered from 0):\n%s", strbuf_text(&small_why));
        strbuf_finish(&small_why);
    }
    tape_finish(&small);
    printf("replay: property_order --seed %llu --trace %llu --threads %s\n",
           (unsigned long long)settings->seed, (unsigned long long)index,
           strict ? "strict" : "observed");
}

static bool run_trace(const struct settings *settings, uint64_t index, struct totals *totals)
{
    struct tape tape = {0};
    bool same = true;
    make_trace(&tape, settings->seed, index);
    for (int strict = 0; strict < 2 && same; strict++) {
        struct strbuf why = {0};
        if (settings->threads >= 0 && settings->threads != strict) {
            continue;
        }
        if (compare_tape(&tape, strict, settings->mutant, &why, &totals->counts[strict]) !=
            COMPARE_AGREE) {
            tell_difference(settings, index, strict, &tape, strbuf_text(&why));
            same = false;
        }
        strbuf_finish(&why);
    }
    totals->traces++;
    for (size_t i = 0; i < tape.events.count; i++) {
        totals->events[tape.events.items[i].kind]++;
        totals->operations += tape.events.items[i].kind == SSAN_EV_op;
    }
    tape_finish(&tape);
    return same;
}

/* Counts, and false when a kind was too rare for the run to mean anything: below 1000 in 20,000
 * traces, and in proportion in a shorter run. */
static bool tell_counts(const struct settings *settings, const struct totals *totals)
{
    bool enough = true;
    uint64_t least = settings->traces < 20000 ? settings->traces / 20 : 1000;
    for (uint32_t kind = 1; kind < SSAN_EV_count; kind++) {
        if (!is_judged((enum ssan_event_kind)kind)) {
            continue;
        }
        bool rare = !settings->one && totals->events[kind] < least;
        printf("  %-18s %9llu%s\n", ssan_event_info(kind)->name,
               (unsigned long long)totals->events[kind], rare ? "  too few" : "");
        enough = enough && !rare;
    }
    for (int check = 0; check < ORACLE_CHECK_COUNT; check++) {
        printf("  %-24s observed threads %8llu (portability %8llu), strict %8llu (%8llu)\n",
               oracle_check_word(check), (unsigned long long)totals->counts[0].faults[check],
               (unsigned long long)totals->counts[0].portability[check],
               (unsigned long long)totals->counts[1].faults[check],
               (unsigned long long)totals->counts[1].portability[check]);
    }
    return enough;
}

int main(int argc, char **argv)
{
    struct settings settings = {
        .seed = 20261130, .operations = 1000000, .traces = 20000, .threads = -1};
    struct totals totals = {0};
    if (!parse(argc, argv, &settings)) {
        fprintf(stderr,
                "usage: %s [--seed N] [--operations N] [--traces N] [--trace K]"
                " [--threads observed|strict] [--mutant N]\n",
                argv[0]);
        return 64;
    }
    printf("seed %llu\n", (unsigned long long)settings.seed);
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    bool same = true;
    for (uint64_t index = settings.one ? settings.trace : 0;
         same && (settings.one
                      ? index == settings.trace
                      : totals.traces < settings.traces || totals.operations < settings.operations);
         index++) {
        same = run_trace(&settings, index, &totals);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    bool enough = tell_counts(&settings, &totals);
    printf("%llu traces, %llu operations, both thread modes, %.1f s: %s\n",
           (unsigned long long)totals.traces, (unsigned long long)totals.operations,
           (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9,
           !same    ? "engine and oracle differ"
           : enough ? "engine and oracle agree"
                    : "too few events of a kind");
    return same && enough ? 0 : 1;
}
