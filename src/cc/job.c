/* From argv to a job. One loop looks each word up in options.def; actions are in one switch. */
#include "cc/job.h"

#include "base/similar.h"

#include <stdio.h>
#include <string.h>

enum form { ALONE, JOINED, NEXT, EITHER, ASSIGNED };

enum route {
    DEVICE = 1,
    HOST = 2,
    LINK = 4,
    SOURCES = DEVICE | HOST,
    HOST_AND_LINK = HOST | LINK,
    SOURCES_AND_LINK = DEVICE | HOST | LINK,
    DROPPED = 8,
    REFUSED,
    DO_COMPILE_ONLY,
    DO_PREPROCESS,
    DO_PTX,
    DO_SYNTAX_ONLY,
    DO_OUTPUT,
    DO_LANGUAGE,
    DO_STANDARD,
    DO_OPTIMIZE,
    DO_DEVICE_DEBUG,
    DO_DEBUG,
    DO_VERBOSE,
    DO_DEFAULT_STREAM,
    DO_FAST_MATH,
    DO_DEPENDENCIES,
    DO_DEPENDENCY_FILE,
    DO_DEPENDENCY_TARGET,
    DO_COMPILER_WORDS,
    DO_LINKER_WORDS,
    DO_SHARED,
    DO_INCLUDE_PATH,
    DO_DEFINE,
    DO_LIBRARY_PATH,
    DO_LIBRARY,
    DO_RELOCATABLE
};

struct option {
    const char *spelling;
    enum form form;
    enum route route;
};

static const struct option options[] = {
#define CC_OPTION(spelling, form, route) {spelling, form, route},
#include "cc/options.def"
#undef CC_OPTION
};

/* The words of one option as given, and its value if it has one. */
struct given {
    const struct option *option;
    const char *words[2];
    int count;
    const char *value; /* NULL: none */
};

/* `is_long` words, with two dashes, are never a short option with its value behind it. */
static bool fits(const struct option *option, const char *word, size_t length, bool is_long)
{
    if (strncmp(word, option->spelling, length) != 0) {
        return false;
    }
    char next = word[length];
    return next == '\0' || (option->form == ASSIGNED && next == '=') ||
           (!is_long && (option->form == JOINED || option->form == EITHER));
}

static const struct option *find_option(const char *word, bool is_long)
{
    const struct option *best = NULL;
    size_t best_length = 0;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        size_t length = strlen(options[i].spelling);
        if (length > best_length && fits(&options[i], word, length, is_long)) {
            best = &options[i];
            best_length = length;
        }
    }
    return best;
}

/* An option that options.def does not have, with the one that was meant if that is plain. */
static enum ssan_status refuse_unknown(const char *word, struct ssan_error *err)
{
    const char *spellings[sizeof options / sizeof *options];
    const char *dashes = word[1] == '-' ? "-" : "", *meant;
    char name[64];
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        spellings[i] = options[i].spelling;
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word + strlen(dashes));
    name[strcspn(name, "=")] = '\0';
    meant = similar_word(name, spellings, sizeof spellings / sizeof *spellings);
    if (meant && strlen(meant) > 2) {
        return ssan_fail(err, SSAN_USAGE, 0, "unknown option %.200s; did you mean %s%s?", word,
                         dashes, meant);
    }
    return ssan_fail(err, SSAN_USAGE, 0,
                     "unknown option %s (-Xcompiler hands words to the host compiler)", word);
}

/* Takes one option, and its value where that is the next word, from argv at *at. */
static enum ssan_status take_option(struct given *given, int argc, char *const *argv, int *at,
                                    struct ssan_error *err)
{
    const char *word = argv[*at];
    const char *short_word = word[1] == '-' ? word + 1 : word;
    const struct option *option = find_option(short_word, short_word != word);
    if (!option) {
        return refuse_unknown(word, err);
    }
    *given = (struct given){.option = option, .words = {word}, .count = 1};
    const char *rest = short_word + strlen(option->spelling);
    bool needs_next = *rest == '\0' && option->form != ALONE && option->form != JOINED;
    given->value = option->form == ASSIGNED && *rest == '=' ? rest + 1 : rest;
    if (needs_next) {
        if (*at + 1 >= argc) {
            return ssan_fail(err, SSAN_USAGE, 0, "option %s needs a value", word);
        }
        given->words[given->count++] = given->value = argv[++*at];
    }
    return SSAN_OK;
}

static void add_item(struct cc_job *job, struct cc_item item)
{
    if (!item.text || !VEC_PUSH(&job->items, item)) {
        job->host.failed = true;
    }
}

static void add_link_word(struct cc_job *job, const char *word)
{
    add_item(job, (struct cc_item){.text = word, .is_word = true});
}

/* Sends an option to its passes, word by word. */
static void send(struct cc_job *job, const struct given *given)
{
    for (int i = 0; i < given->count; i++) {
        if (given->option->route & DEVICE) {
            words_add(&job->device, given->words[i]);
        }
        if (given->option->route & HOST) {
            words_add(&job->host, given->words[i]);
        }
        if (given->option->route & LINK) {
            add_link_word(job, given->words[i]);
        }
    }
}

