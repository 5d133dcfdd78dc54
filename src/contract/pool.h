/* Programs run side by side, each in a process group and a folder of its own, with a time limit.
 *
 * While a pool is open, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD of the calling thread are
 * blocked and taken in turn: the first that would end this process ends all programs instead, and
 * pool_run returns. No handler is installed. One pool a process; one thread. */
#ifndef SSAN_CONTRACT_POOL_H
#define SSAN_CONTRACT_POOL_H

#include "base/status.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/* One program to run. What is above the line is the caller's, and is not touched. */
struct pool_job {
    const char *const *words;       /* NULL at the end; the first is looked up in PATH */
    const char *const *environment; /* NULL: this process's */
    const char *folder;             /* it runs there */
    const char *out, *err;          /* files for its two outputs, in that folder */
    unsigned timeout_s;
    void *self; /* for the caller */
    /* ---- */
    bool started, ended;
    bool timed_out;   /* it was killed for that */
    bool interrupted; /* it was killed because this process was told to end */
    int error;        /* an errno: why it did not start; 0: it did */
    int code;         /* exit code, 128 + n when signal n ended it */
    int end_signal;   /* 0: none */
    double seconds;
    /* The pool's own. */
    pid_t pid;
    int kills;
    struct timespec begun, killed;
};

struct pool {
    sigset_t old_set;
    bool is_open;
    int caught; /* the signal that ended it; 0: none */
};

void pool_open(struct pool *pool);
/* Gives the signals back; one that was caught is raised again by the caller, who cleans up first.
 */
void pool_close(struct pool *pool);

/* Runs all jobs, `at_once` of them side by side, in their order; `ended` is called (in this thread)
 * after each, in the order in which they end. Returns false when a signal was caught: what had not
 * begun has not run. */
bool pool_run(struct pool *pool, struct pool_job *jobs, size_t count, unsigned at_once,
              void (*ended)(void *self, struct pool_job *job), void *self);

#endif
