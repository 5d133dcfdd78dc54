/* Every rule of order.def that has code: a small trace with a known outcome, and the rule's mutant,
 * which must change it. The outcome is the list of hazards, one word each: the check's short name,
 * "!" for an error, "?" for a warning with its rule, "." for advice. */
#include "core_rules.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "core/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static void memories(struct trace *t)
{
    t_alloc(t, SSAN_memory_DEVICE, D, MIB);
    t_alloc(t, SSAN_memory_DEVICE, D2, MIB);
    t_alloc(t, SSAN_memory_PINNED, PIN, MIB);
    t_alloc(t, SSAN_memory_PINNED, PIN2, MIB);
    t_alloc(t, SSAN_memory_MANAGED, MAN, MIB);
    t_alloc(t, SSAN_memory_REGISTERED, REG, MIB / 2);
}

/* The cases of both areas; NULL behind the last. */
static const struct rule_case *nth_case(size_t nth)
{
    const size_t first = rule_cases_order.count;
    if (nth < first) {
        return &rule_cases_order.items[nth];
    }
    return nth - first < rule_cases_memory.count ? &rule_cases_memory.items[nth - first] : NULL;
}

static void outcome_of(const struct rule_case *rule_case, uint32_t mutant, struct strbuf *text)
{
    struct trace t;
    t_init(&t);
    memories(&t);
    rule_case->build(&t);
    struct engine_options options = {
        .threads = rule_case->strict ? THREADS_STRICT : THREADS_OBSERVED, .mutant = mutant};
    struct ssan_error err = {0};
    struct engine *engine = t_run(&t, &options, &err);
    if (!engine) {
        fail_msg("%s: %s", rule_case->name, err.text);
    }
    size_t count = 0;
    const struct hazard *hazards = engine_hazards(engine, &count);
    strbuf_clear(text);
    for (size_t i = 0; i < count; i++) {
        const struct hazard *hazard = &hazards[i];
        static const char marks[] = {'.', '?', '!'};
        strbuf_printf(text, "%s%s%c%s", i > 0 ? " " : "",
                      check_info(hazard->check)->id + strlen("SSAN-"), marks[hazard->severity],
                      hazard->ordered_by ? hazard->ordered_by : "");
    }
    engine_destroy(engine);
    t_finish(&t);
}

static void test_outcomes(void **state)
{
    (void)state;
    struct strbuf text = {0};
    const struct rule_case *one;
    for (size_t i = 0; (one = nth_case(i)); i++) {
        outcome_of(one, 0, &text);
        if (strcmp(strbuf_text(&text), one->outcome) != 0) {
            fail_msg("%s: expected [%s], got [%s]", one->name, one->outcome, strbuf_text(&text));
        }
    }
    strbuf_finish(&text);
}

static const struct rule_case *find_case(const char *name)
{
    const struct rule_case *one = nth_case(0);
    for (size_t i = 1; one && strcmp(one->name, name) != 0; i++) {
        one = nth_case(i);
    }
    return one;
}

/* A rule without code says why; one with code names a case, and its mutant changes that case's
 * outcome. */
static void test_mutants(void **state)
{
    (void)state;
    struct strbuf text = {0};
    unsigned killed = 0;
    for (uint32_t rule = 1; rule < ORDER_COUNT; rule++) {
        const struct order_info *info = order_info(rule);
        assert_non_null(info);
        if (!info->has_code) {
            assert_string_equal(info->test, "");
            assert_true(strlen(info->why) > 0);
            continue;
        }
        const struct rule_case *rule_case = find_case(info->test);
        if (!rule_case) {
            fail_msg("%s names no case: %s", info->id, info->test);
        }
        outcome_of(rule_case, rule, &text);
        if (strcmp(strbuf_text(&text), rule_case->outcome) == 0) {
            fail_msg("mutant %u (%s) survives %s: [%s]", rule, info->id, info->test,
                     strbuf_text(&text));
        }
        killed++;
    }
    strbuf_finish(&text);
    print_message("%u mutants killed, %zu cases\n", killed,
                  rule_cases_order.count + rule_cases_memory.count);
}

/* The N-th allocation fails, for every N of every case: the status says so, and nothing leaks (the
 * asan preset looks). */
static void test_out_of_memory(void **state)
{
    (void)state;
    const struct rule_case *one;
    for (size_t i = 0; (one = nth_case(i)); i++) {
        const struct engine_options options = {.threads =
                                                   one->strict ? THREADS_STRICT : THREADS_OBSERVED};
        struct trace t;
        t_init(&t);
        memories(&t);
        one->build(&t);
        for (uint64_t nth = 1;; nth++) {
            struct ssan_error err = {0};
            mem_fail_at(nth);
            struct engine *survivor = t_run(&t, &options, &err);
            bool all = mem_count() < nth;
            mem_fail_at(0);
            engine_destroy(survivor);
            if (all) {
                assert_non_null(survivor);
                break;
            }
            if (err.status != SSAN_NO_MEMORY && err.status != SSAN_OK) {
                fail_msg("%s, allocation %d: %s", one->name, (int)nth, err.text);
            }
        }
        t_finish(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_mutants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
