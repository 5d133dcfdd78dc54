/* What is told of programs whose streams, events and buffers are those of a library: sites of the
 * program, and fixes that it can make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "explain_script.h"

#define LIBRARY "streamsan-pipeline-library/submit.c"

static struct script script;
static uint32_t own, theirs, event;
static uint64_t dev;

/* Calls from here on are made in a library's file, which the program calls at `line`. */
static void enter(void)
{
    script.file = LIBRARY;
    script.function = "lib_submit";
}

static void leave(uint32_t site, unsigned line)
{
    script.file = "main.cu";
    script.function = "main";
    script_frame(&script, site, line, "main", "lib_submit(lib);");
}

/* A library with a stream, an event and a block; the program has a stream of its own. */
static void begin(void)
{
    script_begin(&script);
    enter();
    dev = script_alloc(&script, SSAN_memory_DEVICE, "cudaMalloc", 110, NULL);
    leave(script.sites, 10);
    enter();
    theirs = script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 111, NULL);
    leave(script.sites, 10);
    enter();
    event = script_event(&script, 112, NULL);
    leave(script.sites, 10);
    own = script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 12, "cudaStreamCreate(&own);");
}

static void library_fills(unsigned line)
{
    enter();
    script_update(&script, theirs, "fill", dev, 100 + line, NULL);
    leave(script.sites, line);
    enter();
    script_record(&script, theirs, event, 200 + line, NULL);
    leave(script.sites, line);
}

static void program_adds(uint32_t stream, unsigned line)
{
    script_update(&script, stream, "add", dev, line, "add<<<1, 32, 0, own>>>(dev);");
}

static const struct finding *explained(struct report *report)
{
    script_sync(&script, SSAN_sync_kind_DEVICE, 1, "cudaDeviceSynchronize", 90,
                "cudaDeviceSynchronize();");
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, report));
    assert_int_equal(1, report->finding_count);
    return report->findings[0];
}

/* The site of the library's operation is the program's call. */
static void test_site(void **state)
{
    struct report report;
    begin();
    library_fills(20);
    program_adds(own, 30);
    const struct finding *finding = explained(&report);
    assert_string_equal("main.cu", report.ops[finding->first.op].at.file);
    assert_int_equal(20, report.ops[finding->first.op].at.line);
    assert_string_equal("lib_submit", report.ops[finding->first.op].library);
    assert_null(report.ops[finding->then.op].library);
    report_finish(&report);
}

/* A fix that needs the library's event says so. */
static void test_foreign_names(void **state)
{
    struct report report;
    begin();
    library_fills(20);
    program_adds(own, 30);
    const struct fix *fix = explained(&report)->fix;
    assert_non_null(fix);
    assert_int_equal(FIX_INSERT_WAIT, fix->kind);
    assert_int_equal(1, fix->foreign_count);
    assert_string_equal("event_1", fix->foreign[0]);
    report_finish(&report);
}

/* Where an event of the library would do, one of the program's own is preferred: it has the
 * streams. */
static void test_own_event_preferred(void **state)
{
    struct report report;
    begin();
    const uint32_t other =
        script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 13, "cudaStreamCreate(&other);");
    script_update(&script, other, "scale", dev, 19, "scale<<<1, 32, 0, other>>>(dev);");
    enter();
    script_record(&script, other, event, 200, NULL);
    leave(script.sites, 20);
    program_adds(own, 30);
    const struct finding *finding = explained(&report);
    assert_int_equal(NEAREST_RECORDED_NOT_WAITED, finding->nearest.kind);
    assert_non_null(finding->fix);
    assert_int_equal(FIX_RECORD_WAIT, finding->fix->kind);
    assert_int_equal(0, finding->fix->foreign_count);
    report_finish(&report);
}

/* What the owner says of its block is the fix, unless the owner itself is on both sides. */
static void test_usage(void **state)
{
    struct report report;
    begin();
    script_name(&script, SSAN_object_USAGE, dev, "use it later");
    library_fills(20);
    program_adds(own, 30);
    const struct fix *fix = explained(&report)->fix;
    assert_non_null(fix);
    assert_int_equal(FIX_KEEP_USAGE, fix->kind);
    assert_true(fix_is_told(fix) && !fix->checked);
    assert_string_equal("use it later", fix->usage);
    assert_int_equal(0, fix->edit_count);
    assert_string_equal("buffer #1", report.buffers[0].name);
    report_finish(&report);

    begin();
    script_name(&script, SSAN_object_USAGE, dev, "use it later");
    library_fills(20);
    enter();
    script_update(&script, own, "add", dev, 300, NULL);
    leave(script.sites, 30);
    const struct finding *finding = explained(&report);
    assert_non_null(finding->fix);
    assert_int_not_equal(FIX_KEEP_USAGE, finding->fix->kind);
    report_finish(&report);
}

/* A wrapper in a library's header is no library: the program knows what it makes. */
static void test_headers_are_wrappers(void **state)
{
    struct report report;
    begin();
    script_name(&script, SSAN_object_USAGE, dev, "use it later");
    library_fills(20);
    script.file = "/usr/include/wrap.h";
    script_update(&script, own, "add", dev, 300, NULL);
    leave(script.sites, 30);
    const struct fix *fix = explained(&report)->fix;
    assert_non_null(fix);
    assert_int_equal(FIX_KEEP_USAGE, fix->kind);
    report_finish(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_site),
        cmocka_unit_test(test_foreign_names),
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_own_event_preferred),
        cmocka_unit_test(test_headers_are_wrappers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
