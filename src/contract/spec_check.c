/* What a schema can't say of a contract: words that must be known, names that must be free, texts
 * that must be patterns or numbers, places that must lie below the file's folder.
 *
 * A path of the document is written while its parts are walked, so that each message has its line.
 */
#include "contract/spec_parts.h"

#include "contract/expand.h"
#include "contract/figures.h"
#include "contract/forms.h"

#include "base/similar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_FORM    "letters, digits, '-', '_' and '.', 60 at most, make a name"
#define TIMEOUT_MOST 86400
#define REPEATS_MOST 100000

static enum ssan_status check_over(const struct spec_checking *checking, const char *path,
                                   const struct spec_over *over, const struct spec_over *outer)
{
    char inside[SPEC_PATH_ROOM];
    snprintf(inside, sizeof inside, "%.200s.devices", path);
    enum ssan_status status =
        spec_text_list(checking, inside, &over->devices, NULL, spec_text_device);
    snprintf(inside, sizeof inside, "%.200s.schedules", path);
    if (status == SSAN_OK) {
        status = spec_text_list(checking, inside, &over->schedules, NULL, spec_text_schedule);
    }
    for (unsigned i = 0; i < over->parameters_count && status == SSAN_OK; i++) {
        const char *name = over->parameters[i].name;
        bool twice = spec_text_is_own_name(name), known = false;
        for (unsigned k = 0; k < i; k++) {
            twice |= strcmp(over->parameters[k].name, name) == 0;
        }
        for (unsigned k = 0; outer && k < outer->parameters_count; k++) {
            known |= strcmp(outer->parameters[k].name, name) == 0;
        }
        snprintf(inside, sizeof inside, "%.200s.parameters[%u].name", path, i);
        if (twice || !forms_is_name(name) || !expand_is_name(name, strlen(name))) {
            status = SPEC_FAIL(checking, inside,
                               twice ? "the name '%.60s' is taken"
                                     : "'%.60s': a letter or '_', then letters, digits, '_' and "
                                       "'-', 60 at most, make a name that can stand in braces",
                               name);
        } else if (outer && !known) {
            status = SPEC_FAIL(checking, inside, "the matrix has no parameter '%.60s'", name);
        }
    }
    return status;
}

static enum ssan_status check_build(const struct spec_checking *checking,
                                    const struct spec_known *known)
{
    const struct spec_build *build = &checking->spec->contract->build;
    const struct spec_known with_program = {known->over, known->fault, true};
    enum ssan_status status = SSAN_OK;
    if (!build->sources.count && !build->command.count) {
        return SPEC_FAIL(checking, "build", "'sources' or 'command' is missing");
    }
    if (build->command.count && (build->options.count)) {
        return SPEC_FAIL(checking, "build.options",
                         "they belong to the compiler of 'sources', and "
                         "'command' is used instead");
    }
    const struct {
        const char *path;
        const struct spec_list *list;
        const struct spec_known *known;
        spec_text_check *check;
    } lists[] = {
        {"build.sources", &build->sources, known, spec_text_below},
        {"build.files", &build->files, known, spec_text_below},
        {"build.options", &build->options, known, spec_text_any},
        {"build.macros", &build->macros, known, spec_text_macro},
        {"build.command", &build->command, &with_program, spec_text_command},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == SSAN_OK; i++) {
        status =
            spec_text_list(checking, lists[i].path, lists[i].list, lists[i].known, lists[i].check);
    }
    return status;
}

/* 0 stands for what is not given, so one that is given is looked for in the text. */
static enum ssan_status check_count(const struct spec_checking *checking, const char *path,
                                    unsigned number, unsigned most)
{
    const bool given = yaml_lines_text(&checking->spec->lines, path) != NULL;
    return number <= most && (number > 0 || !given)
               ? SSAN_OK
               : SPEC_FAIL(checking, path, "a number from 1 to %u is wanted", most);
}

/* Of a name that is set twice the value would be chance: libraries and shells differ. */
static enum ssan_status check_set_once(const struct spec_checking *checking,
                                       const struct spec_list *environment)
{
    for (unsigned i = 0; i < environment->count; i++) {
        const size_t length = strcspn(environment->items[i], "=") + 1;
        for (unsigned k = 0; k < i; k++) {
            if (strncmp(environment->items[i], environment->items[k], length) == 0) {
                char path[SPEC_PATH_ROOM];
                snprintf(path, sizeof path, "run.environment[%u]", i);
                return SPEC_FAIL(checking, path, "'%.*s' is set twice", (int)length - 1,
                                 environment->items[i]);
            }
        }
    }
    return SSAN_OK;
}

