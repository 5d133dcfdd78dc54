/* Byte sets against an array of bytes: random dense, strided and bitmap sets; meeting is exact,
 * subtracting never keeps a byte that was not there and never drops one that the other set lacks,
 * rounding only grows. Seed printed. */
#include "core/bytes.h"

#include "base/mem.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#define BASE   UINT64_C(0x7f0000000000)
#define SPAN   (4u * LEAF_BYTES)
#define ROUNDS 6000u
#define SEED   UINT64_C(20261130)

struct model {
    unsigned char byte[SPAN];
};

static void model_add(struct model *model, uint64_t begin, uint64_t length, uint64_t stride,
                      uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        memset(&model->byte[begin + i * stride], 1, length);
    }
}

static void add_random_run(struct rng *rng, struct bytes *set, struct model *model)
{
    uint64_t length = 1 + rng_below(rng, rng_below(rng, 2) ? 8 : 900);
    uint64_t count = rng_below(rng, 2) ? 1 : 1 + rng_below(rng, 300);
    uint64_t stride = rng_below(rng, 2) ? 8 : length + rng_below(rng, 40);
    length = count > 1 && length > stride ? stride : length;
    while ((count - 1) * stride + length > SPAN) {
        count /= 2;
        count = count > 0 ? count : 1;
        length = count == 1 && length > SPAN ? SPAN : length;
    }
    uint64_t begin = rng_below(rng, SPAN - ((count - 1) * stride + length) + 1);
    uint32_t site = (uint32_t)rng_below(rng, 3);
    assert_true(bytes_add_run(set, BASE + begin, length, count > 1 ? stride : 0, count, site, 4));
    model_add(model, begin, length, stride, count);
}

static void add_random_leaf(struct rng *rng, struct bytes *set, struct model *model)
{
    uint64_t bits[LEAF_WORDS];
    uint64_t leaf = rng_below(rng, SPAN / LEAF_BYTES) * LEAF_BYTES;
    for (uint32_t w = 0; w < LEAF_WORDS; w++) {
        uint64_t a = rng_next(rng), b = rng_next(rng), c = rng_next(rng);
        uint64_t choice = rng_below(rng, 4);
        bits[w] = choice == 0 ? 0 : choice == 1 ? UINT64_MAX : choice == 2 ? a & b & c : a;
    }
    assert_true(bytes_add_leaf(set, BASE + leaf, bits, (uint32_t)rng_below(rng, 3), 1));
    for (uint32_t i = 0; i < LEAF_BYTES; i++) {
        model->byte[leaf + i] |= (bits[i / 64] >> (i % 64)) & 1;
    }
}

static void random_set(struct rng *rng, struct bytes *set, struct model *model)
{
    memset(model, 0, sizeof *model);
    uint64_t parts = 1 + rng_below(rng, rng_below(rng, 4) == 0 ? 60 : 4);
    for (uint64_t i = 0; i < parts; i++) {
        if (rng_below(rng, 4) == 0) {
            add_random_leaf(rng, set, model);
        } else {
            add_random_run(rng, set, model);
        }
    }
    assert_true(bytes_seal(set));
    assert_true(verify_bytes(set));
}

struct painter {
    struct bytes_visitor visitor;
    struct model *model;
};

static bool paint(struct bytes_visitor *self, const struct piece *a, const struct piece *b,
                  uint64_t begin, uint64_t end)
{
    struct painter *painter = (struct painter *)self;
    (void)a;
    (void)b;
    assert_true(begin < end && begin >= BASE && end <= BASE + SPAN);
    memset(&painter->model->byte[begin - BASE], 1, end - begin);
    return true;
}

/* The bytes of a set, by meeting it with everything. */
static void model_of(const struct bytes *set, struct model *model)
{
    struct bytes all = {0};
    struct painter painter = {.visitor = {.meet = paint}, .model = model};
    memset(model, 0, sizeof *model);
    assert_true(bytes_add_run(&all, BASE, SPAN, 0, 1, 0, 0) && bytes_seal(&all));
    bytes_meet(set, &all, 0, UINT64_MAX, &painter.visitor);
    bytes_finish(&all);
}

static struct model model_a, model_b, model_got, model_clip;

static void check_meet(const struct bytes *a, const struct bytes *b)
{
    struct painter painter = {.visitor = {.meet = paint}, .model = &model_got};
    memset(&model_got, 0, sizeof model_got);
    bytes_meet(a, b, 0, UINT64_MAX, &painter.visitor);
    for (uint32_t i = 0; i < SPAN; i++) {
        if (model_got.byte[i] != (model_a.byte[i] & model_b.byte[i])) {
            fail_msg("meet differs at byte %u", i);
        }
    }
}

static void check_clip(struct rng *rng, const struct bytes *set)
{
    uint64_t begin = rng_below(rng, SPAN), end = begin + 1 + rng_below(rng, SPAN - begin);
    struct bytes part = {0};
    assert_true(bytes_clip(set, BASE + begin, BASE + end, &part));
    assert_true(verify_bytes(&part));
    model_of(&part, &model_clip);
    for (uint32_t i = 0; i < SPAN; i++) {
        if (model_clip.byte[i] != (i >= begin && i < end ? model_a.byte[i] : 0)) {
            fail_msg("clip to [%llu, %llu) differs at byte %u", (unsigned long long)begin,
                     (unsigned long long)end, i);
        }
    }
    bytes_finish(&part);
}

