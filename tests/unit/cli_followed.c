/* Processes beside the program: only those of the session get a signal, words name them, and the
 * folder goes with a tool that dies. */
#include "cli/followed.h"
#include "cli/rescue.h"
#include "support/temporary.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process that waits until its standard input ends, with the variable in its environment. */
struct sleeper {
    pid_t pid;
    int input;
};

static struct sleeper sleeper_start(const char *session, bool own_group)
{
    struct sleeper sleeper;
    int input[2], started[2];
    char byte;
    assert_int_equal(pipe2(input, O_CLOEXEC), 0);
    assert_int_equal(pipe2(started, O_CLOEXEC), 0);
    sleeper.pid = fork();
    if (sleeper.pid == 0) {
        if (own_group) {
            setpgid(0, 0);
        }
        dup2(input[0], STDIN_FILENO);
        setenv("STREAMSAN_SESSION", session, 1);
        execl("/bin/cat", "cat", (char *)NULL);
        _exit(127);
    }
    close(started[1]);
    assert_int_equal(read(started[0], &byte, 1), 0); /* closed by the exec */
    close(started[0]);
    close(input[0]);
    sleeper.input = input[1];
    return sleeper;
}

/* Ends it; the signal that had ended it before, or 0. */
static int sleeper_end(struct sleeper *sleeper)
{
    int status;
    close(sleeper->input);
    assert_int_equal(waitpid(sleeper->pid, &status, 0), sleeper->pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int signalled(const char *of, bool own_group, bool by_terminal)
{
    struct sleeper sleeper = sleeper_start("/session", own_group);
    struct followed followed = {0};
    followed_add(&followed, sleeper.pid);
    followed_signal(&followed, of, SIGTERM, by_terminal);
    return sleeper_end(&sleeper);
}

static void only_those_of_the_session(void **state)
{
    assert_int_equal(signalled("/session", false, false), SIGTERM);
    assert_int_equal(signalled("/sess", false, false), 0);
    assert_int_equal(signalled("/session2", false, false), 0);
}

static void the_terminal_reaches_a_group(void **state)
{
    assert_int_equal(signalled("/session", false, true), 0);
    assert_int_equal(signalled("/session", true, true), SIGTERM);
}

static void words_name_them(void **state)
{
    struct sleeper sleeper = sleeper_start("/session", false);
    struct followed followed = {0};
    struct strbuf text = {0};
    char expected[64];
    pid_t pid;
    followed_words(&followed, &text);
    assert_string_equal(strbuf_text(&text), "processes");
    strbuf_clear(&text);
    followed_add(&followed, sleeper.pid);
    followed_add(&followed, sleeper.pid);
    followed_add_children(&followed);
    followed_add(&followed, 0);
    followed_add(&followed, 1);
    followed_words(&followed, &text);
    snprintf(expected, sizeof expected, "process %d (cat)", (int)sleeper.pid);
    assert_string_equal(strbuf_text(&text), expected);
    sleeper_end(&sleeper);
    for (pid = 1 << 23; followed.count < FOLLOWED_NAMED + 2; pid++) {
        followed_add(&followed, pid); /* above the highest number there is */
    }
    strbuf_clear(&text);
    followed_words(&followed, &text);
    assert_non_null(strstr(strbuf_text(&text), " and 2 more"));
    followed_signal(&followed, "/session", SIGTERM, false);
    strbuf_finish(&text);
}

/* Dies in a child in the given way; whether the folder is gone, and the signal. */
static int die(bool by_fault, bool *gone)
{
    char folder[TEMPORARY_ROOM], path[TEMPORARY_ROOM + 16];
    int status;
    pid_t pid;
    temporary_name(folder, "ssan-rescue");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/12.live", folder);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    pid = fork();
    if (pid == 0) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, SIG_DFL);
        signal(SIGABRT, SIG_DFL);
        rescue_begin(folder);
        if (by_fault) {
            volatile char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            *page = 1;
        }
        abort();
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    *gone = access(folder, F_OK) != 0 && errno == ENOENT;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void the_folder_goes_with_the_tool(void **state)
{
    bool gone;
    assert_int_equal(die(false, &gone), SIGABRT);
    assert_true(gone);
    assert_int_equal(die(true, &gone), SIGSEGV);
    assert_true(gone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_those_of_the_session),
        cmocka_unit_test(the_terminal_reaches_a_group),
        cmocka_unit_test(words_name_them),
        cmocka_unit_test(the_folder_goes_with_the_tool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
