/* One program for each nearest miss of docs/report.md: its kind, its fix as a source edit, and that
 * the engine agrees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "explain_script.h"

/* Two streams, two events, one block on the device: what most programs here begin with. */
struct pipeline {
    struct script script;
    uint32_t producer, consumer, ready, other;
    uint64_t dev;
};

static struct pipeline pipeline;

static struct script *begin_as(enum ssan_stream_flavour producer, enum ssan_stream_flavour consumer)
{
    struct script *script = &pipeline.script;
    script_begin(script);
    pipeline.dev = script_alloc(script, SSAN_memory_DEVICE, "cudaMalloc", 25,
                                "cudaMalloc((void **)&dev, bytes);");
    pipeline.producer =
        producer == SSAN_stream_flavour_LEGACY
            ? script_stream(script, producer, 26, NULL)
            : script_stream(script, producer, 26,
                            "cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking);");
    pipeline.consumer = script_stream(
        script, consumer, 27, "cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking);");
    pipeline.ready =
        script_event(script, 28, "cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);");
    pipeline.other =
        script_event(script, 29, "cudaEventCreateWithFlags(&other, cudaEventDisableTiming);");
    return script;
}

static struct script *begin(void)
{
    return begin_as(SSAN_stream_flavour_NON_BLOCKING, SSAN_stream_flavour_NON_BLOCKING);
}

static void scale(unsigned line)
{
    script_update(&pipeline.script, pipeline.producer, "scale", pipeline.dev, line,
                  "scale<<<16, 256, 0, producer>>>(dev, COUNT);");
}

static void add(unsigned line)
{
    script_update(&pipeline.script, pipeline.consumer, "add", pipeline.dev, line,
                  "add<<<16, 256, 0, consumer>>>(dev, COUNT);");
}

static void record(unsigned line)
{
    script_record(&pipeline.script, pipeline.producer, pipeline.ready, line,
                  "cudaEventRecord(ready, producer);");
}

static void wait(unsigned line)
{
    script_wait(&pipeline.script, pipeline.consumer, pipeline.ready, line,
                "cudaStreamWaitEvent(consumer, ready, 0);");
}

static void join_all(unsigned line)
{
    script_sync(&pipeline.script, SSAN_sync_kind_DEVICE, 1, "cudaDeviceSynchronize", line,
                "cudaDeviceSynchronize();");
}

static void recorded_not_waited(void)
{
    begin();
    scale(32);
    record(33);
    add(34);
    join_all(36);
}

static void wrong_event(void)
{
    struct script *script = begin();
    script_record(script, pipeline.producer, pipeline.other, 31,
                  "cudaEventRecord(other, producer);");
    scale(32);
    record(33);
    script_wait(script, pipeline.consumer, pipeline.other, 34,
                "cudaStreamWaitEvent(consumer, other, 0);");
    add(35);
    join_all(36);
}

static void recorded_early(void)
{
    begin();
    record(30);
    scale(32);
    wait(33);
    add(34);
    join_all(36);
}

static void waited_late(void)
{
    begin();
    scale(32);
    record(33);
    add(34);
    wait(35);
    join_all(36);
}

static void never_recorded(void)
{
    begin();
    wait(31);
    scale(32);
    record(33);
    add(34);
    join_all(36);
}

static void never_recorded_at_all(void)
{
    begin();
    scale(32);
    wait(33);
    add(34);
    join_all(36);
}

static void re_recorded(void)
{
    struct script *script = begin();
    const uint32_t side = script_stream(script, SSAN_stream_flavour_NON_BLOCKING, 30,
                                        "cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);");
    scale(32);
    record(33);
    script_record(script, side, pipeline.ready, 34, "cudaEventRecord(ready, side);");
    wait(35);
    add(36);
    join_all(38);
}

static void host_late(void)
{
    struct script *script = begin();
    scale(32);
    add(34);
    script_sync(script, SSAN_sync_kind_STREAM, pipeline.producer, "cudaStreamSynchronize", 35,
                "cudaStreamSynchronize(producer);");
    join_all(36);
}

static void legacy_exempt(void)
{
    struct script *script = begin_as(SSAN_stream_flavour_LEGACY, SSAN_stream_flavour_NON_BLOCKING);
    script_update(script, pipeline.producer, "scale", pipeline.dev, 32,
                  "scale<<<16, 256>>>(dev, COUNT);");
    add(34);
    join_all(36);
}

