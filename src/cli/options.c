/* Reads options by getopt_long, and prints their help by argp, from the one list in options.def.
 *
 * Nothing is printed while reading; what is wrong comes back as a status with its text. Options of
 * the environment are read first, so that those of the command line win. */
#include "cli/options.h"

#include "cli/commands.h"
#include "cli/quoted.h"

#include "report/verdict.h"

#include "base/similar.h"

#include <argp.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define RUN      VERB_RUN
#define CHECK    VERB_CHECK
#define DUMP     VERB_DUMP
#define AUDIT    VERB_AUDIT
#define WITNESS  VERB_WITNESS
#define EXPLORE  VERB_EXPLORE
#define TRIES    (VERB_WITNESS | VERB_EXPLORE) /* verbs that run a program again and again */
#define PROGRAMS (RUN | TRIES)

enum option_key {
    KEY_FIRST = 0x1000, /* above all letters */
#define OPTION(key, name, letter, argument, verbs, help) KEY_##key,
#include "cli/options.def"
#undef OPTION
    KEY_HELP,
    KEY_END
};

static const struct option_info infos[] = {
#define OPTION(key, name, letter, argument, verbs, help) {name, letter, argument, verbs, help},
#include "cli/options.def"
#undef OPTION
};

#define INFO_COUNT (sizeof infos / sizeof *infos)
#define WORD       1 /* what getopt_long returns for a word that is no option */

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

struct reading {
    struct options *options;
    enum verb_mask verb;
    bool defaults; /* the words are those of the environment */
    struct ssan_error *err;
    enum ssan_status status;
};

static error_t refuse(struct reading *reading, const char *format, const char *name,
                      const char *word)
{
    reading->status = ssan_fail(reading->err, SSAN_USAGE, 0, format, name, word);
    return EINVAL;
}

static error_t refuse_word(struct reading *reading, int key, const char *word)
{
    const struct option_info *info = &infos[key - KEY_FIRST - 1];
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
static error_t take_file(struct reading *reading, int key, const char *word, const char **file)
{
    if (strcmp(word, "-") == 0) {
        return refuse(reading,
                      "--%s takes a file, not '%s': nothing goes to standard output, which is "
                      "the program's",
                      infos[key - KEY_FIRST - 1].name, word);
    }
    *file = word;
    return 0;
}

/* Looks up the word of an option that takes one of several; names those that come later. */
static error_t take_word(struct reading *reading, int key, const char *word, int *value)
{
    const char *name = infos[key - KEY_FIRST - 1].name;
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
            return refuse(reading, "--%s %s is not there yet", name, word);
        }
    }
    return refuse_word(reading, key, word);
}

static error_t no_memory(struct reading *reading)
{
    reading->status = ssan_fail(reading->err, SSAN_NO_MEMORY, 0, "out of memory");
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

/* A whole number from 1 to `most`. */
static error_t take_number(struct reading *reading, int key, const char *word, unsigned most,
                           unsigned *number)
{
    char *end;
    unsigned long value;
    errno = 0;
    value = strtoul(word, &end, 10);
    if (*word < '0' || *word > '9' || errno || *end || value < 1 || value > most) {
        reading->status =
            ssan_fail(reading->err, SSAN_USAGE, 0, "--%s takes a number from 1 to %u, not '%.200s'",
                      infos[key - KEY_FIRST - 1].name, most, word);
        return EINVAL;
    }
    *number = (unsigned)value;
    return 0;
}

static error_t take_seconds(struct reading *reading, const char *word)
{
    char *end;
    double value = strtod(word, &end);
    if (*word < '0' || *word > '9' || *end || !(value > 0 && value <= 1e6)) {
        return refuse(reading, "--%s takes a number of seconds, not '%s'", "time", word);
    }
    reading->options->time_seconds = value;
    return 0;
}

/* A number with K, M, G or T behind it. */
static error_t take_size(struct reading *reading, const char *word)
{
    static const char units[] = "KMGT";
    char *end;
    unsigned long long value;
    const char *unit;
    unsigned shift = 0;
    errno = 0;
    value = strtoull(word, &end, 10);
    unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        shift = 10 * (unsigned)(unit - units + 1);
        end++;
    }
    if (*word < '0' || *word > '9' || errno || *end || value == 0 || value > UINT64_MAX >> shift) {
        return refuse(reading, "--%s takes a size such as 512M, not '%s'", "shadow-limit", word);
    }
    reading->options->shadow_limit = (uint64_t)value << shift;
    return 0;
}

