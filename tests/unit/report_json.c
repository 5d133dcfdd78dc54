/* The JSON form: order of keys, null for what is unknown, text that is not UTF-8, lack of memory.
 */
#include "golden/fixtures.h"

#include "report/report.h"

#include "base/mem.h"

#include <jansson.h>

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static json_t *parse(struct report *report, bool with_addresses)
{
    struct strbuf text = {0};
    struct verdict verdict = verdict_decide(report, 0, 0);
    json_t *root;
    assert_true(report_json(&text, report, &verdict, with_addresses));
    root = json_loads(text.text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    strbuf_finish(&text);
    return root;
}

static void assert_keys(json_t *object, const char *const *keys)
{
    const char *key;
    json_t *value;
    assert_true(json_is_object(object));
    json_object_foreach(object, key, value)
    {
        assert_non_null(*keys);
        assert_string_equal(key, *keys++);
    }
    assert_null(*keys);
}

static void keys_stand_in_order(void **state)
{
    static const char *const root_keys[] = {"schema",   "tool",         "run",        "streams",
                                            "events",   "buffers",      "operations", "edges",
                                            "findings", "suppressions", "summary",    NULL};
    static const char *const finding_keys[] = {
        "id",      "rule",    "severity", "family", "sureness",      "ordered_by",
        "message", "buffer",  "ranges",   "first",  "then",          "missing",
        "fix",     "witness", "folded",   "count",  "suppressed_by", NULL};
    static const char *const folded_keys[] = {"id",    "rule", "severity",      "buffer", "ranges",
                                              "first", "then", "suppressed_by", NULL};
    static const char *const summary_keys[] = {"verdict",   "errors", "warnings",   "advice",
                                               "by_family", "folded", "suppressed", "totals",
                                               "exit_code", NULL};
    struct report report;
    json_t *root, *finding;
    fixture_handover(&report);
    root = parse(&report, false);
    finding = json_array_get(json_object_get(root, "findings"), 0);
    assert_keys(root, root_keys);
    assert_keys(finding, finding_keys);
    assert_keys(json_array_get(json_object_get(finding, "folded"), 0), folded_keys);
    assert_keys(json_object_get(root, "summary"), summary_keys);
    assert_true(json_is_null(json_object_get(finding, "witness")));
    json_decref(root);
    report_finish(&report);
}

static void addresses_only_when_asked(void **state)
{
    struct report report;
    int asked;
    fixture_handover(&report);
    for (asked = 0; asked < 2; asked++) {
        json_t *root = parse(&report, asked);
        json_t *buffer = json_array_get(json_object_get(root, "buffers"), 0);
        assert_int_equal(json_object_get(buffer, "address") != NULL, asked);
        json_decref(root);
    }
    report_finish(&report);
}

static void bad_text_is_mended(void **state)
{
    struct report report;
    json_t *root;
    fixture_handover(&report);
    report.buffers[0].name = "d\xff\xfe";
    root = parse(&report, false);
    assert_string_equal(json_string_value(json_object_get(
                            json_array_get(json_object_get(root, "buffers"), 0), "name")),
                        "d??");
    json_decref(root);
    report_finish(&report);
}

static void an_empty_report_is_whole(void **state)
{
    struct report report = {0};
    json_t *root = parse(&report, false), *run = json_object_get(root, "run");
    assert_true(json_is_false(json_object_get(run, "complete")));
    assert_true(json_is_null(json_object_get(run, "schedule")));
    assert_int_equal(json_array_size(json_object_get(run, "command")), 0);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(root, "summary"), "verdict")),
        "incomplete");
    json_decref(root);
}

static void equal_reports_give_equal_bytes(void **state)
{
    struct report one, two;
    struct strbuf a = {0}, b = {0};
    struct verdict verdict;
    fixture_handover(&one);
    fixture_handover(&two);
    two.run.seconds = 99;
    two.run.memory_bytes = 1;
    two.buffers[0].address = 0x1234;
    verdict = verdict_decide(&one, 0, 0);
    assert_true(report_json(&a, &one, &verdict, false) && report_json(&b, &two, &verdict, false));
    assert_string_equal(a.text, b.text);
    strbuf_finish(&a);
    strbuf_finish(&b);
    report_finish(&one);
    report_finish(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_stand_in_order),
        cmocka_unit_test(addresses_only_when_asked),
        cmocka_unit_test(bad_text_is_mended),
        cmocka_unit_test(an_empty_report_is_whole),
        cmocka_unit_test(equal_reports_give_equal_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
