/* The text and the JSON of hand-made reports against the files beside this one.
 *
 * UPDATE_GOLDEN=1 writes the files instead (scripts/update-golden). */
#include "golden/fixtures.h"

#include "core/explain.h"

#include "report/report.h"
#include "report/suppress.h"

#include "trace/reader.h"

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

static void errors(void **state)
{
    both(fixture_errors, "errors", false);
}

static void witnesses(void **state)
{
    both(fixture_witnesses, "witnesses", false);
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

/* Reads a listing, explains it, and prints both forms with times and sizes fixed. */
static void from_listing(void **state)
{
    struct engine_options how = {0};
    struct explain_options options = {0};
    struct engine *engine = engine_create(&how);
    struct reader *reader;
    struct report report = {0};
    struct ssan_event event;
    struct ssan_error err = {0};
    struct strbuf text = {0};
    struct text_options text_options = {0};
    struct verdict verdict;
    assert_int_equal(reader_open(&reader, SSAN_SOURCE_DIR "/tests/golden/handover.listing", &err),
                     SSAN_OK);
    while (ssan_next(reader_source(reader), &event, &err) == SSAN_NEXT_EVENT) {
        assert_int_equal(engine_feed(engine, &event, &err), SSAN_OK);
    }
    assert_string_equal(err.text, "");
    assert_int_equal(engine_finish(engine, &err), SSAN_OK);
    assert_int_equal(explain(&report, engine, reader_source(reader), &options, &err), SSAN_OK);
    report.run.seconds = report.run.memory_bytes = report.run.trace_bytes = 0;
    verdict = verdict_decide(&report, 0, 0);
    report_text(&text, &report, &text_options);
    verdict_line(&text, &report, &verdict);
    compare(&text, "from_listing.txt");
    strbuf_clear(&text);
    assert_true(report_json(&text, &report, &verdict, false));
    compare(&text, "from_listing.json");
    strbuf_finish(&text);
    report_finish(&report);
    reader_close(reader);
    engine_destroy(engine);
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

/* The short form of every fixture, and of processes. */
static void short_form(void **state)
{
    static void (*const fixtures[])(struct report *) = {
        fixture_handover,    fixture_host_write, fixture_lifetimes, fixture_advice,
        fixture_portability, fixture_losses,     fixture_witnesses, fixture_errors,
    };
    struct strbuf text = {0};
    size_t i;
    for (i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
        struct report report;
        struct verdict verdict;
        fixtures[i](&report);
        verdict = verdict_decide(&report, 0, 0);
        report_short(&text, &report, false);
        verdict_line(&text, &report, &verdict);
        report_finish(&report);
    }
    compare(&text, "short.txt");
    strbuf_finish(&text);
}

/* What tells a race goes, what was folded into it is told in its place. */
static void suppressed(void **state)
{
    struct suppression entries[] = {
        {"known.yaml", 1, "SSAN-RAW", NULL, "d?v", "scale", "the reader checks a version", 0},
        {"known.yaml", 5, NULL, "deadbeef", NULL, NULL, "left over", 0},
    };
    struct report report;
    struct strbuf text = {0};
    struct text_options options = {0};
    struct verdict verdict;
    fixture_handover(&report);
    assert_true(suppress_apply(&report, entries, 2));
    verdict = verdict_decide(&report, 0, 0);
    report_text(&text, &report, &options);
    verdict_line(&text, &report, &verdict);
    compare(&text, "suppressed.txt");
    strbuf_clear(&text);
    assert_true(report_json(&text, &report, &verdict, false));
    compare(&text, "suppressed.json");
    strbuf_finish(&text);
    report_finish(&report);
}

static void ready_entries(void **state)
{
    struct report report, more;
    struct strbuf text = {0};
    fixture_handover(&report);
    fixture_advice(&more);
    assert_true(report_merge(&report, &more, 2));
    suppress_entries(&text, &report);
    compare(&text, "suppressions.yaml");
    strbuf_finish(&text);
    report_finish(&report);
    report_finish(&more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handover),      cmocka_unit_test(handover_verbose),
        cmocka_unit_test(host_write),    cmocka_unit_test(lifetimes),
        cmocka_unit_test(errors),        cmocka_unit_test(advice),
        cmocka_unit_test(witnesses),     cmocka_unit_test(portability),
        cmocka_unit_test(long_names),    cmocka_unit_test(losses),
        cmocka_unit_test(processes),     cmocka_unit_test(from_listing),
        cmocka_unit_test(short_form),    cmocka_unit_test(suppressed),
        cmocka_unit_test(ready_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
