/* The text form: a sentence for each nearest miss, its width, what it never shows, and its limits.
 */
#include "golden/fixtures.h"

#include "report/report.h"
#include "report/text_parts.h"

#include "base/mem.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static const struct {
    enum nearest_kind kind;
    const char *sentence;
} sentences[] = {
    {NEAREST_RECORDED_NOT_WAITED,
     "'ready' (recorded at :33) covers P2, but no stream waits for it before C1."},
    {NEAREST_WRONG_EVENT, "'consumer' waits for 'copied' (recorded at :30, before scale); 'ready' "
                          "(:33) covers P2."},
    {NEAREST_RECORDED_EARLY,
     "'consumer' waits for 'ready', but that was recorded at :30, before scale."},
    {NEAREST_WAITED_LATE, "'consumer' waits for 'ready' at :36, after add was enqueued."},
    {NEAREST_NEVER_RECORDED, "'consumer' waits for 'ready' at :36, but waiting for an event that "
                             "was never recorded orders nothing."},
    {NEAREST_RE_RECORDED, "the wait at :36 uses the record of :38 on 'consumer', not that of :33."},
    {NEAREST_HOST_LATE, "the host waits for 'producer' at :37, after add was enqueued."},
    {NEAREST_LEGACY_EXEMPT, "'producer' and 'consumer' were created with cudaStreamNonBlocking, so "
                            "the default stream does not order them."},
    {NEAREST_PAGEABLE_STAGING,
     "the copy from pageable memory may return before the device has read it."},
    {NEAREST_HOST_THREADS,
     "thread 1 records 'ready' at :33, but nothing orders thread 2's wait at :36 after that."},
    {NEAREST_PEER_DEFAULT, "the default streams of devices 0 and 0 do not order each other."},
    {NEAREST_NONE, "nothing orders 'producer' and 'consumer' at all."},
};

static void each_miss_has_its_sentence(void **state)
{
    size_t i;
    assert_int_equal(sizeof sentences / sizeof *sentences, NEAREST_NONE + 1);
    for (i = 0; i < sizeof sentences / sizeof *sentences; i++) {
        struct report report;
        struct strbuf text = {0};
        fixture_handover(&report);
        fixture_set_nearest(&report, sentences[i].kind);
        text_nearest(&text, &report, report.findings[0]);
        assert_string_equal(strbuf_text(&text), sentences[i].sentence);
        strbuf_finish(&text);
        report_finish(&report);
    }
}

static void who_waits_is_told_as_it_is(void **state)
{
    struct report report;
    struct strbuf text = {0};
    fixture_handover(&report);
    report.findings[0]->nearest.elsewhere = true;
    text_nearest(&text, &report, report.findings[0]);
    assert_string_equal(strbuf_text(&text), "'ready' (recorded at :33) covers P2, but 'consumer' "
                                            "does not wait for it before C1.");
    strbuf_clear(&text);
    report_text(&text, &report, &(struct text_options){0});
    assert_null(strstr(strbuf_text(&text), "nobody"));
    assert_non_null(strstr(strbuf_text(&text), "'consumer' does not wait for it\n"));
    strbuf_finish(&text);
    report_finish(&report);
}

static void a_wait_the_wrong_way_round_is_told(void **state)
{
    struct report report;
    struct strbuf text = {0};
    fixture_handover(&report);
    fixture_set_nearest(&report, NEAREST_WAITED_LATE);
    report.findings[0]->nearest.kind = NEAREST_NONE;
    report.findings[0]->nearest.reversed = true;
    text_nearest(&text, &report, report.findings[0]);
    assert_string_equal(strbuf_text(&text), "'producer' waits for 'consumer' at :36, but not the "
                                            "other way round.");
    strbuf_finish(&text);
    report_finish(&report);
}

static void an_error_without_fix_says_why(void **state)
{
    struct report report;
    struct strbuf text = {0};
    fixture_handover(&report);
    struct finding *finding = report.findings[0];
    struct report_op *first = &report.ops[finding->first.op], *then = &report.ops[finding->then.op];
    finding->fix = NULL;
    text_fix(&text, &report, finding);
    assert_non_null(strstr(strbuf_text(&text), "none printed: no edit that was tried removes"));
    strbuf_clear(&text);
    struct place outer[2][2] = {{then->at, then->at}, {then->at, then->at}};
    outer[0][1].line = 101;
    outer[1][1].line = 102;
    first->at = then->at;
    first->stack = outer[0];
    then->stack = outer[1];
    first->stack_count = then->stack_count = 2;
    text_fix(&text, &report, finding);
    assert_non_null(strstr(strbuf_text(&text), "both operations are enqueued by the same line"));
    strbuf_clear(&text);
    text_sides(&text, &report, finding);
    assert_non_null(strstr(strbuf_text(&text), "called at handover.cu:101\n"));
    assert_non_null(strstr(strbuf_text(&text), "called at handover.cu:102\n"));
    strbuf_finish(&text);
    report_finish(&report);
}

