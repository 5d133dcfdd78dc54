/* Chooses the verb. The only place where a result becomes the exit code of the process. */
#include "cli/commands.h"

#include "base/similar.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int (*command)(int argc, char **argv); /* NULL: not there yet */
} verbs[] = {
#define VERB(name, options, arguments, summary) {#name, cmd_##name},
#define LATER(name)                             {#name, NULL},
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

/* Neither a verb nor an option of the tool itself. */
static int unknown(const char *word)
{
    const char *words[sizeof verbs / sizeof *verbs + 2];
    const char *meant;
    const bool option = word[0] == '-';
    size_t count = 0, i;
    for (i = 0; !option && i < sizeof verbs / sizeof *verbs; i++) {
        words[count++] = verbs[i].command ? verbs[i].name : NULL;
    }
    words[count++] = option ? "--help" : "help";
    words[count++] = option ? "--version" : NULL;
    meant = similar_word(word, words, count);
    fprintf(stderr, "streamsan: unknown %s '%s'%s%s%s\nTry 'streamsan --help'.\n",
            option ? "option" : "verb", word, meant ? "; did you mean '" : "", meant ? meant : "",
            meant ? "'?" : "");
    return ssan_status_exit_code(SSAN_USAGE);
}

static int run_verb(int argc, char **argv)
{
    size_t i;
    for (i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(argv[0], verbs[i].name) == 0) {
            return verbs[i].command ? verbs[i].command(argc, argv)
                                    : usage("'%s' is not there yet", argv[0]);
        }
    }
    return unknown(argv[0]);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        return usage("a verb is missing%s", "");
    }
    if (strcmp(argv[1], "help") == 0 && argc > 2) {
        char *words[] = {argv[2], (char *)"--help", NULL};
        return run_verb(2, words);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        command_list();
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        return version();
    }
    return run_verb(argc - 1, argv + 1);
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
