/* Writes the manual page or the bash completion: `streamsan-manual man|bash TEMPLATE FILE`.
 *
 * A step of the build, no part of the tool. Templates hold the prose; a line `@NAME@` alone is
 * replaced by what options.def, verbs.def and cc/options.def hold, so that neither goes stale. */
#include "cli/commands.h"
#include "cli/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Options of `cc`, which its driver reads itself. */
static const struct {
    const char *spelling, *route;
} cc_options[] = {
#define CC_OPTION(spelling, form, route) {spelling, #route},
#include "cc/options.def"
#undef CC_OPTION
};

/* Text as roff takes it. */
static void roff(const char *text)
{
    if (*text == '.' || *text == '\'') {
        printf("\\&");
    }
    for (; *text; text++) {
        if (*text == '-') {
            printf("\\-");
        } else if (*text == '\\') {
            printf("\\e");
        } else {
            putchar(*text);
        }
    }
}

static void man_verbs(void)
{
    size_t count, i;
    const struct verb_info *verbs = command_infos(&count);
    for (i = 0; i < count; i++) {
        printf(".TP\n\\fB%s\\fR", verbs[i].name);
        if (verbs[i].mask) {
            printf(" [\\fIOPTION\\fR...]");
        }
        printf(" ");
        roff(verbs[i].arguments);
        printf("\n");
        roff(verbs[i].summary);
        printf("%s\n", strchr(verbs[i].summary, '?') ? "" : ".");
    }
}

static void man_options(void)
{
    size_t count, i;
    const struct option_info *options = options_list(&count);
    for (i = 0; i < count; i++) {
        struct strbuf verbs = {0}, help = {0};
        printf(".TP\n");
        if (options[i].letter) {
            printf("\\fB\\-%c\\fR, ", options[i].letter);
        }
        printf("\\fB\\-\\-");
        roff(options[i].name);
        printf("\\fR");
        const bool is_long = options_long_words(&help, &options[i]);
        if (options[i].argument) {
            printf(" \\fI");
            roff(is_long ? "WORD" : options[i].argument);
            printf("\\fR");
        }
        printf("\n");
        roff(is_long ? strbuf_text(&help) : options[i].help);
        strbuf_finish(&help);
        command_verbs(&verbs, options[i].verbs);
        printf(".\nFor %s.\n", strbuf_text(&verbs));
        strbuf_finish(&verbs);
    }
}

/* Text as it stands between single quotes. */
static void quoted(const char *text, size_t length)
{
    size_t i;
    for (i = 0; i < length; i++) {
        if (text[i] == '\'') {
            printf("'\\''");
        } else {
            putchar(text[i]);
        }
    }
}

static void bash_verbs(void)
{
    size_t count, i;
    const struct verb_info *verbs = command_infos(&count);
    printf("    verbs='");
    for (i = 0; i < count; i++) {
        printf("%s ", verbs[i].name);
    }
    printf("help'\n");
}

/* What the words behind the options of a verb are. */
static void bash_arguments(void)
{
    size_t count, i;
    const struct verb_info *verbs = command_infos(&count);
    for (i = 0; i < count; i++) {
        printf("    %s) arguments=%s ;;\n", verbs[i].name,
               strstr(verbs[i].arguments, "PROGRAM") ? "program"
               : verbs[i].arguments[0]               ? "files"
                                                     : "none");
    }
}

static void bash_cc_options(void)
{
    size_t i;
    printf("    cc) options='--help");
    for (i = 0; i < sizeof cc_options / sizeof *cc_options; i++) {
        if (strcmp(cc_options[i].route, "DROPPED") != 0 &&
            strcmp(cc_options[i].route, "REFUSED") != 0) {
            printf(" ");
            quoted(cc_options[i].spelling, strlen(cc_options[i].spelling));
        }
    }
    printf("' ;;\n");
}

static void bash_options(void)
{
    size_t verb_count, option_count, i, k;
    const struct verb_info *verbs = command_infos(&verb_count);
    const struct option_info *options = options_list(&option_count);
    for (i = 0; i < verb_count; i++) {
        if (strcmp(verbs[i].name, "cc") == 0) {
            bash_cc_options();
            continue;
        }
        printf("    %s) options='--help", verbs[i].name);
        for (k = 0; k < option_count; k++) {
            if (options[k].verbs & verbs[i].mask) {
                printf(" --%s", options[k].name);
            }
        }
        printf("' ;;\n");
    }
}

/* The words of an argument list such as "eager|random:SEED|FILE": capitals stand for what the user
 * writes, so completion goes as far as `random:`; @files for names of files. */
static void bash_words(const char *list)
{
    static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const char *gap = "";
    while (*list) {
        const size_t length = strcspn(list, "|");
        size_t known = strcspn(list, capitals);
        known = known < length ? known : length;
        if (strncmp(list, "FILE", length) == 0 || strncmp(list, "FOLDER", length) == 0) {
            printf("%s@files", gap);
            gap = " ";
        } else if (known == length || (known > 0 && list[known - 1] == ':')) {
            printf("%s", gap);
            quoted(list, known);
            gap = " ";
        }
        list += length + (list[length] == '|');
    }
}

static void bash_values(void)
{
    size_t verb_count, option_count, i, k;
    const struct verb_info *verbs = command_infos(&verb_count);
    const struct option_info *options = options_list(&option_count);
    for (k = 0; k < option_count; k++) {
        const char *gap = "    ";
        for (i = 0; options[k].argument && i < verb_count; i++) {
            if (options[k].verbs & verbs[i].mask) {
                printf("%s%s:--%s", gap, verbs[i].name, options[k].name);
                gap = " | ";
            }
        }
        if (gap[1] == '|') {
            printf(") values='");
            bash_words(options[k].argument);
            printf("' ;;\n");
        }
    }
}

static void version(void)
{
    printf(".TH STREAMSAN 1 \"\" \"streamsan %s\" \"User Commands\"\n", STREAMSAN_VERSION);
}

static const struct {
    const char *form, *mark;
    void (*write)(void);
} parts[] = {
    {"man", "@TITLE@\n", version},
    {"man", "@VERBS@\n", man_verbs},
    {"man", "@OPTIONS@\n", man_options},
    {"bash", "@VERBS@\n", bash_verbs},
    {"bash", "@ARGUMENTS@\n", bash_arguments},
    {"bash", "@OPTIONS@\n", bash_options},
    {"bash", "@VALUES@\n", bash_values},
};

static bool write_line(const char *form, const char *line)
{
    size_t i;
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(parts[i].form, form) == 0 && strcmp(parts[i].mark, line) == 0) {
            parts[i].write();
            return true;
        }
    }
    return line[0] != '@' && fputs(line, stdout) >= 0;
}

int main(int argc, char **argv)
{
    char line[1024];
    FILE *in = argc == 4 ? fopen(argv[2], "r") : NULL;
    bool good = in && freopen(argv[3], "w", stdout);
    while (good && fgets(line, sizeof line, in)) {
        good = write_line(argv[1], line);
    }
    good = good && !ferror(in) && fflush(stdout) == 0 && !ferror(stdout);
    if (in) {
        fclose(in);
    }
    if (!good) {
        fprintf(stderr, "streamsan-manual: usage: man|bash TEMPLATE FILE, or a file failed\n");
    }
    return good ? 0 : 1;
}
