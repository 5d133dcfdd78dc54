/* The program under test: start, signals, end. One thread; one target a process.
 *
 * The program gets the signal mask and dispositions that the tool was started with, and everything
 * else unchanged but STREAMSAN_SESSION and `environment`. The tool becomes the reaper of processes
 * that the program leaves behind. While it watches, a closed pipe is an error of its writes and
 * does not end it. */
#ifndef SSAN_CLI_TARGET_H
#define SSAN_CLI_TARGET_H

#include "base/status.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct target {
    pid_t pid;
    bool watches;      /* the next three are in use */
    int signals;       /* signalfd */
    sigset_t old_mask; /* of the tool, given back by target_finish; so is the next */
    struct sigaction old_pipe;
    /* A signal is passed on: what else is to get it, which the program itself does not count to.
     * `by_terminal`: it has reached the tool's process group already. May be NULL. */
    void (*pass)(void *self, int signal, bool by_terminal);
    void *pass_self;
    const int *files; /* what becomes 0, 1 and 2 of the program; NULL: those of the tool */
    const char *const *environment; /* further words for it, "NAME=VALUE"; NULL: none */
    bool ended;
    bool alone;       /* no process that the program left behind runs any more */
    int code;         /* exit code, 128+n when a signal ended it */
    int end_signal;   /* 0: none */
    int passed;       /* the last signal that was passed on, 0: none */
    bool interrupted; /* a signal to pass on came after the program had ended */
    bool asked;       /* SIGUSR1 came: a verdict so far is wanted; the caller clears it */
};

/* Takes over the signals, so that none of them ends the tool before it has cleaned up. What comes
 * before the start is passed on to the program. Zeroes `target` first; `pass`, `files` and
 * `environment` may be set behind it. */
enum ssan_status target_watch(struct target *target, struct ssan_error *err);

/* Starts `arguments` (execvp's rules, and its exit statuses SSAN_NOT_FOUND and
 * SSAN_NOT_EXECUTABLE) after target_watch. */
enum ssan_status target_start(struct target *target, char **arguments, const char *session,
                              struct ssan_error *err);

/* Waits up to `timeout_ms` for signals and takes what came: ends of processes, signals to pass on,
 * SIGUSR1. */
void target_wait(struct target *target, int timeout_ms);

/* Stops watching; the signals do what they did before. Zeroed is fine. */
void target_finish(struct target *target);

/* "SIGKILL"; "signal 77" for one without a name. */
const char *target_signal_name(int number);

#endif