static enum ssan_status check_run(const struct spec_checking *checking,
                                  const struct spec_known *known)
{
    const struct spec_run *run = &checking->spec->contract->run;
    const struct spec_matrix *matrix = &checking->spec->contract->matrix;
    enum ssan_status status =
        spec_text_list(checking, "run.arguments", &run->arguments, known, spec_text_any);
    if (status == SSAN_OK) {
        status = spec_text_list(checking, "run.environment", &run->environment, known,
                                spec_text_environment);
    }
    if (status == SSAN_OK) {
        status = check_set_once(checking, &run->environment);
    }
    if (status == SSAN_OK) {
        status = spec_text_list(checking, "run.options", &run->options, known, spec_text_any);
    }
    if (status == SSAN_OK) {
        status = check_count(checking, "run.timeout", run->timeout, TIMEOUT_MOST);
    }
    if (status == SSAN_OK) {
        status = check_count(checking, "matrix.repeats", matrix->repeats, REPEATS_MOST);
    }
    return status == SSAN_OK ? check_over(checking, "matrix", &matrix->over, NULL) : status;
}

static bool is_tolerance(double number)
{
    return isfinite(number) && number >= 0;
}

static enum ssan_status check_value(const struct spec_checking *checking, unsigned index,
                                    const struct spec_known *known)
{
    const struct spec_expect *expect = &checking->spec->contract->expect;
    const struct spec_value *value = &expect->values[index];
    char path[SPEC_PATH_ROOM];
    enum ssan_status status = SSAN_OK;
    snprintf(path, sizeof path, "expect.values[%u]", index);
    if (!forms_is_key(value->key)) {
        return SPEC_FAIL(checking, path, "'%.60s' is no key: letters, digits, '_', '-', '.'",
                         value->key);
    }
    for (unsigned i = 0; i < index; i++) {
        if (strcmp(expect->values[i].key, value->key) == 0) {
            return SPEC_FAIL(checking, path, "'%.60s' stands twice", value->key);
        }
    }
    if (!value->equals && !value->min && !value->max) {
        return SPEC_FAIL(checking, path, "'equals', 'min' or 'max' is missing");
    }
    if (!is_tolerance(value->abs) || !is_tolerance(value->rel)) {
        return SPEC_FAIL(checking, path, "a tolerance is a finite number, and not negative");
    }
    if ((value->abs > 0 || value->rel > 0) && !value->equals) {
        return SPEC_FAIL(checking, path, "tolerances belong to 'equals'");
    }
    if (value->equals) {
        status = value->abs > 0 || value->rel > 0
                     ? spec_text_number(checking, path, value->equals, known)
                     : spec_text_any(checking, path, value->equals, known);
    }
    if (status == SSAN_OK && value->min) {
        status = spec_text_number(checking, path, value->min, known);
    }
    if (status == SSAN_OK && value->max) {
        status = spec_text_number(checking, path, value->max, known);
    }
    int order;
    if (status == SSAN_OK && value->min && value->max &&
        figures_order(value->min, value->max, &order) && order > 0) {
        return SPEC_FAIL(checking, path, "no number is at least %.60s and at most %.60s",
                         value->min, value->max);
    }
    return status;
}

/* Types end where they have no name any more. */
static enum ssan_status blame_type(const struct spec_checking *checking, const char *path,
                                   const char *word)
{
    const char *names[32];
    char list[200] = "";
    size_t count = 0;
    for (int type = 1; count < 32 && ssan_compare_type_name((enum ssan_compare_type)type); type++) {
        names[count] = ssan_compare_type_name((enum ssan_compare_type)type);
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", count ? ", " : "", names[count]);
        count++;
    }
    char inside[SPEC_PATH_ROOM];
    const char *near = similar_word(word, names, count);
    snprintf(inside, sizeof inside, "%.200s.type", path);
    return near ? SPEC_FAIL(checking, inside, "there is no type '%.60s'; did you mean '%s'?", word,
                            near)
                : SPEC_FAIL(checking, inside, "there is no type '%.60s'; it takes %s", word, list);
}

static enum ssan_status check_file(const struct spec_checking *checking, unsigned index,
                                   const struct spec_known *known)
{
    const struct spec_file *file = &checking->spec->contract->expect.files[index];
    enum ssan_compare_type type;
    char path[SPEC_PATH_ROOM];
    snprintf(path, sizeof path, "expect.files[%u]", index);
    if (!is_tolerance(file->abs) || !is_tolerance(file->rel)) {
        return SPEC_FAIL(checking, path, "a tolerance is a finite number, and not negative");
    }
    if (file->type && !ssan_compare_type_find(file->type, &type)) {
        return blame_type(checking, path, file->type);
    }
    if (forms_is_own_file(file->output)) {
        return SPEC_FAIL(checking, path, "'%.60s' is written by streamsan in that folder",
                         file->output);
    }
    enum ssan_status status = spec_text_below(checking, path, file->output, known);
    if (status == SSAN_OK) {
        status = spec_text_any(checking, path, file->output, known);
    }
    if (status == SSAN_OK) {
        status = spec_text_below(checking, path, file->expected, known);
    }
    return status == SSAN_OK ? spec_text_any(checking, path, file->expected, known) : status;
}

