/* `streamsan run`: starts the program, reads the traces of its processes while they grow, and
 * reports.
 *
 * One loop: wait for signals, look for new traces, take what is there. It ends when the program and
 * what it left behind have ended and every trace has come to its end, or GRACE_SECONDS after the
 * program with the traced processes that still run named. A signal shortens that time. */
#include "cli/commands.h"
#include "cli/feed.h"
#include "cli/folder.h"
#include "cli/followed.h"
#include "cli/judge.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/target.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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

struct run {
    const struct options *options;
    struct folder folder;
    struct target target;
    struct engine_options engine;
    char directory[4096]; /* current one, for short paths */
    VEC(struct feed) feeds;
    VEC(const char *) reasons;
    struct arena arena; /* of reasons */
    struct timespec begun;
    struct timespec ended;       /* of the program */
    struct timespec interrupted; /* by the first signal behind that */
};

static void add_reason(struct run *run, const char *format, const char *word)
{
    char text[600];
    char *copy;
    snprintf(text, sizeof text, format, word);
    copy = arena_strdup(&run->arena, text);
    if (copy && !VEC_PUSH(&run->reasons, copy)) {
        fprintf(stderr, "streamsan run: out of memory\n");
    }
}

/* Where the copy of the n-th trace goes (from 0). */
static void kept_path(const struct run *run, size_t n, char *path, size_t room)
{
    if (!run->options->trace) {
        snprintf(path, room, "%s/%zu.kept", run->folder.directory, n);
    } else if (n == 0) {
        snprintf(path, room, "%s", run->options->trace);
    } else {
        snprintf(path, room, "%s.%zu", run->options->trace, n + 1);
    }
}

/* Opens every trace that has appeared; true when there was one. */
static bool look_for_traces(struct run *run)
{
    bool found = false;
    char *path;
    while (run->feeds.count < MAX_PROCESSES && (path = folder_next_trace(&run->folder))) {
        char kept[4200];
        struct feed feed;
        struct ssan_error err = {0};
        struct feed_options how = {&run->engine, kept, run->directory, &run->folder,
                                   run->options->documented};
        kept_path(run, run->feeds.count, kept, sizeof kept);
        if (feed_open(&feed, path, &how, &err) != SSAN_OK) {
            add_reason(run, "a trace could not be read (%s)", err.text);
            feed_close(&feed);
        } else if (!VEC_PUSH(&run->feeds, feed)) {
            add_reason(run, "%s", "there was no memory for the trace of a process");
            feed_close(&feed);
        } else {
            found = true;
        }
        mem_free(path);
    }
    return found;
}

/* The processes whose traces are open; the name of a live trace begins with the number. */
static void list_open(const struct run *run, struct followed *followed)
{
    size_t i;
    for (i = 0; i < run->feeds.count; i++) {
        const struct feed *feed = &run->feeds.items[i];
        const char *name = strrchr(feed->path, '/');
        if (feed->state == FEED_GOING && name) {
            followed_add(followed, (pid_t)strtol(name + 1, NULL, 10));
        }
    }
}

/* The part of target_watch's `pass`: processes that the program has started. */
static void pass_to_session(void *self, int number, bool by_terminal)
{
    struct run *run = self;
    struct followed all = {0}, others = {0};
    size_t i;
    look_for_traces(run);
    list_open(run, &all);
    for (i = 0; i < all.count; i++) {
        if (all.pids[i] != run->target.pid) {
            followed_add(&others, all.pids[i]);
        }
    }
    followed_signal(&others, run->folder.directory, number, by_terminal);
}

/* Takes what the traces hold; returns the number of events and whether all have come to their end.
 */
static size_t step_all(struct run *run, bool *all_ended)
{
    size_t taken = 0, i;
    *all_ended = true;
    for (i = 0; i < run->feeds.count; i++) {
        taken += feed_step(&run->feeds.items[i], STEP_EVENTS);
        *all_ended &= run->feeds.items[i].state != FEED_GOING;
    }
    return taken;
}

static void tell_so_far(const struct run *run)
{
    uint64_t counts[3] = {0}, operations = 0;
    size_t i;
    for (i = 0; i < run->feeds.count; i++) {
        const struct feed *feed = &run->feeds.items[i];
        counts[0] += feed_count(feed, SEVERITY_ERROR);
        counts[1] += feed_count(feed, SEVERITY_WARNING);
        counts[2] += feed_count(feed, SEVERITY_ADVICE);
        operations += engine_totals(feed->engine)->operations;
    }
    fprintf(stderr,
            "streamsan so far: %" PRIu64 " error%s, %" PRIu64 " warning%s, %" PRIu64
            " advice; %" PRIu64 " operation%s in %zu process%s; the program still runs\n",
            counts[0], counts[0] == 1 ? "" : "s", counts[1], counts[1] == 1 ? "" : "s", counts[2],
            operations, operations == 1 ? "" : "s", run->feeds.count,
            run->feeds.count == 1 ? "" : "es");
}

static double seconds_since(const struct timespec *begun)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begun->tv_sec) + (double)(now.tv_nsec - begun->tv_nsec) / 1e9;
}

/* Whether waiting for processes that the program left behind has to end. */
static bool is_over(const struct run *run)
{
    return seconds_since(&run->ended) > GRACE_SECONDS ||
           (run->target.interrupted && seconds_since(&run->interrupted) > SIGNAL_SECONDS);
}