/* A file that is wrong keeps its own status and words, which name it. */
static error_t take_suppressions(struct reading *reading, const char *word)
{
    reading->status = suppress_file_read(&reading->options->suppressions, word, reading->err);
    return reading->status ? EINVAL : 0;
}

static error_t take_option(struct reading *reading, int key, const char *word)
{
    struct options *options = reading->options;
    int value = 0;
    unsigned number = 0;
    error_t error = 0;
    switch (key) {
    case KEY_SCHEDULE:
        return take_schedule(reading, word);
    case KEY_IGNORE:
        return VEC_PUSH(&options->ignore, word) ? 0 : no_memory(reading);
    case KEY_SERIALIZE:
        return VEC_PUSH(&options->serialize, word) ? 0 : no_memory(reading);
    case KEY_ERROR_EXITCODE:
        error = take_number(reading, key, word, 255, &number);
        options->error_exitcode = error ? options->error_exitcode : (int)number;
        return error;
    case KEY_JOBS:
        return take_number(reading, key, word, 1024, &options->jobs);
    case KEY_LIMIT:
        return take_number(reading, key, word, 10000000, &options->limit);
    case KEY_RANDOM:
        return take_number(reading, key, word, 10000000, &options->random);
    case KEY_SEED:
        return take_number(reading, key, word, 4000000000u, &options->seed);
    case KEY_REPEAT:
        return take_number(reading, key, word, 1000000, &options->repeat);
    case KEY_TIME:
        return take_seconds(reading, word);
    case KEY_KEEP:
        return take_file(reading, key, word, &options->keep);
    case KEY_BISECT:
        options->bisect = true;
        break;
    case KEY_SHADOW_LIMIT:
        return take_size(reading, word);
    case KEY_TRACE:
        return take_file(reading, key, word, &options->trace);
    case KEY_OUTPUT:
        return take_file(reading, key, word, &options->output);
    case KEY_LISTING:
    case KEY_LINES:
        options->output = strcmp(word, "-") == 0 ? NULL : word;
        break;
    case KEY_SUPPRESSIONS:
        return take_suppressions(reading, word);
    case KEY_PRINT_SUPPRESSIONS:
        options->print_suppressions = true;
        break;
    case KEY_QUIET:
        options->quiet = true;
        break;
    case KEY_VERBOSE:
        options->verbose = true;
        break;
    case KEY_WITH_ADDRESSES:
        options->with_addresses = true;
        break;
    default:
        error = take_word(reading, key, word, &value);
        break;
    }
    if (error) {
        return error;
    }
    options->device = key == KEY_DEVICE ? (enum option_device)value : options->device;
    options->documented = key == KEY_ORDER ? value : options->documented;
    options->assume |= key == KEY_ASSUME ? (unsigned)value : 0;
    options->strict = key == KEY_THREADS ? value : options->strict;
    options->format = key == KEY_FORMAT ? (enum option_format)value : options->format;
    options->color = key == KEY_COLOR ? (enum option_color)value : options->color;
    return 0;
}

/* What getopt_long takes: the options of the verb, then those of other verbs, so that they can be
 * told from words that are no option at all. One of each name. */
static void fill_list(struct option list[INFO_COUNT + 2], char letters[2 * INFO_COUNT + 8],
                      const struct reading *reading)
{
    size_t used = 0, i, j;
    unsigned pass;
    letters += sprintf(letters, "%s:h",
                       (unsigned)reading->verb & PROGRAMS || reading->defaults ? "+" : "-");
    memset(list, 0, (INFO_COUNT + 2) * sizeof *list);
    list[used++] = (struct option){"help", no_argument, NULL, KEY_HELP};
    for (pass = 0; pass < 2; pass++) {
        for (i = 0; i < INFO_COUNT; i++) {
            bool ours = infos[i].verbs & (unsigned)reading->verb;
            for (j = 0; j < used && strcmp(list[j].name, infos[i].name) != 0; j++) {
            }
            if (j < used || ours != (pass == 0)) {
                continue;
            }
            list[used++] =
                (struct option){infos[i].name, infos[i].argument ? required_argument : no_argument,
                                NULL, (int)(KEY_FIRST + 1 + i)};
            if (infos[i].letter) {
                letters += sprintf(letters, "%c%s", infos[i].letter, infos[i].argument ? ":" : "");
            }
        }
    }
}

/* The key of what getopt_long returns, which is a letter or a key already. */
static int key_of(int found)
{
    size_t i;
    for (i = 0; i < INFO_COUNT; i++) {
        if (found && infos[i].letter == found) {
            return (int)(KEY_FIRST + 1 + i);
        }
    }
    return found == 'h' ? KEY_HELP : found;
}

