/* Children, their limits and their ends. A program that is to end gets SIGTERM, and SIGKILL when it
 * has not ended GRACE_S later; both go to its process group, so that what it started ends with it.
 */
#include "contract/pool.h"

#include "base/child.h"
#include "base/elapsed.h"
#include "base/ending_signals.h"

#include <fcntl.h>
#include <unistd.h>

#define GRACE_S 3
#define LOOK_MS 100 /* how often limits are looked at */

void pool_open(struct pool *pool)
{
    *pool = (struct pool){.is_open = true};
    ending_signals_block(&pool->old_set);
}

void pool_close(struct pool *pool)
{
    if (pool->is_open) {
        sigprocmask(SIG_SETMASK, &pool->old_set, NULL);
        pool->is_open = false;
    }
}

/* 0, or an errno. */
static int add_files(posix_spawn_file_actions_t *files, const struct pool_job *job)
{
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND;
    int error = posix_spawn_file_actions_addchdir_np(files, job->folder);
    if (!error) {
        error = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    if (!error) {
        error = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, job->out, flags, 0666);
    }
    if (!error) {
        error = posix_spawn_file_actions_addopen(files, STDERR_FILENO, job->err, flags, 0666);
    }
    return error;
}

/* 0, or an errno. */
static int spawn(const struct pool *pool, struct pool_job *job)
{
    posix_spawn_file_actions_t files;
    const struct child child = {.words = job->words,
                                .environment = job->environment,
                                .mask = &pool->old_set,
                                .files = &files,
                                .leads = true};
    int error = posix_spawn_file_actions_init(&files);
    if (error) {
        return error;
    }
    error = add_files(&files, job);
    if (!error) {
        error = child_start(&child, &job->pid);
    }
    posix_spawn_file_actions_destroy(&files);
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

/* Takes the end of a program that has ended; true when it has. */
static bool reap(struct pool_job *job)
{
    struct child_end end;
    if (!child_take_end(job->pid, true, &end)) {
        return false;
    }
    job->ended = true;
    job->seconds = seconds_since(&job->begun);
    job->code = end.code;
    job->end_signal = end.end_signal;
    job->error = end.error;
    return true;
}

/* Waits for an end, a signal, or the next look at the limits. */
static void wait_for_signal(struct pool *pool)
{
    const struct timespec look = {0, LOOK_MS * 1000000L};
    const int number = ending_signals_take(&look);
    if (number && !pool->caught) {
        pool->caught = number;
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
