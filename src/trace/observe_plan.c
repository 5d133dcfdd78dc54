/* Reads, prints and asks the plan of what is observed on a GPU.
 *
 * Invariant: what is printed reads back to the same plan; each directive but `kernel` and `gate`
 * stands once. Cost: O(length); a question costs one match a `kernel` line. */
#include "trace/observe_plan.h"

#include "trace/directive.h"
#include "trace/mangled.h"

#include "base/file.h"
#include "base/mem.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX (1u << 20)

/* A plan being read, and which directives it had. */
struct reading {
    struct observe_plan *plan;
    bool accesses, skip, count, memory;
};

void observe_plan_init(struct observe_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->accesses = SSAN_accesses_EXACT;
}

static enum ssan_status once(const struct directive *line, bool *seen, const char *word)
{
    if (*seen) {
        return directive_refuse(line, "a second line of", word);
    }
    *seen = true;
    return SSAN_OK;
}

static enum ssan_status parse_accesses(struct directive *line, void *self)
{
    struct reading *reading = self;
    char word[32];
    int value;
    if (!directive_word(line, word, sizeof word)) {
        return directive_refuse(line, "accesses are exact, footprint or off", NULL);
    }
    value = ssan_enum_find(SSAN_TABLE_accesses, word, strlen(word));
    if (value < 0) {
        return directive_refuse(line, "accesses are exact, footprint or off, not", word);
    }
    reading->plan->accesses = (enum ssan_accesses)value;
    return once(line, &reading->accesses, "accesses");
}

static enum ssan_status parse_kernel(struct directive *line, void *self)
{
    struct reading *reading = self;
    char word[OBSERVE_GLOB_ROOM + 1];
    if (!directive_word(line, word, sizeof word) || (word[0] != '+' && word[0] != '-') ||
        !word[1]) {
        return directive_refuse(line, "a kernel line is + or - and a pattern", NULL);
    }
    if (strlen(word) == sizeof word - 1) {
        return directive_refuse(line, "the pattern is too long", NULL);
    }
    return observe_plan_add_kernel(reading->plan, word[0] == '-', word + 1)
               ? SSAN_OK
               : directive_no_memory(line);
}

/* A number, which is the rest of the line. */
static enum ssan_status parse_number(struct directive *line, uint64_t least, uint64_t *number)
{
    char word[32];
    uint64_t value;
    if (!directive_word(line, word, sizeof word)) {
        return directive_refuse(line, "a number is missing", NULL);
    }
    if (!directive_number(word, 10, &value) || value < least) {
        return directive_refuse(line,
                                least ? "a number from 1 is wanted, not" : "no number:", word);
    }
    *number = value;
    return SSAN_OK;
}

static enum ssan_status parse_skip(struct directive *line, void *self)
{
    struct reading *reading = self;
    enum ssan_status status = once(line, &reading->skip, "launch-skip");
    return status ? status : parse_number(line, 0, &reading->plan->launch_skip);
}

static enum ssan_status parse_count(struct directive *line, void *self)
{
    struct reading *reading = self;
    enum ssan_status status = once(line, &reading->count, "launch-count");
    return status ? status : parse_number(line, 1, &reading->plan->launch_count);
}

static enum ssan_status parse_memory(struct directive *line, void *self)
{
    struct reading *reading = self;
    enum ssan_status status = once(line, &reading->memory, "device-memory");
    return status ? status : parse_number(line, 1, &reading->plan->device_memory_bytes);
}

static enum ssan_status parse_window(struct directive *line, void *self)
{
    struct observe_plan *plan = ((struct reading *)self)->plan;
    char word[32];
    if (!directive_word(line, word, sizeof word) ||
        (strcmp(word, "profiler") != 0 && strcmp(word, "nvtx") != 0)) {
        return directive_refuse(line, "a window is 'profiler', or 'nvtx' and a name", NULL);
    }
    if (plan->window != OBSERVE_ALWAYS) {
        return directive_refuse(line, "a second line of", "window");
    }
    if (word[0] == 'p') {
        plan->window = OBSERVE_PROFILER;
        return SSAN_OK;
    }
    plan->window = OBSERVE_NVTX;
    plan->window_name = directive_rest(line);
    return !plan->window_name   ? directive_no_memory(line)
           : *plan->window_name ? SSAN_OK
                                : directive_refuse(line, "the name of a range is missing", NULL);
}

