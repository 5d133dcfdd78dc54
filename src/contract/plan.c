/* From a contract to commands. Invariant: equal commands are one build; the same contract gives the
 * same plan on every machine. */
#include "contract/plan.h"

#include "contract/expand.h"
#include "contract/forms.h"

#include "base/file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#define RUN_SOURCES       "../../sources"
#define SOURCE_BYTES_MOST (16u << 20)

/* A run while its commands are written. */
struct making {
    struct contract_plan *plan;
    const struct spec *spec;
    const struct plan_options *options;
    const struct plan_run *run;
    const char *program; /* NULL: none yet */
    const char *sources; /* from where the command runs */
    char repeat[16];
    struct ssan_error *err;
};

/* Words of a command; `failed` when out of memory. */
struct words {
    VEC(const char *) list;
    bool failed;
};

static const char *find_value(const void *self, const char *name, size_t length)
{
    const struct making *making = self;
    const struct {
        const char *name, *value;
    } own[] = {{"repeat", making->repeat},
               {"program", making->program},
               {"sources", making->sources},
               {"folder", making->options->folder}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strlen(own[i].name) == length && memcmp(own[i].name, name, length) == 0) {
            return own[i].value;
        }
    }
    return matrix_value(&making->plan->matrices.items[making->run->matrix], making->run->row, name,
                        length);
}

static enum ssan_status expand_for(struct strbuf *out, const struct making *making,
                                   const char *text, struct ssan_error *err)
{
    const struct expand_names names = {find_value, making};
    return expand(out, text, &names, err);
}

enum ssan_status contract_plan_expand(struct strbuf *out, const struct contract_plan *plan,
                                      const struct plan_options *options,
                                      const struct plan_run *run, const char *text,
                                      struct ssan_error *err)
{
    struct making making = {.plan = (struct contract_plan *)plan,
                            .options = options,
                            .run = run,
                            .sources = RUN_SOURCES,
                            .err = err};
    snprintf(making.repeat, sizeof making.repeat, "%u", run->repeat);
    return expand_for(out, &making, text, err);
}

static void add(struct words *words, const char *word)
{
    words->failed |= !word || !VEC_PUSH(&words->list, word);
}

__attribute__((format(printf, 3, 4))) static void
add_printed(struct words *words, struct contract_plan *plan, const char *format, ...)
{
    struct strbuf text = {0};
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    add(words, strbuf_keep(&text, &plan->arena));
}

/* The words of a list with their values; `option` (may be NULL) and the word are one, `path` is
 * that of the list in the document. */
static enum ssan_status add_list(struct words *words, const struct making *making, const char *path,
                                 const struct spec_list *list, const char *option)
{
    for (unsigned i = 0; i < list->count; i++) {
        struct strbuf text = {0};
        struct ssan_error inner = {0};
        strbuf_puts(&text, option ? option : "");
        const enum ssan_status status = expand_for(&text, making, list->items[i], &inner);
        if (status == SSAN_FORMAT) {
            strbuf_finish(&text);
            return spec_blame(making->err, making->spec, making->options->spec_name, path, "%s",
                              inner.text);
        }
        add(words, strbuf_keep(&text, &making->plan->arena));
    }
    return SSAN_OK;
}

/* Moves the words into the arena, with the NULL behind them. */
static enum ssan_status end_words(struct words *words, struct contract_plan *plan,
                                  struct command_line *command, struct ssan_error *err)
{
    const size_t count = words->list.count;
    const char **kept =
        words->failed ? NULL : arena_alloc(&plan->arena, (count + 1) * sizeof *kept);
    if (kept) {
        if (count) {
            memcpy(kept, words->list.items, count * sizeof *kept);
        }
        kept[count] = NULL;
        *command = (struct command_line){kept, count};
    }
    VEC_FREE(&words->list);
    return kept ? SSAN_OK : ssan_no_memory(err);
}

/* Options of the compiler. For nvcc a library of ours is its archive, as `streamsan cc` takes it:
 * the shared object can't use the cudart that nvcc links. */
