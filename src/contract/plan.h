/* What a contract comes to: which programs are built, which runs are made of them.
 *
 * Every run has its folder runs/NNNN, every distinct build its folder builds/NN, below one work
 * folder; sources stand in sources/, and commands are written relative to these, so that they can
 * be given again where the folder is kept. */
#ifndef SSAN_CONTRACT_PLAN_H
#define SSAN_CONTRACT_PLAN_H

#include "contract/matrix.h"
#include "contract/spec.h"

#include "base/arena.h"

/* A command, NULL at its end. */
struct command_line {
    const char **words;
    size_t count;
};

struct plan_build {
    const char *folder;          /* "builds/01" */
    struct command_line command; /* run in sources/ */
    struct command_line
        plain; /* the same with "{program}" for its output: what tells builds apart */
    bool gpu;
};

struct plan_run {
    const char *folder; /* "runs/0001" */
    const char *label;  /* "size=257 schedule=lazy", "" where nothing is varied */
    size_t build;       /* index */
    int fault;          /* index, -1: none is planted */
    size_t matrix;      /* index of its matrix, and the row in it */
    size_t row;
    unsigned repeat;             /* from 1 */
    struct command_line command; /* run in its folder */
    const char **environment;    /* what the contract adds, NULL at its end */
};

struct plan_options {
    const char *tool;    /* the streamsan that commands call */
    const char *nvcc;    /* the compiler for GPUs */
    const char *include; /* folder of streamsan/annotate.h and nothing else, for nvcc; NULL: none */
    const char *library; /* folder of libstreamsan-pipeline.a, for nvcc; NULL: none */
    char *const *device; /* one word: instead of the contract's devices; NULL */
    const char *folder;  /* of the contract's file, absolute */
    bool keep_traces;
    const char *spec_name; /* for messages */
};

struct contract_plan {
    VEC(struct plan_build) builds;
    VEC(struct plan_run) runs;   /* those without a fault first */
    VEC(struct matrix) matrices; /* [0] of the contract, then one for each fault */
    struct arena arena;
};

/* Fills a plan. SSAN_FORMAT: something in the contract can't be followed, the text has file and
 * line; SSAN_IO: a file that a text is looked for in; SSAN_NO_MEMORY. The plan borrows `spec` and
 * the options' texts, and needs contract_plan_finish in any case. */
enum ssan_status contract_plan_fill(struct contract_plan *plan, const struct spec *spec,
                                    const struct plan_options *options, struct ssan_error *err);
void contract_plan_finish(struct contract_plan *plan);

/* A text of the contract with the values of a run. */
enum ssan_status contract_plan_expand(struct strbuf *out, const struct contract_plan *plan,
                                      const struct plan_options *options,
                                      const struct plan_run *run, const char *text,
                                      struct ssan_error *err);

#endif
