/* Children of a process: how they are started, and what their ends mean. Signals that ask this
 * process to end are the caller's business (ending_signals.h). */
#ifndef SSAN_BASE_CHILD_H
#define SSAN_BASE_CHILD_H

#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/types.h>

/* How to start a child. All is borrowed for the call. */
struct child {
    const char *const *words;                /* NULL at the end; the first is looked up in PATH */
    const char *const *environment;          /* NULL: this process's */
    const sigset_t *mask;                    /* the signals that it blocks */
    const posix_spawn_file_actions_t *files; /* NULL: those of this process */
    bool leads; /* a process group of its own, in which the ending signals and SIGPIPE act as they
                   do by default */
};

/* How a child has ended. */
struct child_end {
    int code;       /* exit code, 128 + n when signal n ended it, 127 when it can't be known */
    int end_signal; /* 0: none */
    int error;      /* an errno: the end was taken by another part of this process; else 0 */
};

/* 0, or an errno: it was not started. */
int child_start(const struct child *child, pid_t *pid);

/* What a status of waitpid says of a child that has ended. */
struct child_end child_end_of(int status);

/* Takes the end of a child that has ended; false: it goes on. Does not wait. `leads`: it leads a
 * group; what it has left behind there is killed while its number can't be another's yet. */
bool child_take_end(pid_t pid, bool leads, struct child_end *end);

#endif