static enum ssan_status add_options(struct words *words, const struct making *making, bool gpu)
{
    static const char ours[] = "-lstreamsan-";
    const size_t begin = words->list.count;
    const enum ssan_status status =
        add_list(words, making, "build.options", &making->spec->contract->build.options, NULL);
    for (size_t i = begin; gpu && i < words->list.count && !words->failed; i++) {
        const char *word = words->list.items[i];
        if (strncmp(word, ours, sizeof ours - 1) == 0) {
            struct strbuf text = {0};
            strbuf_printf(&text, "-l:lib%s.a", word + 2);
            words->list.items[i] = strbuf_keep(&text, &making->plan->arena);
            words->failed |= !words->list.items[i];
        }
    }
    return status;
}

static const struct spec_fault *fault_of(const struct making *making)
{
    return making->run->fault < 0 ? NULL : &making->spec->contract->faults[making->run->fault];
}

/* The macros of the build and of the fault, a -D word each. */
static enum ssan_status add_macros(struct words *words, const struct making *making)
{
    const struct spec_list *macros = &making->spec->contract->build.macros;
    const struct spec_fault *fault = fault_of(making);
    const enum ssan_status status = add_list(words, making, "build.macros", macros, "-D");
    char path[64];
    snprintf(path, sizeof path, "faults[%d].macros", making->run->fault);
    return status || !fault ? status : add_list(words, making, path, &fault->macros, "-D");
}

/* The command that makes the program; `output` is where. */
static enum ssan_status write_build(const struct making *making, bool gpu, const char *output,
                                    struct command_line *command)
{
    const struct spec_build *build = &making->spec->contract->build;
    const struct plan_options *options = making->options;
    const bool own = build->command.count > 0;
    struct words words = {.failed = false};
    bool placed = false; /* the macros */
    enum ssan_status status = SSAN_OK;
    for (unsigned i = 0; i < build->command.count && status == SSAN_OK; i++) {
        const struct spec_list word = {build->command.items + i, 1};
        const bool here = strcmp(word.items[0], "{macros}") == 0;
        placed |= here;
        status = here ? add_macros(&words, making)
                      : add_list(&words, making, "build.command", &word, NULL);
    }
    if (!own && gpu) {
        add(&words, options->nvcc);
        add(&words, "-lineinfo");
        if (options->include) {
            add_printed(&words, making->plan, "-I%s", options->include);
        }
        if (options->library) {
            add_printed(&words, making->plan, "-L%s", options->library);
        }
    } else if (!own) {
        add(&words, options->tool);
        add(&words, "cc");
        add(&words, "-g");
    }
    if (status == SSAN_OK && !placed) {
        status = add_macros(&words, making);
    }
    if (status == SSAN_OK && !own) {
        add(&words, "-o");
        add(&words, output);
        status = add_list(&words, making, "build.sources", &build->sources, NULL);
    }
    if (status == SSAN_OK && !own) { /* behind the sources: `-lNAME` is for those before it */
        status = add_options(&words, making, gpu);
    }
    if (status) {
        VEC_FREE(&words.list);
        return status;
    }
    return end_words(&words, making->plan, command, making->err);
}

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
    enum ssan_status status = write_build(making, gpu, "{program}", &build.plain);
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
    status = write_build(making, gpu, making->program, &build.command);
    if (status) {
        return status;
    }
    *index = plan->builds.count;
    return VEC_PUSH(&plan->builds, build) ? SSAN_OK : ssan_no_memory(making->err);
}

/* A word of `ignore` as FILE:LINE, for `run`. */
static enum ssan_status add_place(struct words *words, const struct making *making,
                                  const char *path, const char *text)
{
    struct forms_place place;
    struct strbuf name = {0}, source = {0};
    enum ssan_status status = SSAN_OK;
    if (!forms_place(&place, text)) {
        return spec_blame(making->err, making->spec, making->options->spec_name, path,
                          "FILE:LINE or FILE:/text/ is wanted");
    }
    if (!place.text) {
        add(words, text);
        return SSAN_OK;
    }
    strbuf_printf(&name, "%s/%.*s", making->options->folder, (int)place.file_length, text);
    struct ssan_error inner = {0};
    status = name.failed ? ssan_no_memory(making->err)
                         : file_read(&source, strbuf_text(&name), SOURCE_BYTES_MOST, &inner);
    if (status && !name.failed) {
        status = status == SSAN_NO_MEMORY
                     ? ssan_no_memory(making->err)
                     : spec_blame(making->err, making->spec, making->options->spec_name, path, "%s",
                                  inner.text);
    }
    if (status == SSAN_OK) {
        unsigned count;
        const unsigned line =
            forms_line_with(strbuf_text(&source), place.text, place.text_length, &count);
        if (line) {
            add_printed(words, making->plan, "%.*s:%u", (int)place.file_length, text, line);
        } else {
            status = spec_blame(making->err, making->spec, making->options->spec_name, path,
                                "%u lines of %.*s hold '%.*s', and one is wanted", count,
                                (int)(place.file_length < 80 ? place.file_length : 80), text,
                                (int)(place.text_length < 80 ? place.text_length : 80), place.text);
        }
    }
    strbuf_finish(&name);
    strbuf_finish(&source);
    return status;
}

