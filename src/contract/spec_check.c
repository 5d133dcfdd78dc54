/* What a schema can't say of a contract: words that must be known, names that must be free, texts
 * that must be patterns or numbers, places that must lie below the file's folder.
 *
 * A path of the document is written while its parts are walked, so that each message has its line.
 */
#include "contract/spec_parts.h"

#include "contract/expand.h"
#include "contract/forms.h"

#include "base/similar.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#define PATH_ROOM    256
#define TIMEOUT_MOST 86400
#define REPEATS_MOST 100000

static const char *const own_names[] = {"size",   "slots",   "device", "schedule",
                                        "repeat", "program", "folder", "sources"};

#define FAIL(checking, path, ...)                                                                  \
    spec_blame((checking)->err, (checking)->spec, (checking)->name, path, __VA_ARGS__)

/* A plain name: letters, digits, '-', '_' and '.'; it becomes part of file names. */
static bool is_plain(const char *text)
{
    static const char taken[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return text[0] && text[0] != '.' && text[0] != '-' && strlen(text) <= 60 &&
           text[strspn(text, taken)] == '\0';
}

/* Names that texts may hold: the axes of a matrix, and others. */
struct known {
    const struct spec_over *over, *fault;
    bool program;
};

static const char *find_known(const void *self, const char *name, size_t length)
{
    const struct known *known = self;
    const struct {
        const char *name;
        bool there;
    } names[] = {
        {"size", known->over->sizes.count || (known->fault && known->fault->sizes.count)},
        {"slots", known->over->slots.count || (known->fault && known->fault->slots.count)},
        {"device", true},
        {"schedule", true},
        {"repeat", true},
        {"folder", true},
        {"sources", true},
        {"program", known->program},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i].name) == length && memcmp(names[i].name, name, length) == 0) {
            return names[i].there ? "1" : NULL;
        }
    }
    for (unsigned i = 0; i < known->over->parameters_count; i++) {
        const char *own = known->over->parameters[i].name;
        if (strlen(own) == length && memcmp(own, name, length) == 0) {
            return "1";
        }
    }
    return NULL;
}

/* The text with each placeholder as "1"; refused where a name is none. */
static enum ssan_status expand_known(const struct spec_checking *checking, const char *path,
                                     const char *text, const struct known *known,
                                     struct strbuf *out)
{
    const struct expand_names names = {find_known, known};
    struct ssan_error inner = {0};
    const enum ssan_status status = expand(out, text, &names, &inner);
    return status == SSAN_FORMAT ? FAIL(checking, path, "%s", inner.text)
           : status              ? ssan_fail(checking->err, status, 0, "%s", inner.text)
                                 : SSAN_OK;
}

static enum ssan_status check_text(const struct spec_checking *checking, const char *path,
                                   const char *text, const struct known *known)
{
    struct strbuf out = {0};
    const enum ssan_status status = expand_known(checking, path, text, known, &out);
    strbuf_finish(&out);
    return status;
}

static enum ssan_status check_pattern(const struct spec_checking *checking, const char *path,
                                      const char *text, const struct known *known)
{
    struct strbuf out = {0};
    regex_t pattern;
    enum ssan_status status = expand_known(checking, path, text, known, &out);
    if (status == SSAN_OK) {
        const int error = regcomp(&pattern, strbuf_text(&out), REG_EXTENDED | REG_NOSUB);
        char why[100];
        if (error) {
            regerror(error, NULL, why, sizeof why);
            status = FAIL(checking, path, "no regular expression: %s", why);
        } else {
            regfree(&pattern);
        }
    }
    strbuf_finish(&out);
    return status;
}

static enum ssan_status check_number(const struct spec_checking *checking, const char *path,
                                     const char *text, const struct known *known)
{
    struct strbuf out = {0};
    double number;
    enum ssan_status status = expand_known(checking, path, text, known, &out);
    if (status == SSAN_OK && !forms_number(strbuf_text(&out), &number)) {
        status = FAIL(checking, path, "a number is wanted, not '%.60s'", text);
    }
    strbuf_finish(&out);
    return status;
}

