/* Chooses the verb. The only place where a result becomes the exit code of the process. */
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int (*command)(int argc, char **argv); /* NULL: not there yet */
} verbs[] = {
#define VERB(name, arguments, summary) {#name, cmd_##name},
#define LATER(name)                    {#name, NULL},
#include "cli/verbs.def"
#undef VERB
#undef LATER
};

static int version(void)
{
    printf("streamsan %s\n"
           "License Apache-2.0: <https://www.apache.org/licenses/LICENSE-2.0>\n"
           "This is free software: you are free to change and redistribute it.\n"
           "There is NO WARRANTY, to the extent permitted by law.\n",
           STREAMSAN_VERSION);
    return 0;
}

static int usage(const char *format, const char *word)
{
    fputs("streamsan: ", stderr);
    fprintf(stderr, format, word);
    fputs("\nTry 'streamsan --help'.\n", stderr);
    return ssan_status_exit_code(SSAN_USAGE);
}

static int dispatch(int argc, char **argv)
{
    size_t i;
    if (argc < 2) {
        return usage("a verb is missing%s", "");
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        command_list();
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        return version();
    }
    for (i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(argv[1], verbs[i].name) == 0) {
            return verbs[i].command ? verbs[i].command(argc - 1, argv + 1)
                                    : usage("'%s' is not there yet", argv[1]);
        }
    }
    return usage(argv[1][0] == '-' ? "unknown option '%s'" : "unknown verb '%s'", argv[1]);
}

int main(int argc, char **argv)
{
    int code = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("streamsan: standard output");
        if (code == 0) {
            code = ssan_status_exit_code(SSAN_FULL);
        }
    }
    return code;
}