static enum ssan_status parse_gate(struct directive *line, void *self)
{
    struct reading *reading = self;
    char *words = directive_rest(line);
    enum ssan_status status = SSAN_OK;
    if (!words) {
        return directive_no_memory(line);
    }
    if (!*words) {
        status = directive_refuse(line, "a gate needs words", NULL);
    } else if (!observe_plan_add_gate(reading->plan, words)) {
        status = directive_no_memory(line);
    }
    mem_free(words);
    return status;
}

static const struct directive_kind kinds[] = {
    {"accesses", parse_accesses},  {"kernel", parse_kernel}, {"launch-skip", parse_skip},
    {"launch-count", parse_count}, {"window", parse_window}, {"device-memory", parse_memory},
    {"gate", parse_gate},
};

enum ssan_status observe_plan_parse(struct observe_plan *plan, const char *name, const char *text,
                                    size_t length, struct ssan_error *err)
{
    struct directive line = {.name = name, .err = err};
    struct reading reading = {.plan = plan};
    observe_plan_init(plan);
    return directive_parse(&line, OBSERVE_FIRST_LINE, kinds, sizeof kinds / sizeof *kinds, &reading,
                           text, length);
}

enum ssan_status observe_plan_read(struct observe_plan *plan, const char *folder,
                                   struct ssan_error *err)
{
    struct strbuf path = {0}, text = {0};
    enum ssan_status status = SSAN_OK;
    observe_plan_init(plan);
    strbuf_printf(&path, "%s/" OBSERVE_FILE, folder);
    if (path.failed) {
        status = ssan_no_memory(err);
    } else if (access(strbuf_text(&path), F_OK) == 0) {
        status = file_read(&text, strbuf_text(&path), FILE_BYTES_MAX, err);
        if (status == SSAN_OK) {
            status = observe_plan_parse(plan, OBSERVE_FILE, strbuf_text(&text), text.length, err);
        }
    }
    strbuf_finish(&text);
    strbuf_finish(&path);
    return status;
}

bool observe_plan_add_kernel(struct observe_plan *plan, bool leave_out, const char *glob)
{
    struct observe_kernel kernel = {leave_out, mem_strdup(glob)};
    if (!kernel.glob || !VEC_PUSH(&plan->kernels, kernel)) {
        mem_free(kernel.glob);
        return false;
    }
    return true;
}

bool observe_plan_add_gate(struct observe_plan *plan, const char *words)
{
    char *copy = mem_strdup(words);
    if (!copy || !VEC_PUSH(&plan->gates, copy)) {
        mem_free(copy);
        return false;
    }
    return true;
}

bool observe_plan_is_plain(const struct observe_plan *plan)
{
    return plan->accesses == SSAN_accesses_EXACT && plan->kernels.count == 0 &&
           plan->launch_skip == 0 && plan->launch_count == 0 && plan->window == OBSERVE_ALWAYS &&
           plan->device_memory_bytes == 0 && plan->gates.count == 0;
}

static void print_number(struct strbuf *out, const char *word, uint64_t number)
{
    if (number) {
        strbuf_printf(out, "%s %" PRIu64 "\n", word, number);
    }
}

