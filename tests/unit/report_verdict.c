/* The verdict: every loss makes a run incomplete, errors stand over it, and the line begins as
 * scripts expect. */
#include "golden/fixtures.h"

#include "report/report.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

/* A whole run without findings. */
static void clean(struct report *report)
{
    fixture_losses(report);
    report->run.unsupported_count = report->run.reason_count = 0;
    report->run.unsupported_at = NULL;
    memset(report->run.lost, 0, sizeof report->run.lost);
    report->run.open_operations = 0;
    report->run.cut = false;
    report->run.fault.text = NULL;
    report->run.exit_signal = 0;
}

static const char *const calls[] = {"cudaGraphLaunch"};
static const char *const reasons[] = {"process 7 still runs"};
static const uint64_t counts[] = {2};

static void lose_nothing(struct report *report)
{
}
static void lose_access(struct report *report)
{
    report->run.lost[SSAN_loss_ACCESSES] = 1;
}
static void lose_operation(struct report *report)
{
    report->run.lost[SSAN_loss_OPERATIONS] = 1;
}
static void lose_stack(struct report *report)
{
    report->run.lost[SSAN_loss_STACKS] = 1;
}
static void lose_end(struct report *report)
{
    report->run.cut = true;
    report->run.has_exit = true; /* of a run that the tool has seen end */
}
static void lose_end_of_file(struct report *report)
{
    report->run.cut = true;
    report->run.has_exit = false;
}
static void lose_close(struct report *report)
{
    report->run.open_operations = 1;
}
static const struct place at[] = {{.file = "a.cu", .line = 7}};
static void lose_call_somewhere(struct report *report)
{
    report->run.unsupported = calls;
    report->run.unsupported_counts = counts;
    report->run.unsupported_at = at;
    report->run.unsupported_count = 1;
}
static void lose_call(struct report *report)
{
    report->run.unsupported_at = NULL;
    report->run.unsupported = calls;
    report->run.unsupported_counts = counts;
    report->run.unsupported_count = 1;
}
static void lose_other(struct report *report)
{
    report->run.reasons = reasons;
    report->run.reason_count = 1;
}
static void lose_context(struct report *report)
{
    report->run.fault.text = "kernel 'k': write of 4 bytes at the illegal address";
    report->run.fault.error = 700;
}
static const char *const missing[] = {"accesses were not observed: no patches"};
static void lose_all_accesses(struct report *report)
{
    report->run.unsupported = missing;
    report->run.unsupported_counts = counts;
    report->run.unsupported_count = 1;
}
static void lose_everything(struct report *report)
{
    report->totals.operations = 0;
}

static const struct {
    void (*lose)(struct report *report);
    const char *says;
} losses[] = {
    {lose_access, "1 access record was lost"},
    {lose_operation, "1 operation record was lost"},
    {lose_stack, "1 host stack was lost"},
    {lose_end, "the program ended without finishing its trace (was it killed?)"},
    {lose_end_of_file, "the trace has no end (the program was killed, or the file is cut off)"},
    {lose_close, "1 operation never finished"},
    {lose_call, "cudaGraphLaunch (2 calls) is not modelled"},
    {lose_call_somewhere, "cudaGraphLaunch (2 calls, the first at a.cu:7) is not modelled"},
    {lose_other, "process 7 still runs"},
    {lose_context, "a device fault ended the run early (illegal address"},
    {lose_all_accesses, "accesses were not observed: no patches; "},
    {lose_everything, "no CUDA operation was accepted"},
};

static void judge(void (*lose)(struct report *), void (*fixture)(struct report *),
                  struct verdict *verdict, struct strbuf *line)
{
    struct report report;
    fixture(&report);
    lose(&report);
    *verdict = verdict_decide(&report, 3, 0);
    verdict_line(line, &report, verdict);
    report_finish(&report);
}

