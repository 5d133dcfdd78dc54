/* What every verb does with its words before it begins: options, help, what it is given. */
#ifndef SSAN_CLI_COMMAND_H
#define SSAN_CLI_COMMAND_H

#include "cli/options.h"

enum command_wants {
    WANTS_NOTHING,
    WANTS_TRACE,
    WANTS_TRACES,
    WANTS_PROGRAM,
    WANTS_PAIR,
    WANTS_SPEC,
    WANTS_EVIDENCE
};

struct command {
    const char *verb;
    enum verb_mask mask;
    enum command_wants wants;
    bool has_defaults; /* STREAMSAN_OPTIONS counts */
    bool ignores_pipe; /* a reader that goes does not change the exit code */
    int (*act)(const struct options *options);
};

/* Reads the words, applies --ignore, --serialize and --fail to the plan of a verb that runs a
 * program, and returns the exit code: that of `act`, or of wrong use, which is told. */
int command_run(const struct command *command, int argc, char **argv);

#endif