/* Libraries of the CUDA toolkit for which the virtual device stands. */
static bool is_replaced_library(const char *name)
{
    static const char *const replaced[] = {"cudart", "cudart_static", "cudadevrt"};
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
        if (strcmp(name, replaced[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Words for the host compiler alone; it links too. */
static void add_compiler_words(struct cc_job *job, const char *text)
{
    struct words words;
    words_init(&words, &job->arena);
    words_split(&words, text, ',');
    words_add_all(&job->host, &words);
    for (size_t i = 0; i < words.count; i++) {
        add_link_word(job, words.items[i]);
    }
    words_finish(&words);
}

static enum ssan_status set_mode(struct cc_job *job, enum cc_mode mode, const char *word,
                                 struct ssan_error *err)
{
    if (job->mode != CC_LINK && job->mode != mode) {
        return ssan_fail(err, SSAN_USAGE, 0, "%s cannot be combined with another output form",
                         word);
    }
    job->mode = mode;
    return SSAN_OK;
}

static enum ssan_status set_default_stream(struct cc_job *job, const struct given *given,
                                           struct ssan_error *err)
{
    if (strcmp(given->value, "per-thread") == 0) {
        words_add(&job->device, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
        words_add(&job->host, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
    } else if (strcmp(given->value, "legacy") != 0 && strcmp(given->value, "null") != 0) {
        return ssan_fail(err, SSAN_USAGE, 0, "%s: the default stream is legacy or per-thread",
                         given->words[0]);
    }
    return SSAN_OK;
}

static enum ssan_status refuse(const struct given *given, struct ssan_error *err)
{
    return ssan_fail(err, SSAN_USAGE, 0,
                     "%s is not supported: each .cu file is compiled for the virtual device alone, "
                     "device code is not linked across files",
                     given->words[0]);
}

static void set_standard(struct cc_job *job, const char *name)
{
    const char *word = words_text(&job->arena, "-std=%s", name);
    if (!word) {
        job->host.failed = true;
    } else if (strstr(name, "++")) {
        job->cxx_standard = word;
    } else {
        job->c_standard = word;
    }
}

/* Options that change the code or where it goes; the rest is in act_on_word. */
static enum ssan_status act(struct cc_job *job, const struct given *given, struct ssan_error *err)
{
    const char *value = given->value;
    switch (given->option->route) {
    case DO_COMPILE_ONLY:
        return set_mode(job, CC_COMPILE, given->words[0], err);
    case DO_PREPROCESS:
        job->preprocess = given->words[0];
        return set_mode(job, CC_PREPROCESS, given->words[0], err);
    case DO_PTX:
        return set_mode(job, CC_PTX, given->words[0], err);
    case DO_SYNTAX_ONLY:
        return set_mode(job, CC_SYNTAX, given->words[0], err);
    case DO_DEFAULT_STREAM:
        return set_default_stream(job, given, err);
    case DO_RELOCATABLE:
        return strcmp(value, "false") == 0 ? SSAN_OK : refuse(given, err);
    case REFUSED:
        return refuse(given, err);
    case DO_OUTPUT:
        job->output = value;
        return SSAN_OK;
    case DO_LANGUAGE:
        job->language = strcmp(value, "none") == 0 ? NULL : value;
        return SSAN_OK;
    case DO_STANDARD:
        set_standard(job, value);
        return SSAN_OK;
    case DO_VERBOSE:
        job->verbose = true;
        return SSAN_OK;
    case DO_SHARED:
        job->shared = true;
        words_add(&job->host, "-fPIC");
        add_link_word(job, "-shared");
        return SSAN_OK;
    default:
        return SSAN_OK;
    }
}

/* Options that become words of some pass. */
static void act_on_word(struct cc_job *job, const struct given *given)
{
    const char *value = given->value;
    switch (given->option->route) {
    case DO_OPTIMIZE:
        job->optimized = true;
        words_add(&job->device, given->words[0]);
        words_add(&job->host, given->words[0]);
        break;
    case DO_DEVICE_DEBUG:
        job->optimized = true;
        words_add(&job->device, "-O0");
        break;
    case DO_DEBUG: /* line tables are always on: -g0 asks for less */
        if (strcmp(value, "0") != 0) {
            words_add(&job->host, given->words[0]);
        }
        break;
    case DO_FAST_MATH:
        words_add(&job->device, "-fcuda-approx-transcendentals");
        break;
    case DO_DEPENDENCIES:
        job->dependencies = true;
        words_add(&job->host, given->words[0]);
        break;
    case DO_DEPENDENCY_FILE:
        job->dependency_file = value;
        break;
    case DO_DEPENDENCY_TARGET:
        job->dependency_target = true;
        words_printf(&job->host, "%.3s", given->words[0]);
        words_add(&job->host, value);
        break;
    case DO_COMPILER_WORDS:
        add_compiler_words(job, value);
        break;
    case DO_LINKER_WORDS:
        add_link_word(job, words_text(&job->arena, "-Wl,%s", value));
        break;
    case DO_INCLUDE_PATH:
        words_printf(&job->device, "-I%s", value);
        words_printf(&job->host, "-I%s", value);
        break;
    case DO_DEFINE:
        words_printf(&job->device, "-D%s", value);
        words_printf(&job->host, "-D%s", value);
        break;
    case DO_LIBRARY_PATH:
        add_link_word(job, words_text(&job->arena, "-L%s", value));
        break;
    case DO_LIBRARY:
        if (!is_replaced_library(value)) {
            add_link_word(job, words_text(&job->arena, "-l%s", value));
        }
        break;
    default:
        break;
    }
}

static bool language_of(const char *name, enum cc_language *language)
{
    static const struct {
        const char *name;
        enum cc_language language;
    } known[] = {{"cu", CC_CUDA},   {"cuda", CC_CUDA},   {"c", CC_C},
                 {"cpp", CC_CXX},   {"cc", CC_CXX},      {"cxx", CC_CXX},
                 {"C", CC_CXX},     {"c++", CC_CXX},     {"cp", CC_CXX},
                 {"CPP", CC_CXX},   {"s", CC_ASSEMBLER}, {"S", CC_ASSEMBLER},
                 {"o", CC_OBJECT},  {"obj", CC_OBJECT},  {"a", CC_OBJECT},
                 {"so", CC_OBJECT}, {"lo", CC_OBJECT},   {"assembler", CC_ASSEMBLER}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i].name) == 0) {
            *language = known[i].language;
            return true;
        }
    }
    return false;
}

static enum ssan_status add_file(struct cc_job *job, const char *path, struct ssan_error *err)
{
    enum cc_language language;
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    bool known = job->language ? language_of(job->language, &language)
                               : dot && language_of(dot + 1, &language);
    if (!known && !job->language && strstr(base, ".so.")) {
        language = CC_OBJECT;
        known = true;
    }
    if (!known && job->language) {
        return ssan_fail(err, SSAN_USAGE, 0, "-x %s: the languages are cu, c++ and c",
                         job->language);
    }
    if (!known) {
        return ssan_fail(err, SSAN_USAGE, 0,
                         "%s: not a kind of file that is compiled here (.cu .cpp .cc .cxx .c .s .o "
                         ".a .so; -x names a language)",
                         path);
    }
    add_item(job, (struct cc_item){.text = path,
                                   .language = language,
                                   .object = language == CC_OBJECT ? path : NULL});
    return SSAN_OK;
}

static enum ssan_status check(const struct cc_job *job, struct ssan_error *err)
{
    size_t sources = 0, files = 0;
    for (size_t i = 0; i < job->items.count; i++) {
        const struct cc_item *item = &job->items.items[i];
        files += !item->is_word;
        sources += !item->is_word && item->language != CC_OBJECT;
    }
    if (job->host.failed || job->device.failed) {
        return ssan_no_memory(err);
    }
    if (!files) {
        return ssan_fail(err, SSAN_USAGE, 0, "no input files (streamsan cc --help)");
    }
    if (job->mode != CC_LINK && !sources) {
        return ssan_fail(err, SSAN_USAGE, 0, "no source files to compile");
    }
    if (job->mode != CC_LINK && job->mode != CC_SYNTAX && job->output && sources > 1) {
        return ssan_fail(err, SSAN_USAGE, 0, "-o with several source files needs linking");
    }
    if (job->dependency_file && sources > 1) {
        return ssan_fail(err, SSAN_USAGE, 0, "-MF with several source files");
    }
    return SSAN_OK;
}

enum ssan_status job_parse(struct cc_job *job, int argc, char *const *argv, struct ssan_error *err)
{
    *job = (struct cc_job){.cxx_standard = "-std=c++17"};
    words_init(&job->device, &job->arena);
    words_init(&job->host, &job->arena);
    for (int i = 1; i < argc; i++) {
        enum ssan_status status;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            job->help = true;
            return SSAN_OK;
        }
        if (strcmp(argv[i], "--version") == 0) {
            job->version = true;
            return SSAN_OK;
        }
        if (argv[i][0] != '-' || argv[i][1] == '\0') {
            status = add_file(job, argv[i], err);
        } else {
            struct given given;
            status = take_option(&given, argc, argv, &i, err);
            if (status == SSAN_OK && given.option->route < DROPPED) {
                send(job, &given);
            } else if (status == SSAN_OK) {
                act_on_word(job, &given);
                status = act(job, &given, err);
            }
        }
        if (status != SSAN_OK) {
            return status;
        }
    }
    return check(job, err);
}

void job_finish(struct cc_job *job)
{
    words_finish(&job->device);
    words_finish(&job->host);
    VEC_FREE(&job->items);
    arena_finish(&job->arena);
}

char *job_stem(struct cc_job *job, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    return arena_strndup(&job->arena, base, length);
}
