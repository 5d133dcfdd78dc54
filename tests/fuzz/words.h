/* An input as a command line: words with a NUL behind each. Every word is a block of its own, so
 * that a sanitizer sees what reads behind it. */
#ifndef SSAN_TESTS_FUZZ_WORDS_H
#define SSAN_TESTS_FUZZ_WORDS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 64 };

struct fuzz_words {
    char *given[MOST_WORDS];
    int count;
    char *argv[MOST_WORDS + 2]; /* argv[0] is `name`, then the words; NULL-terminated */
    int argc;
};

static void fuzz_words(struct fuzz_words *words, char *name, const uint8_t *data, size_t size)
{
    memset(words, 0, sizeof *words);
    words->argv[words->argc++] = name;
    for (size_t at = 0; at < size && words->count < MOST_WORDS;) {
        char *word = strndup((const char *)data + at, size - at);
        if (!word) {
            abort();
        }
        at += strlen(word) + 1;
        words->given[words->count++] = word;
        words->argv[words->argc++] = word;
    }
}

static void fuzz_words_free(struct fuzz_words *words)
{
    for (int i = 0; i < words->count; i++) {
        free(words->given[i]);
    }
}

#endif
