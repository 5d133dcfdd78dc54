/* Random traces through explain: what a report says of itself holds, and equal traces give equal
 * reports.
 *
 * The traces have no lines, so fixes show only in what folds; each kind of hazard and of host edge
 * comes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/explain.h"
#include "support/must.h"
#include "support/random_trace.h"

#define TRACES     300
#define OPERATIONS 40

struct tape_source {
    struct ssan_source source;
    const struct tape *tape;
    size_t at;
};

static enum ssan_next next(struct ssan_source *source, struct ssan_event *event,
                           struct ssan_error *err)
{
    struct tape_source *self = (struct tape_source *)source;
    if (self->at == self->tape->events.count) {
        return SSAN_NEXT_END;
    }
    *event = self->tape->events.items[self->at++];
    return SSAN_NEXT_EVENT;
}

static bool again(struct ssan_source *source)
{
    ((struct tape_source *)source)->at = 0;
    return true;
}

/* Engine and explain on a tape; the caller finishes the report. */
static void explain_tape(const struct tape *tape, const struct explain_options *options,
                         struct report *report)
{
    struct tape_source source = {{next, again}, tape, 0};
    const struct engine_options engine_options = {
        .threads = options->threads_strict ? THREADS_STRICT : THREADS_OBSERVED};
    struct engine *engine = engine_create(&engine_options);
    struct ssan_event event;
    MUST(engine);
    while (next(&source.source, &event, NULL) == SSAN_NEXT_EVENT) {
        MUST(engine_feed(engine, &event, NULL) == SSAN_OK);
    }
    MUST(engine_finish(engine, NULL) == SSAN_OK);
    memset(report, 0, sizeof *report);
    assert_int_equal(SSAN_OK, explain(report, engine, &source.source, options, NULL));
    engine_destroy(engine);
}

static void assert_index(int index, size_t count)
{
    assert_true(index >= -1 && index < (int)count);
}

static void assert_finding(const struct report *report, const struct finding *finding)
{
    assert_int_equal(8, strlen(finding->id));
    assert_index(finding->buffer, report->buffer_count);
    assert_index(finding->stream, report->stream_count);
    assert_index(finding->event, report->event_count);
    assert_index(finding->first.op, report->op_count);
    assert_index(finding->then.op, report->op_count);
    assert_index(finding->nearest.event, report->event_count);
    assert_index(finding->nearest.other_event, report->event_count);
    assert_index(finding->nearest.record, report->op_count);
    assert_index(finding->nearest.wait, report->op_count);
    assert_index(finding->nearest.other_record, report->op_count);
    assert_true(finding->window_count <= 12);
    for (size_t i = 0; i < finding->window_count; i++) {
        assert_true(finding->window[i] >= 0 && finding->window[i] < (int)report->op_count);
        assert_true(i == 0 || finding->window[i - 1] < finding->window[i]);
    }
    for (size_t i = 0; i < finding->bytes.count; i++) {
        assert_true(finding->bytes.items[i].begin < finding->bytes.items[i].end);
    }
    for (size_t i = 0; i < finding->folded_count; i++) {
        assert_true(finding->folded[i]->severity <= finding->severity);
        assert_int_not_equal(FAMILY_MISUSE, check_info(finding->folded[i]->check)->family);
        assert_int_equal(0, finding->folded[i]->folded_count);
        assert_finding(report, finding->folded[i]);
    }
}

static void assert_report(const struct report *report)
{
    for (size_t i = 0; i < report->finding_count; i++) {
        const struct finding *finding = report->findings[i];
        assert_finding(report, finding);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(report->findings[k]->id, finding->id);
        }
    }
    for (size_t i = 0; i < report->op_count; i++) {
        assert_index(report->ops[i].stream, report->stream_count);
        assert_index(report->ops[i].event, report->event_count);
        assert_index(report->ops[i].src.buffer, report->buffer_count);
        assert_index(report->ops[i].dst.buffer, report->buffer_count);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(report->ops[k].id, report->ops[i].id);
            assert_string_not_equal(report->ops[k].label, report->ops[i].label);
        }
    }
    for (size_t i = 0; i < report->edge_count; i++) {
        assert_true(report->edges[i].from < report->edges[i].to);
    }
}

static void assert_same(const struct report *a, const struct report *b)
{
    assert_int_equal(a->finding_count, b->finding_count);
    for (size_t i = 0; i < a->finding_count; i++) {
        assert_string_equal(a->findings[i]->id, b->findings[i]->id);
        assert_int_equal(a->findings[i]->folded_count, b->findings[i]->folded_count);
    }
    assert_int_equal(a->op_count, b->op_count);
    for (size_t i = 0; i < a->op_count; i++) {
        assert_string_equal(a->ops[i].label, b->ops[i].label);
    }
}

static void test_random(void **state)
{
    size_t findings = 0, folded = 0;
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        const struct explain_options options = {
            .threads_strict = seed % 3 == 0, .order_documented = seed % 5 == 0, .max_checks = 40};
        struct rng rng = {seed};
        struct tape tape = {0};
        struct report report, second;
        random_trace(&tape, &rng, OPERATIONS);
        explain_tape(&tape, &options, &report);
        assert_report(&report);
        for (size_t i = 0; i < report.finding_count; i++) {
            findings++;
            folded += report.findings[i]->folded_count;
        }
        if (seed % 10 == 0) {
            explain_tape(&tape, &options, &second);
            assert_same(&report, &second);
            report_finish(&second);
        }
        report_finish(&report);
        tape_finish(&tape);
    }
    print_message("%d traces, seeds 1 to %d: %zu findings, %zu folded\n", TRACES, TRACES, findings,
                  folded);
    assert_true(findings > 100 && folded > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