static void check_subtract(struct bytes *a, const struct bytes *b)
{
    assert_true(bytes_subtract(a, b));
    assert_true(verify_bytes(a));
    model_of(a, &model_got);
    for (uint32_t i = 0; i < SPAN; i++) {
        if (model_got.byte[i] > model_a.byte[i] ||
            (model_a.byte[i] && !model_b.byte[i] && !model_got.byte[i])) {
            fail_msg("subtract is wrong at byte %u", i);
        }
    }
}

static void check_round(struct bytes *set, uint64_t unit)
{
    model_of(set, &model_clip);
    assert_true(bytes_round(set, unit));
    model_of(set, &model_got);
    for (uint32_t i = 0; i < SPAN; i++) {
        if (model_clip.byte[i] && !model_got.byte[i]) {
            fail_msg("rounding to %llu lost byte %u", (unsigned long long)unit, i);
        }
    }
}

static void test_random(void **state)
{
    (void)state;
    print_message("seed %llu\n", (unsigned long long)SEED);
    struct rng rng = {SEED};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct bytes a = {0}, b = {0};
        random_set(&rng, &a, &model_a);
        random_set(&rng, &b, &model_b);
        model_of(&a, &model_got);
        assert_memory_equal(&model_got, &model_a, sizeof model_a);
        check_meet(&a, &b);
        check_clip(&rng, &a);
        if (round % 4 == 0) {
            check_round(&b, round % 8 == 0 ? 64 : 4096);
            model_of(&b, &model_b);
        }
        check_subtract(&a, &b);
        bytes_finish(&a);
        bytes_finish(&b);
    }
}

static void test_even_and_odd(void **state)
{
    (void)state;
    struct bytes even = {0}, odd = {0};
    struct painter painter = {.visitor = {.meet = paint}, .model = &model_got};
    memset(&model_got, 0, sizeof model_got);
    assert_true(bytes_add_run(&even, BASE, 4, 8, 1000, 1, 4) && bytes_seal(&even));
    assert_true(bytes_add_run(&odd, BASE + 4, 4, 8, 1000, 2, 4) && bytes_seal(&odd));
    bytes_meet(&even, &odd, 0, UINT64_MAX, &painter.visitor);
    for (uint32_t i = 0; i < SPAN; i++) {
        assert_int_equal(model_got.byte[i], 0);
    }
    assert_int_equal(even.count, 1); /* a stride stays a stride */
    bytes_finish(&even);
    bytes_finish(&odd);
}

/* What a later identical set covers goes as a whole, whatever its form. */
static void test_same_set_goes(void **state)
{
    (void)state;
    struct rng rng = {SEED + 1};
    for (uint32_t round = 0; round < 500; round++) {
        struct bytes a = {0}, b = {0};
        struct rng same = rng;
        add_random_run(&rng, &a, &model_a);
        add_random_run(&same, &b, &model_b);
        assert_true(bytes_seal(&a) && bytes_seal(&b));
        assert_true(bytes_subtract(&a, &b));
        assert_int_equal(a.count, 0);
        bytes_finish(&a);
        bytes_finish(&b);
    }
}

static void test_packing(void **state)
{
    (void)state;
    struct bytes set = {0};
    for (uint64_t i = 0; i < 512;
         i++) { /* irregular neighbours, so that neither run nor stride fits */
        assert_true(bytes_add_run(&set, BASE + i * 8 + (i * i) % 5, 2, 0, 1, 1, 2));
    }
    uint64_t before = bytes_held(&set);
    assert_true(bytes_seal(&set));
    assert_int_equal(set.count, 1);
    assert_true(bytes_held(&set) > 0 && set.owns && before > 0);
    bytes_finish(&set);
}

/* Far apart, and not evenly: four bytes a run, and the same runs take them away again. */
static void test_scattered(void **state)
{
    (void)state;
    enum { RUNS = 20000 };
    struct rng rng = {SEED + 2};
    struct bytes a = {0}, b = {0}, all = {0};
    for (uint64_t i = 0; i < RUNS; i++) {
        uint64_t at = BASE + (i * 7919 % RUNS) * 400 + rng_below(&rng, 300);
        assert_true(bytes_add_run(&a, at, 4, 0, 1, 1, 4) && bytes_add_run(&b, at, 4, 0, 1, 2, 4));
    }
    assert_true(bytes_seal(&a) && bytes_seal(&b));
    assert_true(verify_bytes(&a));
    assert_true(bytes_held(&a) < RUNS * 8);
    assert_true(bytes_add_run(&all, BASE + 400, 400, 0, 1, 3, 4) && bytes_seal(&all));
    assert_true(bytes_subtract(&a, &all));
    assert_true(bytes_subtract(&b, &a));
    assert_int_equal(b.count, 1); /* the run that `all` has taken from a */
    assert_int_equal(b.end - b.begin, 4);
    assert_true(bytes_seal(&a)); /* again, from scatters */
    assert_true(verify_bytes(&a) && bytes_held(&a) < RUNS * 8);
    bytes_finish(&a);
    bytes_finish(&b);
    bytes_finish(&all);
}

/* More elements than a piece can count. */
static void test_long_run(void **state)
{
    (void)state;
    const uint64_t count = UINT64_C(3) << 32;
    struct bytes set = {0};
    assert_true(bytes_add_run(&set, BASE, 1, 2, count, 1, 1) && bytes_seal(&set));
    assert_true(verify_bytes(&set));
    assert_int_equal(set.count, 4);
    assert_int_equal(set.begin, BASE);
    assert_int_equal(set.end, BASE + count * 2 - 1);
    bytes_finish(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),        cmocka_unit_test(test_even_and_odd),
        cmocka_unit_test(test_same_set_goes), cmocka_unit_test(test_packing),
        cmocka_unit_test(test_scattered),     cmocka_unit_test(test_long_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
