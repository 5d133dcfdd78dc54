/* Numbers of linear orders: known ones exactly, with a small limit roughly, and classes of a poset
 * that add up. */
#include "explore/count.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* `chains` chains of `length` items; with `ladder` each item also waits for its left neighbour. */
static void make(struct poset *poset, uint32_t chains, uint32_t length, bool ladder)
{
    assert_true(poset_create(poset, chains * length, chains));
    for (uint32_t i = 0; i < chains * length; i++) {
        uint32_t chain = i % chains, place = i / chains + 1;
        poset->items[i] = (struct poset_item){chain, place, (uint64_t)chain << 32 | place, 1};
        uint32_t *row = poset_row(poset, poset->before, i);
        row[chain] = place - 1;
        for (uint32_t c = 0; ladder && c < chain; c++) {
            row[c] = place;
        }
        for (uint32_t c = chain + 1; ladder && c < chains; c++) {
            row[c] = place - 1 > 0 && chain == 0 ? place - 1 : 0;
        }
    }
}

static struct order_count count(uint32_t chains, uint32_t length, bool ladder, uint64_t limit)
{
    const struct count_limits limits = {
        .down_sets = limit, .bytes = 1 << 24, .probes = 4000, .seed = 7};
    struct poset poset;
    struct order_count counted;
    make(&poset, chains, length, ladder);
    assert_true(poset_seal(&poset));
    assert_true(count_orders(&poset, poset.before, &limits, &counted));
    poset_finish(&poset);
    return counted;
}

static void known(void **state)
{
    (void)state;
    assert_true(count(1, 50, false, 1000).count == 1);
    assert_true(count(2, 5, false, 1000).count == 252); /* 10 over 5 */
    assert_true(count(3, 2, false, 1000).count == 90);  /* 6! / 2!^3 */
    assert_true(count(2, 30, false, 1000).count == 118264581564861424.0L);
    assert_true(count(3, 4, true, 1000).count == 1);
    assert_true(count(2, 0, false, 1000).count == 1);
    assert_false(count(2, 30, false, 1000).estimated);
}

static void estimated(void **state)
{
    (void)state;
    struct order_count exact = count(4, 5, false, 1000000), rough = count(4, 5, false, 50);
    assert_false(exact.estimated);
    assert_true(rough.estimated);
    assert_true(rough.count > exact.count / 2 && rough.count < exact.count * 2);
    assert_true(count(4, 5, false, 50).count == rough.count); /* the seed decides */
}

/* Too many chains for a single layer of down-sets: an estimate within the memory that is allowed,
 * and so when there is none. */
static void wide(void **state)
{
    (void)state;
    const struct count_limits limits = {
        .down_sets = COUNT_DOWN_SETS, .bytes = COUNT_BYTES, .probes = COUNT_PROBES, .seed = 7};
    struct poset poset;
    struct order_count counted;
    struct rusage used;
    make(&poset, 200, 4, false);
    assert_true(poset_seal(&poset));
    assert_true(count_orders(&poset, poset.before, &limits, &counted));
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    assert_true(used.ru_maxrss < 1 << 20); /* KiB */
    assert_true(counted.estimated);
    /* 800! / 4!^200 is 3.4e1700 */
    assert_true(log10l(counted.count) > 1650 && log10l(counted.count) < 1750);
    poset_finish(&poset);
}

static void no_memory(void **state)
{
    (void)state;
    const struct count_limits limits = {.down_sets = 1000, .bytes = 1 << 24, .probes = 4000};
    struct poset poset;
    struct order_count counted;
    make(&poset, 2, 5, false);
    assert_true(poset_seal(&poset));
    mem_fail_at(1);
    assert_false(count_orders(&poset, poset.before, &limits, &counted));
    mem_fail_at(2);
    assert_true(count_orders(&poset, poset.before, &limits, &counted));
    mem_fail_at(0);
    assert_true(counted.estimated && counted.count > 200 && counted.count < 300);
    poset_finish(&poset);
}

