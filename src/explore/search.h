/* The search through all schedules of a program: which run comes next, and what the runs so far
 * say.
 *
 * First four runs that give the program's own order of work its result (the reference) and a start;
 * then one run for each class of item orders (classes.h), as late as possible towards the host;
 * then the same classes with items that the host may see done early, and with queries answered the
 * other way; then kernels that interleave. The caller runs probes, several at once if it likes, and
 * gives the results back in the order in which it got the probes: then the search takes the same
 * way each time. Invariant: a class is wrong if a run of it gave another exit status or output than
 * the reference; runs with items done early for the host, and interleaved ones, are counted apart;
 * one that could not follow its schedule, or did not end, says nothing of any class. One thread. */
#ifndef SSAN_EXPLORE_SEARCH_H
#define SSAN_EXPLORE_SEARCH_H

#include "base/rng.h"
#include "explore/classes.h"
#include "explore/count.h"
#include "explore/determinism.h"
#include "explore/run.h"

enum probe_kind {
    PROBE_FIRST,     /* eager, as the device likes: what there is to run */
    PROBE_REFERENCE, /* each item is done when the call that submits it returns */
    PROBE_AGAIN,     /* the same once more: is the output always the same? */
    PROBE_LAZY,
    PROBE_LATE,     /* a class that was met in another way, as late as possible */
    PROBE_REVERSED, /* a class that is foreseen */
    PROBE_EARLY,    /* a class with all items as early as they can that the host may see */
    PROBE_ONE,      /* a class with one of them early */
    PROBE_QUERY,    /* queries find done what they did not */
    PROBE_TORN,     /* kernels interleave */
    PROBE_RANDOM,
    PROBE_KINDS
};

struct probe {
    enum probe_kind kind;
    struct plan plan;
    uint32_t of; /* class it was made from */
    size_t pins; /* of plan.afters: those that decide answers; the rest keeps those of the class */
    struct reversal reversal;
    uint64_t seed; /* TORN, RANDOM */
};

struct probe_outcome {
    int code, end_signal;
    bool timed_out; /* it was ended after a time */
    uint64_t out_hash, out_bytes;
    bool has_memory;
    uint64_t memory_hash;
};

/* What a run gave beside its trace. */
struct probe_result {
    struct probe_outcome outcome;
    bool infeasible, forced;
};

enum search_verdict { RESULT_SAME, RESULT_MEMORY, RESULT_WRONG };

/* Runs with one result. */
struct search_group {
    struct probe_outcome outcome;
    enum search_verdict verdict;
    uint64_t runs, random_runs; /* of all kinds, PROBE_RANDOM */
    struct plan plan;           /* of its first run, interleaved ones aside */
    enum probe_kind kind;
    uint64_t number; /* of that run, from 0 */
};

/* Items that may be done early: at the return of which calls (indices). */
struct search_window {
    uint32_t item, first, last;
};

struct search_bys {
    struct plan_by *items;
    size_t count, room;
};

/* What decides how queries are answered: items done early, and items held until a call returned. */
struct search_pins {
    struct search_bys early, held;
};

/* What early items of some run could not be, since the item waits for the host. */
struct search_barred {
    struct plan_item *items;
    size_t count, room;
};

struct search_class {
    struct run *run; /* the first that was met; owned */
    struct order_count orders;
    bool asked_late, ran_late;
    uint32_t group; /* of its worst result, early items aside; MODEL_NONE: it has none */
    /* Of the run that met it, and what all runs of it keep, since the program took another way
     * without. */
    struct search_pins met, kept;
    bool keeps;
    VEC(struct search_window) windows;
    bool has_windows, asked_all_early;
    uint32_t distance, next_window; /* where the probes of single early items are */
};

struct search_limits {
    struct count_limits count;
    uint64_t random; /* > 0: so many random schedules instead of all */
    uint64_t seed;
    uint32_t torn, one_early;  /* runs of these kinds */
    uint32_t queries;          /* probes of them that may wait; what is asked then is left out */
    const struct plan *places; /* what all runs ignore and serialize; NULL: nothing; borrowed */
    uint64_t sample;           /* runs of a program that is not deterministic */
};

struct search {
    struct search_limits limits;
    struct classes classes;
    VEC(struct search_class) found;  /* as in classes.entries */
    VEC(struct search_group) groups; /* [0] is the reference's */
    VEC(struct plan_call) calls;     /* of several threads: their order, kept in all runs */
    uint32_t threads;
    struct determinism determinism;
    struct run *first;      /* PROBE_FIRST; owned */
    struct order_count all; /* linear orders of what always holds in it */
    bool fixed_items;       /* all classes have the same items */
    uint64_t items_hash;
    VEC(struct probe) queries;           /* made and not given out */
    struct map queries_seen, behaviours; /* sets of pins that were tried; runs by what they did */
    uint64_t queries_left_out;           /* calls */
    uint64_t polls_cut;                  /* loops that asked more often than is tried */
    struct probe_outcome first_outcome;
    uint64_t given, taken;                             /* probes */
    uint64_t asked[PROBE_KINDS], by_kind[PROBE_KINDS]; /* of these, by kind */
    bool output_varies, memory_varies;      /* the reference run twice was not the same */
    uint64_t infeasible, forced, unreached; /* runs */
    uint64_t unended;                       /* of the unreached: ended after their time */
    struct search_barred barred;            /* items that are no longer tried early */
    uint64_t torn_wrong, random_wrong, random_memory;
    /* Runs with early items of classes that aren't wrong as late as possible. */
    uint64_t early_tried, early_wrong;
    bool has_torn_pairs;
    struct poset_races torn_pairs; /* kernels that race, one of them with several blocks */
    struct plan torn_plan;         /* of the first wrong one */
    uint64_t torn_number;          /* of that run */
};

enum search_next { SEARCH_RUN, SEARCH_WAIT, SEARCH_DONE, SEARCH_NO_MEMORY };

void search_init(struct search *search, const struct search_limits *limits);
/* The next run to make; probe->plan belongs to the caller until search_take. WAIT: after a result.
 */
enum search_next search_next(struct search *search, struct probe *probe);
/* A run has ended. Takes over the model and the probe. False when out of memory. */
bool search_take(struct search *search, struct probe *take_probe, struct model *take_model,
                 const struct probe_result *result);
/* A probe that was not run, or whose trace could not be read. */
void search_skip(struct search *search, struct probe *take_probe);

/* Whether two runs ended and printed alike, as far as that counts. */
bool search_same_output(const struct search *search, const struct probe_outcome *a,
                        const struct probe_outcome *b);

/* How many classes and linear orders were run, and how many of them were wrong. */
struct search_sums {
    uint64_t classes, wrong_classes, memory_classes;
    long double orders, wrong, memory;
    bool estimated; /* one of them is */
    long double total;
    bool total_estimated; /* or a lower bound, while not all is run */
};
struct search_sums search_sum(const struct search *search);
/* What is still to be run until all orders are; single early items and interleaved kernels are
 * extra.
 */
uint64_t search_left(const struct search *search);
/* Of single early items and interleaved kernels, what is still to be run; 0 as long as it isn't
 * known. */
uint64_t search_left_extra(const struct search *search);
/* Places of single items that may be done early: what there is to try, beyond any limit. */
uint64_t search_early_places(const struct search *search);
void search_finish(struct search *search);
void probe_finish(struct probe *probe);

#endif
