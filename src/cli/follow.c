/* Starts a program and reads the traces of its processes while they grow.
 *
 * The loop ends when the program and what it left behind have ended and every trace has come to its
 * end, or GRACE_SECONDS after the program with the traced processes that still run named. A signal
 * shortens that time. A trial ends whatever still runs instead of waiting on. */
#include "cli/follow.h"

#include "cli/followed.h"

#include "base/elapsed.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IDLE_MS        20 /* between looks at the traces when nothing comes */
#define BUSY_MS        1
#define STEP_EVENTS    20000 /* from one trace before signals are looked at again */
#define GRACE_SECONDS  10
#define SIGNAL_SECONDS 1 /* left to processes that got a signal after the program had ended */
#define QUIET_SECONDS  1 /* of waiting, before it is told for what */
#define ASKED_PASSES                                                                               \
    100 /* a verdict so far waits for what was there when it was asked for, at most this long */
#define MAX_PROCESSES 4096

void follow_add_reason(struct follow *follow, const char *format, const char *word)
{
    struct strbuf text = {0};
    const char *copy;
    strbuf_printf(&text, format, word);
    copy = strbuf_keep(&text, &follow->arena);
    if (!copy || !VEC_PUSH(&follow->reasons, copy)) {
        follow->reason_lost = true;
    }
}

/* Where the copy of the n-th trace goes (from 0). */
static void kept_path(const struct follow *follow, size_t n, char *path, size_t room)
{
    const char *kept = follow->options->kept;
    if (!kept) {
        snprintf(path, room, "%s/%zu.kept", follow->folder.directory, n);
    } else if (n == 0) {
        snprintf(path, room, "%s", kept);
    } else {
        snprintf(path, room, "%s.%zu", kept, n + 1);
    }
}

/* Opens every trace that has appeared; true when there was one. */
static bool look_for_traces(struct follow *follow)
{
    const struct follow_options *options = follow->options;
    bool found = false;
    char *path;
    while (follow->feeds.count < MAX_PROCESSES && (path = folder_next_trace(&follow->folder))) {
        char kept[4200];
        struct feed feed;
        struct ssan_error err = {0};
        struct feed_options how = {.engine = &options->engine,
                                   .kept_path = kept,
                                   .limit_bytes = options->kept_limit_bytes,
                                   .directory = options->directory,
                                   .folder = &follow->folder,
                                   .documented = options->documented};
        kept_path(follow, follow->feeds.count, kept, sizeof kept);
        if (feed_open(&feed, path, &how, &err) != SSAN_OK) {
            follow_add_reason(follow, "a trace could not be read (%s)", err.text);
            feed_close(&feed);
        } else if (!VEC_PUSH(&follow->feeds, feed)) {
            follow_add_reason(follow, "%s", "there was no memory for the trace of a process");
            feed_close(&feed);
        } else {
            found = true;
        }
        mem_free(path);
    }
    return found;
}

/* The processes whose traces are open; the name of a live trace begins with the number. */
static void list_open(const struct follow *follow, struct followed *followed)
{
    size_t i;
    for (i = 0; i < follow->feeds.count; i++) {
        const struct feed *feed = &follow->feeds.items[i];
        const char *name = strrchr(feed->path, '/');
        if (feed->state == FEED_GOING && name) {
            followed_add(followed, (pid_t)strtol(name + 1, NULL, 10));
        }
    }
}

/* The part of target_watch's `pass`: processes that the program has started. */
static void pass_to_session(void *self, int number, bool by_terminal)
{
    struct follow *follow = self;
    struct followed all = {0}, others = {0};
    size_t i;
    look_for_traces(follow);
    list_open(follow, &all);
    for (i = 0; i < all.count; i++) {
        if (all.pids[i] != follow->target.pid) {
            followed_add(&others, all.pids[i]);
        }
    }
    followed_signal(&others, follow->folder.directory, number, by_terminal);
}

/* Takes what the traces hold; returns the number of events and whether all have come to their end.
 */
static size_t step_all(struct follow *follow, bool *all_ended)
{
    size_t taken = 0, i;
    *all_ended = true;
    for (i = 0; i < follow->feeds.count; i++) {
        taken += feed_step(&follow->feeds.items[i], STEP_EVENTS);
        *all_ended &= follow->feeds.items[i].state != FEED_GOING;
    }
    return taken;
}

static void tell_so_far(const struct follow *follow)
{
    uint64_t counts[3] = {0}, operations = 0;
    size_t i;
    for (i = 0; i < follow->feeds.count; i++) {
        const struct feed *feed = &follow->feeds.items[i];
        counts[0] += feed_count(feed, SEVERITY_ERROR);
        counts[1] += feed_count(feed, SEVERITY_WARNING);
        counts[2] += feed_count(feed, SEVERITY_ADVICE);
        operations += engine_totals(feed->engine)->operations;
    }
    fprintf(stderr,
            "streamsan so far: %" PRIu64 " error%s, %" PRIu64 " warning%s, %" PRIu64
            " advice; %" PRIu64 " operation%s in %zu process%s; the program still runs\n",
            counts[0], counts[0] == 1 ? "" : "s", counts[1], counts[1] == 1 ? "" : "s", counts[2],
            operations, operations == 1 ? "" : "s", follow->feeds.count,
            follow->feeds.count == 1 ? "" : "es");
}

