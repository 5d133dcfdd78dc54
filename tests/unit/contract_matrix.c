/* Products and covering arrays over random axes: every row once, every pair of values somewhere,
 * few rows. Prints its seed; STREAMSAN_SEED sets it. */
#include "contract/matrix.h"

#include "base/rng.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#define AXES_MOST   7
#define VALUES_MOST 8
#define ROUNDS      300

static char words[VALUES_MOST][4] = {"0", "1", "2", "3", "4", "5", "6", "7"};
static char *items[VALUES_MOST] = {words[0], words[1], words[2], words[3],
                                   words[4], words[5], words[6], words[7]};
static char gpu[] = "gpu", virtual_device[] = "virtual";

static uint64_t seed(void)
{
    const char *given = getenv("STREAMSAN_SEED");
    const uint64_t number = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)number);
    return number;
}

static struct spec_list some(struct rng *rng)
{
    return (struct spec_list){items, 1 + (unsigned)rng_below(rng, VALUES_MOST)};
}

/* A contract's axes, with `parameters` (room for AXES_MOST) for its own. */
static struct spec_over some_axes(struct rng *rng, struct spec_parameter *parameters)
{
    static char names[AXES_MOST][4] = {"p0", "p1", "p2", "p3", "p4", "p5", "p6"};
    struct spec_over over = {.schedules = some(rng)};
    if (rng_below(rng, 2)) {
        over.sizes = some(rng);
    }
    over.parameters = parameters;
    over.parameters_count = (unsigned)rng_below(rng, AXES_MOST + 1);
    for (unsigned i = 0; i < over.parameters_count; i++) {
        parameters[i] = (struct spec_parameter){names[i], some(rng)};
    }
    return over;
}

static unsigned place(const struct matrix *matrix, size_t row, size_t axis)
{
    return matrix->places.items[row * matrix->axes.count + axis];
}

static void check_pairs(const struct matrix *matrix)
{
    for (size_t i = 0; i < matrix->axes.count; i++) {
        for (size_t j = i + 1; j < matrix->axes.count; j++) {
            bool seen[VALUES_MOST][VALUES_MOST] = {{false}};
            for (size_t row = 0; row < matrix->rows; row++) {
                seen[place(matrix, row, i)][place(matrix, row, j)] = true;
            }
            for (unsigned a = 0; a < matrix->axes.items[i].count; a++) {
                for (unsigned b = 0; b < matrix->axes.items[j].count; b++) {
                    assert_true(seen[a][b]);
                }
            }
        }
    }
}

/* No row twice, and the number of rows against its bounds: the two longest axes, and thrice that.
 */
static void check_size(const struct matrix *matrix)
{
    unsigned first = 1, second = 1;
    for (size_t i = 0; i < matrix->axes.count; i++) {
        const unsigned count = matrix->axes.items[i].count;
        if (count > first) {
            second = first;
            first = count;
        } else if (count > second) {
            second = count;
        }
    }
    assert_true(matrix->rows >= (size_t)first * second);
    assert_true(matrix->rows <= 3 * (size_t)first * second);
    const size_t bytes = matrix->axes.count * sizeof(unsigned);
    for (size_t i = 0; i < matrix->rows; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_true(memcmp(matrix->places.items + i * matrix->axes.count,
                               matrix->places.items + k * matrix->axes.count, bytes) != 0);
        }
    }
}

static void pairwise(void **state)
{
    struct rng rng = {seed()};
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct spec_parameter parameters[AXES_MOST];
        const struct spec_over over = some_axes(&rng, parameters);
        struct matrix matrix;
        assert_true(matrix_axes(&matrix, &over, NULL, NULL));
        assert_int_equal(matrix_fill(&matrix, SPEC_PAIRWISE, NULL), SSAN_OK);
        check_pairs(&matrix);
        check_size(&matrix);
        matrix_finish(&matrix);
    }
}

