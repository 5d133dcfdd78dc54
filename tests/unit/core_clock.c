/* Clocks against naive ones: arrays of ticks for all chains, joined by maximum, in both readings.
 * Random operations on a handful of slots; after each, every epoch is asked of both. Chain numbers
 * lie side by side or far apart, so that clocks of every depth meet. The seed is printed. */
#include "core/clock.h"

#include "base/mem.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#define CHAINS 24u
#define SLOTS  8u
#define STEPS  60000u
#define SEED   UINT64_C(20261130)

/* How far apart the chains are: the naive clock numbers them 0, 1, 2. */
static const uint32_t strides[] = {1, 3, 61, 4001, 178956970};

struct naive {
    uint32_t doc[CHAINS], obs[CHAINS];
    struct epoch own;
};

static void naive_join(struct naive *a, const struct naive *b, bool documented)
{
    for (uint32_t c = 0; c < CHAINS; c++) {
        uint32_t doc = b->own.tick != 0 && b->own.chain == c ? b->own.tick : b->doc[c];
        uint32_t obs = b->own.tick != 0 && b->own.chain == c ? b->own.tick : b->obs[c];
        a->obs[c] = obs > a->obs[c] ? obs : a->obs[c];
        if (documented) {
            a->doc[c] = doc > a->doc[c] ? doc : a->doc[c];
        }
    }
}

static void naive_set(struct naive *a, struct epoch at, bool documented)
{
    uint32_t *obs = &a->obs[at.chain], *doc = &a->doc[at.chain];
    *obs = at.tick > *obs ? at.tick : *obs;
    if (documented) {
        *doc = at.tick > *doc ? at.tick : *doc;
    }
}

static bool naive_covers(const struct naive *a, bool observed, struct epoch at)
{
    if (a->own.tick != 0 && a->own.chain == at.chain) {
        return at.tick <= a->own.tick;
    }
    return at.tick <= (observed ? a->obs : a->doc)[at.chain];
}

static void compare(const struct stamp *stamp, const struct naive *naive, uint32_t stride,
                    uint32_t last)
{
    assert_true(verify_clock(stamp->past.doc));
    assert_true(verify_clock(stamp->past.obs));
    for (uint32_t c = 0; c < CHAINS; c++) {
        for (uint32_t tick = last > 6 ? last - 6 : 1; tick <= last; tick++) {
            struct epoch at = {.chain = c, .tick = tick};
            for (int observed = 0; observed < 2; observed++) {
                struct epoch far = {.chain = c * stride, .tick = tick};
                if (stamp_covers(stamp, observed, far) != naive_covers(naive, observed, at)) {
                    fail_msg("chain %u tick %u, observed %d differ", c, tick, observed);
                }
            }
        }
    }
}

/* What only an observed edge brought names a rule; what is documented too is asked nothing. */
static void check_rules(const struct stamp *stamp)
{
    const struct clock *obs = stamp->past.obs;
    struct clock_entry entry;
    for (uint64_t cursor = 0; clock_next(obs, &cursor, &entry);) {
        struct epoch at = {.chain = entry.chain, .tick = entry.tick};
        assert_int_equal(entry.rule, clock_rule(obs, entry.chain));
        bool documented = clock_covers(stamp->past.doc, at);
        assert_true(documented || entry.rule != 0);
        assert_int_equal(stamp->past.doc == obs ? entry.rule : 0, 0);
    }
}

