/* Takes the values of options, each kind by a function of its own: files, numbers, sizes, and one
 * of several words. */
#include "cli/options_parts.h"

#include "contract/forms.h"
#include "trace/gate_words.h"

#include <stdlib.h>
#include <string.h>

/* The most that numbers may be: what is above was mistyped. */
#define MOST_EXIT_CODE 255
#define MOST_JOBS      1024
#define MOST_RUNS      10000000
#define MOST_SEED      4000000000u
#define MOST_REPEAT    1000000
#define MOST_LAUNCHES  4000000000u
#define MOST_SHOWN     1000000

static const struct option_value {
    int key;
    const char *word;
    int value;
} values[] = {
#define VALUE(key, word, value) {KEY_##key, word, value},
#include "cli/options.def"
#undef VALUE
};

static const struct option_value later_values[] = {
#define LATER_VALUE(key, word) {KEY_##key, word, 0},
#include "cli/options.def"
#undef LATER_VALUE
};

static error_t refuse_word(struct reading *reading, int key, const char *word)
{
    const struct option_info *info = options_info(key);
    char takes[200];
    size_t used = 0;
    const char *p;
    for (p = info->argument; *p && used + 3 < sizeof takes; p++) {
        if (*p == '|') {
            takes[used++] = ',';
        }
        takes[used++] = *p == '|' ? ' ' : *p;
    }
    takes[used] = '\0';
    reading->status =
        ssan_fail(reading->err, SSAN_USAGE, 0, "--%s does not take '%.200s': it takes %s",
                  info->name, word, takes);
    return EINVAL;
}

/* A file that the tool is to write. Standard output belongs to the program. */
/* Looks up the word of an option that takes one of several; names those that come later. */
static error_t take_word(struct reading *reading, int key, const char *word, int *value)
{
    const char *name = options_info(key)->name;
    size_t i;
    for (i = 0; i < sizeof values / sizeof *values; i++) {
        if (values[i].key == key && strcmp(values[i].word, word) == 0) {
            *value = values[i].value;
            return 0;
        }
    }
    for (i = 0; i < sizeof later_values / sizeof *later_values; i++) {
        const char *later = later_values[i].word;
        size_t length = strlen(later);
        bool prefix = later[length - 1] == ':';
        if (later_values[i].key == key &&
            (prefix ? strncmp(later, word, length) == 0 : strcmp(later, word) == 0)) {
            return options_refuse(reading, "--%s %s is not there yet", name, word);
        }
    }
    return refuse_word(reading, key, word);
}

static error_t no_memory(struct reading *reading)
{
    reading->status = ssan_no_memory(reading->err);
    return EINVAL;
}

/* A file that is wrong keeps its own status and words, which begin with its name. */
static error_t take_schedule(struct reading *reading, const char *word)
{
    struct options *options = reading->options;
    struct ssan_error err = {0};
    plan_finish(&options->plan);
    reading->status = plan_read(&options->plan, word, &err);
    if (reading->status) {
        ssan_fail(reading->err, reading->status, err.position, "%s%.480s",
                  reading->status == SSAN_USAGE ? "--schedule: " : "", err.text);
        return EINVAL;
    }
    options->schedule = word;
    return 0;
}

/* A file that is wrong keeps its own status and words, which name it. */
static error_t take_suppressions(struct reading *reading, const char *word)
{
    reading->status = suppress_file_read(&reading->options->suppressions, word, reading->err);
    return reading->status ? EINVAL : 0;
}

static error_t take_exit_code(struct reading *reading, int key, const char *word)
{
    unsigned number = 0;
    error_t error = options_take_number(reading, key, word, MOST_EXIT_CODE, &number);
    if (!error) {
        reading->options->error_exitcode = (int)number;
    }
    return error;
}

/* A pattern that a line of the plan can hold. */
static error_t take_kernel(struct reading *reading, int key, const char *word)
{
    struct option_kernel kernel = {key == KEY_EXCLUDE_KERNEL, word};
    if (!*word || strlen(word) >= OBSERVE_GLOB_ROOM) {
        return options_refuse(reading, "--%s takes a pattern for names of kernels, not '%s'",
                              options_info(key)->name, word);
    }
    return VEC_PUSH(&reading->options->kernels, kernel) ? 0 : no_memory(reading);
}

/* The words of a gate; `serialize` is one too. */
static error_t take_gate(struct reading *reading, const char *word)
{
    struct options *options = reading->options;
    struct gate_words gate;
    struct ssan_error err = {0};
    if (strcmp(word, GATE_SERIALIZE) != 0 && gate_words_read(&gate, word, &err) != SSAN_OK) {
        return options_refuse(reading, "--%s: %s", "gate", err.text);
    }
    if (options->gates.count == GATE_MOST) {
        return options_refuse(reading, "there is no room for more gates: --%s %s", "gate", word);
    }
    return VEC_PUSH(&options->gates, word) ? 0 : no_memory(reading);
}

