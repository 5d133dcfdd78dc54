/* A contract carried out: programs built, runs made and judged, faults counted as caught or missed.
 *
 * A run without a fault is right when everything that `expect` says holds. A run with a planted
 * fault is a success when the fault is seen by what `caught` says. What could not run is neither.
 */
#ifndef SSAN_CONTRACT_CONTRACT_H
#define SSAN_CONTRACT_CONTRACT_H

#include "contract/plan.h"
#include "contract/seen.h"

enum run_state { RUN_RIGHT, RUN_WRONG, RUN_CAUGHT, RUN_MISSED, RUN_NONE };
enum contract_state { CONTRACT_HOLDS, CONTRACT_BROKEN, CONTRACT_UNFINISHED };

struct build_result {
    int code;        /* exit code; -1: it has not run to its end */
    const char *why; /* it failed or was not begun; NULL: it succeeded */
    double seconds;
};

/* Texts lie in the result's arena. */
struct run_result {
    enum run_state state;
    const char *why; /* what is wrong, by what it was caught, or why it did not run; never NULL */
    const char *printed; /* the end of its output, where it is not as it should be; NULL: none */
    const char *verdict; /* of streamsan; NULL: none */
    const char *const *rules; /* ids of its error findings, NULL behind the last; NULL: none */
    int code;                 /* of the program; -1: unknown */
    double seconds;
    bool done;
};

struct fault_result {
    enum run_state state; /* RUN_CAUGHT, RUN_MISSED or RUN_NONE */
    unsigned runs, caught, none;
    const char *alike; /* how a right run without the fault fulfils `caught` too; NULL: none does */
    const char *why;   /* of the first run that tells */
};

struct contract_result {
    const struct spec *spec;
    const struct contract_plan *plan;
    struct build_result *builds; /* as plan->builds */
    struct run_result *runs;     /* as plan->runs */
    struct fault_result *faults; /* as the contract's */
    unsigned right, wrong, none; /* runs without a fault */
    enum contract_state state;
    int caught_signal; /* the user ended it; 0: not */
    double seconds;
    struct arena arena;
};

struct contract_options {
    const struct plan_options *plan;
    const char *work;      /* the folder of all files, which exists and is empty */
    const char *spec_path; /* the contract's file, for the copy */
    unsigned jobs;         /* runs at once */
    /* Called after each build and run; may be NULL. */
    void (*progress)(void *self, size_t done, size_t all, const char *what);
    void *self;
};

/* Carries out a plan. SSAN_OK also where the contract is broken: the result says so. SSAN_IO,
 * SSAN_FULL: the work folder can't be filled; SSAN_FORMAT: a file of the contract is not there;
 * SSAN_NO_MEMORY. The result borrows spec and plan, and needs contract_result_finish in any case.
 */
enum ssan_status contract_run(struct contract_result *result, const struct spec *spec,
                              const struct contract_plan *plan,
                              const struct contract_options *options, struct ssan_error *err);
void contract_result_finish(struct contract_result *result);

const char *contract_state_word(enum contract_state state);
const char *run_state_word(enum run_state state);

/* The line of the end: "holds: 12 runs right, 5 faults caught in 20 runs". */
void contract_print_summary(struct strbuf *out, const struct contract_result *result);
/* The table, and that line as the last. `kept`: the folders of runs are, and are named. `verbose`:
 * every run, else those that are not as they should be. */
void contract_print_text(struct strbuf *out, const struct contract_result *result, bool verbose,
                         bool kept);
/* docs/contract.schema.json. False when out of memory. */
bool contract_print_json(struct strbuf *out, const struct contract_result *result);

#endif