static void walk(struct rng *rng, uint32_t stride)
{
    struct clocks clocks = {0};
    static struct stamp stamps[SLOTS];
    static struct naive naives[SLOTS];
    memset(stamps, 0, sizeof stamps);
    memset(naives, 0, sizeof naives);
    uint32_t tick = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t i = (uint32_t)rng_below(rng, SLOTS), k = (uint32_t)rng_below(rng, SLOTS);
        struct stamp *a = &stamps[i];
        struct naive *n = &naives[i];
        uint32_t rule = 1 + (uint32_t)rng_below(rng, 5);
        struct epoch at = {.chain = (uint32_t)rng_below(rng, CHAINS - SLOTS),
                           .tick = tick / 16 + 1};
        struct epoch far = {.chain = at.chain * stride, .tick = at.tick};
        switch (rng_below(rng, 7)) {
        case 0:
            stamp_drop(&clocks, a);
            *a = (struct stamp){0};
            *n = (struct naive){0};
            break;
        case 1: {
            struct stamp copy = {.past = times_ref(&stamps[k].past)};
            stamp_drop(&clocks, a);
            *a = copy;
            *n = naives[k];
            n->own = (struct epoch){0};
            break;
        }
        case 2:
            times_set(&clocks, &a->past, far);
            naive_set(n, at, true);
            break;
        case 3:
            times_set_observed(&clocks, &a->past, far, rule);
            naive_set(n, at, false);
            break;
        case 4:
            times_join_stamp_observed(&clocks, &a->past, &stamps[k], rule);
            naive_join(n, &naives[k], false);
            break;
        case 5:
            at.chain =
                CHAINS - SLOTS + i; /* a chain ticks only where it belongs, and only upwards */
            n->own = at;
            a->own = (struct epoch){.chain = at.chain * stride, .tick = at.tick};
            break;
        default:
            times_join_stamp(&clocks, &a->past, &stamps[k]);
            naive_join(n, &naives[k], true);
            break;
        }
        tick++;
        compare(a, n, stride, tick / 16 + 1);
        check_rules(a);
        assert_false(clocks.failed);
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        stamp_drop(&clocks, &stamps[i]);
    }
    assert_int_equal(clocks.bytes, 0); /* every reference was given back */
    clocks_finish(&clocks);
}

static void test_against_naive(void **state)
{
    (void)state;
    print_message("seed %llu\n", (unsigned long long)SEED);
    struct rng rng = {SEED};
    for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++) {
        walk(&rng, strides[i]);
    }
}

static void test_sharing(void **state)
{
    (void)state;
    struct clocks clocks = {0};
    struct times a = {0}, b = {0};
    times_set(&clocks, &a, (struct epoch){1, 5});
    assert_ptr_equal(a.doc, a.obs);
    times_join_observed(&clocks, &b, &a, 3);
    assert_ptr_not_equal(b.doc, b.obs);
    assert_int_equal(clock_rule(b.obs, 1), 3);
    times_join(&clocks, &b, &a); /* now documented too: one clock again, and no rule left */
    assert_ptr_equal(b.doc, b.obs);
    assert_int_equal(clock_rule(b.obs, 1), 0);
    times_drop(&clocks, &a);
    times_drop(&clocks, &b);
    clocks_finish(&clocks);
}

/* Streams that follow one another keep what they know in common once. */
static void test_many_chains(void **state)
{
    (void)state;
    enum { STREAMS = 4096 };
    struct clocks clocks = {0};
    static struct stamp tails[STREAMS];
    for (uint32_t round = 1; round <= 2; round++) {
        for (uint32_t s = 0; s < STREAMS; s++) {
            times_join_stamp(&clocks, &tails[s].past, &tails[(s + STREAMS - 1) % STREAMS]);
            tails[s].own = (struct epoch){.chain = s, .tick = round};
        }
    }
    assert_true(stamp_covers(&tails[STREAMS - 1], false, (struct epoch){0, 2}));
    assert_true(stamp_covers(&tails[0], false, (struct epoch){STREAMS - 1, 1}));
    assert_false(stamp_covers(&tails[0], false, (struct epoch){1, 2}));
    assert_true(clocks.bytes < STREAMS * UINT64_C(1024));
    for (uint32_t s = 0; s < STREAMS; s++) {
        stamp_drop(&clocks, &tails[s]);
    }
    assert_int_equal(clocks.bytes, 0);
    clocks_finish(&clocks);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth < 12; nth++) {
        struct clocks clocks = {0};
        struct times a = {0}, b = {0};
        mem_fail_at(nth);
        times_set(&clocks, &a, (struct epoch){1, 5});
        times_set(&clocks, &b, (struct epoch){70000, 5});
        times_set_observed(&clocks, &b, (struct epoch){70, 5}, 1);
        times_join(&clocks, &a, &b);
        mem_fail_at(0);
        assert_true(clocks.failed || nth > 6);
        assert_true(verify_clock(a.doc));
        assert_true(verify_clock(b.obs));
        times_drop(&clocks, &a);
        times_drop(&clocks, &b);
        assert_int_equal(clocks.bytes, 0);
        clocks_finish(&clocks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_naive),
        cmocka_unit_test(test_sharing),
        cmocka_unit_test(test_many_chains),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