/* Refused here, where what is wrong is a wrong use. It counts for the plan of --schedule later, as
 * that may still come. */
static error_t take_fail(struct reading *reading, const char *word)
{
    struct plan plan = {0};
    struct ssan_error err = {0};
    enum ssan_status status = plan_add_fail(&plan, word, &err);
    plan_finish(&plan);
    if (status == SSAN_USAGE) {
        return options_refuse(reading, "--%s: %s", "fail", err.text);
    }
    return status == SSAN_OK && VEC_PUSH(&reading->options->fail, word) ? 0 : no_memory(reading);
}

static error_t take_launches(struct reading *reading, int key, const char *word, uint64_t *number)
{
    unsigned value = 0;
    error_t error = options_take_range(reading, key, word, 0, MOST_LAUNCHES, &value);
    if (!error) {
        *number = value;
    }
    return error;
}

static error_t take_window(struct reading *reading, int key, const char *word)
{
    struct options *options = reading->options;
    if (strcmp(word, "profiler") == 0) {
        options->window = OBSERVE_PROFILER;
        options->window_name = NULL;
        return 0;
    }
    if (strncmp(word, "nvtx:", 5) == 0 && word[5]) {
        options->window = OBSERVE_NVTX;
        options->window_name = word + 5;
        return 0;
    }
    return refuse_word(reading, key, word);
}

/* The largest number stands for all that there are. */
static error_t take_count(struct reading *reading, const char *word)
{
    const error_t error = options_take_whole(reading, KEY_COUNT, word, &reading->options->count);
    return error || reading->options->count != UINT64_MAX
               ? error
               : options_refuse(reading, "--%s takes as many elements as a file can hold, not '%s'",
                                "count", word);
}

/* An option of `compare` that takes a number or a type. */
static error_t take_comparison(struct reading *reading, int key, const char *word)
{
    struct options *options = reading->options;
    switch (key) {
    case KEY_TYPE:
        return ssan_compare_type_find(word, &options->compare.type)
                   ? 0
                   : refuse_word(reading, key, word);
    case KEY_ABS:
        return options_take_tolerance(reading, key, word, &options->compare.abs);
    case KEY_REL:
        return options_take_tolerance(reading, key, word, &options->compare.rel);
    case KEY_ULP:
        return options_take_whole(reading, key, word, &options->compare.ulp);
    case KEY_OFFSET_A:
        return options_take_whole(reading, key, word, &options->offset_a);
    case KEY_OFFSET_B:
        return options_take_whole(reading, key, word, &options->offset_b);
    case KEY_COUNT:
        return take_count(reading, word);
    default:
        return options_take_range(reading, KEY_FIRST_SHOWN, word, 0, MOST_SHOWN, &options->first);
    }
}

/* What runs the kernels. */
static error_t take_device(struct reading *reading, int key, const char *word)
{
    struct options *options = reading->options;
    int value = 0;
    error_t error;
    options->devices = 0;
    options->devices_word = NULL;
    if (options_is_several(word)) {
        return options_take_several(reading, key, word);
    }
    error = take_word(reading, key, word, &value);
    options->device = error ? options->device : (enum option_device)value;
    return error;
}

/* One of several words. */
static error_t take_choice(struct reading *reading, int key, const char *word)
{
    struct options *options = reading->options;
    int value = 0;
    error_t error = take_word(reading, key, word, &value);
    if (error) {
        return error;
    }
    switch (key) {
    case KEY_ACCESSES:
        options->accesses = (enum ssan_accesses)value;
        break;
    case KEY_LIVE:
        options->live = (enum option_live)value;
        break;
    case KEY_ORDER:
        options->documented = value;
        break;
    case KEY_ASSUME:
        options->assume |= (unsigned)value;
        break;
    case KEY_THREADS:
        options->strict = value;
        break;
    case KEY_NAN:
        options->compare.nan = (enum ssan_compare_nan)value;
        break;
    case KEY_INF:
        options->compare.inf = (enum ssan_compare_inf)value;
        break;
    case KEY_ZERO:
        options->compare.zero = (enum ssan_compare_zero)value;
        break;
    case KEY_FORMAT:
    case KEY_FORM:
        options->format = (enum option_format)value;
        break;
    case KEY_COLOR:
        options->color = (enum option_color)value;
        break;
    default: /* of one word, which is the default */
        break;
    }
    return 0;
}

