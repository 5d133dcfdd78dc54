/* Children: what they are started with, and how their ends are taken. */
#include "base/child.h"

#include "base/ending_signals.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a script of the shell to its end. */
static struct child_end end_of(struct child how, const char *script)
{
    const char *const words[] = {"sh", "-c", script, NULL};
    struct child_end end;
    sigset_t none, old;
    pid_t pid;
    sigemptyset(&none);
    how.words = words;
    how.mask = how.mask ? how.mask : &none;
    ending_signals_block(&old);
    assert_int_equal(child_start(&how, &pid), 0);
    while (!child_take_end(pid, how.leads, &end)) {
        assert_int_equal(ending_signals_take(NULL), 0);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    assert_int_equal(end.error, 0);
    return end;
}

static void ends(void **state)
{
    const struct child plain = {.words = NULL};
    struct child_end end = end_of(plain, "exit 0");
    assert_int_equal(end.code | end.end_signal, 0);
    end = end_of(plain, "exit 41");
    assert_int_equal(end.code, 41);
    assert_int_equal(end.end_signal, 0);
    end = end_of(plain, "kill -KILL $$");
    assert_int_equal(end.code, 128 + SIGKILL);
    assert_int_equal(end.end_signal, SIGKILL);
}

static void cannot_be_started(void **state)
{
    const char *const missing[] = {"/nothing/is/here", NULL}, *const folder[] = {"/", NULL};
    struct child how = {.words = missing};
    sigset_t none;
    pid_t pid;
    sigemptyset(&none);
    how.mask = &none;
    assert_int_equal(child_start(&how, &pid), ENOENT);
    how.words = folder;
    assert_int_equal(child_start(&how, &pid), EACCES);
}

/* Somebody else waited. */
static void end_is_lost(void **state)
{
    const char *const words[] = {"true", NULL};
    struct child_end end;
    sigset_t none;
    pid_t pid;
    sigemptyset(&none);
    assert_int_equal(child_start(&(struct child){.words = words, .mask = &none}, &pid), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(child_take_end(pid, true, &end));
    assert_int_equal(end.code, 127);
    assert_int_equal(end.error, ECHILD);
}

static void environments(void **state)
{
    const char *const environment[] = {"SAID=here", NULL};
    setenv("SAID", "there", 1);
    assert_int_equal(end_of((struct child){.words = NULL}, "test $SAID = there").code, 0);
    assert_int_equal(end_of((struct child){.environment = environment}, "test $SAID = here").code,
                     0);
}

/* The mask is the one that was given; who leads gets back what this process ignores. */
static void signals(void **state)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    assert_int_equal(end_of((struct child){.leads = true}, "kill -TERM $$; exit 3").end_signal,
                     SIGTERM);
    assert_int_equal(
        end_of((struct child){.mask = &term, .leads = true}, "kill -TERM $$; exit 3").code, 3);
    sigaction(SIGHUP, &ignore, &old);
    assert_int_equal(end_of((struct child){.leads = false}, "kill -HUP $$; exit 3").code, 3);
    assert_int_equal(end_of((struct child){.leads = true}, "kill -HUP $$; exit 3").end_signal,
                     SIGHUP);
    sigaction(SIGHUP, &old, NULL);
}

/* What a group's leader leaves behind ends with it: its end of the pipe is closed. */
static void groups(void **state)
{
    posix_spawn_file_actions_t files;
    int pipes[2];
    char c;
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, pipes[1], STDOUT_FILENO);
    const struct child_end end =
        end_of((struct child){.files = &files, .leads = true}, "sleep 600 & exit 5");
    posix_spawn_file_actions_destroy(&files);
    close(pipes[1]);
    assert_int_equal(end.code, 5);
    alarm(60);
    assert_int_equal(read(pipes[0], &c, 1), 0);
    alarm(0);
    close(pipes[0]);
}

static void signals_are_taken(void **state)
{
    const struct timespec at_once = {0, 0};
    sigset_t old;
    ending_signals_block(&old);
    assert_int_equal(ending_signals_take(&at_once), 0);
    for (size_t i = 0; i < ENDING_SIGNALS; i++) {
        raise(ending_signals[i]);
        assert_int_equal(ending_signals_take(i % 2 ? NULL : &at_once), ending_signals[i]);
    }
    raise(SIGCHLD);
    assert_int_equal(ending_signals_take(NULL), 0);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends),
        cmocka_unit_test(cannot_be_started),
        cmocka_unit_test(end_is_lost),
        cmocka_unit_test(environments),
        cmocka_unit_test(signals),
        cmocka_unit_test(groups),
        cmocka_unit_test(signals_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
