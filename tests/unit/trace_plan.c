/* Schedules: what is read is what was printed, and what is wrong is refused at its line. */
#include "trace/plan.h"

#include "trace/cuda_names.h"

#include "base/mem.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static enum ssan_status parse(struct plan *plan, const char *lines, struct ssan_error *err)
{
    char text[1024];
    snprintf(text, sizeof text, PLAN_FIRST_LINE "\n%s", lines);
    return plan_parse(plan, "x", text, strlen(text), err);
}

static void test_policies(void **state)
{
    static const char *const good[] = {"eager", "lazy", "random:0", "random:18446744073709551615"};
    static const char *const bad[] = {
        "",         "fast",   "random",   "random:",
        "random:x", "eager ", "file:",    "random:18446744073709551616",
        "order:",   "order",  "random:-1"};
    struct plan plan;
    struct ssan_error err;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(plan_read(&plan, good[i], &err), SSAN_OK);
        assert_string_equal(plan.policy, good[i]);
        assert_true(plan_is_plain(&plan));
        plan_finish(&plan);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_not_equal(plan_read(&plan, bad[i], &err), SSAN_OK);
        assert_true(err.text[0] != '\0');
        plan_finish(&plan);
    }
}

static void test_order(void **state)
{
    struct plan plan;
    struct ssan_error err;
    assert_int_equal(plan_read(&plan, "order:s1.1,s2.10,s1.2", &err), SSAN_OK);
    assert_string_equal(plan.policy, "lazy");
    assert_int_equal(plan.items.count, 3);
    assert_int_equal(plan.items.items[1].stream, 2);
    assert_int_equal(plan.items.items[1].seq, 10);
    assert_false(plan_is_plain(&plan));
    plan_finish(&plan);
    assert_int_equal(plan_read(&plan, "order:s1.1,a1.2,s1.2,a2.1", &err), SSAN_OK);
    assert_true(!plan.items.items[0].by_host && plan.items.items[1].by_host);
    assert_true(plan_item_key(&plan.items.items[1]) != plan_item_key(&plan.items.items[2]));
    plan_finish(&plan);
    assert_int_equal(parse(&plan, "together 7 s1.3 s1.1 s2.1\nitems s1.4", &err), SSAN_OK);
    plan_finish(&plan);
    assert_int_equal(parse(&plan, "items s1.3\ntogether 7 s1.1 s2.1\n", &err), SSAN_FORMAT);
    assert_non_null(strstr(err.text, "s1.3 is listed before an item that comes before it"));
    plan_finish(&plan);
}

static void test_refused_lines(void **state)
{
    static const char *const bad[] = {
        "items s1.1 s1.1\n",
        "items s0.1\n",
        "items s1.0\n",
        "items s1\n",
        "items 1.1\n",
        "items s4294967296.1\n",
        "items a1.1 a1.1\n",
        "items a1\n",
        "items s1.2 s2.1 s1.1\n",
        "items a1.2 a1.1\n",
        "together 7 s1.1 a1.1\n",
        "by t1.1 a1.1\n",
        "together 7 s1.1\n",
        "together x s1.1 s1.2\n",
        "calls t1.1 t1.1\n",
        "calls t1.1q1\n",
        "calls t1.0\n",
        "by t1.1\n",
        "by s1.1 t1.1\n",
        "after t1.1\n",
        "by t1.1 s1.1 s1.2\n",
        "ignore a 1\n",
        "ignore a 2 1\n",
        "ignore a x y\n",
        "ignore a -5 1\n",
        "together 99999999999999999999999 s1.1 s1.2\n",
        "serialize p 1 2\n",
        "serialize\n",
        "serialize sx\n",
        "policy\n",
        "policy fast\n",
        "note\n",
        "nothing\n",
        "fail cudaMalloc 1\n",
        "fail cudaMalloc 0 cudaErrorUnknown\n",
        "fail cudaMalloc x cudaErrorUnknown\n",
        "fail cudaMalloc 4294967296 cudaErrorUnknown\n",
        "fail malloc 1 cudaErrorUnknown\n",
        "fail cudaMalloc 1 cudaErrorUnkown\n",
        "fail cudaMalloc 1 cudaSuccess\n",
        "fail cudaMalloc 1 cudaErrorUnknown x\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char lines[256];
        struct plan plan;
        struct ssan_error err = {0};
        snprintf(lines, sizeof lines, "# one\n\npolicy eager\n%s", bad[i]);
        assert_int_equal(parse(&plan, lines, &err), SSAN_FORMAT);
        assert_int_equal(err.position, 5);
        plan_finish(&plan);
    }
}

