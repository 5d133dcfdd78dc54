/* The pool of trials: children started, awaited and swept up.
 *
 * Each child leads a process group of its own, so what a trial leaves behind, whatever became of
 * the child, is ended with it; the group's number can't be used again before the child is reaped.
 * The result comes through a pipe in one write; a child that ends without it has failed. */
#include "cli/trial.h"

#include "cli/folder.h"
#include "cli/rescue.h"
#include "cli/target.h"
#include "cli/trial_child.h"

#include "base/child.h"
#include "base/elapsed.h"
#include "base/ending_signals.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_MS       1000 /* between looks at the clock */
#define SLOW_SECONDS  10.0
#define END_SECONDS   3  /* for a child that was asked to end */
#define EXTRA_SECONDS 30 /* for a child behind the time of its program */

struct trial_slot {
    struct trial_result result;
    pid_t pid; /* 0: it has ended */
    int pipe;
    double limit_seconds; /* 0: none */
    struct timespec begun;
    char directory[];
};

_Static_assert(sizeof(struct trial_result) <= PIPE_BUF, "a result is written in one piece");

static enum ssan_status watch(struct trials *trials, struct ssan_error *err)
{
    sigset_t mask;
    int fd;
    ending_signals_watched(&mask);
    fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0 || sigprocmask(SIG_BLOCK, &mask, &trials->old_mask) != 0) {
        ssan_fail(err, SSAN_INTERNAL, 0, "can't watch programs: %s", strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return SSAN_INTERNAL;
    }
    trials->signals = fd;
    trials->watches = true;
    return SSAN_OK;
}

enum ssan_status trials_open(struct trials *trials, unsigned jobs, struct ssan_error *err)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    enum ssan_status status;
    memset(trials, 0, sizeof *trials);
    trials->jobs = jobs ? jobs : cores > 0 ? (unsigned)cores : 1;
    status = watch(trials, err);
    if (!status) {
        status = folder_make(NULL, &trials->directory, err);
    }
    if (!status) {
        rescue_begin(trials->directory);
    }
    return status;
}

bool trials_has_room(const struct trials *trials)
{
    return trials->running < trials->jobs;
}

/* -- the child -- */

static _Noreturn void become_child(const struct trials *trials, const struct trial *trial,
                                   const struct trial_slot *slot, int out, pid_t parent)
{
    struct trial_result result = slot->result;
    ssize_t written;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        _exit(1);
    }
    rescue_end();
    close(trials->signals);
    sigprocmask(SIG_SETMASK, &trials->old_mask, NULL);
    trial_child(trial, slot->directory, &result);
    do {
        written = write(out, &result, sizeof result);
    } while (written < 0 && errno == EINTR);
    _exit(0);
}

/* -- the parent -- */

static void fail_result(struct trial_result *result, enum ssan_status status, const char *text)
{
    result->status = status;
    snprintf(result->text, sizeof result->text, "%s", text);
}

static void take_result(struct trial_slot *slot, const struct child_end *end)
{
    struct trial_result got = {0};
    char text[100];
    ssize_t length = read(slot->pipe, &got, sizeof got);
    if (length == (ssize_t)sizeof got) {
        got.number = slot->result.number;
        got.directory = slot->directory;
        slot->result = got;
    } else if (end->end_signal == 0) {
        snprintf(text, sizeof text, "a trial ended with code %d and no result", end->code);
        fail_result(&slot->result, SSAN_INTERNAL, text);
    } else {
        snprintf(text, sizeof text, "signal %d (%s) ended a trial", end->end_signal,
                 target_signal_name(end->end_signal));
        fail_result(&slot->result, SSAN_INTERNAL, text);
    }
    close(slot->pipe);
    slot->pid = 0;
}

/* Takes the ends of children, with what is left of their groups. */
static void reap(struct trials *trials)
{
    size_t i;
    for (i = trials->next; i < trials->slots.count; i++) {
        struct trial_slot *slot = trials->slots.items[i];
        struct child_end end;
        if (slot && slot->pid > 0 && child_take_end(slot->pid, true, &end)) {
            take_result(slot, &end);
            trials->running--;
        }
    }
}

static void kill_all(struct trials *trials, int number)
{
    size_t i;
    for (i = trials->next; i < trials->slots.count; i++) {
        struct trial_slot *slot = trials->slots.items[i];
        if (slot && slot->pid > 0) {
            kill(number == SIGKILL ? -slot->pid : slot->pid, number);
        }
    }
}

/* Children that go on for too long, which would be a fault of ours. */
static void kill_late(struct trials *trials)
{
    size_t i;
    if (trials->interrupted && seconds_since(&trials->interrupted_at) > END_SECONDS) {
        kill_all(trials, SIGKILL);
    }
    for (i = trials->next; i < trials->slots.count; i++) {
        struct trial_slot *slot = trials->slots.items[i];
        if (slot && slot->pid > 0 && slot->limit_seconds > 0 &&
            seconds_since(&slot->begun) > slot->limit_seconds + EXTRA_SECONDS) {
            kill(-slot->pid, SIGKILL);
        }
    }
}

static void wait_for_signals(struct trials *trials, int timeout_ms)
{
    struct pollfd poll_signals = {.fd = trials->signals, .events = POLLIN};
    struct signalfd_siginfo info;
    poll(&poll_signals, 1, timeout_ms);
    while (read(trials->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo != SIGCHLD && !trials->interrupted) {
            trials->interrupted = (int)info.ssi_signo;
            clock_gettime(CLOCK_MONOTONIC, &trials->interrupted_at);
            kill_all(trials, SIGTERM);
        }
    }
    reap(trials);
    kill_late(trials);
}