static enum ssan_status add_planted(struct words *words, const struct making *making)
{
    const struct spec_fault *fault = fault_of(making);
    char path[64];
    enum ssan_status status = SSAN_OK;
    if (!fault) {
        return SSAN_OK;
    }
    for (unsigned i = 0; i < fault->ignore.count && status == SSAN_OK; i++) {
        snprintf(path, sizeof path, "faults[%d].ignore[%u]", making->run->fault, i);
        add(words, "--ignore");
        status = add_place(words, making, path, fault->ignore.items[i]);
    }
    snprintf(path, sizeof path, "faults[%d].fail", making->run->fault);
    if (status == SSAN_OK) {
        status = add_list(words, making, path, &fault->fail, "--fail=");
    }
    snprintf(path, sizeof path, "faults[%d].options", making->run->fault);
    return status == SSAN_OK ? add_list(words, making, path, &fault->options, NULL) : status;
}

/* A schedule's file beside the contract is copied with its sources. */
static void add_schedule(struct words *words, const struct making *making, const char *schedule)
{
    add(words, "--schedule");
    if (strncmp(schedule, "file:", 5) == 0 && forms_is_below(schedule + 5)) {
        add_printed(words, making->plan, "file:" RUN_SOURCES "/%s", schedule + 5);
    } else {
        add(words, schedule);
    }
}

/* Takes out `--threads MODE`, from position `begin` on: a GPU has none of those modes. */
static void drop_threads(struct words *words, size_t begin)
{
    static const char option[] = "--threads";
    size_t to = begin;
    for (size_t i = begin; i < words->list.count; i++) {
        const char *word = words->list.items[i];
        if (strcmp(word, option) == 0) {
            i++; /* its value */
        } else if (strncmp(word, option, sizeof option - 1) != 0 ||
                   word[sizeof option - 1] != '=') {
            words->list.items[to++] = word;
        }
    }
    words->list.count = to;
}

/* The command of a run; its program is that of its build. */
static enum ssan_status write_run(struct making *making, const char *device, const char *schedule,
                                  struct command_line *command)
{
    const struct spec_run *run = &making->spec->contract->run;
    const bool gpu = strcmp(device, "gpu") == 0;
    struct words words = {.failed = false};
    add(&words, making->options->tool);
    add(&words, "run");
    add(&words, "--device");
    add(&words, device);
    if (!gpu) {
        add_schedule(&words, making, schedule);
    }
    const size_t begin = words.list.count;
    enum ssan_status status = add_list(&words, making, "run.options", &run->options, NULL);
    if (status == SSAN_OK) {
        status = add_planted(&words, making);
    }
    if (gpu) {
        drop_threads(&words, begin);
    }
    if (making->options->keep_traces) {
        add(&words, "--trace");
        add(&words, "trace.ssan");
    }
    add(&words, "--format");
    add(&words, "json");
    add(&words, "--output");
    add(&words, "report.json");
    add(&words, "--");
    add_printed(&words, making->plan, "../../%s/program",
                making->plan->builds.items[making->run->build].folder);
    if (status == SSAN_OK) {
        status = add_list(&words, making, "run.arguments", &run->arguments, NULL);
    }
    if (status) {
        VEC_FREE(&words.list);
        return status;
    }
    return end_words(&words, making->plan, command, making->err);
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
    struct words words = {.failed = false};
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
        status = write_run(&making, device, schedule, &run.command);
    }
    if (status == SSAN_OK) {
        status =
            add_list(&words, &making, "run.environment", &spec->contract->run.environment, NULL);
    }
    if (status) {
        VEC_FREE(&words.list);
        return status;
    }
    status = end_words(&words, plan, &environment, err);
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
