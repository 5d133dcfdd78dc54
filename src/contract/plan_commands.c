/* The two commands: the one that makes a program, and the one that runs it under the tool. */
#include "contract/plan_parts.h"

#include "contract/forms.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

#define SOURCE_BYTES_MOST (16u << 20)

/* Options of the compiler. For nvcc a library of ours is its archive, as `streamsan cc` takes it:
 * the shared object can't use the cudart that nvcc links. */
static enum ssan_status add_options(struct plan_words *words, const struct making *making, bool gpu)
{
    static const char ours[] = "-lstreamsan-";
    const size_t begin = words->list.count;
    const enum ssan_status status = plan_words_list(words, making, "build.options",
                                                    &making->spec->contract->build.options, NULL);
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
static enum ssan_status add_macros(struct plan_words *words, const struct making *making)
{
    const struct spec_list *macros = &making->spec->contract->build.macros;
    const struct spec_fault *fault = fault_of(making);
    const enum ssan_status status = plan_words_list(words, making, "build.macros", macros, "-D");
    char path[64];
    snprintf(path, sizeof path, "faults[%d].macros", making->run->fault);
    return status || !fault ? status : plan_words_list(words, making, path, &fault->macros, "-D");
}

enum ssan_status plan_write_build(const struct making *making, bool gpu, const char *output,
                                  struct command_line *command)
{
    const struct spec_build *build = &making->spec->contract->build;
    const struct plan_options *options = making->options;
    const bool own = build->command.count > 0;
    struct plan_words words = {.failed = false};
    bool placed = false; /* the macros */
    enum ssan_status status = SSAN_OK;
    for (unsigned i = 0; i < build->command.count && status == SSAN_OK; i++) {
        const struct spec_list word = {build->command.items + i, 1};
        const bool here = strcmp(word.items[0], "{macros}") == 0;
        placed |= here;
        status = here ? add_macros(&words, making)
                      : plan_words_list(&words, making, "build.command", &word, NULL);
    }
    if (!own && gpu) {
        plan_words_add(&words, options->nvcc);
        plan_words_add(&words, "-lineinfo");
        if (options->include) {
            plan_words_print(&words, making->plan, "-I%s", options->include);
        }
        if (options->library) {
            plan_words_print(&words, making->plan, "-L%s", options->library);
        }
    } else if (!own) {
        plan_words_add(&words, options->tool);
        plan_words_add(&words, "cc");
        plan_words_add(&words, "-g");
    }
    if (status == SSAN_OK && !placed) {
        status = add_macros(&words, making);
    }
    if (status == SSAN_OK && !own) {
        plan_words_add(&words, "-o");
        plan_words_add(&words, output);
        status = plan_words_list(&words, making, "build.sources", &build->sources, NULL);
    }
    if (status == SSAN_OK && !own) { /* behind the sources: `-lNAME` is for those before it */
        status = add_options(&words, making, gpu);
    }
    if (status) {
        VEC_FREE(&words.list);
        return status;
    }
    return plan_words_end(&words, making->plan, command, making->err);
}

/* A word of `ignore` as FILE:LINE, for `run`. */
static enum ssan_status add_place(struct plan_words *words, const struct making *making,
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
        plan_words_add(words, text);
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
            plan_words_print(words, making->plan, "%.*s:%u", (int)place.file_length, text, line);
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

static enum ssan_status add_planted(struct plan_words *words, const struct making *making)
{
    const struct spec_fault *fault = fault_of(making);
    char path[64];
    enum ssan_status status = SSAN_OK;
    if (!fault) {
        return SSAN_OK;
    }
    for (unsigned i = 0; i < fault->ignore.count && status == SSAN_OK; i++) {
        snprintf(path, sizeof path, "faults[%d].ignore[%u]", making->run->fault, i);
        plan_words_add(words, "--ignore");
        status = add_place(words, making, path, fault->ignore.items[i]);
    }
    snprintf(path, sizeof path, "faults[%d].fail", making->run->fault);
    if (status == SSAN_OK) {
        status = plan_words_list(words, making, path, &fault->fail, "--fail=");
    }
    snprintf(path, sizeof path, "faults[%d].options", making->run->fault);
    return status == SSAN_OK ? plan_words_list(words, making, path, &fault->options, NULL) : status;
}

/* A schedule's file beside the contract is copied with its sources. */
static void add_schedule(struct plan_words *words, const struct making *making,
                         const char *schedule)
{
    plan_words_add(words, "--schedule");
    if (strncmp(schedule, "file:", 5) == 0 && forms_is_below(schedule + 5)) {
        plan_words_print(words, making->plan, "file:" RUN_SOURCES "/%s", schedule + 5);
    } else {
        plan_words_add(words, schedule);
    }
}

/* Takes out `--threads MODE`, from position `begin` on: a GPU has none of those modes. */
static void drop_threads(struct plan_words *words, size_t begin)
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

enum ssan_status plan_write_run(struct making *making, const char *device, const char *schedule,
                                struct command_line *command)
{
    const struct spec_run *run = &making->spec->contract->run;
    const bool gpu = strcmp(device, "gpu") == 0;
    struct plan_words words = {.failed = false};
    plan_words_add(&words, making->options->tool);
    plan_words_add(&words, "run");
    plan_words_add(&words, "--device");
    plan_words_add(&words, device);
    if (!gpu) {
        add_schedule(&words, making, schedule);
    }
    const size_t begin = words.list.count;
    enum ssan_status status = plan_words_list(&words, making, "run.options", &run->options, NULL);
    if (status == SSAN_OK) {
        status = add_planted(&words, making);
    }
    if (gpu) {
        drop_threads(&words, begin);
    }
    if (making->options->keep_traces) {
        plan_words_add(&words, "--trace");
        plan_words_add(&words, "trace.ssan");
    }
    plan_words_add(&words, "--format");
    plan_words_add(&words, "json");
    plan_words_add(&words, "--output");
    plan_words_add(&words, "report.json");
    plan_words_add(&words, "--");
    plan_words_print(&words, making->plan, "../../%s/program",
                     making->plan->builds.items[making->run->build].folder);
    if (status == SSAN_OK) {
        status = plan_words_list(&words, making, "run.arguments", &run->arguments, NULL);
    }
    if (status) {
        VEC_FREE(&words.list);
        return status;
    }
    return plan_words_end(&words, making->plan, command, making->err);
}