static bool is_option(int key)
{
    return key > KEY_FIRST && key < KEY_HELP;
}

/* "unknown option '-x'", with the one that was meant if that is plain. */
static error_t refuse_unknown(struct reading *reading, const struct option *list, const char *shown,
                              const char *word)
{
    const char *names[INFO_COUNT + 2];
    char name[64];
    const char *meant;
    size_t count = 0;
    for (; list->name; list++) {
        if (list->val == KEY_HELP || infos[list->val - KEY_FIRST - 1].verbs & reading->verb) {
            names[count++] = list->name;
        }
    }
    word += strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    meant = similar_word(name, names, count);
    reading->status =
        ssan_fail(reading->err, SSAN_USAGE, 0, "unknown option '%.200s'%s%s%s", shown,
                  meant ? "; did you mean '--" : "", meant ? meant : "", meant ? "'?" : "");
    return EINVAL;
}

/* The beginning of several options: names them. */
static error_t refuse_several(struct reading *reading, const struct option *list, const char *word)
{
    const size_t length = strcspn(word, "=") - 2;
    struct strbuf names = {0};
    for (; list->name; list++) {
        if (strncmp(list->name, word + 2, length) == 0) {
            strbuf_printf(&names, "%s--%s", names.length > 0 ? ", " : "", list->name);
        }
    }
    refuse(reading, "option '%s' fits several: %s", word, strbuf_text(&names));
    strbuf_finish(&names);
    return EINVAL;
}

/* getopt_long has refused `word`. */
static error_t refuse_option(struct reading *reading, const struct option *list, const char *word,
                             bool lacks_value)
{
    int key = key_of(optopt);
    char letter[3] = {'-', (char)optopt, '\0'};
    size_t length, matches = 0, i;
    if (lacks_value) {
        const struct option_info *info = &infos[key - KEY_FIRST - 1];
        return refuse(reading, "--%s takes a value: %s", info->name, info->argument);
    }
    if (is_option(key) || key == KEY_HELP) {
        return refuse(reading, "--%s takes no value%s",
                      key == KEY_HELP ? "help" : infos[key - KEY_FIRST - 1].name, "");
    }
    if (optopt) {
        return refuse_unknown(reading, list, letter, word);
    }
    length = strcspn(word, "=") - 2;
    for (i = 0; list[i].name; i++) {
        matches += strncmp(list[i].name, word + 2, length) == 0;
    }
    return matches > 1 ? refuse_several(reading, list, word)
                       : refuse_unknown(reading, list, word, word);
}

/* The option is one of other verbs: says of which. */
static error_t refuse_foreign(struct reading *reading, const struct option_info *info)
{
    struct strbuf verbs = {0};
    unsigned mask = 0;
    size_t i;
    for (i = 0; i < INFO_COUNT; i++) {
        mask |= strcmp(infos[i].name, info->name) == 0 ? infos[i].verbs : 0;
    }
    command_verbs(&verbs, mask);
    refuse(reading, "--%s is no option of this verb; it belongs to %s", info->name,
           strbuf_text(&verbs));
    strbuf_finish(&verbs);
    return EINVAL;
}

static error_t take_key(struct reading *reading, int key, const char *word)
{
    const struct option_info *info;
    if (key == KEY_HELP) {
        reading->options->help = true;
        return 0;
    }
    info = &infos[key - KEY_FIRST - 1];
    if (info->verbs & (unsigned)reading->verb) {
        return take_option(reading, key, word);
    }
    return reading->defaults ? 0 : refuse_foreign(reading, info);
}

/* Words that are no options: all that is left for verbs that run a program, else each as it comes.
 */
static error_t take_argument(struct reading *reading, char *word)
{
    struct options *options = reading->options;
    if (reading->defaults) {
        return refuse(reading, "it holds '%s%s', which is no option", word, "");
    }
    options->arguments[options->argument_count++] = word;
    options->arguments[options->argument_count] = NULL;
    return 0;
}

/* The word that getopt_long has refused; in a row of letters it has not stepped on yet. */
static const char *refused_word(int argc, char **argv)
{
    const char *next = optind < argc ? argv[optind] : "";
    return optopt && next[0] == '-' && next[1] != '-' && strchr(next, optopt) ? next
                                                                              : argv[optind - 1];
}