static void every_loss_is_incomplete(void **state)
{
    size_t i;
    for (i = 0; i < sizeof losses / sizeof *losses; i++) {
        struct verdict verdict;
        struct strbuf line = {0};
        judge(losses[i].lose, clean, &verdict, &line);
        assert_int_equal(verdict.kind, VERDICT_INCOMPLETE);
        assert_int_equal(verdict.exit_code, 67);
        assert_int_equal(strncmp(line.text, "streamsan: incomplete: ", 23), 0);
        assert_non_null(strstr(line.text, losses[i].lose == lose_context
                                              ? ", no race or lifetime error; "
                                              : "incomplete: no error, but "));
        assert_non_null(strstr(line.text, losses[i].says));
        assert_null(strstr(line.text, "clean"));
        strbuf_clear(&line);
        judge(losses[i].lose, fixture_handover, &verdict, &line);
        assert_int_equal(verdict.kind, VERDICT_ERRORS);
        assert_false(verdict.complete);
        assert_int_equal(verdict.exit_code, 66);
        assert_int_equal(strncmp(line.text, "streamsan: errors: 1 error (", 28), 0);
        assert_non_null(strstr(line.text, losses[i].says));
        strbuf_finish(&line);
    }
}

static void clean_keeps_the_programs_code(void **state)
{
    struct verdict verdict;
    struct strbuf line = {0};
    judge(lose_nothing, clean, &verdict, &line);
    assert_int_equal(verdict.kind, VERDICT_CLEAN);
    assert_int_equal(verdict.exit_code, 3);
    assert_string_equal(
        line.text,
        "streamsan: clean: 0 warnings, 0 advice; 5 operations, 2 streams; device "
        "accesses exact, host accesses not observed; 0.4 s, 31 MB of memory, 9 KB of trace read\n");
    strbuf_clear(&line);
    judge(lose_nothing, fixture_advice, &verdict, &line);
    assert_int_equal(verdict.kind, VERDICT_CLEAN);
    assert_int_equal(verdict.advice, 2);
    strbuf_clear(&line);
    judge(lose_nothing, fixture_portability, &verdict, &line);
    assert_int_equal(verdict.kind, VERDICT_CLEAN);
    assert_int_equal(verdict.warnings, 1);
    strbuf_finish(&line);
}

static void error_code_is_the_users(void **state)
{
    struct report report;
    fixture_handover(&report);
    assert_int_equal(verdict_decide(&report, 0, 9).exit_code, 9);
    assert_int_equal(verdict_decide(&report, 0, 0).exit_code, 66);
    report_finish(&report);
}

static void scope_is_named(void **state)
{
    struct report report;
    struct verdict verdict;
    struct strbuf line = {0};
    clean(&report);
    report.run.submitting_threads = 2;
    report.run.rounded_sets = 7;
    report.totals.host_accesses = true;
    verdict = verdict_decide(&report, 0, 0);
    verdict_line(&line, &report, &verdict);
    assert_non_null(strstr(line.text, "host accesses as annotated, host threads as observed"));
    assert_non_null(strstr(line.text, "7 byte sets rounded"));
    strbuf_clear(&line);
    report.run.observed = "kernels a*";
    report.totals.footprints = 2;
    verdict_line(&line, &report, &verdict);
    assert_non_null(strstr(line.text, "; device accesses exact (kernels a*), 2 kernels by their "
                                      "arguments only, host accesses as annotated"));
    strbuf_clear(&line);
    report.run.accesses = SSAN_accesses_OFF; /* as the user wished: the scope, and no loss */
    verdict = verdict_decide(&report, 0, 0);
    assert_int_equal(verdict.kind, VERDICT_CLEAN);
    verdict_line(&line, &report, &verdict);
    assert_non_null(strstr(line.text, "; device accesses not observed, host accesses"));
    strbuf_clear(&line);
    report.run.threads_strict = true;
    report.run.order_documented = true;
    verdict_line(&line, &report, &verdict);
    assert_non_null(strstr(line.text, "host threads strict, documented order only"));
    strbuf_finish(&line);
    report_finish(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_loss_is_incomplete),
        cmocka_unit_test(clean_keeps_the_programs_code),
        cmocka_unit_test(error_code_is_the_users),
        cmocka_unit_test(scope_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
