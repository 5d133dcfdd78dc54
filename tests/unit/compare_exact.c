/* The comparison that must not round, against whole numbers of 128 bits: tolerances that are hit
 * exactly, or missed by one, where doubles can't tell. Prints its seed; STREAMSAN_SEED sets it. */
#include "compare/number.h"

#include "base/rng.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define ROUNDS 200000

__extension__ typedef __int128 wide; /* only for the oracle */

static uint64_t seed(void)
{
    const char *given = getenv("STREAMSAN_SEED");
    const uint64_t number = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)number);
    return number;
}

/* |a - b| <= abs + rel * max for whole numbers and rel = rel_64ths / 64. */
static bool by_wide(int64_t a, int64_t b, uint64_t abs, uint64_t rel_64ths)
{
    const wide x = a, y = b, difference = x > y ? x - y : y - x;
    const wide larger_x = x < 0 ? -x : x, larger_y = y < 0 ? -y : y;
    const wide larger = larger_x > larger_y ? larger_x : larger_y;
    return 64 * difference <= 64 * (wide)abs + (wide)rel_64ths * larger;
}

static int64_t some_number(struct rng *rng)
{
    const uint64_t bits = rng_next(rng);
    return (int64_t)(bits >> (rng_below(rng, 60))) * (rng_below(rng, 2) ? 1 : -1);
}

/* A tolerance that a double holds, near the distance of the two. */
static uint64_t near_distance(struct rng *rng, int64_t a, int64_t b, uint64_t rel_64ths)
{
    const wide difference = (wide)a > b ? (wide)a - b : (wide)b - a;
    const wide left = difference - (wide)rel_64ths * (a < 0 ? -(wide)a : a) / 64;
    const wide about = left + (wide)rng_below(rng, 3) - 1;
    uint64_t number = about < 0 ? 0 : (uint64_t)about;
    while (number > (UINT64_C(1) << 53) && number % 2 == 0 && number >> 53 >= 2048) {
        number /= 2;
    }
    return number <= (UINT64_C(1) << 53) ? number : number & ~UINT64_C(4095);
}

static void whole_numbers(void **state)
{
    const struct number_type *type = number_type(SSAN_COMPARE_INT64);
    struct rng rng = {seed()};
    unsigned seen[2] = {0};
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const int64_t a = some_number(&rng);
        const int64_t b =
            rng_below(&rng, 2) ? some_number(&rng) : a + (int64_t)rng_below(&rng, 9) - 4;
        const uint64_t rel = rng_below(&rng, 2) ? rng_below(&rng, 200) : 0;
        const uint64_t abs =
            rng_below(&rng, 4) ? near_distance(&rng, a, b, rel) : rng_below(&rng, 9);
        const struct number x = number_read(type, (uint64_t)a), y = number_read(type, (uint64_t)b);
        const bool wanted = by_wide(a, b, abs, rel);
        assert_int_equal(number_within(&x, &y, (double)abs, (double)rel / 64), wanted);
        assert_int_equal(number_within(&y, &x, (double)abs, (double)rel / 64), wanted);
        seen[wanted]++;
    }
    assert_true(seen[0] > ROUNDS / 20 && seen[1] > ROUNDS / 20);
}

static struct number from(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return number_read(number_type(SSAN_COMPARE_FLOAT64), bits);
}

static void check_within(double a, double b, double abs, double rel, bool wanted)
{
    const struct number x = from(a), y = from(b);
    assert_int_equal(number_within(&x, &y, abs, rel), wanted);
    assert_int_equal(number_within(&y, &x, abs, rel), wanted);
}

/* Ends of the range: products below the smallest double, distances above the largest. */
static void extremes(void **state)
{
    (void)state;
    check_within(DBL_MAX, -DBL_MAX, DBL_MAX, 1, true);
    check_within(DBL_MAX, -DBL_MAX, DBL_MAX, 1 - DBL_EPSILON, false);
    check_within(DBL_MAX, -DBL_MAX, 0, 2, true);
    check_within(DBL_MAX, -DBL_MAX, 0, 2 - 2 * DBL_EPSILON, false);
    check_within(DBL_TRUE_MIN, 0, 0, 1, true);
    check_within(DBL_TRUE_MIN, 0, 0, 1 - DBL_EPSILON, false);
    check_within(DBL_TRUE_MIN, -DBL_TRUE_MIN, DBL_TRUE_MIN, 1 - DBL_EPSILON, false);
    check_within(DBL_TRUE_MIN, 0, 0, DBL_TRUE_MIN, false);
    check_within(0, 0, 0, 0, true);
    check_within(0, -0.0, 0, 0, true);
    check_within(1, 1 + DBL_EPSILON, DBL_EPSILON, 0, true);
    check_within(1, 1 + DBL_EPSILON, nextafter(DBL_EPSILON, 0), 0, false);
    check_within(1, 1 + DBL_EPSILON, 0, DBL_EPSILON, true);
    check_within(1, 1 + DBL_EPSILON, nextafter(DBL_EPSILON, 0), DBL_TRUE_MIN, false);
    check_within(DBL_MAX, DBL_TRUE_MIN, DBL_MAX, 0, true);
    check_within(DBL_MAX, -DBL_TRUE_MIN, DBL_MAX, 0, false);
    check_within(DBL_MAX, -DBL_TRUE_MIN, DBL_MAX, DBL_TRUE_MIN, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
