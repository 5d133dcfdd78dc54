/* `streamsan witness`: runs the program once and judges it as `run` does, then reruns it until each
 * error finding has happened.
 *
 * The program's own output is that of the first run; what the trials print is compared and not
 * shown. The last line is the verdict of the first run. */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/device.h"
#include "cli/judge.h"
#include "cli/keep.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/target.h"
#include "cli/witness.h"

#include "trace/control_abi.h"
#include "trace/gate_words.h"

#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

struct session {
    const struct options *options;
    struct device device;
    struct trials trials;
    struct trial base;
    const struct trial_result *first;
    VEC(struct feed) feeds;
    struct timespec begun;
    struct judge *judge; /* of the first run */
};

/* Copies what the first run printed to where the program would have printed it. */
static void relay(const struct trial_result *result, const char *name, int to)
{
    struct strbuf path = {0};
    char part[65536];
    ssize_t got;
    int fd;
    strbuf_printf(&path, "%s/%s", result->directory, name);
    fd = path.failed ? -1 : open(strbuf_text(&path), O_RDONLY | O_CLOEXEC);
    strbuf_finish(&path);
    while (fd >= 0 && (got = read(fd, part, sizeof part)) > 0) {
        if (file_write(to, part, (size_t)got) != 0) {
            break; /* a reader that has gone is the end of it */
        }
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* The kept traces of the first run, judged again here. */
static enum ssan_status read_traces(struct session *session, struct ssan_error *err)
{
    uint32_t i;
    for (i = 0; i < session->first->processes; i++) {
        struct feed_options how = {.engine = &session->base.engine,
                                   .documented = session->options->documented};
        struct feed feed;
        struct strbuf path = {0};
        enum ssan_status status;
        strbuf_printf(&path, i ? "%s/" TRIAL_TRACE ".%u" : "%s/" TRIAL_TRACE,
                      session->first->directory, i + 1);
        status =
            path.failed ? ssan_no_memory(err) : feed_open(&feed, strbuf_text(&path), &how, err);
        strbuf_finish(&path);
        if (!status && !VEC_PUSH(&session->feeds, feed)) {
            status = ssan_no_memory(err);
        }
        if (status) {
            feed_close(&feed);
            return status;
        }
    }
    for (i = 0; i < session->feeds.count; i++) {
        struct feed *feed = &session->feeds.items[i];
        while (feed_step(feed, SIZE_MAX) > 0 && feed->state == FEED_GOING) {
        }
        feed_finish(feed);
    }
    return SSAN_OK;
}

static bool has_errors(const struct report *report)
{
    size_t i;
    for (i = 0; i < report->finding_count; i++) {
        if (report->findings[i]->severity == SEVERITY_ERROR &&
            !report->findings[i]->suppressed_by) {
            return true;
        }
    }
    return false;
}

/* Runs the program again as it was run first, to know what differs by itself. */
static enum ssan_status learn_noise(struct session *session, struct witness_search *search,
                                    struct ssan_error *err)
{
    const struct trial_result *again;
    struct trial_outcome outcome = {0};
    enum ssan_status status;
    session->base.limit_seconds = witness_limit(search);
    again = trials_run(&session->trials, &session->base);
    if (again->status) {
        status = ssan_fail(err, again->status, 0, "%.500s", again->text);
    } else if (again->processes == 0) {
        status = ssan_fail(err, SSAN_IO, 0, "a second run has no CUDA operations");
    } else {
        status = outcome_read(&outcome, again, err);
    }
    if (!status && !outcome_learn_noise(&search->noise, search->reference, &outcome)) {
        status = ssan_no_memory(err);
    }
    outcome_close(&outcome);
    trials_drop(&session->trials, again);
    return status;
}

/* A result that a wait cures, beside no finding, is not clean: something was not seen. */
static void tell_unexplained(struct session *session, const struct report *report)
{
    const struct diagnosis *diagnosis = report->diagnosis;
    if (diagnosis && diagnosis->wrong && diagnosis->cured && !report_explains(report)) {
        session->judge->reasons[session->judge->reason_count++] =
            "no finding explains the wrong result";
    }
}

static void search_virtual(struct session *session, struct witness_search *search,
                           struct report *report)
{
    witness_findings(search, report);
    if (session->options->bisect) {
        witness_bisect(search, report);
        tell_unexplained(session, report);
    }
}

/* A run in which the host waits behind each item; false when the program can't end so. */
static bool run_calm(struct session *session, struct witness_search *search,
                     struct trial_outcome *calm)
{
    struct observe_plan plan;
    struct trial trial = session->base;
    bool fine;
    observe_plan_init(&plan);
    plan.accesses = SSAN_accesses_OFF;
    trial.observe = &plan;
    trial.limit_seconds = witness_limit(search);
    fine = observe_plan_add_gate(&plan, GATE_SERIALIZE);
    if (fine) {
        calm->result = trials_run(&session->trials, &trial);
        fine = !calm->result->status && !calm->result->timed_out && calm->result->processes > 0;
    }
    observe_plan_finish(&plan);
    return fine;
}

/* On a GPU the first run may have been wrong already: what is right is told by calm ones, where
 * there are any. */
static void search_gpu(struct session *session, struct witness_search *search,
                       struct report *report, struct ssan_error *err)
{
    struct trial_outcome calm = {0}, again = {0};
    struct observe_plan plain;
    enum ssan_status status = SSAN_OK;
    observe_plan_init(&plain);
    plain.accesses = SSAN_accesses_OFF;
    session->base.observe = &plain;
    session->base.environment = session->device.gated;
    if (!run_calm(session, search, &calm)) {
        status = learn_noise(session, search, err);
    } else if (!run_calm(session, search, &again) ||
               !outcome_learn_noise(&search->noise, &calm, &again)) {
        status = ssan_fail(err, SSAN_IO, 0, "a run in which the host waits failed the second time");
    } else {
        search->reference = &calm;
    }
    if (!status) {
        witness_gate_findings(search, report);
    }
    search->reference = search->first;
    session->base.observe = &session->device.observe;
}

static void add_witnesses(void *self, struct report *report)
{
    struct session *session = self;
    struct trial_outcome first = {0};
    struct ssan_error err = {0};
    struct witness_search search = {.options = session->options,
                                    .device = session->device.gpu ? &session->device : NULL,
                                    .trials = &session->trials,
                                    .base = &session->base,
                                    .first = &first,
                                    .reference = &first};
    if (session->feeds.count == 0 || (!has_errors(report) && !session->options->bisect)) {
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &search.begun);
    session->base.directory = NULL; /* lines are known from the first run */
    if (outcome_read(&first, session->first, &err) == SSAN_OK && search.device) {
        search_gpu(session, &search, report, &err);
    } else if (err.status == SSAN_OK && learn_noise(session, &search, &err) == SSAN_OK) {
        search_virtual(session, &search, report);
    }
    if (err.status != SSAN_OK && !trials_interrupted(&session->trials)) {
        fprintf(stderr, "streamsan witness: no witness is looked for: %s\n", err.text);
    }
    outcome_forget_noise(&search.noise);
    outcome_close(&first);
}

static bool was_interrupted(void *self)
{
    struct session *session = self;
    return trials_interrupted(&session->trials) != 0;
}

static int judge_session(struct session *session)
{
    const struct trial_result *first = session->first;
    const char *reasons[2]; /* of the flood, and of tell_unexplained */
    struct judge judge = {
        .options = session->options,
        .verb = "witness",
        .begun = session->begun,
        .stop = was_interrupted,
        .stop_self = session,
        .command = session->options->arguments,
        .end = {true, first->code, first->end_signal},
        .reasons = reasons,
        .spare = true,
        .gpu = session->device.gpu,
        .adorn = add_witnesses,
        .adorn_self = session,
    };
    size_t i;
    for (i = 0; !session->options->quiet && i < session->feeds.count; i++) {
        feed_explain(&session->feeds.items[i]);
    }
    if (first->end_signal) {
        fprintf(stderr, "streamsan: signal %d (%s) ended the program\n", first->end_signal,
                target_signal_name(first->end_signal));
    }
    if (first->flooded) {
        reasons[judge.reason_count++] = "the program's output was too long and it was ended";
    }
    session->judge = &judge;
    return judge_print(&judge, session->feeds.items, session->feeds.count);
}

static int run_session(struct session *session)
{
    const struct options *options = session->options;
    char directory[4096]; /* current one, for short paths */
    struct ssan_error err = {0};
    int code;
    session->base = (struct trial){
        .arguments = options->arguments,
        .schedule = options->schedule,
        .plan = &options->plan,
        .flags = CONTROL_CALLS | CONTROL_SNAPSHOT,
        .devices = options->devices,
        .engine = {.threads = options->strict ? THREADS_STRICT : THREADS_OBSERVED,
                   .shadow_limit_bytes = options->shadow_limit},
        .documented = options->documented,
        .directory = getcwd(directory, sizeof directory) ? directory : "",
    };
    if (session->device.gpu) {
        session->base.schedule = GPU_SCHEDULE;
        session->base.plan = NULL;
        session->base.flags = 0;
        session->base.observe = &session->device.observe;
        session->base.environment = session->device.environment;
    }
    if (trials_open(&session->trials, options->jobs, &err)) {
        return command_fail("witness", &err);
    }
    session->first = trials_run(&session->trials, &session->base);
    if (trials_interrupted(&session->trials)) {
        fprintf(stderr,
                "streamsan: incomplete: signal %d (%s) came before the first run had ended\n",
                session->trials.interrupted, target_signal_name(session->trials.interrupted));
        return 128 + session->trials.interrupted;
    }
    if (session->first->status) {
        ssan_fail(&err, session->first->status, 0, "%.500s", session->first->text);
        return command_fail("witness", &err);
    }
    relay(session->first, TRIAL_STDOUT, STDOUT_FILENO);
    relay(session->first, TRIAL_STDERR, STDERR_FILENO);
    if (!options->quiet) {
        program_tell_input("witness");
    }
    if (read_traces(session, &err)) {
        return command_fail("witness", &err);
    }
    code = judge_session(session);
    return session->trials.interrupted ? 128 + session->trials.interrupted : code;
}

static int witness(const struct options *options)
{
    struct session session = {.options = options};
    struct ssan_error err = {0};
    enum ssan_status status;
    size_t i;
    int code;
    clock_gettime(CLOCK_MONOTONIC, &session.begun);
    status = device_choose(&session.device, options, &err);
    status = status ? status : output_probe(options->output, &err);
    status = status ? status : keep_probe(options->keep, &err);
    if (status) {
        code =
            status == SSAN_USAGE ? command_usage("witness", &err) : command_fail("witness", &err);
    } else {
        code = run_session(&session);
    }
    for (i = 0; i < session.feeds.count; i++) {
        feed_close(&session.feeds.items[i]);
    }
    VEC_FREE(&session.feeds);
    trials_close(&session.trials);
    device_finish(&session.device);
    return code;
}

int cmd_witness(int argc, char **argv)
{
    const struct command command = {
        .verb = "witness",
        .mask = VERB_WITNESS,
        .wants = WANTS_PROGRAM,
        .has_defaults = true,
        .ignores_pipe = true,
        .act = witness,
    };
    return command_run(&command, argc, argv);
}
