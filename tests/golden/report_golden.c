/* The text and the JSON of hand-made reports against the files beside this one.
 *
 * UPDATE_GOLDEN=1 writes the files instead (scripts/update-golden). */
#include "golden/fixtures.h"

#include "report/report.h"

#include "support/must.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_file(struct strbuf *text, const char *path)
{
    FILE *file = fopen(path, "r");
    char part[4096];
    size_t got;
    if (!file) {
        fail_msg("%s is not there: run scripts/update-golden", path);
        return;
    }
    while ((got = fread(part, 1, sizeof part, file)) > 0) {
        strbuf_add(text, part, got);
    }
    fclose(file);
}

static void write_file(const struct strbuf *text, const char *path)
{
    FILE *file = fopen(path, "w");
    MUST(file && fwrite(text->text, 1, text->length, file) == text->length);
    MUST(fclose(file) == 0);
}

static void compare(const struct strbuf *text, const char *name)
{
    char path[4096];
    struct strbuf expected = {0};
    assert_false(text->failed);
    snprintf(path, sizeof path, SSAN_SOURCE_DIR "/tests/golden/%s", name);
    if (getenv("UPDATE_GOLDEN")) {
        write_file(text, path);
    }
    read_file(&expected, path);
    assert_string_equal(strbuf_text(text), strbuf_text(&expected));
    strbuf_finish(&expected);
}

static void both(void (*fixture)(struct report *), const char *name, bool verbose)
{
    struct report report;
    struct strbuf text = {0};
    struct text_options options = {.verbose = verbose};
    struct verdict verdict;
    char file[128];
    fixture(&report);
    verdict = verdict_decide(&report, 0, 0);
    report_text(&text, &report, &options);
    verdict_line(&text, &report, &verdict);
    snprintf(file, sizeof file, "%s.txt", name);
    compare(&text, file);
    strbuf_clear(&text);
    assert_true(report_json(&text, &report, &verdict, verbose));
    snprintf(file, sizeof file, "%s.json", name);
    compare(&text, file);
    strbuf_finish(&text);
    report_finish(&report);
}

static void handover(void **state)
{
    both(fixture_handover, "handover", false);
}

static void handover_verbose(void **state)
{
    both(fixture_handover, "handover_verbose", true);
}

static void host_write(void **state)
{
    both(fixture_host_write, "host_write", false);
}

static void lifetimes(void **state)
{
    both(fixture_lifetimes, "lifetimes", false);
}

static void advice(void **state)
{
    both(fixture_advice, "advice", false);
}

static void portability(void **state)
{
    both(fixture_portability, "portability", false);
}

static void long_names(void **state)
{
    both(fixture_long_names, "long_names", false);
}

static void losses(void **state)
{
    both(fixture_losses, "losses", false);
}

static void processes(void **state)
{
    struct report report, more;
    struct strbuf text = {0};
    struct text_options options = {0};
    struct verdict verdict;
    fixture_handover(&report);
    fixture_lifetimes(&more);
    assert_true(report_merge(&report, &more, 2));
    verdict = verdict_decide(&report, 0, 0);
    report_text(&text, &report, &options);
    verdict_line(&text, &report, &verdict);
    compare(&text, "processes.txt");
    strbuf_clear(&text);
    assert_true(report_json(&text, &report, &verdict, false));
    compare(&text, "processes.json");
    strbuf_finish(&text);
    report_finish(&report);
    report_finish(&more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handover),   cmocka_unit_test(handover_verbose),
        cmocka_unit_test(host_write), cmocka_unit_test(lifetimes),
        cmocka_unit_test(advice),     cmocka_unit_test(portability),
        cmocka_unit_test(long_names), cmocka_unit_test(losses),
        cmocka_unit_test(processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