static void one_blocking_stream_is_not_exempt(void **state)
{
    struct report report;
    struct strbuf text = {0};
    fixture_handover(&report);
    fixture_set_nearest(&report, NEAREST_LEGACY_EXEMPT);
    report.streams[0].flavour = SSAN_stream_flavour_LEGACY;
    text_nearest(&text, &report, report.findings[0]);
    assert_string_equal(strbuf_text(&text), "'consumer' was created with cudaStreamNonBlocking, so "
                                            "the default stream does not order it.");
    strbuf_finish(&text);
    report_finish(&report);
}

/* Every line but titles and blank ones is at most REPORT_COLUMNS long. */
static void assert_width(const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (length > REPORT_COLUMNS && text[0] == ' ') {
            fail_msg("%zu columns: %.*s", length, (int)length, text);
        }
        text += length + (text[length] == '\n');
    }
}

static void (*const fixtures[])(struct report *) = {
    fixture_handover,    fixture_host_write, fixture_lifetimes, fixture_advice,
    fixture_portability, fixture_long_names, fixture_losses,    fixture_errors,
};

static void bodies_keep_their_width(void **state)
{
    size_t i;
    for (i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
        int verbose;
        for (verbose = 0; verbose < 2; verbose++) {
            struct report report;
            struct strbuf text = {0};
            struct text_options options = {.verbose = verbose, .with_addresses = verbose};
            fixtures[i](&report);
            report_text(&text, &report, &options);
            assert_false(text.failed);
            assert_width(strbuf_text(&text));
            strbuf_finish(&text);
            report_finish(&report);
        }
    }
}

static void pointers_only_when_asked(void **state)
{
    int asked;
    for (asked = 0; asked < 2; asked++) {
        struct report report;
        struct strbuf text = {0};
        struct text_options options = {.with_addresses = asked};
        fixture_handover(&report);
        report_text(&text, &report, &options);
        assert_int_equal(strstr(strbuf_text(&text), "0x") != NULL, asked);
        strbuf_finish(&text);
        report_finish(&report);
    }
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    while ((text = strstr(text, what))) {
        count++;
        text += strlen(what);
    }
    return count;
}

static void many_findings_are_counted(void **state)
{
    struct report report;
    struct strbuf text = {0};
    struct text_options options = {0};
    size_t i;
    fixture_handover(&report);
    for (i = 1; i < 53; i++) {
        report.findings[i] = report.findings[0];
    }
    report.finding_count = 53;
    report_text(&text, &report, &options);
    assert_int_equal(count_of(strbuf_text(&text), "[SSAN-RAW]"), REPORT_MAX_PRINTED);
    assert_non_null(
        strstr(strbuf_text(&text), "3 more findings are not printed, 3 of them errors"));
    strbuf_clear(&text);
    options.verbose = true;
    report_text(&text, &report, &options);
    assert_int_equal(count_of(strbuf_text(&text), "[SSAN-RAW]"), 53);
    strbuf_finish(&text);
    report_finish(&report);
}

static void quiet_prints_nothing(void **state)
{
    struct report report;
    struct strbuf text = {0};
    struct text_options options = {.quiet = true};
    fixture_handover(&report);
    report_text(&text, &report, &options);
    assert_int_equal(text.length, 0);
    report_finish(&report);
}

