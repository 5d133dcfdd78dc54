/* base: map, ranges, arrays, text, against naive models. */
#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { SPACE = 200, STEPS = 20000 };

static void map_agrees_with_an_array(void **state)
{
    struct map map = {0};
    uint64_t model[SPACE] = {0};
    bool there[SPACE] = {false};
    struct rng rng = {1};
    size_t count = 0;
    for (int step = 0; step < STEPS; step++) {
        uint64_t key = rng_below(&rng, SPACE), value = rng_next(&rng);
        if (rng_below(&rng, 3)) {
            assert_true(map_set(&map, key, value));
            count += !there[key];
            model[key] = value;
            there[key] = true;
        } else {
            assert_int_equal(map_remove(&map, key), there[key]);
            count -= there[key];
            there[key] = false;
        }
        assert_int_equal(map.count, count);
        key = rng_below(&rng, SPACE);
        uint64_t *found = map_find(&map, key);
        assert_int_equal(found != NULL, there[key]);
        assert_true(!found || *found == model[key]);
    }
    map_finish(&map);
}

static void ranges_agree_with_bits(void **state)
{
    struct ranges set = {0};
    bool bits[SPACE] = {false};
    struct rng rng = {2};
    for (int step = 0; step < STEPS; step++) {
        uint64_t begin = rng_below(&rng, SPACE), end = begin + rng_below(&rng, SPACE - begin + 1);
        bool add = rng_below(&rng, 2);
        assert_true(add ? ranges_add(&set, begin, end) : ranges_remove(&set, begin, end));
        memset(bits + begin, add, end - begin);
        uint64_t bytes = 0;
        for (size_t i = 0; i < set.count; i++) {
            assert_true(set.items[i].begin < set.items[i].end);
            assert_true(i == 0 || set.items[i - 1].end < set.items[i].begin);
        }
        for (uint64_t at = 0; at < SPACE; at++) {
            assert_int_equal(ranges_contains(&set, at, at + 1), bits[at]);
            bytes += bits[at];
        }
        assert_int_equal(ranges_bytes(&set), bytes);
    }
    ranges_finish(&set);
}

static void text_survives_lack_of_memory(void **state)
{
    struct strbuf buf = {0};
    strbuf_printf(&buf, "%d %s", 7, "seven");
    assert_string_equal(strbuf_text(&buf), "7 seven");
    strbuf_pad_to(&buf, 12);
    assert_int_equal(buf.length, 12);
    mem_fail_at(1);
    for (int i = 0; i < 200; i++) {
        strbuf_puts(&buf, "0123456789");
    }
    mem_fail_at(0);
    assert_true(buf.failed);
    assert_null(strbuf_take(&buf));
}

static void text_moves_into_an_arena(void **state)
{
    struct arena arena = {0};
    struct strbuf buf = {0};
    assert_string_equal(strbuf_keep(&buf, &arena), "");
    strbuf_puts(&buf, "kept");
    assert_string_equal(strbuf_keep(&buf, &arena), "kept");
    assert_null(buf.text);
    buf.failed = true;
    assert_null(strbuf_keep(&buf, &arena));
    assert_false(buf.failed);
    arena_finish(&arena);
}

static void arena_gives_zeroed_memory(void **state)
{
    struct arena arena = {0};
    for (size_t size = 1; size < 100000; size *= 3) {
        unsigned char *bytes = arena_alloc(&arena, size);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % 16, 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(bytes[i], 0);
        }
        memset(bytes, 1, size);
    }
    assert_string_equal(arena_strdup(&arena, "text"), "text");
    arena_finish(&arena);
}

static void statuses_have_words(void **state)
{
    struct ssan_error err;
    for (int status = 0; status < SSAN_STATUS_COUNT; status++) {
        assert_non_null(ssan_status_text(status));
    }
    assert_int_equal(ssan_fail(&err, SSAN_FORMAT, 3, "line %d", 3), SSAN_FORMAT);
    assert_string_equal(err.text, "line 3");
    assert_int_equal(ssan_status_exit_code(SSAN_FORMAT), 65);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map_agrees_with_an_array),     cmocka_unit_test(ranges_agree_with_bits),
        cmocka_unit_test(text_survives_lack_of_memory), cmocka_unit_test(arena_gives_zeroed_memory),
        cmocka_unit_test(text_moves_into_an_arena),     cmocka_unit_test(statuses_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
