/* Programs: their ends, signals that are passed on, programs that can't be started. */
#include "cli/target.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Runs a shell line to its end; signals itself `number` on the way, when not 0. */
static struct target run(const char *line, int number)
{
    struct target target;
    struct ssan_error err;
    char *arguments[] = {(char *)"/bin/sh", (char *)"-c", (char *)line, NULL};
    assert_int_equal(target_watch(&target, &err), SSAN_OK);
    assert_int_equal(target_start(&target, arguments, "/nonexistent", &err), SSAN_OK);
    if (number) {
        kill(getpid(), number);
    }
    while (!target.ended) {
        target_wait(&target, 1000);
    }
    target_finish(&target);
    return target;
}

static void ends(void **state)
{
    struct target target = run("exit 7", 0);
    assert_int_equal(target.code, 7);
    assert_int_equal(target.end_signal, 0);
    target = run("kill -9 $$", 0);
    assert_int_equal(target.code, 128 + SIGKILL);
    assert_int_equal(target.end_signal, SIGKILL);
    target = run("test \"$STREAMSAN_SESSION\" = /nonexistent", 0);
    assert_int_equal(target.code, 0);
}

static void signals_go_on(void **state)
{
    struct target target = run("exec cat /dev/zero >/dev/null", SIGTERM);
    assert_int_equal(target.end_signal, SIGTERM);
    assert_false(target.interrupted);
    target = run("exec cat /dev/zero >/dev/null", SIGINT);
    assert_int_equal(target.end_signal, SIGINT);
}

static void usr1_is_ours(void **state)
{
    struct target target = run("exit 0", SIGUSR1);
    assert_int_equal(target.code, 0);
    assert_true(target.asked);
}

static void pipes_are_as_before(void **state)
{
    struct sigaction now;
    struct target target = run("kill -PIPE $$; exit 3", 0);
    assert_int_equal(target.end_signal, SIGPIPE);
    sigaction(SIGPIPE, NULL, &now);
    assert_true(now.sa_handler == SIG_DFL);
}

static void refused(const char *name, enum ssan_status status, const char *says)
{
    struct target target;
    struct ssan_error err = {0};
    char *arguments[] = {(char *)name, NULL};
    assert_int_equal(target_watch(&target, &err), SSAN_OK);
    assert_int_equal(target_start(&target, arguments, "x", &err), status);
    assert_non_null(strstr(err.text, says));
    assert_non_null(strstr(err.text, name));
    target_finish(&target);
}

static void programs_that_cannot_start(void **state)
{
    refused("no-such-program-at-all", SSAN_NOT_FOUND, "command not found");
    refused("/nonexistent/program", SSAN_NOT_FOUND, "No such file");
    refused("/etc/passwd", SSAN_NOT_EXECUTABLE, "Permission denied");
    refused("/", SSAN_NOT_EXECUTABLE, "Permission denied");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends),
        cmocka_unit_test(signals_go_on),
        cmocka_unit_test(usr1_is_ours),
        cmocka_unit_test(pipes_are_as_before),
        cmocka_unit_test(programs_that_cannot_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