static void pageable_staging(void)
{
    struct script *script = begin_as(SSAN_stream_flavour_LEGACY, SSAN_stream_flavour_NON_BLOCKING);
    script_copy(script, pipeline.producer, SSAN_form_SYNC, pipeline.dev, 0x5000, 32,
                "cudaMemcpy(dev, h_in + i * n, bytes, cudaMemcpyHostToDevice);");
    add(34);
    join_all(36);
}

static void none(void)
{
    begin();
    scale(32);
    add(34);
    join_all(36);
}

/* More work between p and c: a record right behind p, the event made where the streams are. */
static void none_with_more(void)
{
    struct script *script = begin();
    scale(32);
    const uint64_t more =
        script_alloc(script, SSAN_memory_DEVICE, "cudaMalloc", 33, "cudaMalloc(&more, bytes);");
    script_update(script, pipeline.producer, "extra", more, 34,
                  "extra<<<1, 1, 0, producer>>>(more);");
    add(35);
    join_all(36);
}

static void host_recorded(void)
{
    struct script *script = begin();
    const uint64_t pinned = script_alloc(script, SSAN_memory_PINNED, "cudaMallocHost", 30,
                                         "cudaMallocHost(&in, bytes);");
    script_copy(script, pipeline.producer, SSAN_form_ASYNC, pipeline.dev, pinned, 32,
                "cudaMemcpyAsync(dev, in, bytes, cudaMemcpyHostToDevice, producer);");
    record(33);
    script_host(script, SSAN_access_WRITE, pinned, 52, "HOST_WRITE(in, bytes);");
    join_all(56);
}

static void host_joined_late(void)
{
    struct script *script = begin();
    const uint64_t pinned = script_alloc(script, SSAN_memory_PINNED, "cudaMallocHost", 30,
                                         "cudaMallocHost(&out, bytes);");
    script_copy(script, pipeline.producer, SSAN_form_ASYNC, pinned, pipeline.dev, 32,
                "cudaMemcpyAsync(out, dev, bytes, cudaMemcpyDeviceToHost, producer);");
    script_host(script, SSAN_access_READ, pinned, 52, "HOST_READ(out, bytes);");
    script_sync(script, SSAN_sync_kind_STREAM, pipeline.producer, "cudaStreamSynchronize", 56,
                "cudaStreamSynchronize(producer);");
}

static void free_in_flight(void)
{
    struct script *script = begin();
    scale(32);
    script_free(script, 1, "cudaFree", 40, "cudaFree(dev);");
    join_all(56);
}

/* The stream is gone by then: no name is left to wait for. */
static void free_behind_destroy(void)
{
    struct script *script = begin();
    scale(32);
    script->events[script->count++] = (struct ssan_event){
        .kind = SSAN_EV_stream_destroy, .stream_destroy = {pipeline.producer, 1, 0}};
    script_free(script, 1, "cudaFree", 40, "cudaFree(dev);");
    join_all(56);
}

static void use_after_free(void)
{
    struct script *script = begin();
    script_free(script, 1, "cudaFree", 30, "cudaFree(dev);");
    scale(32);
    join_all(34);
    script_sync(script, SSAN_sync_kind_STREAM, pipeline.consumer, "cudaStreamSynchronize", 35,
                "cudaStreamSynchronize(consumer);");
}

/* A ring of slots in a loop: each upload waits for nobody; the event of its slot is recorded
 * further down. */
static void ring(void)
{
    struct script *script = begin();
    const uint64_t in =
        script_alloc(script, SSAN_memory_PINNED, "cudaMallocHost", 30, "cudaMallocHost(&in, n);");
    const uint32_t events[2] = {pipeline.ready, pipeline.other};
    const uint64_t more =
        script_alloc(script, SSAN_memory_DEVICE, "cudaMalloc", 31, "cudaMalloc(&ring, bytes);");
    const uint64_t slots[2] = {pipeline.dev, more};
    for (unsigned i = 0; i < 6; i++) {
        script_copy(script, pipeline.producer, SSAN_form_ASYNC, slots[i % 2], in, 40,
                    "cudaMemcpyAsync(ring[s], in, bytes, cudaMemcpyHostToDevice, producer);");
        const uint32_t full = script_event(script, 41, "cudaEventCreate(&full);");
        script_record(script, pipeline.producer, full, 42, "cudaEventRecord(full, producer);");
        script_wait(script, pipeline.consumer, full, 43, "cudaStreamWaitEvent(consumer, full, 0);");
        script_kernel(script, pipeline.consumer, "drain", SSAN_access_READ, slots[i % 2], 44,
                      "drain<<<16, 256, 0, consumer>>>(ring[s]);");
        script_record(script, pipeline.consumer, events[i % 2], 45,
                      "cudaEventRecord(empty[s], consumer);");
    }
    join_all(50);
}