static void color_is_only_color(void **state)
{
    struct report report;
    struct strbuf plain = {0}, color = {0};
    struct text_options options = {0};
    char *from, *to;
    fixture_handover(&report);
    report_text(&plain, &report, &options);
    options.color = true;
    report_text(&color, &report, &options);
    assert_string_not_equal(strbuf_text(&plain), strbuf_text(&color));
    for (from = to = color.text; *from;) {
        if (*from == '\033') {
            from = strchr(from, 'm') + 1;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    assert_string_equal(strbuf_text(&plain), color.text);
    strbuf_finish(&plain);
    strbuf_finish(&color);
    report_finish(&report);
}

static void unchecked_fixes_are_not_shown(void **state)
{
    struct report report;
    struct strbuf text = {0};
    struct text_options options = {0};
    fixture_handover(&report);
    ((struct fix *)report.findings[0]->fix)->checked = false;
    report_text(&text, &report, &options);
    assert_null(strstr(strbuf_text(&text), "cudaStreamWaitEvent"));
    strbuf_finish(&text);
    report_finish(&report);
}

/* What nobody checked and no statement makes: the words of who owns the buffer. */
static void usage_is_told_as_it_is(void **state)
{
    struct report report;
    struct strbuf text = {0};
    struct text_options options = {0};
    fixture_handover(&report);
    *(struct fix *)report.findings[0]->fix =
        (struct fix){.kind = FIX_KEEP_USAGE, .usage = "read it between take and release"};
    report_text(&text, &report, &options);
    assert_non_null(strstr(strbuf_text(&text), "  fix        'dev' is a library's, which says of "
                                               "it: read it between take and release.\n"));
    assert_null(strstr(strbuf_text(&text), "checked"));
    strbuf_finish(&text);
    report_finish(&report);
}

/* The library's own function beside the program's call. */
static void library_calls_are_told(void **state)
{
    struct report report;
    struct strbuf text = {0};
    struct text_options options = {0};
    fixture_handover(&report);
    report.ops[report.findings[0]->first.op].library = "lib_submit";
    report_text(&text, &report, &options);
    assert_non_null(strstr(strbuf_text(&text), ", in lib_submit\n"));
    strbuf_finish(&text);
    text = (struct strbuf){0};
    report.findings[0]->first.device_count = 0;
    report_text(&text, &report, &options);
    assert_non_null(strstr(strbuf_text(&text), " in lib_submit\n"));
    strbuf_finish(&text);
    report_finish(&report);
}

static void names_of_a_library_are_told(void **state)
{
    static const char *const words[] = {"event_1", "stream_2"};
    struct report report;
    struct strbuf text = {0};
    struct text_options options = {0};
    fixture_handover(&report);
    struct fix *fix = (struct fix *)report.findings[0]->fix;
    fix->foreign = words;
    fix->foreign_count = 1;
    report_text(&text, &report, &options);
    assert_non_null(strstr(strbuf_text(&text), "event_1 stands"));
    strbuf_finish(&text);
    text = (struct strbuf){0};
    fix->foreign_count = 2;
    report_text(&text, &report, &options);
    assert_non_null(strstr(strbuf_text(&text), "event_1 and stream_2 stand"));
    strbuf_finish(&text);
    report_finish(&report);
}

/* Names outside ASCII are cut by their characters: there is room for what is done to the buffer. */
static void accesses_stand_beside_long_names(void **state)
{
    static const char *const letters[] = {"n", "\xd1\x88"};
    for (size_t i = 0; i < 2; i++) {
        struct report report;
        struct strbuf text = {0}, name = {0};
        fixture_handover(&report);
        for (int k = 0; k < 80; k++) {
            strbuf_puts(&name, letters[i]);
        }
        report.ops[1].name = report.ops[3].name = strbuf_text(&name);
        text_order(&text, &report, report.findings[0]);
        assert_non_null(strstr(strbuf_text(&text), "   writes"));
        assert_non_null(strstr(strbuf_text(&text), "   reads"));
        strbuf_finish(&text);
        strbuf_finish(&name);
        report_finish(&report);
    }
}

/* Of 'producer' the report holds items 1 to 3, of the stream 's9' none. */
static void items_of_an_order_are_labelled_alike(void **state)
{
    static const char *const order[] = {"s1.1", "s2.1", "s2.12", "s1.4", "s9.1", "a1.1"};
    static const char *const replay[] = {"streamsan", "run", "--schedule", "lazy",
                                         "--",        "./a", NULL};
    struct witness witness = {.kind = WITNESS_SILENT,
                              .order = order,
                              .order_count = 6,
                              .memory.buffer = -1,
                              .replay = replay,
                              .reproduced = 1,
                              .repeats = 1};
    struct report report;
    struct strbuf text = {0};
    struct text_options options = {0};
    fixture_handover(&report);
    report.findings[0]->witness = &witness;
    report_text(&text, &report, &options);
    assert_non_null(strstr(strbuf_text(&text), "order P1 C1 C12 P4 s9.1 a1.1 "));
    strbuf_finish(&text);
    report_finish(&report);
}

static void no_memory_shows(void **state)
{
    uint64_t nth, needed;
    struct report report;
    struct strbuf text = {0};
    struct text_options options = {.verbose = true};
    fixture_handover(&report);
    mem_fail_at(0);
    report_text(&text, &report, &options);
    needed = mem_count();
    assert_true(needed > 0);
    for (nth = 1; nth <= needed; nth++) {
        struct strbuf less = {0};
        mem_fail_at(nth);
        report_text(&less, &report, &options);
        mem_fail_at(0);
        assert_true(less.failed);
        strbuf_finish(&less);
    }
    strbuf_finish(&text);
    report_finish(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_miss_has_its_sentence),
        cmocka_unit_test(who_waits_is_told_as_it_is),
        cmocka_unit_test(a_wait_the_wrong_way_round_is_told),
        cmocka_unit_test(an_error_without_fix_says_why),
        cmocka_unit_test(one_blocking_stream_is_not_exempt),
        cmocka_unit_test(bodies_keep_their_width),
        cmocka_unit_test(pointers_only_when_asked),
        cmocka_unit_test(many_findings_are_counted),
        cmocka_unit_test(quiet_prints_nothing),
        cmocka_unit_test(color_is_only_color),
        cmocka_unit_test(unchecked_fixes_are_not_shown),
        cmocka_unit_test(usage_is_told_as_it_is),
        cmocka_unit_test(names_of_a_library_are_told),
        cmocka_unit_test(library_calls_are_told),
        cmocka_unit_test(accesses_stand_beside_long_names),
        cmocka_unit_test(items_of_an_order_are_labelled_alike),
        cmocka_unit_test(no_memory_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
