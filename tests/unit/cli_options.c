/* Options: each word of options.def is taken, those of later parts are refused by name, the
 * environment comes first. */
#include "cli/options.h"

#include "base/mem.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WORDS 32

/* Reads `words` (one space between two) behind the verb. */
static enum ssan_status read_words(struct options *options, enum verb_mask verb, const char *words,
                                   const char *defaults, struct ssan_error *err)
{
    static char text[1024];
    static char *argv[MAX_WORDS + 2];
    int argc = 1;
    char *p;
    argv[0] = (char *)"run";
    strcpy(text, words);
    for (p = strtok(text, " "); p; p = strtok(NULL, " ")) {
        argv[argc++] = p;
    }
    argv[argc] = NULL;
    memset(err, 0, sizeof *err);
    return options_read(options, verb, argc, argv, defaults, err);
}

static void every_option_is_taken(void **state)
{
    struct options options;
    struct ssan_error err;
    assert_int_equal(read_words(&options, VERB_RUN,
                                "--device virtual --schedule random:7 --order documented "
                                "--threads=strict --host off --accesses exact --quiet --verbose",
                                "--trace 't x' --format json --output o --color never "
                                "--error-exitcode 9 --with-addresses --shadow-limit 512M",
                                &err),
                     SSAN_OK);
    assert_int_equal(options.device, DEVICE_VIRTUAL);
    assert_string_equal(options.schedule, "random:7");
    assert_true(options.documented && options.strict && options.quiet && options.verbose);
    assert_string_equal(options.trace, "t x");
    assert_int_equal(options.format, FORMAT_JSON);
    assert_string_equal(options.output, "o");
    assert_int_equal(options.color, COLOR_NEVER);
    assert_int_equal(options.error_exitcode, 9);
    assert_true(options.with_addresses);
    assert_int_equal(options.shadow_limit, 512 << 20);
    assert_int_equal(options.argument_count, 0);
    options_finish(&options);
}

static void defaults_without_words(void **state)
{
    struct options options;
    struct ssan_error err;
    assert_int_equal(read_words(&options, VERB_RUN, "", NULL, &err), SSAN_OK);
    assert_int_equal(options.device, DEVICE_AUTO);
    assert_string_equal(options.schedule, "eager");
    assert_false(options.documented || options.strict || options.quiet || options.help);
    assert_int_equal(options.error_exitcode, 66);
    options_finish(&options);
}

static void the_command_line_wins(void **state)
{
    struct options options;
    struct ssan_error err;
    assert_int_equal(read_words(&options, VERB_RUN, "--schedule eager --order observed",
                                "--schedule lazy --order documented", &err),
                     SSAN_OK);
    assert_string_equal(options.schedule, "eager");
    assert_false(options.documented);
    options_finish(&options);
}

static void the_program_ends_options(void **state)
{
    static const char *const lines[] = {"-- prog --quiet -x", "--verbose -- prog --quiet -x",
                                        "prog --quiet -x"};
    size_t i;
    for (i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct options options;
        struct ssan_error err;
        assert_int_equal(read_words(&options, VERB_RUN, lines[i], NULL, &err), SSAN_OK);
        assert_int_equal(options.argument_count, 3);
        assert_string_equal(options.arguments[0], "prog");
        assert_string_equal(options.arguments[1], "--quiet");
        assert_string_equal(options.arguments[2], "-x");
        assert_null(options.arguments[3]);
        assert_false(options.quiet);
        options_finish(&options);
    }
}

static void traces_may_stand_anywhere(void **state)
{
    struct options options;
    struct ssan_error err;
    assert_int_equal(read_words(&options, VERB_CHECK, "a --quiet b -", "--schedule lazy", &err),
                     SSAN_OK);
    assert_int_equal(options.argument_count, 3);
    assert_string_equal(options.arguments[1], "b");
    assert_string_equal(options.arguments[2], "-");
    assert_true(options.quiet);
    options_finish(&options);
}

static void refused(const char *words, const char *defaults, const char *says)
{
    struct options options;
    struct ssan_error err;
    assert_int_equal(read_words(&options, VERB_RUN, words, defaults, &err), SSAN_USAGE);
    if (!strstr(err.text, says)) {
        fail_msg("'%s' says: %s", words, err.text);
    }
    options_finish(&options);
}

static void several_devices(void **state)
{
    static const char *const wrong[] = {"--device virtual:0",  "--device virtual:17",
                                        "--device virtual:",   "--device virtual:2x",
                                        "--device virtual:-1", "--device virtual:+2"};
    struct options options;
    struct ssan_error err;
    assert_int_equal(read_words(&options, VERB_RUN, "--device virtual:16", NULL, &err), SSAN_OK);
    assert_int_equal(options.device, DEVICE_VIRTUAL);
    assert_int_equal(options.devices, 16);
    options_finish(&options);
    assert_int_equal(
        read_words(&options, VERB_EXPLORE, "--device=virtual", "--device virtual:3", &err),
        SSAN_OK);
    assert_int_equal(options.devices, 0); /* the command line wins */
    options_finish(&options);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        refused(wrong[i], NULL, "takes a number from 1 to 16");
    }
}