/* A pair either way round: the two classes have all orders of the poset between them. */
static void classes_add_up(void **state)
{
    (void)state;
    const struct count_limits limits = {.down_sets = 10000, .bytes = 1 << 24};
    struct poset poset;
    struct order_count whole, one, other;
    uint32_t need[12], order[6];
    struct poset_races races = {0};
    make(&poset, 2, 3, false);
    assert_true(VEC_PUSH(&poset.pairs, (struct poset_pair){2, 3}));
    assert_true(poset_seal(&poset));
    poset_close(&poset, NULL, need);
    assert_true(poset_comes_before(&poset, need, 2, 3));
    assert_true(count_orders(&poset, poset.before, &limits, &whole));
    assert_true(count_orders(&poset, need, &limits, &one));
    assert_true(poset_races(&poset, need, &races));
    assert_int_equal(races.count, 1);
    poset_reverse(&poset, need, races.items[0], order);
    poset_close(&poset, order, need);
    assert_true(poset_comes_before(&poset, need, 3, 2));
    assert_true(count_orders(&poset, need, &limits, &other));
    assert_true(whole.count == 20 && one.count + other.count == whole.count);
    VEC_FREE(&races);
    poset_finish(&poset);
}

/* Two ways of one class: together they have each order once. Needs that can't be met have none. */
static void unions(void **state)
{
    (void)state;
    const struct count_limits limits = {.down_sets = 10000, .bytes = 1 << 24};
    struct poset poset;
    struct order_count one, other, both;
    uint32_t first[12], second[12];
    const uint32_t *needs[COUNT_UNION + 1] = {first, second};
    make(&poset, 2, 3, false); /* chains 0, 2, 4 and 1, 3, 5 */
    assert_true(poset_seal(&poset));
    memcpy(first, poset.before, sizeof first);
    memcpy(second, poset.before, sizeof second);
    first[1 * 2 + 0] = 1;  /* 0 before 1 */
    second[2 * 2 + 1] = 1; /* 1 before 2 */
    assert_true(count_orders(&poset, first, &limits, &one));
    assert_true(count_orders(&poset, second, &limits, &other));
    assert_true(one.count == 10 && other.count == 16);
    assert_true(count_union(&poset, needs, 2, &limits, &both));
    assert_true(both.count == 20 && !both.estimated); /* 6 have both */
    for (unsigned i = 2; i <= COUNT_UNION; i++) {
        needs[i] = second;
    }
    assert_true(count_union(&poset, needs, COUNT_UNION + 1, &limits, &both));
    assert_true(both.estimated && both.count == 10 + 16 * 5);
    first[2 * 2 + 1] = 3; /* the whole second chain before 2, and 2 before its end */
    first[5 * 2 + 0] = 2;
    assert_true(count_orders(&poset, first, &limits, &one));
    assert_true(one.count == 0 && !one.estimated);
    poset_finish(&poset);
}

/* What a poset leaves free, one of the same class that orders more is covered by. */
static void covers(void **state)
{
    (void)state;
    struct poset wide, narrow, other;
    uint32_t rows[12];
    make(&wide, 2, 3, false);
    make(&narrow, 2, 3, false);
    make(&other, 3, 2, false);
    narrow.before[5 * 2 + 0] = 1;
    assert_true(poset_seal(&wide) && poset_seal(&narrow) && poset_seal(&other));
    assert_true(poset_covers(&wide, &narrow) && poset_covers(&wide, &wide));
    assert_false(poset_covers(&narrow, &wide) || poset_covers(&wide, &other));
    poset_translate(&narrow, narrow.before, &wide, rows);
    assert_memory_equal(rows, narrow.before, sizeof rows);
    poset_finish(&wide);
    poset_finish(&narrow);
    poset_finish(&other);
}

/* A conflict counts whether it is always in order or only was in this run. */
static void hashes(void **state)
{
    (void)state;
    struct poset joined, free_one;
    uint32_t need[12];
    make(&joined, 2, 3, false);
    make(&free_one, 2, 3, false);
    joined.before[3 * 2 + 0] = 2;
    poset_fix(&joined, 2, 3);
    assert_true(VEC_PUSH(&free_one.pairs, (struct poset_pair){2, 3}));
    assert_true(poset_seal(&joined) && poset_seal(&free_one));
    poset_close(&joined, NULL, need);
    uint64_t hash = poset_hash(&joined, need);
    poset_close(&free_one, NULL, need);
    assert_true(poset_hash(&free_one, need) == hash);
    const uint32_t order[] = {0, 1, 3, 2, 4, 5};
    poset_close(&free_one, order, need);
    assert_true(poset_hash(&free_one, need) != hash);
    poset_finish(&joined);
    poset_finish(&free_one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known),     cmocka_unit_test(estimated),      cmocka_unit_test(wide),
        cmocka_unit_test(no_memory), cmocka_unit_test(classes_add_up), cmocka_unit_test(unions),
        cmocka_unit_test(covers),    cmocka_unit_test(hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