/* Whether waiting for processes that the program left behind has to end. */
static bool is_over(const struct follow *follow)
{
    return seconds_since(&follow->ended) > GRACE_SECONDS ||
           (follow->target.interrupted && seconds_since(&follow->interrupted) > SIGNAL_SECONDS);
}

static void tell_wait(const struct follow *follow)
{
    struct followed followed = {0};
    struct strbuf words = {0};
    list_open(follow, &followed);
    followed_add_children(&followed);
    followed_words(&followed, &words);
    fprintf(stderr,
            "streamsan run: waiting up to %d s for %s, left behind by the program; "
            "a signal is passed on and ends the wait\n",
            GRACE_SECONDS, strbuf_text(&words));
    strbuf_finish(&words);
}

/* Waits for signals; notes when the program has ended and when it was enough. */
static void wait_and_note(struct follow *follow, int timeout_ms)
{
    struct target *target = &follow->target;
    bool ended = target->ended, interrupted = target->interrupted;
    target_wait(target, timeout_ms);
    if (target->ended && !ended) {
        clock_gettime(CLOCK_MONOTONIC, &follow->ended);
    }
    if (target->interrupted && !interrupted) {
        clock_gettime(CLOCK_MONOTONIC, &follow->interrupted);
    }
}

static bool has_flooded(const struct follow_options *options)
{
    struct stat info;
    int i;
    for (i = 1; options->files && options->output_bytes && i <= 2; i++) {
        if (fstat(options->files[i], &info) == 0 &&
            (uint64_t)info.st_size > options->output_bytes) {
            return true;
        }
    }
    return false;
}

/* Ends a trial that is over by a limit or a signal: the program and all it has started. */
static void end_trial(struct follow *follow)
{
    const struct follow_options *options = follow->options;
    struct followed all = {0};
    follow->timed_out |=
        options->limit_seconds > 0 && seconds_since(&follow->begun) > options->limit_seconds;
    follow->flooded |= has_flooded(options);
    if (!follow->timed_out && !follow->flooded && !follow->target.passed) {
        return;
    }
    if (!follow->target.ended) {
        kill(follow->target.pid, SIGKILL);
    }
    list_open(follow, &all);
    followed_add_children(&all);
    followed_signal(&all, follow->folder.directory, SIGKILL, false);
}

static void tell(struct follow *follow, size_t taken, size_t *passes)
{
    if (follow->target.asked && (taken == 0 || ++*passes > ASKED_PASSES)) {
        follow->target.asked = false;
        *passes = 0;
        if (!follow->options->trial) {
            tell_so_far(follow);
        }
    }
}

static void tell_live(struct follow *follow, bool ended)
{
    if (follow->options->live && !ended &&
        seconds_since(&follow->begun) >= follow->options->live_seconds) {
        live_tell(&follow->live, follow->feeds.items, follow->feeds.count);
    }
}

static void follow_to_end(struct follow *follow)
{
    size_t taken = 1, passes = 0;
    bool told = follow->options->trial;
    for (;;) {
        bool ended = follow->target.ended, alone = follow->target.alone, all_ended, found;
        wait_and_note(follow, taken > 0 ? 0 : ended ? BUSY_MS : IDLE_MS);
        if (follow->options->trial) {
            end_trial(follow);
        }
        found = look_for_traces(follow);
        taken = step_all(follow, &all_ended);
        tell(follow, taken, &passes);
        tell_live(follow, ended);
        if (ended && !told && seconds_since(&follow->ended) > QUIET_SECONDS &&
            !(alone && all_ended)) {
            told = true;
            tell_wait(follow);
        }
        /* Both were true before the folder was read, so nothing of the program and of what it left
         * behind can be missing. */
        if (ended && !found && taken == 0 && ((alone && all_ended) || is_over(follow))) {
            break;
        }
    }
}

bool follow_was_interrupted(struct follow *follow)
{
    target_wait(&follow->target, 0);
    return follow->target.interrupted;
}

enum ssan_status follow_run(struct follow *follow, const struct follow_options *options,
                            struct ssan_error *err)
{
    enum ssan_status status;
    memset(follow, 0, sizeof *follow);
    follow->options = options;
    clock_gettime(CLOCK_MONOTONIC, &follow->begun);
    status = target_watch(&follow->target, err);
    follow->target.files = options->files;
    follow->target.environment = options->environment;
    if (!status) {
        status = folder_open(&follow->folder, &options->folder, err);
    }
    if (!status) {
        status = target_start(&follow->target, options->arguments, follow->folder.directory, err);
    }
    if (status) {
        return status;
    }
    follow->target.pass = pass_to_session;
    follow->target.pass_self = follow;
    follow_to_end(follow);
    follow->target.pass = NULL;
    if (follow->feeds.count == MAX_PROCESSES) {
        follow_add_reason(follow, "%s", "there were more processes than can be followed");
    }
    return SSAN_OK;
}

void follow_finish(struct follow *follow)
{
    size_t i;
    for (i = 0; i < follow->feeds.count; i++) {
        feed_close(&follow->feeds.items[i]);
    }
    live_finish(&follow->live);
    folder_close(&follow->folder);
    target_finish(&follow->target);
    VEC_FREE(&follow->feeds);
    VEC_FREE(&follow->reasons);
    arena_finish(&follow->arena);
}