static enum ssan_status check_expect(const struct spec_checking *checking,
                                     const struct spec_known *known)
{
    const struct spec_expect *expect = &checking->spec->contract->expect;
    enum ssan_status status =
        spec_text_list(checking, "expect.stdout", &expect->stdout_lines, known, spec_text_pattern);
    if (status == SSAN_OK && (expect->exit_code < 0 || expect->exit_code > 255)) {
        return SPEC_FAIL(checking, "expect.exit_code", "a number from 0 to 255 is wanted");
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
            return SPEC_FAIL(checking, path, "expect.values has no key '%.60s'",
                             caught->values.items[i]);
        }
    }
    for (unsigned i = 0; i < caught->files.count; i++) {
        bool known = false;
        for (unsigned k = 0; k < expect->files_count; k++) {
            known |= strcmp(expect->files[k].output, caught->files.items[i]) == 0;
        }
        if (!known) {
            return SPEC_FAIL(checking, path, "expect.files has no output '%.60s'",
                             caught->files.items[i]);
        }
    }
    return SSAN_OK;
}

static enum ssan_status check_caught(const struct spec_checking *checking, unsigned index,
                                     const struct spec_known *known)
{
    const struct spec_caught *caught = &checking->spec->contract->faults[index].caught;
    char path[SPEC_PATH_ROOM], inside[SPEC_PATH_ROOM];
    snprintf(path, sizeof path, "faults[%u].caught", index);
    const bool seen = caught->finding.count || caught->exit_code.count || caught->values.count ||
                      caught->files.count || caught->stdout_lines.count;
    if (caught->timeout && seen) {
        return SPEC_FAIL(
            checking, path,
            "'timeout' stands alone: what is killed leaves no whole result to look at");
    }
    if (!seen && !caught->timeout) {
        return SPEC_FAIL(
            checking, path,
            "it must say by what the fault is caught: finding, exit_code, values, files, "
            "stdout, timeout");
    }
    for (unsigned i = 0; i < caught->exit_code.count; i++) {
        const int code = caught->exit_code.items[i];
        if (code < 0 || code > 255) {
            snprintf(inside, sizeof inside, "%.200s.exit_code[%u]", path, i);
            return SPEC_FAIL(checking, inside, "a number from 0 to 255 is wanted");
        }
    }
    snprintf(inside, sizeof inside, "%.200s.finding", path);
    enum ssan_status status =
        spec_text_list(checking, inside, &caught->finding, known, spec_text_rule);
    snprintf(inside, sizeof inside, "%.200s.stdout", path);
    if (status == SSAN_OK) {
        status = spec_text_list(checking, inside, &caught->stdout_lines, known, spec_text_pattern);
    }
    return status == SSAN_OK ? check_caught_keys(checking, path, caught) : status;
}

static enum ssan_status check_fault(const struct spec_checking *checking, unsigned index)
{
    const struct spec_contract *contract = checking->spec->contract;
    const struct spec_fault *fault = &contract->faults[index];
    const struct spec_known known = {&contract->matrix.over, &fault->over, false};
    char path[SPEC_PATH_ROOM];
    enum ssan_status status = SSAN_OK;
    snprintf(path, sizeof path, "faults[%u]", index);
    bool twice = false;
    for (unsigned i = 0; i < index; i++) {
        twice |= strcmp(contract->faults[i].name, fault->name) == 0;
    }
    if (twice || !forms_is_name(fault->name)) {
        return SPEC_FAIL(checking, path,
                         twice ? "the name '%.60s' is taken" : "'%.60s': " NAME_FORM, fault->name);
    }
    if (!fault->macros.count && !fault->ignore.count && !fault->fail.count &&
        !fault->options.count && !fault->over.schedules.count && !fault->over.sizes.count &&
        !fault->over.slots.count && !fault->over.parameters_count) {
        return SPEC_FAIL(
            checking, path,
            "it plants nothing: macros, ignore, fail, options, schedules, sizes, slots or "
            "parameters must differ");
    }
    const struct {
        const char *key;
        const struct spec_list *list;
        spec_text_check *check;
    } lists[] = {{"macros", &fault->macros, spec_text_macro},
                 {"ignore", &fault->ignore, spec_text_place},
                 {"fail", &fault->fail, spec_text_failing},
                 {"options", &fault->options, spec_text_any}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == SSAN_OK; i++) {
        snprintf(path, sizeof path, "faults[%u].%s", index, lists[i].key);
        status = spec_text_list(checking, path, lists[i].list, &known, lists[i].check);
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
    const struct spec_known known = {&contract->matrix.over, NULL, false};
    enum ssan_status status;
    if (contract->version > SPEC_VERSION ||
        (contract->version == 0 && yaml_lines_text(&checking->spec->lines, "version"))) {
        return SPEC_FAIL(checking, "version", "this streamsan reads version %d, not %u",
                         SPEC_VERSION, contract->version);
    }
    if (!forms_is_name(contract->name)) {
        return SPEC_FAIL(checking, "name", "'%.60s': " NAME_FORM, contract->name);
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