/* The wait of the same round comes before the record: each round is one step behind. */
static void one_step_behind(void)
{
    struct script *script = begin();
    for (unsigned i = 0; i < 4; i++) {
        const uint64_t slot =
            script_alloc(script, SSAN_memory_DEVICE, "cudaMalloc", 30, "cudaMalloc(&x[r], n);");
        wait(40);
        script_kernel(script, pipeline.producer, "produce", SSAN_access_WRITE, slot, 41,
                      "produce<<<16, 256, 0, producer>>>(x[r]);");
        record(42);
        script_kernel(script, pipeline.consumer, "consume", SSAN_access_READ, slot, 43,
                      "consume<<<16, 256, 0, consumer>>>(x[r]);");
    }
    join_all(50);
}

/* An edit as "line: statement", or "line: -" for a statement that goes. */
static const struct case_of {
    const char *name;
    void (*program)(void);
    enum check check;
    enum nearest_kind kind;
    enum fix_kind fix;
    const char *edits[5];
} cases[] = {
    {"recorded-not-waited",
     recorded_not_waited,
     CHECK_RAW,
     NEAREST_RECORDED_NOT_WAITED,
     FIX_INSERT_WAIT,
     {"34: cudaStreamWaitEvent(consumer, ready, 0);"}},
    {"wrong-event",
     wrong_event,
     CHECK_RAW,
     NEAREST_WRONG_EVENT,
     FIX_INSERT_WAIT,
     {"35: cudaStreamWaitEvent(consumer, ready, 0);"}},
    {"recorded-early",
     recorded_early,
     CHECK_RAW,
     NEAREST_RECORDED_EARLY,
     FIX_MOVE_RECORD,
     {"30: -", "33: cudaEventRecord(ready, producer);"}},
    {"waited-late",
     waited_late,
     CHECK_RAW,
     NEAREST_WAITED_LATE,
     FIX_MOVE_WAIT,
     {"34: cudaStreamWaitEvent(consumer, ready, 0);", "35: -"}},
    {"never-recorded",
     never_recorded,
     CHECK_RAW,
     NEAREST_NEVER_RECORDED,
     FIX_MOVE_WAIT,
     {"34: cudaStreamWaitEvent(consumer, ready, 0);", "31: -"}},
    {"never-recorded at all",
     never_recorded_at_all,
     CHECK_RAW,
     NEAREST_NEVER_RECORDED,
     FIX_RECORD_WAIT,
     {"34: cudaEventRecord(ready, producer);", "34: cudaStreamWaitEvent(consumer, ready, 0);"}},
    {"re-recorded",
     re_recorded,
     CHECK_RAW,
     NEAREST_RE_RECORDED,
     FIX_SECOND_EVENT,
     {"27: cudaEvent_t ssan_ready;",
      "27: cudaEventCreateWithFlags(&ssan_ready, cudaEventDisableTiming);",
      "34: cudaEventRecord(ssan_ready, producer);",
      "36: cudaStreamWaitEvent(consumer, ssan_ready, 0);"}},
    {"host-late",
     host_late,
     CHECK_RAW,
     NEAREST_HOST_LATE,
     FIX_HOST_SYNC,
     {"34: cudaStreamSynchronize(producer);"}},
    {"legacy-exempt",
     legacy_exempt,
     CHECK_RAW,
     NEAREST_LEGACY_EXEMPT,
     FIX_RECORD_WAIT,
     {"27: cudaEvent_t ssan_ready;",
      "27: cudaEventCreateWithFlags(&ssan_ready, cudaEventDisableTiming);",
      "34: cudaEventRecord(ssan_ready, cudaStreamLegacy);",
      "34: cudaStreamWaitEvent(consumer, ssan_ready, 0);"}},
    {"pageable-staging",
     pageable_staging,
     CHECK_RAW,
     NEAREST_PAGEABLE_STAGING,
     FIX_RECORD_WAIT,
     {"27: cudaEvent_t ssan_ready;",
      "27: cudaEventCreateWithFlags(&ssan_ready, cudaEventDisableTiming);",
      "34: cudaEventRecord(ssan_ready, cudaStreamLegacy);",
      "34: cudaStreamWaitEvent(consumer, ssan_ready, 0);"}},
    {"none",
     none,
     CHECK_RAW,
     NEAREST_NONE,
     FIX_RECORD_WAIT,
     {"27: cudaEvent_t ssan_ready;",
      "27: cudaEventCreateWithFlags(&ssan_ready, cudaEventDisableTiming);",
      "34: cudaEventRecord(ssan_ready, producer);",
      "34: cudaStreamWaitEvent(consumer, ssan_ready, 0);"}},
    {"none, more work between",
     none_with_more,
     CHECK_RAW,
     NEAREST_NONE,
     FIX_RECORD_WAIT,
     {"27: cudaEvent_t ssan_ready;",
      "27: cudaEventCreateWithFlags(&ssan_ready, cudaEventDisableTiming);",
      "33: cudaEventRecord(ssan_ready, producer);",
      "35: cudaStreamWaitEvent(consumer, ssan_ready, 0);"}},
    {"host, recorded",
     host_recorded,
     CHECK_WAR,
     NEAREST_RECORDED_NOT_WAITED,
     FIX_HOST_SYNC,
     {"52: cudaEventSynchronize(ready);"}},
    {"host, joined late",
     host_joined_late,
     CHECK_RAW,
     NEAREST_HOST_LATE,
     FIX_HOST_SYNC,
     {"52: cudaStreamSynchronize(producer);"}},
    {"free in flight",
     free_in_flight,
     CHECK_FREE_IN_FLIGHT,
     NEAREST_HOST_LATE,
     FIX_HOST_SYNC,
     {"40: cudaStreamSynchronize(producer);"}},
    {"free behind destroy",
     free_behind_destroy,
     CHECK_FREE_IN_FLIGHT,
     NEAREST_HOST_LATE,
     FIX_HOST_SYNC,
     {"40: cudaDeviceSynchronize();"}},
    {"use after free",
     use_after_free,
     CHECK_USE_AFTER_FREE,
     NEAREST_NONE,
     FIX_MOVE_FREE,
     {"30: -", "35: cudaFree(dev);"}},
    {"ring",
     ring,
     CHECK_WAR,
     NEAREST_RECORDED_NOT_WAITED,
     FIX_INSERT_WAIT,
     {"40: cudaStreamWaitEvent(producer, empty[s], 0);"}},
    {"one step behind",
     one_step_behind,
     CHECK_RAW,
     NEAREST_WAITED_LATE,
     FIX_INSERT_WAIT,
     {"43: cudaStreamWaitEvent(consumer, ready, 0);"}},
};