static void product(void **state)
{
    struct spec_parameter parameter = {words[0], {items, 3}};
    const struct spec_over over = {.sizes = {items, 4},
                                   .schedules = {items, 2},
                                   .parameters = &parameter,
                                   .parameters_count = 1};
    struct matrix matrix;
    (void)state;
    assert_true(matrix_axes(&matrix, &over, NULL, NULL));
    assert_int_equal(matrix_fill(&matrix, SPEC_FULL, NULL), SSAN_OK);
    assert_int_equal(matrix.rows, 24);
    assert_string_equal(matrix_value(&matrix, 0, "device", 6), "virtual");
    assert_string_equal(matrix_value(&matrix, 23, "size", 4), "3");
    assert_null(matrix_value(&matrix, 0, "slots", 5));
    matrix_finish(&matrix);
}

/* Without schedules a GPU has one run where the virtual device has several. */
static void gpu_has_no_schedules(void **state)
{
    char *devices[] = {virtual_device, gpu};
    const struct spec_over over = {
        .sizes = {items, 2}, .devices = {devices, 2}, .schedules = {items, 4}};
    struct matrix matrix;
    (void)state;
    for (int mode = SPEC_FULL; mode <= SPEC_PAIRWISE; mode++) {
        size_t on_gpu = 0;
        assert_true(matrix_axes(&matrix, &over, NULL, NULL));
        assert_int_equal(matrix_fill(&matrix, (enum spec_mode)mode, NULL), SSAN_OK);
        for (size_t row = 0; row < matrix.rows; row++) {
            if (strcmp(matrix_value(&matrix, row, "device", 6), "gpu") == 0) {
                assert_string_equal(matrix_value(&matrix, row, "schedule", 8), "0");
                on_gpu++;
            }
        }
        assert_int_equal(on_gpu, 2);
        matrix_finish(&matrix);
    }
}

/* What a fault gives stands instead of the contract's; the command line's device instead of both.
 */
static void replaced(void **state)
{
    char *const one_device[] = {gpu};
    struct spec_parameter parameter = {words[0], {items, 3}}, other = {words[0], {items + 5, 1}};
    const struct spec_over over = {
        .sizes = {items, 4}, .parameters = &parameter, .parameters_count = 1};
    const struct spec_over fault = {
        .sizes = {items + 7, 1}, .parameters = &other, .parameters_count = 1};
    struct matrix matrix;
    (void)state;
    assert_true(matrix_axes(&matrix, &over, &fault, one_device));
    assert_int_equal(matrix_fill(&matrix, SPEC_FULL, NULL), SSAN_OK);
    assert_int_equal(matrix.rows, 1);
    assert_string_equal(matrix_value(&matrix, 0, "size", 4), "7");
    assert_string_equal(matrix_value(&matrix, 0, "0", 1), "5");
    assert_string_equal(matrix_value(&matrix, 0, "device", 6), "gpu");
    matrix_finish(&matrix);
}

/* More pairs than there may be rows are refused before they are looked for; fewer take no time. */
static void many_values(void **state)
{
    static char *many[1000];
    struct spec_over over = {.sizes = {many, 1000}, .slots = {many, 1000}};
    struct ssan_error err = {0};
    struct matrix matrix;
    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        many[i] = words[0];
    }
    alarm(30); /* looking each row up among all took a minute for 310 */
    assert_true(matrix_axes(&matrix, &over, NULL, NULL));
    assert_int_equal(matrix_fill(&matrix, SPEC_PAIRWISE, &err), SSAN_FORMAT);
    assert_string_equal(err.text,
                        "two of the lists have 1000000 pairs of values, more than 100000");
    matrix_finish(&matrix);
    over.sizes.count = over.slots.count = 316;
    assert_true(matrix_axes(&matrix, &over, NULL, NULL));
    assert_int_equal(matrix_fill(&matrix, SPEC_PAIRWISE, &err), SSAN_OK);
    assert_int_equal(matrix.rows, 316 * 316);
    matrix_finish(&matrix);
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairwise),
        cmocka_unit_test(product),
        cmocka_unit_test(gpu_has_no_schedules),
        cmocka_unit_test(replaced),
        cmocka_unit_test(many_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
