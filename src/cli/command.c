/* The frame of a verb. Invariant: `act` sees options that were read whole, and as many words as the
 * verb wants. */
#include "cli/command.h"

#include "cli/commands.h"
#include "cli/plan_words.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* What is behind the options, against what the verb wants. */
static enum ssan_status check_words(const struct command *command, const struct options *options,
                                    struct ssan_error *err)
{
    switch (command->wants) {
    case WANTS_NOTHING:
        return options->argument_count == 0
                   ? SSAN_OK
                   : ssan_fail(err, SSAN_USAGE, 0, "'%.200s' is too much: it takes no words",
                               options->arguments[0]);
    case WANTS_TRACE:
        return options->argument_count == 1
                   ? SSAN_OK
                   : ssan_fail(err, SSAN_USAGE, 0, "one trace is wanted, not %d",
                               options->argument_count);
    case WANTS_TRACES:
        return options->argument_count > 0 ? SSAN_OK
                                           : ssan_fail(err, SSAN_USAGE, 0, "a trace is missing");
    case WANTS_SPEC:
        return options->argument_count == 1 || options->template || options->print_schema
                   ? SSAN_OK
                   : ssan_fail(err, SSAN_USAGE, 0, "one contract is wanted, not %d",
                               options->argument_count);
    case WANTS_EVIDENCE:
        return options->argument_count == 2 && strcmp(options->arguments[0], "verify") == 0
                   ? SSAN_OK
                   : ssan_fail(
                         err, SSAN_USAGE, 0,
                         "'verify' and one folder are wanted: streamsan evidence verify FOLDER");
    case WANTS_PAIR:
        return options->argument_count == 2
                   ? SSAN_OK
                   : ssan_fail(err, SSAN_USAGE, 0, "two files are wanted, not %d",
                               options->argument_count);
    case WANTS_PROGRAM:
        return options->argument_count > 0 ? SSAN_OK
                                           : ssan_fail(err, SSAN_USAGE, 0, "a program is missing");
    }
    return SSAN_OK;
}

static enum ssan_status apply_places(struct options *options, struct ssan_error *err)
{
    const struct plan_word_list ignore = {options->ignore.items, options->ignore.count};
    const struct plan_word_list serialize = {options->serialize.items, options->serialize.count};
    const struct plan_word_list fail = {options->fail.items, options->fail.count};
    return plan_words_apply(&options->plan, options->arguments[0], ignore, serialize, fail, err);
}

int command_run(const struct command *command, int argc, char **argv)
{
    const char *defaults = command->has_defaults ? getenv("STREAMSAN_OPTIONS") : NULL;
    struct options options;
    struct ssan_error err = {0};
    int code;
    if (command->ignores_pipe) {
        signal(SIGPIPE, SIG_IGN);
    }
    if (options_read(&options, command->mask, argc, argv, defaults, &err)) {
        code = command_usage(command->verb, &err);
    } else if (options.help) {
        code = command_help(command->verb);
    } else if (check_words(command, &options, &err)) {
        code = command_usage(command->verb, &err);
    } else if (command->wants == WANTS_PROGRAM && apply_places(&options, &err)) {
        code = command_fail(command->verb, &err);
    } else {
        code = command->act(&options);
    }
    options_finish(&options);
    return code;
}