static enum ssan_status read_words(struct reading *reading, int argc, char **argv)
{
    struct option list[INFO_COUNT + 2];
    char letters[2 * INFO_COUNT + 8];
    error_t error = 0;
    int found;
    fill_list(list, letters, reading);
    opterr = 0;
    optind = 0; /* anew */
    while (!error && (found = getopt_long(argc, argv, letters, list, NULL)) != -1) {
        if (found == '?' || found == ':') {
            error = refuse_option(reading, list, refused_word(argc, argv), found == ':');
        } else if (found == WORD) {
            error = take_argument(reading, optarg);
        } else {
            error = take_key(reading, key_of(found), optarg);
        }
    }
    while (!error && optind < argc) {
        error = take_argument(reading, argv[optind++]);
    }
    return reading->status;
}

/* Puts the name of the variable in front of what is wrong in it. */
static enum ssan_status blame_defaults(struct ssan_error *err, enum ssan_status status)
{
    struct ssan_error inner;
    if (err && err->text[0]) {
        inner = *err;
        ssan_fail(err, status, 0, "STREAMSAN_OPTIONS: %.480s", inner.text);
    }
    return status;
}

static enum ssan_status read_defaults(struct reading *reading, const char *defaults)
{
    struct options *options = reading->options;
    char **words, **argv;
    size_t count;
    enum ssan_status status = quoted_split(defaults, &options->arena, &words, &count, reading->err);
    if (status) {
        return blame_defaults(reading->err, status);
    }
    argv = arena_alloc(&options->arena, (count + 2) * sizeof *argv);
    if (!argv) {
        return ssan_fail(reading->err, SSAN_NO_MEMORY, 0, "out of memory");
    }
    argv[0] = (char *)"STREAMSAN_OPTIONS";
    memcpy(argv + 1, words, count * sizeof *argv);
    reading->defaults = true;
    status = read_words(reading, (int)count + 1, argv);
    reading->defaults = false;
    return status ? blame_defaults(reading->err, status) : SSAN_OK;
}

enum ssan_status options_read(struct options *options, enum verb_mask verb, int argc, char **argv,
                              const char *defaults, struct ssan_error *err)
{
    struct reading reading = {.options = options, .verb = verb, .err = err};
    char name[64], **words;
    enum ssan_status status;
    memset(options, 0, sizeof *options);
    options->schedule = "eager";
    options->time_seconds = 60;
    options->repeat = 1;
    options->limit = 1000;
    options->seed = 1;
    (void)plan_read(&options->plan, options->schedule, NULL);
    options->error_exitcode = EXIT_CODE_FINDINGS;
    options->arguments = arena_alloc(&options->arena, ((size_t)argc + 1) * sizeof(char *));
    words = arena_alloc(&options->arena, ((size_t)argc + 1) * sizeof(char *));
    snprintf(name, sizeof name, "streamsan %s", argv[0]);
    if (!options->arguments || !words || !(words[0] = arena_strdup(&options->arena, name))) {
        return ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory");
    }
    options->arguments[0] = NULL;
    memcpy(words + 1, argv + 1, (size_t)argc * sizeof *words); /* with the NULL at the end */
    if (defaults) {
        status = read_defaults(&reading, defaults);
        if (status) {
            return status;
        }
    }
    return read_words(&reading, argc, words);
}

void options_finish(struct options *options)
{
    plan_finish(&options->plan);
    VEC_FREE(&options->ignore);
    VEC_FREE(&options->serialize);
    suppress_list_finish(&options->suppressions);
    arena_finish(&options->arena);
}

const struct option_info *options_list(size_t *count)
{
    *count = INFO_COUNT;
    return infos;
}

void options_help(FILE *out, enum verb_mask verb, const char *name, const char *arguments,
                  const char *summary)
{
    struct argp_option list[INFO_COUNT + 2] = {0};
    char program[64];
    struct argp argp = {.options = list, .args_doc = arguments, .doc = summary};
    size_t i, used = 0;
    for (i = 0; i < INFO_COUNT; i++) {
        if (infos[i].verbs & (unsigned)verb) {
            list[used++] = (struct argp_option){.name = infos[i].name,
                                                .key = infos[i].letter ? infos[i].letter
                                                                       : (int)(KEY_FIRST + 1 + i),
                                                .arg = infos[i].argument,
                                                .doc = infos[i].help};
        }
    }
    list[used] = (struct argp_option){.name = "help", .key = 'h', .doc = "print this help"};
    snprintf(program, sizeof program, "streamsan %s", name);
    argp_help(&argp, out, ARGP_HELP_SHORT_USAGE | ARGP_HELP_PRE_DOC | ARGP_HELP_LONG, program);
}
