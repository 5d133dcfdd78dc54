/* The interface of streamsan/compare.h: types, rules, parts, unaligned arrays, wrong options. */
#include "streamsan/compare.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

static struct ssan_compare_options options_for(enum ssan_compare_type type)
{
    return (struct ssan_compare_options){.size_bytes = sizeof(struct ssan_compare_options),
                                         .type = type};
}

static enum ssan_compare_verdict floats(const struct ssan_compare_options *options, float a,
                                        float b)
{
    struct ssan_compare_result result = {0};
    return ssan_compare_add(options, &a, &b, 1, &result);
}

static void names(void **state)
{
    enum ssan_compare_type type, again;
    (void)state;
    for (type = SSAN_COMPARE_FLOAT16; type <= SSAN_COMPARE_UINT64; type++) {
        assert_true(ssan_compare_type_find(ssan_compare_type_name(type), &again) && again == type);
        assert_true(ssan_compare_size(type) > 0);
    }
    assert_null(ssan_compare_type_name((enum ssan_compare_type)0));
    assert_null(ssan_compare_type_name(type));
    assert_int_equal(ssan_compare_size(type), 0);
    assert_true(ssan_compare_type_find("bf16", &again) && again == SSAN_COMPARE_BFLOAT16);
    assert_false(ssan_compare_type_find("float", &again));
    assert_false(ssan_compare_type_find("", &again));
}

static void rules(void **state)
{
    struct ssan_compare_options options = options_for(SSAN_COMPARE_FLOAT32);
    (void)state;
    options.abs = options.rel = 1e300;
    options.ulp = UINT64_MAX;
    assert_int_equal(floats(&options, NAN, NAN), SSAN_COMPARE_DIFFERENT);
    assert_int_equal(floats(&options, NAN, 1), SSAN_COMPARE_DIFFERENT);
    assert_int_equal(floats(&options, INFINITY, INFINITY), SSAN_COMPARE_EQUAL);
    assert_int_equal(floats(&options, INFINITY, -INFINITY), SSAN_COMPARE_DIFFERENT);
    assert_int_equal(floats(&options, INFINITY, 3e38f), SSAN_COMPARE_DIFFERENT);
    assert_int_equal(floats(&options, INFINITY, NAN), SSAN_COMPARE_DIFFERENT);
    assert_int_equal(floats(&options, 1, -7), SSAN_COMPARE_EQUAL);
    assert_int_equal(floats(&options, 0.0f, -0.0f), SSAN_COMPARE_EQUAL);
    options.nan = SSAN_COMPARE_NAN_EQUAL;
    options.inf = SSAN_COMPARE_INF_NEVER;
    options.zero = SSAN_COMPARE_ZERO_DISTINCT;
    assert_int_equal(floats(&options, NAN, -NAN), SSAN_COMPARE_EQUAL);
    assert_int_equal(floats(&options, NAN, 1), SSAN_COMPARE_DIFFERENT);
    assert_int_equal(floats(&options, INFINITY, INFINITY), SSAN_COMPARE_DIFFERENT);
    assert_int_equal(floats(&options, 0.0f, -0.0f), SSAN_COMPARE_DIFFERENT);
    assert_int_equal(floats(&options, -0.0f, -0.0f), SSAN_COMPARE_EQUAL);
    options.nan = SSAN_COMPARE_NAN_BITS;
    assert_int_equal(floats(&options, NAN, NAN), SSAN_COMPARE_EQUAL);
    assert_int_equal(floats(&options, NAN, -NAN), SSAN_COMPARE_DIFFERENT);
}

/* 7 arrays in one, none of them aligned, by parts: as if compared at once. */
static void by_parts(void **state)
{
    unsigned char a[7 * 8 + 1] = {0}, b[7 * 8 + 3] = {0};
    struct ssan_compare_options options = options_for(SSAN_COMPARE_FLOAT64);
    struct ssan_compare_pair first[2];
    struct ssan_compare_result result = {.first = first, .first_room = 2};
    (void)state;
    for (int i = 0; i < 7; i++) {
        const double x = i, y = i % 2 ? i + 0.5 * i : i;
        memcpy(a + 1 + 8 * i, &x, sizeof x);
        memcpy(b + 3 + 8 * i, &y, sizeof y);
    }
    for (int i = 0; i < 7; i++) {
        assert_int_equal(ssan_compare_add(&options, a + 1 + 8 * i, b + 3 + 8 * i, 1, &result),
                         i ? SSAN_COMPARE_DIFFERENT : SSAN_COMPARE_EQUAL);
    }
    assert_int_equal(result.count, 7);
    assert_int_equal(result.measured, 7);
    assert_int_equal(result.different, 3);
    assert_int_equal(result.first_count, 2);
    assert_int_equal(first[0].index, 1);
    assert_int_equal(first[1].index, 3);
    assert_true(first[1].abs == 1.5 && first[1].rel == 1.5 / 4.5);
    assert_true(result.max_abs == 2.5 && result.max_abs_at == 5);
    assert_true(result.max_rel == 0.5 / 1.5 && result.max_rel_at == 1);
}

static void widest_distances(void **state)
{
    const uint64_t least = 0, most = UINT64_MAX;
    const int64_t lowest = INT64_MIN, highest = INT64_MAX;
    struct ssan_compare_options options = options_for(SSAN_COMPARE_UINT64);
    struct ssan_compare_result result = {0};
    (void)state;
    ssan_compare_add(&options, &least, &most, 1, &result);
    assert_true(result.max_ulp == UINT64_MAX && result.max_abs == 0x1p64 && result.max_rel == 1);
    options.type = SSAN_COMPARE_INT64;
    result = (struct ssan_compare_result){0};
    ssan_compare_add(&options, &lowest, &highest, 1, &result);
    assert_true(result.max_ulp == UINT64_MAX && result.max_abs == 0x1p64 && result.max_rel == 2);
    options.ulp = UINT64_MAX;
    result = (struct ssan_compare_result){0};
    assert_int_equal(ssan_compare_add(&options, &lowest, &highest, 1, &result), SSAN_COMPARE_EQUAL);
}

static void wrong_options(void **state)
{
    const struct ssan_compare_options good = options_for(SSAN_COMPARE_FLOAT32);
    struct ssan_compare_options options = good;
    (void)state;
    assert_int_equal(floats(&options, 1, 1), SSAN_COMPARE_EQUAL);
    options.size_bytes = 8;
    assert_int_equal(floats(&options, 1, 1), SSAN_COMPARE_WRONG_OPTIONS);
    options = good;
    options.type = (enum ssan_compare_type)0;
    assert_int_equal(floats(&options, 1, 1), SSAN_COMPARE_WRONG_OPTIONS);
    options = good;
    options.rel = -1e-9;
    assert_int_equal(floats(&options, 1, 1), SSAN_COMPARE_WRONG_OPTIONS);
    options.rel = NAN;
    assert_int_equal(floats(&options, 1, 1), SSAN_COMPARE_WRONG_OPTIONS);
    options = good;
    options.abs = INFINITY;
    assert_int_equal(floats(&options, 1, 1), SSAN_COMPARE_WRONG_OPTIONS);
    options = good;
    options.nan = (enum ssan_compare_nan)3;
    assert_int_equal(floats(&options, 1, 1), SSAN_COMPARE_WRONG_OPTIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),         cmocka_unit_test(rules),
        cmocka_unit_test(by_parts),      cmocka_unit_test(widest_distances),
        cmocka_unit_test(wrong_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