/* Checks each text of a list. */
typedef enum ssan_status check_one(const struct spec_checking *checking, const char *path,
                                   const char *text, const struct known *known);

static enum ssan_status check_list(const struct spec_checking *checking, const char *path,
                                   const struct spec_list *list, const struct known *known,
                                   check_one *check)
{
    enum ssan_status status = SSAN_OK;
    for (unsigned i = 0; i < list->count && status == SSAN_OK; i++) {
        char inside[PATH_ROOM];
        snprintf(inside, sizeof inside, "%.200s[%u]", path, i);
        status = check(checking, inside, list->items[i], known);
    }
    return status;
}

/* A file below the folder of the contract, by its name alone. */
static enum ssan_status check_below(const struct spec_checking *checking, const char *path,
                                    const char *text, const struct known *known)
{
    (void)known;
    return forms_is_below(text) ? SSAN_OK
                                : FAIL(checking, path,
                                       "'%.100s': a file below the folder of the contract is "
                                       "wanted, without '..'",
                                       text);
}

static enum ssan_status check_macro(const struct spec_checking *checking, const char *path,
                                    const char *text, const struct known *known)
{
    if (!text[0] || text[0] == '-' || text[0] == '=' || (text[0] >= '0' && text[0] <= '9')) {
        return FAIL(checking, path, "NAME or NAME=VALUE is wanted, without -D, not '%.60s'", text);
    }
    return check_text(checking, path, text, known);
}

static enum ssan_status check_environment(const struct spec_checking *checking, const char *path,
                                          const char *text, const struct known *known)
{
    if (!strchr(text, '=') || text[0] == '=') {
        return FAIL(checking, path, "NAME=VALUE is wanted, not '%.60s'", text);
    }
    return check_text(checking, path, text, known);
}

static enum ssan_status check_device(const struct spec_checking *checking, const char *path,
                                     const char *text, const struct known *known)
{
    (void)known;
    return forms_is_device(text)
               ? SSAN_OK
               : FAIL(checking, path, "it takes virtual, virtual:N and gpu, not '%.60s'", text);
}

static enum ssan_status check_schedule(const struct spec_checking *checking, const char *path,
                                       const char *text, const struct known *known)
{
    (void)known;
    if (strncmp(text, "file:", 5) == 0 && text[5] != '/' && !forms_is_below(text + 5)) {
        return FAIL(checking, path,
                    "'%.100s': a file below the folder of the contract is wanted, without '..', or "
                    "one that begins with '/'",
                    text);
    }
    return text[0] ? SSAN_OK : FAIL(checking, path, "is empty");
}

static enum ssan_status check_place(const struct spec_checking *checking, const char *path,
                                    const char *text, const struct known *known)
{
    struct forms_place place;
    (void)known;
    return forms_place(&place, text)
               ? SSAN_OK
               : FAIL(checking, path, "FILE:LINE or FILE:/text/ is wanted, not '%.60s'", text);
}

static enum ssan_status check_failing(const struct spec_checking *checking, const char *path,
                                      const char *text, const struct known *known)
{
    if (!strchr(text, '=') || text[0] == '=') {
        return FAIL(checking, path,
                    "CALL=ERROR or CALL:N=ERROR is wanted, as in "
                    "cudaMalloc:2=cudaErrorMemoryAllocation, not '%.60s'",
                    text);
    }
    return check_text(checking, path, text, known);
}

