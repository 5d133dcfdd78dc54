/* Over posix_spawn, which copies no memory of the tool and tells why a program can't be run. */
#include "base/child.h"

#include "base/ending_signals.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static void let_lead(posix_spawnattr_t *attributes)
{
    sigset_t ordinary;
    sigemptyset(&ordinary);
    for (size_t i = 0; i < ENDING_SIGNALS; i++) {
        sigaddset(&ordinary, ending_signals[i]);
    }
    sigaddset(&ordinary, SIGPIPE);
    posix_spawnattr_setsigdefault(attributes, &ordinary);
    posix_spawnattr_setpgroup(attributes, 0);
}

int child_start(const struct child *child, pid_t *pid)
{
    posix_spawnattr_t attributes;
    int error = posix_spawnattr_init(&attributes);
    if (error) {
        return error;
    }
    posix_spawnattr_setsigmask(&attributes, child->mask);
    if (child->leads) {
        let_lead(&attributes);
    }
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK |
                         (child->leads ? POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF : 0));
    error =
        posix_spawnp(pid, child->words[0], child->files, &attributes, (char *const *)child->words,
                     child->environment ? (char *const *)child->environment : environ);
    posix_spawnattr_destroy(&attributes);
    return error;
}

struct child_end child_end_of(int status)
{
    const int end_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return (struct child_end){.code = end_signal ? 128 + end_signal : WEXITSTATUS(status),
                              .end_signal = end_signal};
}

bool child_take_end(pid_t pid, bool leads, struct child_end *end)
{
    siginfo_t info = {.si_pid = 0};
    int status;
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        const int error = errno;
        *end = (struct child_end){.code = 127, .error = error};
        return error != EINTR;
    }
    if (info.si_pid != pid) {
        return false;
    }
    if (leads) {
        kill(-pid, SIGKILL);
    }
    waitpid(pid, &status, 0);
    *end = child_end_of(status);
    return true;
}
