/* Numbers in texts: none is rounded on its way to a verdict. */
#include "contract/figures.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

/* Both ways, and with the signs changed. */
static void ordered(const char *a, const char *b, int wanted)
{
    char minus_a[120], minus_b[120];
    int order = 9;
    assert_true(figures_order(a, b, &order) && order == wanted);
    assert_true(figures_order(b, a, &order) && order == -wanted);
    snprintf(minus_a, sizeof minus_a, "-%s", a);
    snprintf(minus_b, sizeof minus_b, "-%s", b);
    assert_true(figures_order(minus_a, minus_b, &order) && order == -wanted);
    assert_int_equal(figures_equal(a, b, 0, 0), wanted == 0);
}

static void orders(void **state)
{
    int order;
    (void)state;
    ordered("9007199254740993", "9007199254740992", 1);
    ordered("18446744073709551614", "18446744073709551615", -1);
    ordered("340282366920938463463374607431768211456", "340282366920938463463374607431768211455",
            1);
    ordered("0xdeadbeefdeadbee1", "0xDEADBEEFDEADBEE2", -1);
    ordered("0x10", "16", 0);
    ordered("007", "7", 0);
    ordered("10", "9", 1);
    ordered("1.0", "1", 0);
    ordered("1e5", "100000", 0);
    ordered("0.10000000000000000555", "0.1", 0);
    ordered("3", "2.9", 1);
    assert_true(figures_order("-0", "+0", &order) && order == 0);
    assert_true(figures_order("-1", "1", &order) && order == -1);
    assert_false(figures_order("nan", "1", &order) || figures_order("1", "inf", &order) ||
                 figures_order("", "1", &order) || figures_order("0x", "0", &order));
}

static void tolerances(void **state)
{
    static const struct {
        const char *a, *b;
        double abs, rel;
        bool equal;
    } rows[] = {
        {"9007199254740993", "9007199254740992", 1, 0, true},
        {"9007199254740994", "9007199254740992", 1, 0, false},
        {"18446744073709551615", "18446744073709551613", 1, 0, false},
        {"18446744073709551615", "18446744073709551614", 1, 0, true},
        {"-9223372036854775808", "-9223372036854775807", 1, 0, true},
        {"-9223372036854775808", "-9223372036854775806", 1, 0, false},
        {"-1", "18446744073709551615", 1, 0, false},
        {"0xffffffffffffffff", "18446744073709551614", 1, 0, true},
        {"1.0001", "1", 0, 1e-3, true},
        {"1.01", "1", 0, 1e-3, false},
        {"word", "word", 1, 0, true},
        {"nan", "nan", 0, 0, true},
        {"1", "one", 1, 1, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (figures_equal(rows[i].a, rows[i].b, rows[i].abs, rows[i].rel) != rows[i].equal ||
            figures_equal(rows[i].b, rows[i].a, rows[i].abs, rows[i].rel) != rows[i].equal) {
            fail_msg("%s and %s", rows[i].a, rows[i].b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(orders), cmocka_unit_test(tolerances)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