static void later_parts_are_named(void **state)
{
    static const char *const words[] = {
        "--host light",
        "--host precise",
        "--format sarif",
        "--format html",
    };
    size_t i;
    for (i = 0; i < sizeof words / sizeof *words; i++) {
        refused(words[i], NULL, "is not there yet");
    }
}

static void gpu_options(void **state)
{
    struct options options;
    struct ssan_error err;
    assert_int_equal(read_words(&options, VERB_RUN,
                                "--device gpu --accesses footprint --kernel a* --exclude-kernel ab "
                                "--launch-skip 2 --launch-count 3 --window=nvtx:step --live always "
                                "--device-memory 2G",
                                "--schedule lazy", &err),
                     SSAN_OK);
    assert_int_equal(options.device, DEVICE_GPU);
    assert_int_equal(options.accesses, SSAN_accesses_FOOTPRINT);
    assert_int_equal(options.kernels.count, 2);
    assert_true(!options.kernels.items[0].leave_out && options.kernels.items[1].leave_out);
    assert_string_equal(options.kernels.items[1].glob, "ab");
    assert_int_equal(options.launch_skip, 2);
    assert_int_equal(options.launch_count, 3);
    assert_int_equal(options.window, OBSERVE_NVTX);
    assert_string_equal(options.window_name, "step");
    assert_int_equal(options.live, LIVE_ALWAYS);
    assert_true(options.device_memory == UINT64_C(2) << 30);
    assert_string_equal(options.gpu_option, "device-memory");
    assert_null(options.virtual_option); /* of the environment */
    options_finish(&options);
    assert_int_equal(read_words(&options, VERB_RUN, "--schedule lazy --accesses exact", NULL, &err),
                     SSAN_OK);
    assert_string_equal(options.virtual_option, "schedule");
    assert_null(options.gpu_option);
    options_finish(&options);
    refused("--kernel= x", NULL, "--kernel takes a pattern");
    refused("--window later x", NULL, "it takes profiler, nvtx:NAME");
    refused("--window nvtx: x", NULL, "it takes profiler, nvtx:NAME");
    refused("--launch-skip -1 x", NULL, "from 0 to");
    assert_int_equal(read_words(&options, VERB_RUN, "--launch-skip 0 --launch-count 0", NULL, &err),
                     SSAN_OK);
    assert_int_equal(options.launch_skip + options.launch_count, 0);
    options_finish(&options);
    refused("--device-memory 1Q x", NULL, "--device-memory takes a size");
    refused("--live often x", NULL, "it takes auto, always, never");
}

static void wrong_words(void **state)
{
    refused("--device abacus", NULL,
            "--device does not take 'abacus': it takes auto, gpu, virtual");
    refused("--schedule eagre", NULL,
            "--schedule: a schedule is eager, lazy, random:SEED, order:s1.1,s2.1,... or file:PATH, "
            "not 'eagre'");
    refused("--schedule order:s1.1,s1.1", NULL, "the item is listed twice: 's1.1'");
    refused("--schedule order:", NULL, "an item is written as s1.2");
    refused("--format xml", NULL, "does not take 'xml': it takes text, short, json");
    refused("--output - x", NULL, "--output takes a file, not '-'");
    refused("--trace - x", NULL, "--trace takes a file, not '-'");
    refused("x", "--output -", "STREAMSAN_OPTIONS: --output takes a file");
    refused("--schedule random", NULL, "random takes a number");
    refused("--schedule random:x", NULL, "takes a number");
    refused("--error-exitcode 0", NULL, "from 1 to 255");
    refused("--error-exitcode 256", NULL, "from 1 to 255");
    refused("--error-exitcode 9x", NULL, "from 1 to 255");
    refused("--shadow-limit 0", NULL, "takes a size");
    refused("--shadow-limit -1", NULL, "takes a size");
    refused("--shadow-limit 99999999999T", NULL, "takes a size");
    refused("--shadow-limit 1Q", NULL, "takes a size");
    refused("", "--device abacus", "STREAMSAN_OPTIONS: --device does not take 'abacus'");
    refused("", "prog", "which is no option");
    refused("", "'open", "does not end");
}

static void schedules_are_read(void **state)
{
    struct options options;
    struct ssan_error err;
    assert_int_equal(
        read_words(&options, VERB_RUN, "--schedule order:s1.1,s2.1 prog", "--schedule lazy", &err),
        SSAN_OK);
    assert_string_equal(options.schedule, "order:s1.1,s2.1");
    assert_string_equal(options.plan.policy, "lazy");
    assert_int_equal(options.plan.items.count, 2);
    options_finish(&options);
    assert_int_equal(read_words(&options, VERB_RUN, "prog", NULL, &err), SSAN_OK);
    assert_string_equal(options.plan.policy, "eager");
    options_finish(&options);
    assert_int_equal(
        read_words(&options, VERB_RUN, "--schedule file:/nowhere/at/all prog", NULL, &err),
        SSAN_IO);
    assert_non_null(strstr(err.text, "/nowhere/at/all: "));
    options_finish(&options);
}