static enum ssan_status check_rule(const struct spec_checking *checking, const char *path,
                                   const char *text, const struct known *known)
{
    (void)known;
    for (size_t i = 0; i < checking->check_count; i++) {
        if (strcmp(checking->checks[i], text) == 0) {
            return SSAN_OK;
        }
    }
    const char *near = similar_word(text, checking->checks, checking->check_count);
    return FAIL(checking, path, "there is no check '%.60s'%s%s%s", text,
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static enum ssan_status check_over(const struct spec_checking *checking, const char *path,
                                   const struct spec_over *over, const struct spec_over *outer)
{
    char inside[PATH_ROOM];
    snprintf(inside, sizeof inside, "%.200s.devices", path);
    enum ssan_status status = check_list(checking, inside, &over->devices, NULL, check_device);
    snprintf(inside, sizeof inside, "%.200s.schedules", path);
    if (status == SSAN_OK) {
        status = check_list(checking, inside, &over->schedules, NULL, check_schedule);
    }
    for (unsigned i = 0; i < over->parameters_count && status == SSAN_OK; i++) {
        const char *name = over->parameters[i].name;
        bool twice = false, known = false;
        for (size_t k = 0; k < sizeof own_names / sizeof *own_names; k++) {
            twice |= strcmp(own_names[k], name) == 0;
        }
        for (unsigned k = 0; k < i; k++) {
            twice |= strcmp(over->parameters[k].name, name) == 0;
        }
        for (unsigned k = 0; outer && k < outer->parameters_count; k++) {
            known |= strcmp(outer->parameters[k].name, name) == 0;
        }
        snprintf(inside, sizeof inside, "%.200s.parameters[%u].name", path, i);
        if (twice || !is_plain(name)) {
            status = FAIL(checking, inside,
                          twice ? "the name '%.60s' is taken"
                                : "'%.60s': letters, digits, '-', '_' and '.' make a name",
                          name);
        } else if (outer && !known) {
            status = FAIL(checking, inside, "the matrix has no parameter '%.60s'", name);
        }
    }
    return status;
}

static enum ssan_status check_build(const struct spec_checking *checking, const struct known *known)
{
    const struct spec_build *build = &checking->spec->contract->build;
    const struct known with_program = {known->over, known->fault, true};
    enum ssan_status status = SSAN_OK;
    if (!build->sources.count && !build->command.count) {
        return FAIL(checking, "build", "'sources' or 'command' is missing");
    }
    if (build->command.count && (build->options.count)) {
        return FAIL(checking, "build.options",
                    "they belong to the compiler of 'sources', and "
                    "'command' is used instead");
    }
    const struct {
        const char *path;
        const struct spec_list *list;
        const struct known *known;
        check_one *check;
    } lists[] = {
        {"build.sources", &build->sources, known, check_below},
        {"build.files", &build->files, known, check_below},
        {"build.options", &build->options, known, check_text},
        {"build.macros", &build->macros, known, check_macro},
        {"build.command", &build->command, &with_program, check_text},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == SSAN_OK; i++) {
        status = check_list(checking, lists[i].path, lists[i].list, lists[i].known, lists[i].check);
    }
    return status;
}

static enum ssan_status check_run(const struct spec_checking *checking, const struct known *known)
{
    const struct spec_run *run = &checking->spec->contract->run;
    const struct spec_matrix *matrix = &checking->spec->contract->matrix;
    enum ssan_status status =
        check_list(checking, "run.arguments", &run->arguments, known, check_text);
    if (status == SSAN_OK) {
        status =
            check_list(checking, "run.environment", &run->environment, known, check_environment);
    }
    if (status == SSAN_OK) {
        status = check_list(checking, "run.options", &run->options, known, check_text);
    }
    if (status == SSAN_OK && run->timeout > TIMEOUT_MOST) {
        return FAIL(checking, "run.timeout", "at most %d seconds", TIMEOUT_MOST);
    }
    if (status == SSAN_OK && matrix->repeats > REPEATS_MOST) {
        return FAIL(checking, "matrix.repeats", "at most %d", REPEATS_MOST);
    }
    return status == SSAN_OK ? check_over(checking, "matrix", &matrix->over, NULL) : status;
}

static bool is_tolerance(double number)
{
    return isfinite(number) && number >= 0;
}

static enum ssan_status check_value(const struct spec_checking *checking, unsigned index,
                                    const struct known *known)
{
    const struct spec_expect *expect = &checking->spec->contract->expect;
    const struct spec_value *value = &expect->values[index];
    char path[PATH_ROOM];
    enum ssan_status status = SSAN_OK;
    snprintf(path, sizeof path, "expect.values[%u]", index);
    if (!forms_is_key(value->key)) {
        return FAIL(checking, path, "'%.60s' is no key: letters, digits, '_', '-', '.'",
                    value->key);
    }
    for (unsigned i = 0; i < index; i++) {
        if (strcmp(expect->values[i].key, value->key) == 0) {
            return FAIL(checking, path, "'%.60s' stands twice", value->key);
        }
    }
    if (!value->equals && !value->min && !value->max) {
        return FAIL(checking, path, "'equals', 'min' or 'max' is missing");
    }
    if (!is_tolerance(value->abs) || !is_tolerance(value->rel)) {
        return FAIL(checking, path, "a tolerance is a finite number, and not negative");
    }
    if ((value->abs > 0 || value->rel > 0) && !value->equals) {
        return FAIL(checking, path, "tolerances belong to 'equals'");
    }
    if (value->equals) {
        status = value->abs > 0 || value->rel > 0
                     ? check_number(checking, path, value->equals, known)
                     : check_text(checking, path, value->equals, known);
    }
    if (status == SSAN_OK && value->min) {
        status = check_number(checking, path, value->min, known);
    }
    if (status == SSAN_OK && value->max) {
        status = check_number(checking, path, value->max, known);
    }
    return status;
}

static enum ssan_status check_file(const struct spec_checking *checking, unsigned index,
                                   const struct known *known)
{
    const struct spec_file *file = &checking->spec->contract->expect.files[index];
    enum ssan_compare_type type;
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "expect.files[%u]", index);
    if (!is_tolerance(file->abs) || !is_tolerance(file->rel)) {
        return FAIL(checking, path, "a tolerance is a finite number, and not negative");
    }
    if (file->type && !ssan_compare_type_find(file->type, &type)) {
        return FAIL(checking, path, "there is no type '%.60s'; float32 and int64 are two",
                    file->type);
    }
    enum ssan_status status = check_below(checking, path, file->output, known);
    if (status == SSAN_OK) {
        status = check_text(checking, path, file->output, known);
    }
    if (status == SSAN_OK) {
        status = check_below(checking, path, file->expected, known);
    }
    return status == SSAN_OK ? check_text(checking, path, file->expected, known) : status;
}

static enum ssan_status check_expect(const struct spec_checking *checking,
                                     const struct known *known)
{
    const struct spec_expect *expect = &checking->spec->contract->expect;
    enum ssan_status status =
        check_list(checking, "expect.stdout", &expect->stdout_lines, known, check_pattern);
    if (status == SSAN_OK && (expect->exit_code < 0 || expect->exit_code > 255)) {
        return FAIL(checking, "expect.exit_code", "a number from 0 to 255 is wanted");
    }
    for (unsigned i = 0; i < expect->values_count && status == SSAN_OK; i++) {
        status = check_value(checking, i, known);
    }
    for (unsigned i = 0; i < expect->files_count && status == SSAN_OK; i++) {
        status = check_file(checking, i, known);
    }
    return status;
}

/* Keys that `caught` names must be those that `expect` knows. */
static enum ssan_status check_caught_keys(const struct spec_checking *checking, const char *path,
                                          const struct spec_caught *caught)
{
    const struct spec_expect *expect = &checking->spec->contract->expect;
    for (unsigned i = 0; i < caught->values.count; i++) {
        bool known = false;
        for (unsigned k = 0; k < expect->values_count; k++) {
            known |= strcmp(expect->values[k].key, caught->values.items[i]) == 0;
        }
        if (!known) {
            return FAIL(checking, path, "expect.values has no key '%.60s'",
                        caught->values.items[i]);
        }
    }
    for (unsigned i = 0; i < caught->files.count; i++) {
        bool known = false;
        for (unsigned k = 0; k < expect->files_count; k++) {
            known |= strcmp(expect->files[k].output, caught->files.items[i]) == 0;
        }
        if (!known) {
            return FAIL(checking, path, "expect.files has no output '%.60s'",
                        caught->files.items[i]);
        }
    }
    return SSAN_OK;
}

static enum ssan_status check_caught(const struct spec_checking *checking, unsigned index,
                                     const struct known *known)
{
    const struct spec_caught *caught = &checking->spec->contract->faults[index].caught;
    char path[PATH_ROOM], inside[PATH_ROOM];
    snprintf(path, sizeof path, "faults[%u].caught", index);
    if (!caught->finding.count && !caught->exit_code.count && !caught->values.count &&
        !caught->files.count && !caught->stdout_lines.count) {
        return FAIL(checking, path,
                    "it must say by what the fault is caught: finding, exit_code, values, files, "
                    "stdout");
    }
    snprintf(inside, sizeof inside, "%.200s.finding", path);
    enum ssan_status status = check_list(checking, inside, &caught->finding, known, check_rule);
    snprintf(inside, sizeof inside, "%.200s.stdout", path);
    if (status == SSAN_OK) {
        status = check_list(checking, inside, &caught->stdout_lines, known, check_pattern);
    }
    return status == SSAN_OK ? check_caught_keys(checking, path, caught) : status;
}

static enum ssan_status check_fault(const struct spec_checking *checking, unsigned index)
{
    const struct spec_contract *contract = checking->spec->contract;
    const struct spec_fault *fault = &contract->faults[index];
    const struct known known = {&contract->matrix.over, &fault->over, false};
    char path[PATH_ROOM];
    enum ssan_status status = SSAN_OK;
    snprintf(path, sizeof path, "faults[%u]", index);
    bool twice = false;
    for (unsigned i = 0; i < index; i++) {
        twice |= strcmp(contract->faults[i].name, fault->name) == 0;
    }
    if (twice || !is_plain(fault->name)) {
        return FAIL(checking, path,
                    twice ? "the name '%.60s' is taken"
                          : "'%.60s': letters, digits, '-', '_' and '.' make a name",
                    fault->name);
    }
    if (!fault->macros.count && !fault->ignore.count && !fault->fail.count &&
        !fault->options.count && !fault->over.schedules.count && !fault->over.sizes.count &&
        !fault->over.slots.count && !fault->over.parameters_count) {
        return FAIL(checking, path,
                    "it plants nothing: macros, ignore, fail, options, schedules, sizes, slots or "
                    "parameters must differ");
    }
    const struct {
        const char *key;
        const struct spec_list *list;
        check_one *check;
    } lists[] = {{"macros", &fault->macros, check_macro},
                 {"ignore", &fault->ignore, check_place},
                 {"fail", &fault->fail, check_failing},
                 {"options", &fault->options, check_text}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == SSAN_OK; i++) {
        snprintf(path, sizeof path, "faults[%u].%s", index, lists[i].key);
        status = check_list(checking, path, lists[i].list, &known, lists[i].check);
    }
    snprintf(path, sizeof path, "faults[%u]", index);
    if (status == SSAN_OK) {
        status = check_over(checking, path, &fault->over, &contract->matrix.over);
    }
    return status == SSAN_OK ? check_caught(checking, index, &known) : status;
}

enum ssan_status spec_check(const struct spec_checking *checking)
{
    const struct spec_contract *contract = checking->spec->contract;
    const struct known known = {&contract->matrix.over, NULL, false};
    enum ssan_status status;
    if (contract->version > SPEC_VERSION) {
        return FAIL(checking, "version", "this streamsan reads version %d, not %u", SPEC_VERSION,
                    contract->version);
    }
    if (!is_plain(contract->name)) {
        return FAIL(checking, "name", "'%.60s': letters, digits, '-', '_' and '.' make a name",
                    contract->name);
    }
    status = check_run(checking, &known);
    if (status == SSAN_OK) {
        status = check_build(checking, &known);
    }
    if (status == SSAN_OK) {
        status = check_expect(checking, &known);
    }
    for (unsigned i = 0; i < contract->faults_count && status == SSAN_OK; i++) {
        status = check_fault(checking, i);
    }
    return status;
}