int trials_interrupted(struct trials *trials)
{
    wait_for_signals(trials, 0);
    return trials->interrupted;
}

static struct trial_slot *make_slot(struct trials *trials, const struct trial *trial,
                                    struct ssan_error *err)
{
    size_t number = trials->slots.count, room = strlen(trials->directory) + 32;
    struct trial_slot *slot = mem_zalloc(1, sizeof *slot + room);
    if (!slot || !VEC_PUSH(&trials->slots, slot)) {
        mem_free(slot);
        ssan_no_memory(err);
        return NULL;
    }
    snprintf(slot->directory, room, "%s/%zu", trials->directory, number + 1);
    slot->result.number = number;
    slot->result.directory = slot->directory;
    slot->limit_seconds = trial->limit_seconds;
    clock_gettime(CLOCK_MONOTONIC, &slot->begun);
    return slot;
}

/* Forks; on failure the slot keeps what went wrong as its result. */
static enum ssan_status fork_child(struct trials *trials, const struct trial *trial,
                                   struct trial_slot *slot, struct ssan_error *err)
{
    pid_t parent = getpid();
    int pipes[2];
    if (mkdir(slot->directory, 0700) != 0) {
        return file_fail(err, errno, "can't create", slot->directory);
    }
    if (pipe2(pipes, O_CLOEXEC) != 0) {
        return ssan_fail(err, SSAN_INTERNAL, 0, "can't start a trial: %s", strerror(errno));
    }
    fflush(NULL); /* so that nothing buffered is written twice */
    slot->pid = fork();
    if (slot->pid == 0) {
        close(pipes[0]);
        become_child(trials, trial, slot, pipes[1], parent);
    }
    close(pipes[1]);
    if (slot->pid < 0) {
        close(pipes[0]);
        slot->pid = 0;
        return ssan_fail(err, SSAN_INTERNAL, 0, "can't start a trial: %s", strerror(errno));
    }
    setpgid(slot->pid, slot->pid); /* whoever comes first */
    slot->pipe = pipes[0];
    trials->running++;
    return SSAN_OK;
}

enum ssan_status trials_start(struct trials *trials, const struct trial *trial,
                              struct ssan_error *err)
{
    struct ssan_error inner = {0};
    struct trial_slot *slot;
    enum ssan_status status;
    while (!trials_has_room(trials)) {
        wait_for_signals(trials, LOOK_MS);
    }
    if (trials_interrupted(trials)) {
        return ssan_fail(err, SSAN_INTERNAL, 0, "signal %d (%s) ended the trials",
                         trials->interrupted, target_signal_name(trials->interrupted));
    }
    slot = make_slot(trials, trial, err);
    if (!slot) {
        return SSAN_NO_MEMORY;
    }
    status = fork_child(trials, trial, slot, &inner);
    if (status) { /* the last slot, which nobody has seen */
        (void)rmdir(slot->directory);
        trials->slots.count--;
        mem_free(slot);
        return ssan_fail(err, status, inner.position, "%s", inner.text);
    }
    return SSAN_OK;
}

const struct trial_result *trials_next(struct trials *trials)
{
    struct trial_slot *slot;
    if (trials->next == trials->slots.count) {
        return NULL;
    }
    slot = trials->slots.items[trials->next];
    while (slot->pid > 0) {
        wait_for_signals(trials, LOOK_MS);
        if (trials->slow && seconds_since(&slot->begun) > SLOW_SECONDS) {
            fprintf(stderr, "%s\n", trials->slow);
            trials->slow = NULL;
        }
    }
    trials->next++;
    return &slot->result;
}

const struct trial_result *trials_run(struct trials *trials, const struct trial *trial)
{
    struct ssan_error err = {0};
    enum ssan_status status = trials_start(trials, trial, &err);
    if (status) {
        memset(&trials->failed, 0, sizeof trials->failed);
        trials->failed.number = SIZE_MAX;
        fail_result(&trials->failed, status, err.text);
        return &trials->failed;
    }
    return trials_next(trials);
}

void trials_drop(struct trials *trials, const struct trial_result *result)
{
    if (result && result->number < trials->next && trials->slots.items[result->number]) {
        struct trial_slot *slot = trials->slots.items[result->number];
        trials->slots.items[result->number] = NULL;
        file_remove_tree(slot->directory);
        mem_free(slot);
    }
}

void trials_close(struct trials *trials)
{
    size_t i;
    if (trials->running > 0) {
        if (!trials->interrupted) {
            trials->interrupted = SIGTERM;
            clock_gettime(CLOCK_MONOTONIC, &trials->interrupted_at);
        }
        kill_all(trials, SIGTERM);
    }
    while (trials->running > 0) {
        wait_for_signals(trials, LOOK_MS);
    }
    for (i = 0; i < trials->slots.count; i++) {
        mem_free(trials->slots.items[i]);
    }
    VEC_FREE(&trials->slots);
    if (trials->directory) {
        file_remove_tree(trials->directory);
        rescue_end();
        free(trials->directory);
    }
    if (trials->watches) {
        close(trials->signals);
        sigprocmask(SIG_SETMASK, &trials->old_mask, NULL);
    }
    memset(trials, 0, sizeof *trials);
}
