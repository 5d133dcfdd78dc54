/* Any words as the options of a verb, any text as STREAMSAN_OPTIONS: taken, or refused with a
 * sentence. Words keep their order: what is left for the program is what was given. */
#include "cli/options.h"
#include "fuzz/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever is left as an argument was one of the words. */
static void expect_arguments(const struct options *options, const struct fuzz_words *words)
{
    int word = 0;
    for (int i = 0; i < options->argument_count; i++) {
        while (word < words->argc && words->argv[word] != options->arguments[i]) {
            word++;
        }
        if (word == words->argc) {
            abort();
        }
    }
    if (options->argument_count && options->arguments[options->argument_count]) {
        abort();
    }
}

/* Some options read a file: none but those of the kernel's own empty device, as others could be
 * anything, even without an end. */
static void keep_from_files(struct fuzz_words *words)
{
    for (int i = 0; i < words->count; i++) {
        for (char *p = words->given[i]; (p = strchr(p, '/')) && strcmp(p, "/dev/null") != 0; p++) {
            *p = '_';
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum verb_mask verbs[] = {VERB_RUN,      VERB_COMPARE, VERB_CONTRACT,
                                           VERB_EVIDENCE, VERB_CHECK,   VERB_DUMP,
                                           VERB_AUDIT,    VERB_WITNESS, VERB_EXPLORE};
    const size_t count = sizeof verbs / sizeof *verbs;
    struct fuzz_words words;
    struct options options;
    struct ssan_error err = {0};
    char name[] = "verb", *defaults = NULL;
    if (size == 0) {
        return 0;
    }
    const unsigned choice = data[0];
    fuzz_words(&words, name, data + 1, size - 1);
    keep_from_files(&words);
    if ((choice & 4) && words.argc > 1) { /* the first word is the variable's text */
        defaults = words.argv[1];
        memmove(words.argv + 1, words.argv + 2, (size_t)(words.argc - 1) * sizeof *words.argv);
        words.argc--;
    }
    const enum ssan_status status = options_read(&options, verbs[(choice >> 3) % count], words.argc,
                                                 words.argv, defaults, &err);
    if (status == SSAN_OK) {
        expect_arguments(&options, &words);
    } else if ((status != SSAN_USAGE && status != SSAN_IO && status != SSAN_FORMAT) ||
               !err.text[0]) {
        abort();
    }
    options_finish(&options);
    fuzz_words_free(&words);
    return 0;
}
