/* Starts the program and takes signals for it through a signalfd.
 *
 * A signal that the kernel made (the terminal's Ctrl-C, a hangup) has reached the tool's process
 * group; it is passed on to who stands outside. One that a process sent to the tool is passed on to
 * the program and, by `pass`, to the other processes of the session. Once the program has ended it
 * also ends what the tool still does. */
#include "cli/target.h"

#include "base/child.h"
#include "base/ending_signals.h"
#include "trace/control_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static void fill_mask(sigset_t *mask)
{
    ending_signals_watched(mask);
    sigaddset(mask, SIGUSR1);
}

/* `files` are above 2, so none of them is overwritten before it is used. */
static int redirect(const int *files)
{
    int i;
    for (i = 0; files && i < 3; i++) {
        if (dup2(files[i], i) < 0) {
            return errno;
        }
    }
    return 0;
}

/* In the child; tells errno of a failed exec through `told`. */
static void become(const struct target *target, char **arguments, const char *session, int told)
{
    int error;
    ssize_t written;
    size_t i;
    sigaction(SIGPIPE, &target->old_pipe, NULL);
    sigprocmask(SIG_SETMASK, &target->old_mask, NULL);
    setenv(CONTROL_ENV, session, 1);
    for (i = 0; target->environment && target->environment[i]; i++) {
        putenv((char *)target->environment[i]);
    }
    error = redirect(target->files);
    if (!error) {
        execvp(arguments[0], arguments);
        error = errno;
    }
    do {
        written = write(told, &error, sizeof error);
    } while (written < 0 && errno == EINTR);
    _exit(127);
}

static enum ssan_status explain_exec(const char *name, int error, struct ssan_error *err)
{
    bool missing = error == ENOENT || error == ENOTDIR;
    if (missing && strchr(name, '/') && access(name, F_OK) == 0) {
        return ssan_fail(err, SSAN_NOT_EXECUTABLE, 0, "%s: its interpreter is missing", name);
    }
    return ssan_fail(err, missing ? SSAN_NOT_FOUND : SSAN_NOT_EXECUTABLE, 0, "%s: %s", name,
                     missing && !strchr(name, '/') ? "command not found" : strerror(error));
}

/* Waits for the exec: 0 when it worked, else its errno. */
static int exec_result(int told)
{
    int error = 0;
    ssize_t got;
    do {
        got = read(told, &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof error ? error : 0;
}

enum ssan_status target_watch(struct target *target, struct ssan_error *err)
{
    static const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t mask;
    int signals;
    memset(target, 0, sizeof *target);
    fill_mask(&mask);
    signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0 || sigprocmask(SIG_BLOCK, &mask, &target->old_mask) != 0) {
        ssan_fail(err, SSAN_INTERNAL, 0, "can't watch a program: %s", strerror(errno));
        if (signals >= 0) {
            close(signals);
        }
        return SSAN_INTERNAL;
    }
    target->signals = signals;
    target->watches = true;
    sigaction(SIGPIPE, &ignore, &target->old_pipe);
    return SSAN_OK;
}

enum ssan_status target_start(struct target *target, char **arguments, const char *session,
                              struct ssan_error *err)
{
    int pipes[2], error;
    if (pipe2(pipes, O_CLOEXEC) != 0) {
        return ssan_fail(err, SSAN_INTERNAL, 0, "can't watch a program: %s", strerror(errno));
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    target->pid = fork();
    if (target->pid == 0) {
        become(target, arguments, session, pipes[1]);
    }
    error = errno;
    close(pipes[1]);
    if (target->pid < 0) {
        close(pipes[0]);
        return ssan_fail(err, SSAN_INTERNAL, 0, "can't start a process: %s", strerror(error));
    }
    error = exec_result(pipes[0]);
    close(pipes[0]);
    if (error) {
        waitpid(target->pid, NULL, 0);
        return explain_exec(arguments[0], error, err);
    }
    return SSAN_OK;
}

static void reap(struct target *target)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != target->pid) {
            continue;
        }
        target->ended = true;
        const struct child_end end = child_end_of(status);
        target->end_signal = end.end_signal;
        target->code = end.code;
    }
    target->alone = pid < 0 && errno == ECHILD;
}

/* The program first: a shell that goes on to its next command would start it after the signal. */
static void pass_on(struct target *target, int number, bool by_terminal)
{
    target->passed = number;
    if (target->ended) {
        target->interrupted = true;
    } else if (!by_terminal || getpgid(target->pid) != getpgrp()) {
        kill(target->pid, number);
    }
    if (target->pass) {
        target->pass(target->pass_self, number, by_terminal);
    }
}

static void take(struct target *target, const struct signalfd_siginfo *info)
{
    if (info->ssi_signo == SIGUSR1) {
        target->asked = true;
    } else if (info->ssi_signo != SIGCHLD) {
        pass_on(target, (int)info->ssi_signo, info->ssi_code == SI_KERNEL);
    }
}

void target_wait(struct target *target, int timeout_ms)
{
    struct pollfd poll_signals = {.fd = target->signals, .events = POLLIN};
    struct signalfd_siginfo info;
    poll(&poll_signals, 1, timeout_ms);
    while (read(target->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        take(target, &info);
    }
    reap(target);
}

void target_finish(struct target *target)
{
    if (target->watches) {
        close(target->signals);
        sigaction(SIGPIPE, &target->old_pipe, NULL);
        sigprocmask(SIG_SETMASK, &target->old_mask, NULL);
        target->watches = false;
    }
}

const char *target_signal_name(int number)
{
    static char text[32];
    const char *name = sigabbrev_np(number);
    if (name) {
        snprintf(text, sizeof text, "SIG%s", name);
    } else {
        snprintf(text, sizeof text, "signal %d", number);
    }
    return text;
}
