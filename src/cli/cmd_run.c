/* `streamsan run`: runs the program, checks it while it runs, and reports. */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/device.h"
#include "cli/follow.h"
#include "cli/judge.h"
#include "cli/output.h"
#include "cli/program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LIVE_SECONDS 10 /* a shorter run has its report soon enough */

static bool was_interrupted(void *self)
{
    return follow_was_interrupted(self);
}

/* A word of a command, of a shell too: adds why it was not seen, where it names a CUDA program that
 * only a GPU could have run. */
static bool explain_word(struct follow *follow, const char *word)
{
    char path[4096];
    if (!program_find(word, path, sizeof path) || program_kind(path) != PROGRAM_CUDA) {
        return false;
    }
    follow_add_reason(follow,
                      "%s was built for a GPU, which this run does not use (build it with "
                      "'streamsan cc')",
                      word);
    return true;
}

/* Nothing of CUDA was seen in a run without a GPU: a script or a shell may have started a
 * program that the virtual device can't run. */
static void explain_nothing(struct follow *follow, const struct options *options)
{
    char word[4096];
    bool is_told = false;
    for (size_t i = 0; options->arguments[i]; i++) {
        const char *at = options->arguments[i];
        while (*at) {
            const size_t length = strcspn(at, " \t\n;|&()<>'\"`$");
            if (length > 0 && length < sizeof word && !is_told) {
                memcpy(word, at, length);
                word[length] = '\0';
                is_told = explain_word(follow, word);
            }
            at += length + (at[length] != '\0');
        }
    }
    if (!is_told && !options->quiet) {
        fprintf(stderr, "streamsan: no CUDA program was seen; on the virtual device only those "
                        "that 'streamsan cc' has built are\n");
    }
}

static int judge_run(struct follow *follow, const struct options *options, bool gpu)
{
    const struct target *target = &follow->target;
    struct judge judge = {
        .options = options,
        .verb = "run",
        .begun = follow->begun,
        .stop = was_interrupted,
        .stop_self = follow,
        .command = options->arguments,
        .end = {true, target->code, target->end_signal},
        .clean_code = target->code,
        .gpu = gpu,
    };
    size_t i;
    for (i = 0; i < follow->feeds.count; i++) {
        feed_finish(&follow->feeds.items[i]);
        if (!options->quiet) {
            feed_explain(&follow->feeds.items[i]);
        }
    }
    if (target->end_signal) {
        fprintf(stderr, "streamsan: signal %d (%s) ended the program\n", target->end_signal,
                target_signal_name(target->end_signal));
    }
    if (options->trace && follow->feeds.count == 0) {
        unlink(options->trace);
    }
    if (follow->feeds.count == 0 && !gpu) {
        explain_nothing(follow, options);
    }
    judge.reasons = follow->reasons.items;
    judge.reason_count = follow->reasons.count;
    judge.reason_lost = follow->reason_lost;
    return judge_print(&judge, follow->feeds.items, follow->feeds.count);
}

/* All that can fail before the program is started and leaves nothing to clean up. */
static enum ssan_status prepare(struct device *device, const struct options *options,
                                struct ssan_error *err)
{
    enum ssan_status status = device_choose(device, options, err);
    if (!status) {
        status = output_probe(options->output, err);
    }
    if (!status) {
        status = output_probe(options->trace, err);
    }
    return status;
}

static int run_program(const struct options *options)
{
    char directory[4096]; /* current one, for short paths */
    struct follow_options how = {
        .arguments = options->arguments,
        .folder = {.schedule = options->schedule,
                   .plan = &options->plan,
                   .devices = options->devices},
        .engine = {.threads = options->strict ? THREADS_STRICT : THREADS_OBSERVED,
                   .shadow_limit_bytes = options->shadow_limit},
        .kept = options->trace,
        .kept_limit_bytes = options->trace_limit,
        .directory = getcwd(directory, sizeof directory) ? directory : "",
        .documented = options->documented,
        .live = options->live != LIVE_NEVER && !options->quiet,
        .live_seconds = options->live == LIVE_ALWAYS ? 0 : LIVE_SECONDS,
    };
    struct follow follow = {0};
    struct device device;
    struct ssan_error err = {0};
    enum ssan_status status = prepare(&device, options, &err);
    int code;
    if (!status && device.gpu) {
        how.folder.observe = &device.observe;
        how.environment = device.environment;
    }
    if (status == SSAN_USAGE) {
        code = command_usage("run", &err);
    } else if (status || follow_run(&follow, &how, &err)) {
        code = command_fail("run", &err);
    } else {
        code = judge_run(&follow, options, device.gpu);
    }
    follow_finish(&follow);
    device_finish(&device);
    return code;
}

int cmd_run(int argc, char **argv)
{
    const struct command command = {
        .verb = "run",
        .mask = VERB_RUN,
        .wants = WANTS_PROGRAM,
        .has_defaults = true,
        .act = run_program,
    };
    return command_run(&command, argc, argv);
}