/* An option without a value. */
static void set_flag(struct options *options, int key)
{
    options->bisect |= key == KEY_BISECT;
    options->print_suppressions |= key == KEY_PRINT_SUPPRESSIONS;
    options->quiet |= key == KEY_QUIET;
    options->verbose |= key == KEY_VERBOSE || key == KEY_VERBOSE_RUNS;
    options->template |= key == KEY_TEMPLATE;
    options->dry_run |= key == KEY_DRY_RUN;
    options->print_schema |= key == KEY_PRINT_SCHEMA;
    options->with_addresses |= key == KEY_WITH_ADDRESSES;
}

/* Options that only one device knows; what the environment holds is a wish for where it counts. */
static void note_device(const struct reading *reading, int key, const char *word)
{
    static const struct {
        int key;
        enum option_device device;
    } only[] = {
#define ONLY(key, device) {KEY_##key, DEVICE_##device},
#include "cli/options.def"
#undef ONLY
    };
    struct options *options = reading->options;
    const char *name = options_info(key)->name;
    size_t i;
    if (reading->defaults) {
        return;
    }
    if (key == KEY_ACCESSES && strcmp(word, "exact") != 0) {
        options->gpu_option = name;
    }
    if (key == KEY_THREADS && strcmp(word, "strict") == 0) {
        options->virtual_option = "threads strict";
    }
    for (i = 0; i < sizeof only / sizeof *only; i++) {
        if (only[i].key == key) {
            *(only[i].device == DEVICE_GPU ? &options->gpu_option : &options->virtual_option) =
                name;
        }
    }
}

error_t options_take(struct reading *reading, int key, const char *word)
{
    struct options *options = reading->options;
    note_device(reading, key, word);
    if (!options_info(key)->argument) {
        set_flag(options, key);
        return 0;
    }
    switch (key) {
    case KEY_DEVICE:
    case KEY_TRIES_DEVICE:
        return take_device(reading, key, word);
    case KEY_SCHEDULE:
        return take_schedule(reading, word);
    case KEY_IGNORE:
        return VEC_PUSH(&options->ignore, word) ? 0 : no_memory(reading);
    case KEY_SERIALIZE:
        return VEC_PUSH(&options->serialize, word) ? 0 : no_memory(reading);
    case KEY_FAIL:
        return take_fail(reading, word);
    case KEY_ERROR_EXITCODE:
        return take_exit_code(reading, key, word);
    case KEY_JOBS:
        return options_take_number(reading, key, word, MOST_JOBS, &options->jobs);
    case KEY_LIMIT:
        return options_take_number(reading, key, word, MOST_RUNS, &options->limit);
    case KEY_RANDOM:
        return options_take_number(reading, key, word, MOST_RUNS, &options->random);
    case KEY_SEED:
        return options_take_number(reading, key, word, MOST_SEED, &options->seed);
    case KEY_REPEAT:
        return options_take_number(reading, key, word, MOST_REPEAT, &options->repeat);
    case KEY_TIME:
        return options_take_seconds(reading, word);
    case KEY_SHADOW_LIMIT:
        return options_take_size(reading, key, word, &options->shadow_limit);
    case KEY_DEVICE_MEMORY:
        return options_take_size(reading, key, word, &options->device_memory);
    case KEY_TRACE_LIMIT:
        return options_take_size(reading, key, word, &options->trace_limit);
    case KEY_KERNEL:
    case KEY_EXCLUDE_KERNEL:
        return take_kernel(reading, key, word);
    case KEY_GATE:
        return take_gate(reading, word);
    case KEY_LAUNCH_SKIP:
        return take_launches(reading, key, word, &options->launch_skip);
    case KEY_LAUNCH_COUNT:
        return take_launches(reading, key, word, &options->launch_count);
    case KEY_WINDOW:
        return take_window(reading, key, word);
    case KEY_KEEP:
        return options_take_file(reading, key, word, &options->keep);
    case KEY_EVIDENCE:
        return options_take_file(reading, key, word, &options->evidence);
    case KEY_TRACE:
        return options_take_file(reading, key, word, &options->trace);
    case KEY_OUTPUT:
        return options_take_file(reading, key, word, &options->output);
    case KEY_LISTING:
    case KEY_LINES:
        options->output = NULL;
        return strcmp(word, "-") == 0 ? 0 : options_take_name(reading, key, word, &options->output);
    case KEY_CONTRACT_DEVICE:
        options->contract_device = word;
        return forms_is_device(word) ? 0 : refuse_word(reading, key, word);
    case KEY_TYPE:
    case KEY_ABS:
    case KEY_REL:
    case KEY_ULP:
    case KEY_OFFSET_A:
    case KEY_OFFSET_B:
    case KEY_COUNT:
    case KEY_FIRST_SHOWN:
        return take_comparison(reading, key, word);
    case KEY_SUPPRESSIONS:
        return take_suppressions(reading, word);
    default:
        return take_choice(reading, key, word);
    }
}
