/* What `--help` prints, and the shape of messages about wrong use. */
#include "cli/commands.h"
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

static const struct verb_info verbs[] = {
#define VERB(name, options, arguments, summary) {#name, arguments, summary, VERB_##options},
#define LATER(name)
#include "cli/verbs.def"
#undef VERB
#undef LATER
};

int command_fail(const char *verb, const struct ssan_error *err)
{
    fprintf(stderr, "streamsan %s: %s\n", verb, err->text);
    return ssan_status_exit_code(err->status);
}

int command_usage(const char *verb, const struct ssan_error *err)
{
    int code = command_fail(verb, err);
    if (err->status == SSAN_USAGE) {
        fprintf(stderr, "Try 'streamsan %s --help'.\n", verb);
    }
    return code;
}

const struct verb_info *command_infos(size_t *count)
{
    *count = sizeof verbs / sizeof *verbs;
    return verbs;
}

void command_verbs(struct strbuf *out, unsigned mask)
{
    const char *names[sizeof verbs / sizeof *verbs];
    size_t count = 0, i;
    for (i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (verbs[i].mask & mask) {
            names[count++] = verbs[i].name;
        }
    }
    for (i = 0; i < count; i++) {
        strbuf_printf(out, "%s%s", i == 0 ? "" : i + 1 == count ? " and " : ", ", names[i]);
    }
}

int command_help(const char *verb)
{
    size_t i;
    for (i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(verbs[i].name, verb) == 0) {
            options_help(stdout, verbs[i].mask, verb, verbs[i].arguments, verbs[i].summary);
        }
    }
    return 0;
}

void command_list(void)
{
    size_t i;
    printf("Usage: streamsan VERB [OPTION...] ...\n"
           "Finds missing order between CUDA streams, and memory freed or reused too early.\n\n");
    for (i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        printf("  %-8s %s\n", verbs[i].name, verbs[i].summary);
    }
    printf("\n'streamsan VERB --help' lists the options of a verb. Exit codes of run and check: "
           "the program's own\n"
           "when the verdict is clean, 66 for an error finding, 67 when something was not seen, 64 "
           "wrong use,\n"
           "65 unreadable input, 69 something is missing.\n");
}