static void tell_wait(const struct run *run)
{
    struct followed followed = {0};
    struct strbuf words = {0};
    list_open(run, &followed);
    followed_add_children(&followed);
    followed_words(&followed, &words);
    fprintf(stderr,
            "streamsan run: waiting up to %d s for %s, left behind by the program; "
            "a signal is passed on and ends the wait\n",
            GRACE_SECONDS, strbuf_text(&words));
    strbuf_finish(&words);
}

/* Waits for signals; notes when the program has ended and when it was enough. */
static void wait_and_note(struct run *run, int timeout_ms)
{
    bool ended = run->target.ended, interrupted = run->target.interrupted;
    target_wait(&run->target, timeout_ms);
    if (run->target.ended && !ended) {
        clock_gettime(CLOCK_MONOTONIC, &run->ended);
    }
    if (run->target.interrupted && !interrupted) {
        clock_gettime(CLOCK_MONOTONIC, &run->interrupted);
    }
}

static void follow(struct run *run)
{
    size_t taken = 1, passes = 0;
    bool told = false;
    for (;;) {
        bool ended = run->target.ended, alone = run->target.alone, all_ended, found;
        wait_and_note(run, taken > 0 ? 0 : ended ? BUSY_MS : IDLE_MS);
        found = look_for_traces(run);
        taken = step_all(run, &all_ended);
        if (run->target.asked && (taken == 0 || ++passes > ASKED_PASSES)) {
            run->target.asked = false;
            passes = 0;
            tell_so_far(run);
        }
        if (ended && !told && seconds_since(&run->ended) > QUIET_SECONDS && !(alone && all_ended)) {
            told = true;
            tell_wait(run);
        }
        /* Both were true before the folder was read, so nothing of the program and of what it left
         * behind can be missing. */
        if (ended && !found && taken == 0 && ((alone && all_ended) || is_over(run))) {
            break;
        }
    }
}

static bool was_interrupted(void *self)
{
    struct run *run = self;
    target_wait(&run->target, 0);
    return run->target.interrupted;
}

static int judge_run(struct run *run)
{
    const struct target *target = &run->target;
    struct judge judge = {
        .options = run->options,
        .verb = "run",
        .begun = run->begun,
        .stop = was_interrupted,
        .stop_self = run,
        .command = run->options->arguments,
        .end = {true, target->code, target->end_signal},
        .clean_code = target->code,
    };
    size_t i;
    for (i = 0; i < run->feeds.count; i++) {
        feed_finish(&run->feeds.items[i]);
        if (!run->options->quiet) {
            feed_explain(&run->feeds.items[i]);
        }
    }
    if (target->end_signal) {
        fprintf(stderr, "streamsan: signal %d (%s) ended the program\n", target->end_signal,
                target_signal_name(target->end_signal));
    }
    if (run->feeds.count == MAX_PROCESSES) {
        add_reason(run, "%s", "there were more processes than can be followed");
    }
    if (run->options->trace && run->feeds.count == 0) {
        unlink(run->options->trace);
    }
    judge.reasons = run->reasons.items;
    judge.reason_count = run->reasons.count;
    return judge_print(&judge, run->feeds.items, run->feeds.count);
}

/* All that can fail before the program is started. */
static enum ssan_status prepare(struct run *run, struct ssan_error *err)
{
    const struct options *options = run->options;
    const struct folder_options how = {.schedule = options->schedule, .plan = &options->plan};
    enum ssan_status status =
        program_check(options->arguments[0], options->device == DEVICE_VIRTUAL, err);
    if (!status) {
        status = output_probe(options->output, err);
    }
    if (!status) {
        status = output_probe(options->trace, err);
    }
    if (!status) {
        status = folder_open(&run->folder, &how, err);
    }
    return status;
}

static int run_program(const struct options *options)
{
    struct run run = {.options = options};
    struct ssan_error err = {0};
    size_t i;
    int code;
    clock_gettime(CLOCK_MONOTONIC, &run.begun);
    run.engine.threads = options->strict ? THREADS_STRICT : THREADS_OBSERVED;
    run.engine.shadow_limit_bytes = options->shadow_limit;
    if (!getcwd(run.directory, sizeof run.directory)) {
        run.directory[0] = '\0';
    }
    if (target_watch(&run.target, &err) || prepare(&run, &err) ||
        target_start(&run.target, options->arguments, run.folder.directory, &err)) {
        code = command_fail("run", &err);
    } else {
        run.target.pass = pass_to_session;
        run.target.pass_self = &run;
        follow(&run);
        run.target.pass = NULL;
        code = judge_run(&run);
    }
    for (i = 0; i < run.feeds.count; i++) {
        feed_close(&run.feeds.items[i]);
    }
    folder_close(&run.folder);
    target_finish(&run.target);
    VEC_FREE(&run.feeds);
    VEC_FREE(&run.reasons);
    arena_finish(&run.arena);
    return code;
}

int cmd_run(int argc, char **argv)
{
    struct options options;
    struct ssan_error err = {0};
    int code;
    if (options_read(&options, VERB_RUN, argc, argv, getenv("STREAMSAN_OPTIONS"), &err)) {
        code = command_usage("run", &err);
    } else if (options.help) {
        code = command_help("run");
    } else if (options.argument_count == 0) {
        ssan_fail(&err, SSAN_USAGE, 0, "a program is missing");
        code = command_usage("run", &err);
    } else {
        code = run_program(&options);
    }
    options_finish(&options);
    return code;
}
