/* Where comments and literals end. */
#include "base/ctext.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static void ends(void **state)
{
    static const struct {
        const char *text;
        size_t length; /* of what is opaque */
    } rows[] = {
        {"a", 0},           {"/", 0},       {"/ /", 0},         {"\"\"x", 2},
        {"\"a\\\"b\"c", 6}, {"'\\''d", 4},  {"\"open", 5},      {"\"\\", 2},
        {"/**/x", 4},       {"/*/ */x", 6}, {"/* a/*/x", 7},    {"/* open", 7},
        {"/* \n*/x", 6},    {"//x\ny", 4},  {"// open */", 10}, {"//", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *end = rows[i].text + strlen(rows[i].text);
        const size_t length =
            (size_t)(ctext_opaque(rows[i].text, rows[i].text, end) - rows[i].text);
        if (length != rows[i].length) {
            fail_msg("%s: %zu bytes, not %zu", rows[i].text, length, rows[i].length);
        }
    }
}

/* What is opaque of a text that is read from its begin, as its readers do; the rest is words. */
static void separators(void **state)
{
    static const struct {
        const char *text, *rest;
    } rows[] = {
        {"1'000", ""},
        {"f(1'000, 'a')", "f(, )"},
        {"0xFF'FFu+b", "+b"},
        {"1.5'0f;x", ";x"},
        {"10'000'000)", ")"},
        {"-0b1'0 x", "- x"},
        {"u8'a'b", "u8b"},
        {"x1'a'y", "x1y"},
        {"12+'a'", "12+"},
        {"{'1','2'}", "{,}"},
        {"1'0e+5", "+5"},
        {"12' '", "12"},
        {"a[1'0]='\\''", "a[]="},
        {"1'", "1"},
        {"\xc3\xa9"
         "1'a'",
         "\xc3\xa9"
         "1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = rows[i].text, *end = text + strlen(text);
        char rest[32] = "";
        for (const char *at = text; at < end;) {
            const char *behind = ctext_opaque(text, at, end);
            strncat(rest, at, behind == at);
            at = behind > at ? behind : at + 1;
        }
        assert_string_equal(rest, rows[i].rest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends), cmocka_unit_test(separators)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
