/* Lets the engine judge proposed fixes on the whole trace, and folds findings into those whose fix
 * removes them. */
#ifndef SSAN_CORE_EXPLAIN_CHECK_H
#define SSAN_CORE_EXPLAIN_CHECK_H

#include "core/explain.h"
#include "core/explain_fix.h"

/* A finding in the making: hazards of one key. */
struct work {
    const struct hazard *hazard; /* the one that tells: the gravest, of these the earliest */
    uint64_t key, pair_key, count;
    enum severity severity;
    struct pair pair;
    struct miss miss;
    struct proposal proposals[FIX_PROPOSALS];
    size_t proposal_count;
    const struct proposal *fix; /* the one that passed, NULL: none */
    bool *gone;                 /* by work: what the fix removes */
    bool checked;               /* its proposals were tried */
    size_t folded_into;         /* work, or itself */
};

struct checker {
    const struct history *history;
    struct ssan_source *source;
    const struct explain_options *options;
    struct arena *arena; /* of `gone` */
    struct work *works;  /* in order of the findings: by then's position, the strongest first */
    size_t work_count;
    struct map work_of; /* key -> work */
    VEC(size_t) fixed;  /* works with a fix */
    uint64_t checks;    /* re-runs so far */
};

/* Which severity counts under the options. */
enum severity effective_severity(const struct explain_options *options,
                                 const struct hazard *hazard);

/* Sets fix, gone and folded_into of all works. A re-run that fails on the edits is a fix that does
 * not work; only lack of memory is an error. At most options->max_checks re-runs, each O(trace). */
enum ssan_status check_fixes(struct checker *checker, struct ssan_error *err);

#endif