static void test_refused_texts(void **state)
{
    static const char *const bad[] = {"", "x", "streamsan-schedule 2\n", "streamsan-schedule 10\n",
                                      "streamsan-schedule"};
    struct plan plan;
    struct ssan_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(plan_parse(&plan, "x", bad[i], strlen(bad[i]), &err), SSAN_FORMAT);
        plan_finish(&plan);
    }
    assert_int_equal(plan_parse(&plan, "x", PLAN_FIRST_LINE "\nitems\0 s1.1", 30, &err),
                     SSAN_FORMAT);
    plan_finish(&plan);
}

static void test_round_trip(void **state)
{
    static const char lines[] = "policy random:7\n"
                                "items s1.1 s2.1\n"
                                "together 9 s1.2 s2.2 s3.1\n"
                                "together 10 s1.3 s2.3\n"
                                "items s1.4\n"
                                "calls t1.1 t2.1\n"
                                "by t1.2q3 s1.1\n"
                                "by t1.0q1 s2.1\n"
                                "after t1.5q2 s2.1\n"
                                "ignore prog 10 2f\n"
                                "serialize at lib.so a b\n"
                                "serialize at my%20prog a b\n"
                                "ignore a%23b 1 2\n"
                                "serialize at all 1 2\n"
                                "serialize all\n"
                                "fail cudaMalloc 2 cudaErrorMemoryAllocation\n"
                                "fail cudaMalloc all cudaErrorUnknown\n"
                                "fail cudaLaunchKernel 4294967295 cudaErrorIllegalAddress\n"
                                "note --ignore a.cu:4, --serialize all\n"
                                "serialize s3\n";
    struct plan plan, again;
    struct ssan_error err;
    struct strbuf first = {0}, second = {0};
    assert_int_equal(parse(&plan, lines, &err), SSAN_OK);
    plan_print(&plan, &first);
    assert_int_equal(plan_parse(&again, "x", strbuf_text(&first), first.length, &err), SSAN_OK);
    plan_print(&again, &second);
    assert_string_equal(strbuf_text(&first), strbuf_text(&second));
    assert_int_equal(again.items.count, 8);
    assert_int_equal(again.togethers.count, 2);
    assert_string_equal(again.note, "--ignore a.cu:4, --serialize all");
    assert_int_equal(again.fails.count, 3);
    assert_string_equal(again.fails.items[0].call, "cudaMalloc");
    assert_int_equal(again.fails.items[0].number, 2);
    assert_int_equal(again.fails.items[0].error, 2);
    assert_int_equal(again.fails.items[1].number, 0);
    assert_int_equal(again.fails.items[2].error, 700);
    strbuf_finish(&first);
    strbuf_finish(&second);
    plan_finish(&plan);
    plan_finish(&again);
}

/* The words of --fail: what they mean, and that what is wrong is answered with what was meant. */
static void test_fail_words(void **state)
{
    static const struct {
        const char *words, *says;
    } bad[] = {
        {"cudaMalloc", "CALL=ERROR"},
        {"=cudaErrorUnknown", "CALL=ERROR"},
        {"cudaMalloc=", "CALL=ERROR"},
        {"cudaMaloc=cudaErrorUnknown", "did you mean cudaMalloc?"},
        {"quux=cudaErrorUnknown", "'quux' is no call"},
        {"cudaMalloc=cudaErrorUnknwon", "did you mean cudaErrorUnknown?"},
        {"cudaMalloc=quux", "'quux' is no error of CUDA"},
        {"cudaMalloc=cudaSuccess", "is no error"},
        {"cudaMalloc:=cudaErrorUnknown", "'' is no number"},
        {"cudaMalloc:0=cudaErrorUnknown", "'0' is no number"},
        {"cudaMalloc:-1=cudaErrorUnknown", "'-1' is no number"},
        {"cudaMalloc:2x=cudaErrorUnknown", "'2x' is no number"},
        {"cudaMalloc:99999999999=cudaErrorUnknown", "is no number"},
        {"cudaFree:1=cudaErrorUnknown", "cudaFree:1 is to fail twice"},
        {"cudaFree=cudaErrorUnknown", "cudaFree:1 is to fail twice"},
    };
    struct plan plan = {0};
    struct ssan_error err = {0};
    struct strbuf text = {0};
    assert_int_equal(plan_add_fail(&plan, "cudaFree=cudaErrorInvalidValue", &err), SSAN_OK);
    assert_int_equal(plan_add_fail(&plan, "cudaFree:all=cudaErrorLaunchFailure", &err), SSAN_OK);
    plan_print_fail(&plan.fails.items[0], &text);
    strbuf_puts(&text, " ");
    plan_print_fail(&plan.fails.items[1], &text);
    assert_string_equal(strbuf_text(&text), "cudaFree:1=cudaErrorInvalidValue "
                                            "cudaFree:all=cudaErrorLaunchFailure");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(plan_add_fail(&plan, bad[i].words, &err), SSAN_USAGE);
        assert_non_null(strstr(err.text, bad[i].says));
    }
    assert_int_equal(plan.fails.count, 2);
    assert_false(cuda_error_is_sticky(plan.fails.items[0].error));
    assert_true(cuda_error_is_sticky(plan.fails.items[1].error));
    assert_string_equal(cuda_error_text(plan.fails.items[0].error), "invalid argument");
    assert_null(cuda_error_name(4711));
    strbuf_finish(&text);
    plan_finish(&plan);
}

