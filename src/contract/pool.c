/* Children, their limits and their ends. A program that is to end gets SIGTERM, and SIGKILL when it
 * has not ended GRACE_S later; both go to its process group, so that what it started ends with it.
 */
#include "contract/pool.h"

#include "base/elapsed.h"
#include "base/ending_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_S 3
#define LOOK_MS 100 /* how often limits are looked at */

extern char **environ;

void pool_open(struct pool *pool)
{
    sigset_t set;
    *pool = (struct pool){.is_open = true};
    ending_signals_watched(&set);
    sigprocmask(SIG_BLOCK, &set, &pool->old_set);
}

void pool_close(struct pool *pool)
{
    if (pool->is_open) {
        sigprocmask(SIG_SETMASK, &pool->old_set, NULL);
        pool->is_open = false;
    }
}

/* 0, or an errno. */
static int spawn(const struct pool *pool, struct pool_job *job)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t ordinary;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    sigemptyset(&ordinary);
    for (size_t i = 0; i < ENDING_SIGNALS; i++) {
        sigaddset(&ordinary, ending_signals[i]);
    }
    sigaddset(&ordinary, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &ordinary);
    posix_spawnattr_setsigmask(&attributes, &pool->old_set);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP |
                                              POSIX_SPAWN_SETSIGDEF);
    error = posix_spawn_file_actions_addchdir_np(&actions, job->folder);
    if (!error) {
        error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    if (!error) {
        error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, job->out,
                                                 O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
    }
    if (!error) {
        error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, job->err,
                                                 O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
    }
    if (!error) {
        error =
            posix_spawnp(&job->pid, job->words[0], &actions, &attributes, (char *const *)job->words,
                         job->environment ? (char *const *)job->environment : environ);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void kill_job(struct pool_job *job)
{
    if (job->kills == 0 || (job->kills == 1 && seconds_since(&job->killed) > GRACE_S)) {
        kill(-job->pid, job->kills == 0 ? SIGTERM : SIGKILL);
        job->kills++;
        clock_gettime(CLOCK_MONOTONIC, &job->killed);
    }
}

/* Takes the end of a program that has ended; true when it has. What it has left behind is killed
 * while its number, which is that of its group, can't be another's yet. */
static bool reap(struct pool_job *job)
{
    siginfo_t info = {.si_pid = 0};
    int status;
    const bool gone = waitid(P_PID, (id_t)job->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0;
    if (gone ? errno == EINTR : info.si_pid != job->pid) {
        return false;
    }
    job->ended = true;
    job->seconds = seconds_since(&job->begun);
    if (gone) { /* another part of this process has taken it */
        job->code = 127;
        job->error = errno;
        return true;
    }
    kill(-job->pid, SIGKILL);
    waitpid(job->pid, &status, 0);
    if (WIFSIGNALED(status)) {
        job->end_signal = WTERMSIG(status);
        job->code = 128 + job->end_signal;
    } else {
        job->code = WEXITSTATUS(status);
    }
    return true;
}

/* Waits for an end, a signal, or the next look at the limits. */
static void wait_for_signal(struct pool *pool)
{
    const struct timespec look = {0, LOOK_MS * 1000000L};
    sigset_t set;
    ending_signals_watched(&set);
    const int signal = sigtimedwait(&set, NULL, &look);
    if (signal > 0 && signal != SIGCHLD && !pool->caught) {
        pool->caught = signal;
    }
}

static void start(const struct pool *pool, struct pool_job *job)
{
    clock_gettime(CLOCK_MONOTONIC, &job->begun);
    job->error = spawn(pool, job);
    job->started = job->error == 0;
    job->ended = !job->started;
}

/* Looks at one program that was started. */
static void look_at(struct pool *pool, struct pool_job *job)
{
    if (pool->caught) {
        job->interrupted = true;
        kill_job(job);
    } else if (job->timed_out || seconds_since(&job->begun) > job->timeout_s) {
        job->timed_out = true;
        kill_job(job);
    }
}

bool pool_run(struct pool *pool, struct pool_job *jobs, size_t count, unsigned at_once,
              void (*ended)(void *self, struct pool_job *job), void *self)
{
    size_t next = 0, first = 0;
    unsigned running = 0;
    while (running > 0 || (next < count && !pool->caught)) {
        while (next < count && running < (at_once ? at_once : 1) && !pool->caught) {
            struct pool_job *job = &jobs[next++];
            start(pool, job);
            running += job->started;
            if (job->ended) {
                ended(self, job);
            }
        }
        if (running > 0) {
            wait_for_signal(pool);
        }
        for (size_t i = first; i < next; i++) {
            struct pool_job *job = &jobs[i];
            if (job->started && !job->ended) {
                if (reap(job)) {
                    running--;
                    ended(self, job);
                } else {
                    look_at(pool, job);
                }
            }
        }
        while (first < next && jobs[first].ended) {
            first++;
        }
    }
    return !pool->caught;
}