static void assert_edits(const struct case_of *want, const struct fix *fix)
{
    size_t count = 0;
    for (; count < 5 && want->edits[count]; count++) {
        char text[256];
        assert_true(count < fix->edit_count);
        const struct source_edit *edit = &fix->edits[count];
        assert_string_equal("handover.cu", edit->file);
        snprintf(text, sizeof text, "%u: %s", edit->line, edit->remove ? "-" : edit->insert_before);
        assert_string_equal(want->edits[count], text);
    }
    assert_int_equal(count, fix->edit_count);
}

/* The finding that is no misuse, and that it is the only one. */
static const struct finding *only_finding(const struct report *report)
{
    const struct finding *found = NULL;
    for (size_t i = 0; i < report->finding_count; i++) {
        if (check_info(report->findings[i]->check)->family != FAMILY_MISUSE) {
            assert_null(found);
            found = report->findings[i];
        }
    }
    assert_non_null(found);
    return found;
}

static void test_cases(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct report report;
        print_message("%s\n", cases[i].name);
        cases[i].program();
        assert_int_equal(SSAN_OK, script_explain(&pipeline.script, NULL, &report));
        const struct finding *finding = only_finding(&report);
        assert_string_equal(check_info(cases[i].check)->id, check_info(finding->check)->id);
        assert_string_equal(nearest_word(cases[i].kind), nearest_word(finding->nearest.kind));
        assert_non_null(finding->fix);
        assert_true(finding->fix->checked);
        assert_false(finding->fix->partial);
        assert_false(finding->fix->borrowed);
        assert_string_equal(fix_word(cases[i].fix), fix_word(finding->fix->kind));
        assert_edits(&cases[i], finding->fix);
        assert_true(finding->window_count >= 2 && finding->window_count <= 12);
        report_finish(&report);
    }
}