void observe_plan_print(const struct observe_plan *plan, struct strbuf *out)
{
    strbuf_printf(out, OBSERVE_FIRST_LINE "\naccesses %s\n",
                  ssan_enum_word(SSAN_TABLE_accesses, plan->accesses));
    for (size_t i = 0; i < plan->kernels.count; i++) {
        strbuf_printf(out, "kernel %c", plan->kernels.items[i].leave_out ? '-' : '+');
        directive_print(plan->kernels.items[i].glob, true, out);
        strbuf_puts(out, "\n");
    }
    print_number(out, "launch-skip", plan->launch_skip);
    print_number(out, "launch-count", plan->launch_count);
    if (plan->window == OBSERVE_PROFILER) {
        strbuf_puts(out, "window profiler\n");
    } else if (plan->window == OBSERVE_NVTX) {
        strbuf_puts(out, "window nvtx ");
        directive_print(plan->window_name, false, out);
        strbuf_puts(out, "\n");
    }
    print_number(out, "device-memory", plan->device_memory_bytes);
    for (size_t i = 0; i < plan->gates.count; i++) {
        strbuf_puts(out, "gate ");
        directive_print(plan->gates.items[i], false, out);
        strbuf_puts(out, "\n");
    }
}

static void add_globs(const struct observe_plan *plan, bool leave_out, const char *before,
                      struct strbuf *out)
{
    const char *gap = before;
    for (size_t i = 0; i < plan->kernels.count; i++) {
        if (plan->kernels.items[i].leave_out == leave_out) {
            strbuf_printf(out, "%s%s", gap, plan->kernels.items[i].glob);
            gap = ", ";
        }
    }
}

void observe_plan_words(const struct observe_plan *plan, struct strbuf *out)
{
    const size_t begin = out->length;
    add_globs(plan, false, "kernels ", out);
    add_globs(plan, true, out->length > begin ? " but " : "all kernels but ", out);
    if (plan->launch_skip || plan->launch_count) {
        strbuf_printf(out, "%slaunches from %" PRIu64 " on", out->length > begin ? ", " : "",
                      plan->launch_skip + 1);
        if (plan->launch_count) {
            strbuf_printf(out, ", %" PRIu64 " at most", plan->launch_count);
        }
    }
    if (plan->window != OBSERVE_ALWAYS) {
        strbuf_printf(out, "%sinside %s%s%s", out->length > begin ? ", " : "",
                      plan->window == OBSERVE_NVTX ? "the NVTX range '" : "profiler windows",
                      plan->window == OBSERVE_NVTX ? plan->window_name : "",
                      plan->window == OBSERVE_NVTX ? "'" : "");
    }
}

/* Whether a pattern fits the name, which of programs without a demangler is a mangled one: then its
 * plain part, with "<...>" for the arguments of a template. */
static bool glob_fits(const char *glob, const char *kernel)
{
    char plain[OBSERVE_GLOB_ROOM + sizeof "<...>"];
    bool is_template;
    if (fnmatch(glob, kernel, 0) == 0) {
        return true;
    }
    if (!mangled_plain(kernel, plain, OBSERVE_GLOB_ROOM, &is_template)) {
        return false;
    }
    if (is_template) {
        strcat(plain, "<...>");
    }
    return fnmatch(glob, plain, 0) == 0;
}

bool observe_plan_fits(const struct observe_plan *plan, const char *kernel)
{
    bool wants = false, wanted = false;
    for (size_t i = 0; i < plan->kernels.count; i++) {
        const struct observe_kernel *line = &plan->kernels.items[i];
        bool fits = glob_fits(line->glob, kernel);
        if (line->leave_out && fits) {
            return false;
        }
        wants |= !line->leave_out;
        wanted |= !line->leave_out && fits;
    }
    return wanted || !wants;
}

bool observe_plan_counts(const struct observe_plan *plan, uint64_t number)
{
    return number >= plan->launch_skip &&
           (plan->launch_count == 0 || number - plan->launch_skip < plan->launch_count);
}

void observe_plan_finish(struct observe_plan *plan)
{
    for (size_t i = 0; i < plan->kernels.count; i++) {
        mem_free(plan->kernels.items[i].glob);
    }
    for (size_t i = 0; i < plan->gates.count; i++) {
        mem_free(plan->gates.items[i]);
    }
    mem_free(plan->window_name);
    plan->window_name = NULL;
    VEC_FREE(&plan->kernels);
    VEC_FREE(&plan->gates);
}
