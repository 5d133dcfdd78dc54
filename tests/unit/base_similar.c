/* The word that was meant: near ones are found, far ones are not. */
#include "base/similar.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static const char *const words[] = {"run", "check", "dump", NULL, "doctor", "explore"};

static const char *meant(const char *word)
{
    return similar_word(word, words, sizeof words / sizeof *words);
}

static void near_words(void **state)
{
    static const char *const pairs[][2] = {
        {"runx", "run"},        {"rn", "run"},           {"urn", "run"},       {"xcheck", "check"},
        {"CHECK", "check"},     {"checky", "check"},     {"docter", "doctor"}, {"dmup", "dump"},
        {"exlpore", "explore"}, {"explroer", "explore"},
    };
    size_t i;
    for (i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (!meant(pairs[i][0]) || strcmp(meant(pairs[i][0]), pairs[i][1]) != 0) {
            fail_msg("%s: %s", pairs[i][0], meant(pairs[i][0]) ? meant(pairs[i][0]) : "nothing");
        }
    }
}

static void far_words(void **state)
{
    static const char *const far[] = {"", "r", "x", "frobnicate", "door", "ex"};
    char huge[500];
    size_t i;
    for (i = 0; i < sizeof far / sizeof *far; i++) {
        if (meant(far[i])) {
            fail_msg("%s: %s", far[i], meant(far[i]));
        }
    }
    memset(huge, 'r', sizeof huge);
    huge[sizeof huge - 1] = '\0';
    assert_null(meant(huge));
    assert_null(similar_word("run", words, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(near_words), cmocka_unit_test(far_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
