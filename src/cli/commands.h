/* The verbs. Each gets its words (argv[0] is the verb), prints, and returns the exit code
 * (docs/report.md). */
#ifndef SSAN_CLI_COMMANDS_H
#define SSAN_CLI_COMMANDS_H

#include "base/status.h"
#include "base/strbuf.h"

#define VERB(name, options, arguments, summary) int cmd_##name(int argc, char **argv);
#define LATER(name)
#include "cli/verbs.def"
#undef VERB
#undef LATER

/* Prints "streamsan VERB: text" to stderr and returns the exit code of the error's status. */
int command_fail(const char *verb, const struct ssan_error *err);
/* The same; a wrong use is followed by what to type for help. */
int command_usage(const char *verb, const struct ssan_error *err);

/* "usage: streamsan VERB ..." with the options of verbs that have them; returns 0. */
int command_help(const char *verb);
void command_list(void);

/* One verb of verbs.def that is there. */
struct verb_info {
    const char *name, *arguments, *summary;
    unsigned mask; /* of enum verb_mask; 0: it has no options of options.def */
};

/* All of them, in the order of verbs.def. */
const struct verb_info *command_infos(size_t *count);
/* Appends the names of the verbs in `mask` (enum verb_mask): "run, check and dump". */
void command_verbs(struct strbuf *out, unsigned mask);

#endif
