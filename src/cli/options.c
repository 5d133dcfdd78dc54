/* Reads options by getopt_long, and prints their help by argp, from the one list in options.def.
 *
 * Nothing is printed while reading; what is wrong comes back as a status with its text. Options of
 * the environment are read first, so that those of the command line win. */
#include "cli/options.h"

#include "cli/commands.h"
#include "cli/options_parts.h"
#include "cli/quoted.h"

#include "report/verdict.h"

#include "base/similar.h"

#include <argp.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define RUN        VERB_RUN
#define CHECK      VERB_CHECK
#define DUMP       VERB_DUMP
#define AUDIT      VERB_AUDIT
#define WITNESS    VERB_WITNESS
#define EXPLORE    VERB_EXPLORE
#define COMPARE    VERB_COMPARE
#define CONTRACT   VERB_CONTRACT
#define EVIDENCE   VERB_EVIDENCE
#define TRIES      (VERB_WITNESS | VERB_EXPLORE) /* verbs that run a program again and again */
#define PROGRAMS   (RUN | TRIES)
#define WORD       1  /* what getopt_long returns for a word that is no option */
#define LIST_WIDTH 60 /* of words that stand behind the name of their option in the help */

static const struct option_info infos[] = {
#define OPTION(key, name, letter, argument, verbs, help) {name, letter, argument, verbs, help},
#include "cli/options.def"
#undef OPTION
};

_Static_assert(sizeof infos / sizeof *infos == INFO_COUNT, "a key for each option");

const struct option_info *options_info(int key)
{
    return &infos[key - KEY_FIRST - 1];
}

error_t options_refuse(struct reading *reading, const char *format, const char *name,
                       const char *word)
{
    reading->status = ssan_fail(reading->err, SSAN_USAGE, 0, format, name, word);
    return EINVAL;
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
    options_refuse(reading, "option '%s' fits several: %s", word, strbuf_text(&names));
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
        return options_refuse(reading, "--%s takes a value: %s", info->name, info->argument);
    }
    if (is_option(key) || key == KEY_HELP) {
        return options_refuse(reading, "--%s takes no value%s",
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
    options_refuse(reading, "--%s is no option of this verb; it belongs to %s", info->name,
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
        return options_take(reading, key, word);
    }
    return reading->defaults ? 0 : refuse_foreign(reading, info);
}

/* Words that are no options: all that is left for verbs that run a program, else each as it comes.
 */
static error_t take_argument(struct reading *reading, char *word)
{
    struct options *options = reading->options;
    if (reading->defaults) {
        return options_refuse(reading, "it holds '%s%s', which is no option", word, "");
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
        return ssan_no_memory(reading->err);
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
    options->accesses = SSAN_accesses_EXACT;
    options->trace_limit = UINT64_C(16) << 30;
    options->time_seconds = 60;
    options->repeat = 1;
    options->limit = 1000;
    options->seed = 1;
    options->compare.size_bytes = sizeof options->compare;
    options->count = UINT64_MAX;
    options->first = 10;
    (void)plan_read(&options->plan, options->schedule, NULL);
    options->error_exitcode = EXIT_CODE_FINDINGS;
    options->arguments = arena_alloc(&options->arena, ((size_t)argc + 1) * sizeof(char *));
    words = arena_alloc(&options->arena, ((size_t)argc + 1) * sizeof(char *));
    snprintf(name, sizeof name, "streamsan %s", argv[0]);
    if (!options->arguments || !words || !(words[0] = arena_strdup(&options->arena, name))) {
        return ssan_no_memory(err);
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
    VEC_FREE(&options->kernels);
    VEC_FREE(&options->ignore);
    VEC_FREE(&options->serialize);
    VEC_FREE(&options->fail);
    VEC_FREE(&options->gates);
    suppress_list_finish(&options->suppressions);
    arena_finish(&options->arena);
}

const struct option_info *options_list(size_t *count)
{
    *count = INFO_COUNT;
    return infos;
}

bool options_long_words(struct strbuf *help, const struct option_info *info)
{
    if (!info->argument || strlen(info->argument) <= LIST_WIDTH) {
        return false;
    }
    strbuf_printf(help, "%s: one of ", info->help);
    for (const char *at = info->argument; *at; at++) {
        if (*at == '|') {
            strbuf_puts(help, ", ");
        } else {
            strbuf_add(help, at, 1);
        }
    }
    return !help->failed;
}

void options_help(FILE *out, enum verb_mask verb, const char *name, const char *arguments,
                  const char *summary)
{
    struct argp_option list[INFO_COUNT + 2] = {0};
    char program[64];
    struct strbuf shown[INFO_COUNT] = {0}; /* of long lists of words */
    struct argp argp = {.options = list, .args_doc = arguments, .doc = summary};
    size_t i, used = 0;
    for (i = 0; i < INFO_COUNT; i++) {
        if (infos[i].verbs & (unsigned)verb) {
            list[used++] = (struct argp_option){.name = infos[i].name,
                                                .key = infos[i].letter ? infos[i].letter
                                                                       : (int)(KEY_FIRST + 1 + i),
                                                .arg = infos[i].argument,
                                                .doc = infos[i].help};
            if (options_long_words(&shown[i], &infos[i])) {
                list[used - 1].arg = "WORD";
                list[used - 1].doc = strbuf_text(&shown[i]);
            }
        }
    }
    list[used] = (struct argp_option){.name = "help", .key = 'h', .doc = "print this help"};
    snprintf(program, sizeof program, "streamsan %s", name);
    argp_help(&argp, out, ARGP_HELP_SHORT_USAGE | ARGP_HELP_PRE_DOC | ARGP_HELP_LONG, program);
    for (i = 0; i < INFO_COUNT; i++) {
        strbuf_finish(&shown[i]);
    }
}
