/* Takes the values of options that name files which the tool writes: %p is the id of this process,
 * %q{NAME} the value of a variable of the environment and %% a %, in the words of valgrind and
 * compute-sanitizer, so that each rank of a launcher has its own. What can't be read is refused: no
 * file gets a name that nobody meant. */
#include "cli/options_parts.h"

#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Appends the variable that "{NAME}" at `at` names; the place behind it, or NULL. */
static const char *put_variable(struct strbuf *name, const char *at, struct ssan_error *err)
{
    const char *end = *at == '{' ? strchr(at, '}') : NULL;
    char variable[256];
    const char *value;
    if (!end || end == at + 1 || (size_t)(end - at) > sizeof variable) {
        ssan_fail(err, SSAN_USAGE, 0, "%%q takes a variable of the environment, as in %%q{RANK}");
        return NULL;
    }
    memcpy(variable, at + 1, (size_t)(end - at) - 1);
    variable[end - at - 1] = '\0';
    value = getenv(variable);
    if (!value) {
        ssan_fail(err, SSAN_USAGE, 0, "%%q{%s}: no such variable is set", variable);
        return NULL;
    }
    strbuf_puts(name, value);
    return end + 1;
}

static enum ssan_status expand(const char *word, struct arena *arena, const char **name,
                               struct ssan_error *err)
{
    struct strbuf text = {0};
    const char *made;
    while (word && *word) {
        const size_t plain = strcspn(word, "%");
        strbuf_add(&text, word, plain);
        word += plain;
        if (!*word) {
            break;
        }
        word += 2;
        if (word[-1] == 'p') {
            strbuf_printf(&text, "%d", (int)getpid());
        } else if (word[-1] == '%') {
            strbuf_puts(&text, "%");
        } else if (word[-1] == 'q') {
            word = put_variable(&text, word, err);
        } else {
            ssan_fail(err, SSAN_USAGE, 0,
                      "'%%%.1s' is not known: %%p is the process id, %%q{NAME} a variable of the "
                      "environment, %%%% a %%",
                      word - 1);
            word = NULL;
        }
    }
    made = word ? strbuf_keep(&text, arena) : NULL;
    strbuf_finish(&text);
    if (!word) {
        return SSAN_USAGE;
    }
    if (!made) {
        return ssan_no_memory(err);
    }
    *name = made;
    return SSAN_OK;
}

error_t options_take_name(struct reading *reading, int key, const char *word, const char **file)
{
    struct ssan_error err = {0};
    reading->status = expand(word, &reading->options->arena, file, &err);
    if (reading->status) {
        ssan_fail(reading->err, reading->status, 0, "--%s: %.480s", options_info(key)->name,
                  err.text);
    }
    return reading->status ? EINVAL : 0;
}

error_t options_take_file(struct reading *reading, int key, const char *word, const char **file)
{
    if (strcmp(word, "-") == 0) {
        return options_refuse(
            reading,
            "--%s takes a file, not '%s': nothing goes to standard output, which is "
            "the program's",
            options_info(key)->name, word);
    }
    return options_take_name(reading, key, word, file);
}
