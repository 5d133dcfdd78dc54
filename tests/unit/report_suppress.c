/* Suppressions: what an entry fits, and what becomes of folded findings. */
#include "golden/fixtures.h"

#include "report/report.h"
#include "report/suppress.h"

#include "base/mem.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#define WHY "because"

/* The handover has a RAW on 'dev', id 5b1f20c4, of scale and add, with a WAW, id 0a0b0c0d, in it.
 */
static void what_an_entry_fits(void **state)
{
    static const struct {
        struct suppression entry;
        bool fits;
    } cases[] = {
        {{.rule = "SSAN-RAW"}, true},
        {{.rule = "SSAN-WAW"}, false},
        {{.id = "5b1f20c4"}, true},
        {{.id = "5b1f20c5"}, false},
        {{.buffer = "dev"}, true},
        {{.buffer = "d*"}, true},
        {{.buffer = "[a-d]ev"}, true},
        {{.buffer = "de"}, false},
        {{.buffer = "in"}, false},
        {{.kernel = "scale"}, true},
        {{.kernel = "add"}, true},
        {{.kernel = "*"}, true},
        {{.kernel = "sca"}, false},
        {{.rule = "SSAN-RAW", .id = "5b1f20c4", .buffer = "*", .kernel = "a??"}, true},
        {{.rule = "SSAN-RAW", .buffer = "dev", .kernel = "other"}, false},
        {{.rule = "SSAN-RAW", .id = "00000000", .buffer = "dev"}, false},
    };
    struct report report;
    size_t i;
    fixture_handover(&report);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (suppress_fits(&cases[i].entry, &report, report.findings[0]) != cases[i].fits) {
            fail_msg("case %zu", i);
        }
    }
    report_finish(&report);
}

static void names_that_are_not_there(void **state)
{
    const struct suppression buffer = {.buffer = "*"}, kernel = {.kernel = "*"};
    struct report report;
    fixture_advice(&report);
    assert_int_equal(report.findings[0]->buffer, -1);
    assert_false(suppress_fits(&buffer, &report, report.findings[0]));
    assert_false(suppress_fits(&kernel, &report, report.findings[0])); /* a wait alone */
    report_finish(&report);
}

static struct verdict verdict_with(struct report *report, struct suppression *entries, size_t count)
{
    fixture_handover(report);
    assert_true(suppress_apply(report, entries, count));
    return verdict_decide(report, 3, 0);
}

static void the_folded_one_is_told(void **state)
{
    struct suppression entry = {.rule = "SSAN-RAW", .reason = WHY};
    struct report report;
    struct verdict verdict = verdict_with(&report, &entry, 1);
    const struct finding *heir = report.findings[1];
    assert_int_equal(report.finding_count, 2);
    assert_string_equal(report.findings[0]->suppressed_by, WHY);
    assert_int_equal(report.findings[0]->folded_count, 0);
    assert_string_equal(heir->id, "0a0b0c0d");
    assert_null(heir->suppressed_by);
    assert_ptr_equal(heir->window, report.findings[0]->window);
    assert_ptr_equal(heir->fix->of, report.findings[0]);
    assert_string_equal(heir->fix->removes[heir->fix->remove_count - 1], "0a0b0c0d");
    assert_int_equal(report.findings[0]->fix->remove_count, 1);
    assert_int_equal(verdict.errors, 1);
    assert_int_equal(verdict.folded, 0);
    assert_int_equal(verdict.suppressed, 1);
    assert_int_equal(verdict.exit_code, 66);
    report_finish(&report);
}

static void only_the_folded_one_is_hidden(void **state)
{
    struct suppression entry = {.rule = "SSAN-WAW", .reason = WHY};
    struct report report;
    struct verdict verdict = verdict_with(&report, &entry, 1);
    struct text_options how = {0};
    struct strbuf text = {0};
    assert_int_equal(report.finding_count, 1);
    assert_int_equal(verdict.errors, 1);
    assert_int_equal(verdict.folded, 0);
    assert_int_equal(verdict.suppressed, 1);
    report_text(&text, &report, &how);
    assert_null(strstr(text.text, "SSAN-WAW"));
    strbuf_finish(&text);
    report_finish(&report);
}