/* Names of objects and notes of any bytes but NUL. */
static void test_odd_words(void **state)
{
    static const char *const words[] = {"my prog", "all",  "s2", "at", "a#b", "100%", "%41",
                                        " x ",     "a\tb", "\n", "#",  "%",   "%%20"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        for (int use = PLAN_IGNORE; use <= PLAN_SERIALIZE; use++) {
            struct plan plan = {.policy = "lazy"}, again;
            struct plan_place place = {(enum plan_use)use, mem_strdup(words[i]), 1, 2};
            struct strbuf text = {0};
            struct ssan_error err;
            assert_true(VEC_PUSH(&plan.places, place) && plan_add_note(&plan, words[i]));
            plan_print(&plan, &text);
            assert_int_equal(plan_parse(&again, "x", strbuf_text(&text), text.length, &err),
                             SSAN_OK);
            assert_int_equal(again.places.count, 1);
            assert_int_equal(again.places.items[0].use, use);
            assert_string_equal(again.places.items[0].module, words[i]);
            assert_string_equal(again.note, words[i]);
            strbuf_finish(&text);
            plan_finish(&plan);
            plan_finish(&again);
        }
    }
}

/* Long lists break lines; every length must come back. */
static void test_long_lists(void **state)
{
    struct rng rng = {20261130};
    for (uint32_t count = 1; count < 80; count++) {
        struct plan plan = {.policy = "lazy"}, again;
        struct strbuf text = {0};
        struct ssan_error err;
        for (uint32_t i = 0; i < count; i++) {
            const struct plan_item item = {1 + (uint32_t)rng_below(&rng, 4), i + 1, i % 7 == 0};
            const struct plan_call call = {1 + (uint32_t)rng_below(&rng, 4), i + 1, 0};
            assert_true(VEC_PUSH(&plan.items, item) && VEC_PUSH(&plan.calls, call));
        }
        plan_print(&plan, &text);
        assert_int_equal(plan_parse(&again, "x", strbuf_text(&text), text.length, &err), SSAN_OK);
        assert_int_equal(again.items.count, count);
        assert_int_equal(again.calls.count, count);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(plan_item_key(&again.items.items[i]) ==
                        plan_item_key(&plan.items.items[i]));
        }
        assert_memory_equal(again.calls.items, plan.calls.items, count * sizeof *plan.calls.items);
        strbuf_finish(&text);
        plan_finish(&plan);
        plan_finish(&again);
    }
}

static void test_no_memory(void **state)
{
    static const char lines[] = "items s1.1 s2.1\ntogether 1 s1.2 s2.2\ncalls t1.1\nby t1.2 s1.1\n"
                                "ignore prog 10 2f\nserialize s3\nnote x\n"
                                "fail cudaFree 1 cudaErrorUnknown\n";
    struct plan plan;
    struct ssan_error err;
    enum ssan_status status = SSAN_NO_MEMORY;
    for (uint64_t nth = 1; status != SSAN_OK; nth++) {
        mem_fail_at(nth);
        status = parse(&plan, lines, &err);
        mem_fail_at(0);
        assert_true(status == SSAN_OK || status == SSAN_NO_MEMORY);
        plan_finish(&plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies),      cmocka_unit_test(test_order),
        cmocka_unit_test(test_refused_lines), cmocka_unit_test(test_refused_texts),
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_no_memory),     cmocka_unit_test(test_odd_words),
        cmocka_unit_test(test_fail_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
