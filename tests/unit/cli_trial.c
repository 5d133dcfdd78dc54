/* Trials: what comes back of each, in order of start; input, limits, crashes and signals. */
#include "cli/trial.h"
#include "support/temporary.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct trial shell(char *words[4], const char *script)
{
    words[0] = (char *)"sh";
    words[1] = (char *)"-c";
    words[2] = (char *)script;
    words[3] = NULL;
    return (struct trial){.arguments = words};
}

static void start(struct trials *trials, const char *script)
{
    char *words[4];
    struct trial trial = shell(words, script);
    struct ssan_error err;
    assert_int_equal(trials_start(trials, &trial, &err), SSAN_OK);
}

static void assert_holds(const struct trial_result *result, const char *name, const char *expected)
{
    char path[4096], text[256] = "";
    int fd;
    snprintf(path, sizeof path, "%s/%s", result->directory, name);
    fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_true(read(fd, text, sizeof text - 1) >= 0);
    close(fd);
    assert_string_equal(text, expected);
}

static void results_come_in_order_of_start(void **state)
{
    struct trials trials;
    struct ssan_error err;
    char directory[4096];
    int i;
    assert_int_equal(trials_open(&trials, 3, &err), SSAN_OK);
    snprintf(directory, sizeof directory, "%s", trials.directory);
    for (i = 0; i < 7; i++) {
        char script[100];
        snprintf(script, sizeof script, "echo out %d; echo error %d >&2; exit %d", i, i, i);
        start(&trials, script);
    }
    for (i = 0; i < 7; i++) {
        const struct trial_result *result = trials_next(&trials);
        char expected[32];
        assert_non_null(result);
        assert_int_equal(result->status, SSAN_OK);
        assert_int_equal(result->number, i);
        assert_int_equal(result->code, i);
        assert_int_equal(result->processes, 0);
        assert_false(result->whole || result->timed_out || result->infeasible);
        snprintf(expected, sizeof expected, "out %d\n", i);
        assert_holds(result, TRIAL_STDOUT, expected);
        snprintf(expected, sizeof expected, "error %d\n", i);
        assert_holds(result, TRIAL_STDERR, expected);
        trials_drop(&trials, result);
    }
    assert_null(trials_next(&trials));
    assert_int_equal(access(directory, F_OK), 0);
    trials_close(&trials);
    assert_int_not_equal(access(directory, F_OK), 0);
}

static void run_one(struct trials *trials, const char *script, double limit,
                    struct trial_result *result)
{
    char *words[4];
    struct trial trial = shell(words, script);
    const struct trial_result *got;
    trial.limit_seconds = limit;
    got = trials_run(trials, &trial);
    assert_non_null(got);
    *result = *got;
}

static void bad_ends_are_results(void **state)
{
    struct trials trials;
    struct trial_result result;
    struct ssan_error err;
    char *words[] = {(char *)"/nowhere/at/all", NULL};
    struct trial missing = {.arguments = words};
    assert_int_equal(trials_open(&trials, 1, &err), SSAN_OK);
    run_one(&trials, "kill -SEGV $$", 0, &result);
    assert_int_equal(result.status, SSAN_OK);
    assert_int_equal(result.end_signal, SIGSEGV);
    assert_int_equal(result.code, 128 + SIGSEGV);
    run_one(&trials, "kill -KILL $PPID; exec tail -f /dev/null", 0, &result);
    assert_int_equal(result.status, SSAN_INTERNAL);
    assert_string_equal(result.text, "signal 9 (SIGKILL) ended a trial");
    run_one(&trials, "(trap '' TERM INT; exec tail -f /dev/null) & exec tail -f /dev/null", 0.05,
            &result);
    assert_int_equal(result.status, SSAN_OK);
    assert_true(result.timed_out);
    assert_int_equal(result.end_signal, SIGKILL);
    assert_int_equal(trials_run(&trials, &missing)->status, SSAN_NOT_FOUND);
    assert_int_equal(trials_interrupted(&trials), 0);
    trials_close(&trials);
}

/* Each trial reads the file from its beginning, however far the tool itself is in it. */
static void input_is_read_anew(void **state)
{
    char path[TEMPORARY_ROOM], byte;
    struct trials trials;
    struct trial_result result;
    struct ssan_error err;
    int fd, old = dup(STDIN_FILENO), pipes[2], i;
    temporary_name(path, "ssan-trial");
    fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "one\ntwo\n", 8) == 8);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(read(STDIN_FILENO, &byte, 1), 1);
    assert_int_equal(trials_open(&trials, 2, &err), SSAN_OK);
    for (i = 0; i < 2; i++) {
        run_one(&trials, "cat", 0, &result);
        assert_holds(&result, TRIAL_STDOUT, "one\ntwo\n");
    }
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(write(pipes[1], "x", 1), 1);
    assert_int_equal(dup2(pipes[0], STDIN_FILENO), STDIN_FILENO);
    run_one(&trials, "cat", 0, &result);
    assert_holds(&result, TRIAL_STDOUT, "");
    trials_close(&trials);
    dup2(old, STDIN_FILENO);
    close(old);
    close(fd);
    close(pipes[0]);
    close(pipes[1]);
    unlink(path);
}

static void signals_end_all(void **state)
{
    struct trials trials;
    struct ssan_error err;
    char script[3 * 4096], directory[4096];
    char *words[4];
    struct trial trial = shell(words, "exit 0");
    assert_int_equal(trials_open(&trials, 3, &err), SSAN_OK);
    snprintf(directory, sizeof directory, "%s", trials.directory);
    start(&trials, "trap '' TERM; echo; exec tail -f /dev/null");
    start(&trials, "echo; exec tail -f /dev/null");
    /* A trial whose program has not begun has no end of one. */
    snprintf(script, sizeof script,
             "until [ -s %s/1/" TRIAL_STDOUT " ] && [ -s %s/2/" TRIAL_STDOUT " ]; do :; done; "
             "kill -TERM %d; exec tail -f /dev/null",
             directory, directory, (int)getpid());
    start(&trials, script);
    assert_int_not_equal(trials_next(&trials)->end_signal, 0);
    assert_int_not_equal(trials_next(&trials)->end_signal, 0);
    assert_int_equal(trials_interrupted(&trials), SIGTERM);
    assert_int_equal(trials_start(&trials, &trial, &err), SSAN_INTERNAL);
    assert_string_equal(err.text, "signal 15 (SIGTERM) ended the trials");
    trials_close(&trials);
    assert_int_not_equal(access(directory, F_OK), 0);
}

/* Closing ends what nobody waited for. */
static void closing_ends_all(void **state)
{
    struct trials trials;
    struct ssan_error err;
    assert_int_equal(trials_open(&trials, 2, &err), SSAN_OK);
    start(&trials, "exec tail -f /dev/null");
    start(&trials, "exec tail -f /dev/null");
    assert_false(trials_has_room(&trials));
    trials_close(&trials);
    assert_null(trials.directory);
    trials_close(&trials);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_come_in_order_of_start),
        cmocka_unit_test(bad_ends_are_results),
        cmocka_unit_test(input_is_read_anew),
        cmocka_unit_test(signals_end_all),
        cmocka_unit_test(closing_ends_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