static void both_are_hidden(void **state)
{
    struct suppression entries[] = {
        {.buffer = "dev", .reason = WHY}, {.id = "5b1f20c4", .reason = "other"}, {.kernel = "nix"}};
    struct report report;
    struct verdict verdict = verdict_with(&report, entries, 3);
    struct strbuf text = {0};
    struct text_options how = {.verbose = true};
    assert_int_equal(report.finding_count, 1);
    assert_int_equal(report.findings[0]->folded_count, 1);
    assert_string_equal(report.findings[0]->suppressed_by, WHY); /* of the first that fits */
    assert_int_equal(entries[0].used, 2);
    assert_int_equal(entries[1].used, 1);
    assert_int_equal(entries[2].used, 0);
    assert_int_equal(verdict.kind, VERDICT_CLEAN);
    assert_int_equal(verdict.exit_code, 3);
    assert_int_equal(verdict.errors + verdict.folded, 0);
    assert_int_equal(verdict.suppressed, 2);
    report_text(&text, &report, &how);
    report_short(&text, &report, false);
    assert_int_equal(text.length, 0);
    suppress_entries(&text, &report);
    assert_null(strstr(text.text, "rule:"));
    strbuf_finish(&text);
    report_finish(&report);
}

/* A warning that is hidden does not take an error with it, and the error tells the rest. */
static void the_strongest_tells_the_rest(void **state)
{
    static struct finding extra[2];
    struct suppression entry = {.rule = "SSAN-RAW", .reason = WHY};
    struct finding *all[3], *top;
    struct report report;
    fixture_handover(&report);
    top = report.findings[0];
    all[0] = &extra[0], all[1] = top->folded[0], all[2] = &extra[1];
    extra[0] = extra[1] = *all[1];
    extra[0].severity = SEVERITY_WARNING;
    extra[0].check = CHECK_USE_AFTER_FREE;
    extra[1].check = CHECK_WAR;
    extra[0].id = "00000001", extra[1].id = "00000002";
    top->folded = all;
    top->folded_count = 3;
    assert_true(suppress_apply(&report, &entry, 1));
    assert_int_equal(report.finding_count, 2);
    assert_string_equal(report.findings[1]->id, "0a0b0c0d");
    assert_int_equal(report.findings[1]->folded_count, 2);
    assert_string_equal(report.findings[1]->folded[0]->id, "00000001");
    assert_string_equal(report.findings[1]->folded[1]->id, "00000002");
    report_finish(&report);
}

/* Nothing that no entry fits is lost when memory runs out. */
static void no_memory(void **state)
{
    uint64_t nth;
    for (nth = 1; nth < 5; nth++) {
        struct suppression entry = {.rule = "SSAN-RAW", .reason = WHY};
        struct report report;
        struct verdict verdict;
        char *fill;
        fixture_handover(&report);
        for (fill = NULL; nth > 1 && !fill;) { /* leave nothing in the arena's block */
            fill = arena_alloc(&report.arena, 1 << 16);
        }
        mem_fail_at(nth);
        (void)suppress_apply(&report, &entry, 1);
        mem_fail_at(0);
        verdict = verdict_decide(&report, 0, 0);
        assert_int_equal(verdict.errors, 1);
        report_finish(&report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_entry_fits),
        cmocka_unit_test(names_that_are_not_there),
        cmocka_unit_test(the_folded_one_is_told),
        cmocka_unit_test(only_the_folded_one_is_hidden),
        cmocka_unit_test(both_are_hidden),
        cmocka_unit_test(the_strongest_tells_the_rest),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
