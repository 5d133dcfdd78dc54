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
        const size_t length = (size_t)(ctext_opaque(rows[i].text, end) - rows[i].text);
        if (length != rows[i].length) {
            fail_msg("%s: %zu bytes, not %zu", rows[i].text, length, rows[i].length);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
