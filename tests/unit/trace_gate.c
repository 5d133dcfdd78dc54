/* Gates in words: what is read is what was printed, and what is wrong is refused. */
#include "trace/gate_words.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_short(void **state)
{
    struct gate_words gate;
    char text[GATE_WORDS_ROOM];
    assert_int_equal(gate_words_read(&gate, "s1.2:s2.1", NULL), SSAN_OK);
    assert_int_equal(gate.held.stream, 1);
    assert_int_equal(gate.held.seq, 2);
    assert_int_equal(gate.until.stream, 2);
    assert_int_equal(gate.until.seq, 1);
    assert_int_equal(gate.limit_ms, GATE_LIMIT_MS);
    assert_int_equal(gate.grace_ms, GATE_GRACE_MS);
    assert_int_equal(gate.blocks, 0);
    assert_false(gate.by_host);
    gate_words_print(&gate, text, sizeof text);
    assert_string_equal(text, "s1.2:s2.1");
    assert_int_equal(gate_words_read(&gate, "s1.2:a1.3,grace=0", NULL), SSAN_OK);
    assert_true(gate.by_host);
    assert_int_equal(gate.until.seq, 3);
    gate_words_print(&gate, text, sizeof text);
    assert_string_equal(text, "s1.2:a1.3,grace=0");
}

static void test_round_trip(void **state)
{
    struct rng rng = {5};
    for (int i = 0; i < 1000; i++) {
        struct gate_words gate = {
            .held = {1 + (uint32_t)rng_below(&rng, 9), UINT32_MAX},
            .until = {10 + (uint32_t)rng_below(&rng, 9), 1 + (uint32_t)rng_below(&rng, UINT32_MAX)},
            .by_host = rng_below(&rng, 2),
            .limit_ms = 1 + (uint32_t)rng_below(&rng, GATE_MOST_MS),
            .grace_ms = (uint32_t)rng_below(&rng, GATE_MOST_MS + 1),
            .blocks = (uint32_t)rng_below(&rng, GATE_MOST_HELD + 1)};
        struct gate_words back;
        char text[GATE_WORDS_ROOM], again[GATE_WORDS_ROOM];
        gate_words_print(&gate, text, sizeof text);
        assert_true(strlen(text) < sizeof text - 1);
        assert_int_equal(gate_words_read(&back, text, NULL), SSAN_OK);
        gate_words_print(&back, again, sizeof again);
        assert_string_equal(again, text);
        assert_int_equal(back.until.seq, gate.until.seq);
        assert_int_equal(back.by_host, gate.by_host);
        assert_int_equal(back.limit_ms, gate.limit_ms);
        assert_int_equal(back.grace_ms, gate.grace_ms);
        assert_int_equal(back.blocks, gate.blocks);
    }
}

static void test_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "serialize",
        "s1.2",
        "s1.2:",
        "s1.2:s2.0",
        "s1.2;s2.1",
        "s1.2:s2.1 ",
        "s1.2:s2.1,",
        "s1.2:s2.1,limit",
        "s1.2:s2.1,limit=",
        "s1.2:s2.1,limit=0",
        "s1.2:s2.1,limit=60001",
        "s1.2:s2.1,limit=99999999999999999999",
        "s1.2:s2.1,grace=-1",
        "s1.2:s2.1,blocks=0",
        "s1.2:s2.1,blocks=129",
        "s1.2:s2.1,limit=5x",
        "s1.2:s2.1,other=5",
        "s1.2:a1",
        "s1.2:a0.1",
        "a1.2:s1.2",
        "s1.2:s1.2",
        "s1.2:s1.3",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gate_words gate = {.blocks = 77};
        struct ssan_error err = {0};
        assert_int_equal(gate_words_read(&gate, bad[i], &err), SSAN_USAGE);
        assert_true(strlen(err.text) > 0);
        assert_int_equal(gate.blocks, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