static void unknown_options(void **state)
{
    refused("--frobnicate -- x", NULL, "unknown option '--frobnicate'");
    refused("--frobnicate=1 -- x", NULL, "unknown option '--frobnicate=1'");
    refused("-x -- x", NULL, "unknown option '-x'");
    refused("-qx -- x", NULL, "unknown option '-x'");
    refused("--output", NULL, "--output takes a value: FILE");
    refused("--quiet=1 -- x", NULL, "--quiet takes no value");
    refused("--help=1 -- x", NULL, "--help takes no value");
    refused("--o x", NULL, "option '--o' fits several: --order, --output");
    refused("--frmat=json x", NULL, "unknown option '--frmat=json'; did you mean '--format'?");
    refused("--Schedule lazy x", NULL, "did you mean '--schedule'?");
    refused("-verbose x", NULL, "unknown option '-e'; did you mean '--verbose'?");
    refused("-trace x", NULL, "unknown option '-t'; did you mean '--trace'?");
    refused("", "--quite", "STREAMSAN_OPTIONS: unknown option '--quite'; did you mean '--quiet'?");
    refused("", "--frobnicate", "STREAMSAN_OPTIONS: unknown option '--frobnicate'");
    refused("", "--quiet -x", "STREAMSAN_OPTIONS: unknown option '-x'");
}

static void letters_and_beginnings(void **state)
{
    struct options options;
    struct ssan_error err;
    assert_int_equal(read_words(&options, VERB_RUN, "-qv --sched lazy prog -q", NULL, &err),
                     SSAN_OK);
    assert_true(options.quiet && options.verbose);
    assert_string_equal(options.schedule, "lazy");
    assert_int_equal(options.argument_count, 2);
    options_finish(&options);
    assert_int_equal(read_words(&options, VERB_CHECK, "a -h", NULL, &err), SSAN_OK);
    assert_true(options.help);
    options_finish(&options);
}

/* Names with something open in them; what can't be filled in is refused. */
static void names_of_files(void **state)
{
    struct options options;
    struct ssan_error err;
    char text[64];
    setenv("SSAN_TEST_RANK", "7", 1);
    unsetenv("SSAN_TEST_NONE");
    assert_int_equal(read_words(&options, VERB_RUN,
                                "--output r-%q{SSAN_TEST_RANK}.%p --trace 100%%.t x", NULL, &err),
                     SSAN_OK);
    snprintf(text, sizeof text, "r-7.%d", (int)getpid());
    assert_string_equal(options.output, text);
    assert_string_equal(options.trace, "100%.t");
    options_finish(&options);
    refused("--output r-%x x", NULL, "--output: '%x' is not known");
    refused("--output r-% x", NULL, "--output: '%' is not known");
    refused("--trace %q{SSAN_TEST_NONE} x", NULL,
            "--trace: %q{SSAN_TEST_NONE}: no such variable is set");
    refused("--trace %qX x", NULL, "--trace: %q takes a variable");
    refused("--launch-count x x", NULL, "--launch-count takes a number from 0 to");
}

static void dump_may_say_standard_output(void **state)
{
    struct options options;
    struct ssan_error err;
    assert_int_equal(read_words(&options, VERB_DUMP, "--output - t", NULL, &err), SSAN_OK);
    assert_null(options.output);
    options_finish(&options);
    assert_int_equal(read_words(&options, VERB_DUMP, "--output x t -- -q", NULL, &err), SSAN_OK);
    assert_string_equal(options.output, "x");
    assert_int_equal(options.argument_count, 2);
    options_finish(&options);
    assert_int_equal(read_words(&options, VERB_DUMP, "--quiet t", NULL, &err), SSAN_USAGE);
    assert_non_null(
        strstr(err.text, "--quiet is no option of this verb; it belongs to run, check"));
    options_finish(&options);
}

static void no_memory(void **state)
{
    uint64_t nth;
    for (nth = 1; nth < 4; nth++) {
        struct options options;
        struct ssan_error err;
        enum ssan_status status;
        mem_fail_at(nth);
        status = read_words(&options, VERB_RUN, "--quiet", "--verbose", &err);
        mem_fail_at(0);
        assert_true(status == SSAN_OK || status == SSAN_NO_MEMORY);
        options_finish(&options);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_is_taken),
        cmocka_unit_test(several_devices),
        cmocka_unit_test(defaults_without_words),
        cmocka_unit_test(the_command_line_wins),
        cmocka_unit_test(the_program_ends_options),
        cmocka_unit_test(traces_may_stand_anywhere),
        cmocka_unit_test(later_parts_are_named),
        cmocka_unit_test(gpu_options),
        cmocka_unit_test(wrong_words),
        cmocka_unit_test(schedules_are_read),
        cmocka_unit_test(unknown_options),
        cmocka_unit_test(letters_and_beginnings),
        cmocka_unit_test(names_of_files),
        cmocka_unit_test(dump_may_say_standard_output),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
