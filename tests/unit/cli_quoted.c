/* STREAMSAN_OPTIONS split as a shell would. */
#include "cli/quoted.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static const struct {
    const char *text;
    const char *words[4];
} cases[] = {
    {"", {NULL}},
    {"  \t\n", {NULL}},
    {"--quiet", {"--quiet", NULL}},
    {" a  b\tc ", {"a", "b", "c", NULL}},
    {"'a b' \"c d\"", {"a b", "c d", NULL}},
    {"--trace=\"x y\"z", {"--trace=x yz", NULL}},
    {"a\\ b 'c\\'", {"a b", "c\\", NULL}},
    {"\"\\\"\" ''", {"\"", "", NULL}},
    {"\\", {"\\", NULL}},
};

static void words(void **state)
{
    size_t i, k;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct ssan_error err;
        char **list;
        size_t count;
        assert_int_equal(quoted_split(cases[i].text, &arena, &list, &count, &err), SSAN_OK);
        for (k = 0; k < count; k++) {
            assert_non_null(cases[i].words[k]);
            assert_string_equal(list[k], cases[i].words[k]);
        }
        assert_null(cases[i].words[count]);
        arena_finish(&arena);
    }
}

static void open_quotes(void **state)
{
    static const char *const texts[] = {"'a", "a \"b c", "\"a\\\""};
    size_t i;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct arena arena = {0};
        struct ssan_error err;
        char **list;
        size_t count;
        assert_int_equal(quoted_split(texts[i], &arena, &list, &count, &err), SSAN_USAGE);
        arena_finish(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words), cmocka_unit_test(open_quotes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
