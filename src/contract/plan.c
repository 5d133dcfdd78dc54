/* From a contract to commands. Invariant: equal commands are one build; the same contract gives the
 * same plan on every machine. */
#include "contract/plan_parts.h"

#include <stdio.h>
#include <string.h>

static bool same_command(const struct command_line *a, const struct command_line *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        if (strcmp(a->words[i], b->words[i]) != 0) {
            return false;
        }
    }
    return a->count == b->count;
}

/* The build that a run needs, made if it is not there yet. */
static enum ssan_status find_build(struct making *making, bool gpu, size_t *index)
{
    struct contract_plan *plan = making->plan;
    struct plan_build build = {.gpu = gpu};
    struct strbuf folder = {0}, output = {0};
    making->program = "{program}";
    making->sources = ".";
    enum ssan_status status = plan_write_build(making, gpu, "{program}", &build.plain);
    for (size_t i = 0; i < plan->builds.count && status == SSAN_OK; i++) {
        if (plan->builds.items[i].gpu == gpu &&
            same_command(&plan->builds.items[i].plain, &build.plain)) {
            *index = i;
            return SSAN_OK;
        }
    }
    if (status) {
        return status;
    }
    strbuf_printf(&folder, "builds/%02zu", plan->builds.count + 1);
    build.folder = strbuf_keep(&folder, &plan->arena);
    strbuf_printf(&output, "../%s/program", build.folder ? build.folder : "");
    making->program = strbuf_keep(&output, &plan->arena);
    if (!build.folder || !making->program) {
        return ssan_no_memory(making->err);
    }
    status = plan_write_build(making, gpu, making->program, &build.command);
    if (status) {
        return status;
    }
    *index = plan->builds.count;
    return VEC_PUSH(&plan->builds, build) ? SSAN_OK : ssan_no_memory(making->err);
}

/* "size=257 schedule=lazy": the axes that have several values, and the repeat. */
static const char *write_label(struct contract_plan *plan, const struct plan_run *run,
                               unsigned repeats)
{
    const struct matrix *matrix = &plan->matrices.items[run->matrix];
    const bool gpu = strcmp(matrix_value(matrix, run->row, "device", 6), "gpu") == 0;
    struct strbuf text = {0};
    for (size_t i = 0; i < matrix->axes.count; i++) {
        const struct axis *axis = &matrix->axes.items[i];
        if (axis->count > 1 && !(gpu && strcmp(axis->name, "schedule") == 0)) {
            strbuf_printf(&text, "%s%s=%s", text.length ? " " : "", axis->name,
                          matrix_value(matrix, run->row, axis->name, strlen(axis->name)));
        }
    }
    if (repeats > 1) {
        strbuf_printf(&text, "%srepeat=%u", text.length ? " " : "", run->repeat);
    }
    return strbuf_keep(&text, &plan->arena);
}

static enum ssan_status add_run(struct contract_plan *plan, const struct spec *spec,
                                const struct plan_options *options, struct plan_run run,
                                unsigned repeats, struct ssan_error *err)
{
    const struct matrix *matrix = &plan->matrices.items[run.matrix];
    const char *device = matrix_value(matrix, run.row, "device", 6);
    const char *schedule = matrix_value(matrix, run.row, "schedule", 8);
    struct making making = {
        .plan = plan, .spec = spec, .options = options, .run = &run, .err = err};
    struct plan_words words = {.failed = false};
    struct command_line environment = {.count = 0};
    struct strbuf folder = {0};
    snprintf(making.repeat, sizeof making.repeat, "%u", run.repeat);
    strbuf_printf(&folder, "runs/%04zu", plan->runs.count + 1);
    run.folder = strbuf_keep(&folder, &plan->arena);
    run.label = write_label(plan, &run, repeats);
    if (!run.folder || !run.label) {
        return ssan_no_memory(err);
    }
    enum ssan_status status = find_build(&making, strcmp(device, "gpu") == 0, &run.build);
    making.program = NULL;
    making.sources = RUN_SOURCES;
    if (status == SSAN_OK) {
        status = plan_write_run(&making, device, schedule, &run.command);
    }
    if (status == SSAN_OK) {
        status = plan_words_list(&words, &making, "run.environment",
                                 &spec->contract->run.environment, NULL);
    }
    if (status) {
        VEC_FREE(&words.list);
        return status;
    }
    status = plan_words_end(&words, plan, &environment, err);
    if (status == SSAN_OK) {
        run.environment = environment.words;
        status = VEC_PUSH(&plan->runs, run) ? SSAN_OK : ssan_no_memory(err);
    }
    return status;
}

/* All runs of one matrix: the contract's, or that of a fault. */
static enum ssan_status add_matrix(struct contract_plan *plan, const struct spec *spec,
                                   const struct plan_options *options, int fault,
                                   struct ssan_error *err)
{
    const struct spec_contract *contract = spec->contract;
    const unsigned repeats = fault < 0 && contract->matrix.repeats ? contract->matrix.repeats : 1;
    struct matrix matrix = {.rows = 0};
    struct ssan_error inner = {0};
    const size_t at = plan->matrices.count;
    if (!matrix_axes_of(&matrix, contract, fault, options->device) ||
        !VEC_PUSH(&plan->matrices, matrix)) {
        matrix_finish(&matrix);
        return ssan_no_memory(err);
    }
    enum ssan_status status = matrix_fill(&plan->matrices.items[at], contract->matrix.mode, &inner);
    if (status == SSAN_OK && plan->matrices.items[at].rows * repeats > MATRIX_ROWS_MOST) {
        status = ssan_fail(&inner, SSAN_FORMAT, 0, "more than %d runs", MATRIX_ROWS_MOST);
    }
    if (status) {
        return status == SSAN_FORMAT
                   ? spec_blame(err, spec, options->spec_name, "matrix", "%s", inner.text)
                   : ssan_fail(err, status, 0, "%s", inner.text);
    }
    for (size_t row = 0; row < plan->matrices.items[at].rows; row++) {
        for (unsigned repeat = 1; repeat <= repeats && status == SSAN_OK; repeat++) {
            const struct plan_run run = {
                .fault = fault, .matrix = at, .row = row, .repeat = repeat};
            status = add_run(plan, spec, options, run, repeats, err);
        }
    }
    return status;
}

enum ssan_status contract_plan_fill(struct contract_plan *plan, const struct spec *spec,
                                    const struct plan_options *options, struct ssan_error *err)
{
    *plan = (struct contract_plan){0};
    enum ssan_status status = add_matrix(plan, spec, options, -1, err);
    for (unsigned i = 0; i < spec->contract->faults_count && status == SSAN_OK; i++) {
        status = add_matrix(plan, spec, options, (int)i, err);
    }
    return status;
}

void contract_plan_finish(struct contract_plan *plan)
{
    for (size_t i = 0; i < plan->matrices.count; i++) {
        matrix_finish(&plan->matrices.items[i]);
    }
    VEC_FREE(&plan->matrices);
    VEC_FREE(&plan->builds);
    VEC_FREE(&plan->runs);
    arena_finish(&plan->arena);
}
