/* `streamsan compare A B`: whether two arrays in files are equal within tolerances, exit code 0 or
 * 1. The arithmetic is that of streamsan/compare.h. */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/compare_print.h"
#include "cli/output.h"

#include "base/mem.h"
#include "compare/array.h"

#include <unistd.h>

#define EXIT_CODE_DIFFERENT 1

static enum ssan_status open_both(struct array *a, struct array *b, const struct options *options,
                                  struct ssan_error *err)
{
    const struct array_part part_a = {options->compare.type, options->offset_a, options->count};
    const struct array_part part_b = {options->compare.type, options->offset_b, options->count};
    const enum ssan_status status = array_open(a, options->arguments[0], &part_a, err);
    return status ? status : array_open(b, options->arguments[1], &part_b, err);
}

static enum ssan_status print(const struct options *options, const struct array *a,
                              const struct array *b, const struct ssan_compare_options *how,
                              const struct ssan_compare_result *result, struct ssan_error *err)
{
    struct strbuf text = {0};
    if (options->format == FORMAT_JSON) {
        text.failed |= !compare_print_json(&text, a, b, how, result);
    } else {
        compare_print_text(&text, a, b, how, result, options->quiet);
    }
    const enum ssan_status status = output_write(options->output, STDOUT_FILENO, &text, err);
    strbuf_finish(&text);
    return status;
}

static int compare(const struct options *options)
{
    struct array a = {.fd = -1}, b = {.fd = -1};
    struct ssan_compare_options how = options->compare;
    struct ssan_compare_result result = {.first_room = options->first};
    struct ssan_error err = {0};
    enum ssan_status status = open_both(&a, &b, options, &err);
    if (status == SSAN_OK && options->first) {
        result.first = mem_zalloc(options->first, sizeof *result.first);
        status = result.first ? SSAN_OK : ssan_no_memory(&err);
    }
    if (status == SSAN_OK) {
        status = array_compare(&a, &b, &how, &result, &err);
    }
    if (status == SSAN_OK) {
        status = print(options, &a, &b, &how, &result, &err);
    }
    mem_free(result.first);
    array_close(&a);
    array_close(&b);
    if (status) {
        return command_usage("compare", &err);
    }
    return result.different ? EXIT_CODE_DIFFERENT : 0;
}

int cmd_compare(int argc, char **argv)
{
    const struct command command = {
        .verb = "compare",
        .mask = VERB_COMPARE,
        .wants = WANTS_PAIR,
        .ignores_pipe = true,
        .act = compare,
    };
    return command_run(&command, argc, argv);
}