/* Over two threads: --threads strict says that nothing hands over; observed says that the fix is
 * not all. */
static void test_host_threads(void **state)
{
    const struct explain_options strict = {.threads_strict = true};
    struct report report;
    struct script *script = begin();
    scale(32);
    record(33);
    script->thread = 2;
    wait(34);
    add(35);
    assert_int_equal(SSAN_OK, script_explain(script, &strict, &report));
    assert_int_equal(CHECK_EVENT_RACE, only_finding(&report)->check);
    assert_int_equal(NEAREST_HOST_THREADS, only_finding(&report)->nearest.kind);
    assert_true(only_finding(&report)->nearest.event >= 0);
    assert_null(only_finding(&report)->fix);
    report_finish(&report);

    begin();
    scale(32);
    record(33);
    script->thread = 2;
    add(35);
    assert_int_equal(SSAN_OK, script_explain(script, NULL, &report));
    assert_int_equal(NEAREST_RECORDED_NOT_WAITED, only_finding(&report)->nearest.kind);
    assert_true(only_finding(&report)->fix->partial);
    report_finish(&report);
}

/* Names of another function are marked. */
static void test_borrowed(void **state)
{
    struct report report;
    struct script *script = begin();
    script->function = "produce";
    scale(12);
    script->function = "consume";
    add(22);
    assert_int_equal(SSAN_OK, script_explain(script, NULL, &report));
    assert_true(only_finding(&report)->fix->borrowed);
    report_finish(&report);
}

/* A per-thread default stream has no name in another thread: the whole device is waited for. */
static void test_per_thread_streams(void **state)
{
    struct report report;
    struct script *script =
        begin_as(SSAN_stream_flavour_PER_THREAD, SSAN_stream_flavour_NON_BLOCKING);
    scale(32);
    script->thread = 2;
    add(35);
    assert_int_equal(SSAN_OK, script_explain(script, NULL, &report));
    assert_non_null(only_finding(&report)->fix);
    assert_int_equal(1, only_finding(&report)->fix->edit_count);
    assert_string_equal("cudaDeviceSynchronize();",
                        only_finding(&report)->fix->edits[0].insert_before);
    report_finish(&report);
}

/* Another stream waits for the event; the first stream waits for the second. */
static void test_other_waits(void **state)
{
    struct report report;
    struct script *script = begin();
    const uint32_t third = script_stream(script, SSAN_stream_flavour_NON_BLOCKING, 30, NULL);
    scale(32);
    record(33);
    script_wait(script, third, pipeline.ready, 34, NULL);
    add(35);
    assert_int_equal(SSAN_OK, script_explain(script, NULL, &report));
    assert_int_equal(NEAREST_RECORDED_NOT_WAITED, only_finding(&report)->nearest.kind);
    assert_true(only_finding(&report)->nearest.elsewhere);
    report_finish(&report);

    script = begin();
    script_record(script, pipeline.consumer, pipeline.ready, 30, NULL);
    script_wait(script, pipeline.producer, pipeline.ready, 31, NULL);
    scale(32);
    add(35);
    assert_int_equal(SSAN_OK, script_explain(script, NULL, &report));
    assert_int_equal(NEAREST_NONE, only_finding(&report)->nearest.kind);
    assert_true(only_finding(&report)->nearest.reversed);
    assert_true(only_finding(&report)->nearest.wait >= 0);
    report_finish(&report);
}

/* A statement before the only one under an `if` would be elsewhere. */
static void test_body_without_braces(void **state)
{
    struct report report;
    struct script *script = begin();
    scale(32);
    script_update(script, pipeline.consumer, "add", pipeline.dev, 35,
                  "if (on) add<<<16, 256, 0, consumer>>>(dev, COUNT);");
    assert_int_equal(SSAN_OK, script_explain(script, NULL, &report));
    assert_null(only_finding(&report)->fix);
    report_finish(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),       cmocka_unit_test(test_host_threads),
        cmocka_unit_test(test_borrowed),    cmocka_unit_test(test_per_thread_streams),
        cmocka_unit_test(test_other_waits), cmocka_unit_test(test_body_without_braces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
