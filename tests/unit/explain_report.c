/* What explain makes of names, ids, folding, tables and the run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "explain_script.h"

static struct script script;

/* The program of the README's demo in small: upload, scale, record on one stream; add, download on
 * the other; the wait is missing. */
static void handover(bool with_wait)
{
    const uint64_t in =
        script_alloc(&script, SSAN_memory_PINNED, "cudaMallocHost", 23,
                     "check(cudaMallocHost(reinterpret_cast<void**>(&input), bytes));");
    const uint64_t out =
        script_alloc(&script, SSAN_memory_PINNED, "cudaMallocHost", 24,
                     "check(cudaMallocHost(reinterpret_cast<void**>(&output), bytes));");
    const uint64_t dev =
        script_alloc(&script, SSAN_memory_DEVICE, "cudaMalloc", 25,
                     "check(cudaMalloc(reinterpret_cast<void**>(&device), bytes));");
    const uint32_t producer =
        script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 26,
                      "check(cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking));");
    const uint32_t consumer =
        script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 27,
                      "check(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking));");
    const uint32_t ready = script_event(
        &script, 28, "check(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));");
    script_copy(&script, producer, SSAN_form_ASYNC, dev, in, 31,
                "check(cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, producer));");
    script_update(&script, producer, "scale", dev, 32,
                  "scale<<<(count + 255) / 256, 256, 0, producer>>>(device, count);");
    script_record(&script, producer, ready, 33, "check(cudaEventRecord(ready, producer));");
    if (with_wait) {
        script_wait(&script, consumer, ready, 34,
                    "check(cudaStreamWaitEvent(consumer, ready, 0));");
    }
    script_update(&script, consumer, "add", dev, 35,
                  "add<<<(count + 255) / 256, 256, 0, consumer>>>(device, count);");
    script_copy(&script, consumer, SSAN_form_ASYNC, out, dev, 36,
                "check(cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, consumer));");
    script_sync(&script, SSAN_sync_kind_STREAM, consumer, "cudaStreamSynchronize", 37,
                "check(cudaStreamSynchronize(consumer));");
    script_host(&script, SSAN_access_READ, out, 40, "SSAN_HOST_READ(output, bytes);");
    script_sync(&script, SSAN_sync_kind_DEVICE, 1, "cudaDeviceSynchronize", 41, NULL);
}

static const struct report_op *op_named(const struct report *report, const char *id)
{
    for (size_t i = 0; i < report->op_count; i++) {
        if (strcmp(report->ops[i].id, id) == 0) {
            return &report->ops[i];
        }
    }
    fail_msg("no operation %s", id);
    return NULL;
}

/* One cause, one finding: everything folds into scale -> add, whose fix is the wait between the
 * record and add. */
static void test_one_finding(void **state)
{
    struct report report;
    script_begin(&script);
    handover(false);
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_int_equal(1, report.finding_count);
    const struct finding *finding = report.findings[0];
    assert_int_equal(CHECK_RAW, finding->check);
    assert_int_equal(SEVERITY_ERROR, finding->severity);
    assert_string_equal("scale", report.ops[finding->first.op].name);
    assert_string_equal("add", report.ops[finding->then.op].name);
    assert_string_equal("device", report.buffers[finding->buffer].name);
    assert_int_equal(1, finding->bytes.count);
    assert_int_equal(0, finding->bytes.items[0].begin);
    assert_int_equal(SCRIPT_BYTES, finding->bytes.items[0].end);
    assert_true(finding->folded_count >= 1);
    assert_int_equal(1, finding->fix->edit_count);
    assert_int_equal(35, finding->fix->edits[0].line);
    assert_string_equal("cudaStreamWaitEvent(consumer, ready, 0);",
                        finding->fix->edits[0].insert_before);
    assert_int_equal(0, finding->fix->leave_count);
    assert_int_equal(1, finding->fix->remove_count);
    assert_string_equal(finding->id, finding->fix->removes[0]);
    for (size_t i = 0; i < finding->folded_count; i++) {
        assert_int_equal(finding->severity, finding->folded[i]->severity);
        assert_string_not_equal(finding->id, finding->folded[i]->id);
    }
    assert_true(finding->has_missing);
    assert_int_equal(0, finding->seen_seq);
    assert_int_equal(2, finding->needed_seq);
    report_finish(&report);
}

static void test_tables(void **state)
{
    static const char *const window[] = {"P1", "P2", "P3", "C1", "C2"};
    static const char *const buffers[] = {"device", "input", "output"};
    struct report report;
    script_begin(&script);
    handover(false);
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    const struct finding *finding = report.findings[0];
    assert_int_equal(5, finding->window_count);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(window[i], report.ops[finding->window[i]].label);
    }
    assert_int_equal(3, report.buffer_count);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(buffers[i], report.buffers[i].name);
        assert_int_equal(NAME_VARIABLE, report.buffers[i].name_from);
    }
    assert_string_equal("cudaMalloc", report.buffers[0].call);
    assert_int_equal(25, report.buffers[0].allocated.line);
    assert_int_equal(2, report.stream_count);
    assert_string_equal("producer", report.streams[0].name);
    assert_int_equal(1, report.event_count);
    assert_string_equal("ready", report.events[0].name);
    const struct report_op *copy = op_named(&report, "s1.1");
    assert_int_equal(ROP_COPY, copy->kind);
    assert_string_equal("input", report.buffers[copy->src.buffer].name);
    assert_string_equal("device", report.buffers[copy->dst.buffer].name);
    assert_int_equal(SCRIPT_BYTES, copy->dst.end);
    const struct report_op *kernel = op_named(&report, "s1.2");
    assert_int_equal(16, kernel->grid[0]);
    assert_int_equal(256, kernel->block[0]);
    assert_int_equal(32, kernel->at.line);
    assert_int_equal(3, report.edge_count);
    report_finish(&report);
}

static void test_run(void **state)
{
    struct report report;
    script_begin(&script);
    handover(true);
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_int_equal(0, report.finding_count);
    assert_true(report.run.complete);
    assert_string_equal("./handover", report.run.command[0]);
    assert_string_equal("-n", report.run.command[1]);
    assert_null(report.run.command[2]);
    assert_string_equal("eager", report.run.schedule);
    assert_int_equal(SSAN_host_scope_ANNOTATED, report.run.host);
    assert_int_equal(SSAN_accesses_EXACT, report.run.accesses);
    assert_int_equal(6, report.totals.operations);
    report_finish(&report);
}

/* A trace without its end, with calls that are not modelled, is not complete. */
static void test_incomplete(void **state)
{
    struct report report;
    script_begin(&script);
    handover(true);
    for (int i = 0; i < 3; i++) {
        script.events[script.count++] = (struct ssan_event){
            .kind = SSAN_EV_unsupported,
            .unsupported = {.call = {i == 1 ? "cudaGraphLaunch" : "cudaMallocAsync", 15}},
        };
    }
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_false(report.run.complete);
    assert_int_equal(2, report.run.unsupported_count);
    assert_string_equal("cudaMallocAsync", report.run.unsupported[0]);
    assert_int_equal(2, report.run.unsupported_counts[0]);
    assert_int_equal(1, report.run.unsupported_counts[1]);
    report_finish(&report);

    script_begin(&script);
    handover(true);
    script.finished = true; /* no exit event */
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_false(report.run.complete);
    assert_true(report.run.cut);
    report_finish(&report);
}

/* Given names win, also for a block of which an inner pointer was named; equal names are told
 * apart. */
static void test_names(void **state)
{
    struct report report;
    script_begin(&script);
    script_alloc(&script, SSAN_memory_DEVICE, "cudaMalloc", 10, "cudaMalloc(&a, n);");
    const uint64_t dev =
        script_alloc(&script, SSAN_memory_DEVICE, "cudaMalloc", 11, "cudaMalloc(&b, n);");
    const uint32_t first =
        script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 12, "cudaStreamCreate(&s[i]);");
    const uint32_t second =
        script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 12, "cudaStreamCreate(&s[i]);");
    script_name(&script, SSAN_object_POINTER, dev + 64, "inner");
    script_update(&script, first, "k", dev, 20, NULL);
    script_update(&script, second, "k", dev, 21, NULL);
    script_name(&script, SSAN_object_STREAM, first, "first");
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_string_equal("inner", report.buffers[0].name);
    assert_int_equal(NAME_GIVEN, report.buffers[0].name_from);
    assert_string_equal("first", report.streams[0].name);
    assert_int_equal(NAME_GIVEN, report.streams[0].name_from);
    assert_string_equal("s[i]", report.streams[1].name);
    report_finish(&report);

    script_begin(&script);
    const uint64_t block = script_alloc(&script, SSAN_memory_DEVICE, "cudaMalloc", 11, NULL);
    for (int i = 0; i < 2; i++) {
        const uint32_t stream = script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 12,
                                              "cudaStreamCreate(&s[i]);");
        script_update(&script, stream, "k", block, 20, NULL);
    }
    const uint32_t third = script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 13, NULL);
    script_update(&script, third, "k", block, 20, NULL);
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_string_equal("s[i]", report.streams[0].name);
    assert_string_equal("s[i]#2", report.streams[1].name);
    assert_string_equal("stream #3", report.streams[2].name);
    assert_int_equal(NAME_ORDINAL, report.streams[2].name_from);
    assert_string_equal("buffer #1", report.buffers[0].name);
    report_finish(&report);
}

/* A block of the program's own allocator, used after it was taken back. */
static void test_pool(void **state)
{
    struct report report;
    script_begin(&script);
    const uint64_t pool =
        script_alloc(&script, SSAN_memory_DEVICE, "cudaMalloc", 10, "cudaMalloc(&pool, n);");
    const uint32_t s =
        script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 11, "cudaStreamCreate(&s);");
    script.events[script.count++] =
        (struct ssan_event){.kind = SSAN_EV_pool_alloc,
                            .pool_alloc = {pool, pool, SCRIPT_BYTES, 1,
                                           script_site(&script, 12, "SSAN_POOL_ALLOC(p, d, n);")}};
    script.events[script.count++] = (struct ssan_event){
        .kind = SSAN_EV_pool_free,
        .pool_free = {pool, pool, 1, script_site(&script, 14, "SSAN_POOL_FREE(p, d);")}};
    script_update(&script, s, "late", pool, 15, "late<<<1, 1, 0, s>>>(d);");
    script_sync(&script, SSAN_sync_kind_DEVICE, 1, "cudaDeviceSynchronize", 16, NULL);
    script_host(&script, SSAN_access_READ, 0x5000, 17, "HOST_READ(h, n);");
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_int_equal(1, report.finding_count);
    const struct finding *finding = report.findings[0];
    assert_int_equal(CHECK_USE_AFTER_FREE, finding->check);
    assert_true(finding->first.op >= 0);
    assert_int_equal(ROP_FREE, report.ops[finding->first.op].kind);
    assert_string_equal("SSAN_POOL_FREE", report.ops[finding->first.op].call);
    assert_string_equal("pool", report.buffers[finding->buffer].name);
    assert_non_null(finding->fix);
    assert_int_equal(FIX_MOVE_FREE, finding->fix->kind);
    report_finish(&report);
}

/* Ids don't depend on lines, addresses or what comes before; they do on names. */
static void test_ids(void **state)
{
    char plain[16];
    struct report report;
    script_begin(&script);
    handover(false);
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_int_equal(8, strlen(report.findings[0]->id));
    strcpy(plain, report.findings[0]->id);
    report_finish(&report);

    script_begin(&script);
    script.lines_down = 100;
    script.next_address += 0x123000;
    script.file = "elsewhere/handover.cu";
    script_alloc(&script, SSAN_memory_DEVICE, "cudaMalloc", 1, "cudaMalloc(&unused, 1);");
    handover(false);
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_string_equal(plain, report.findings[0]->id);
    report_finish(&report);

    script_begin(&script);
    script.function = "other";
    handover(false);
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_string_not_equal(plain, report.findings[0]->id);
    report_finish(&report);
}

/* Errors never fold into warnings, advice stays apart; a warning may fold into an error. */
static void test_severities(void **state)
{
    struct report report;
    script_begin(&script);
    const uint64_t dev =
        script_alloc(&script, SSAN_memory_DEVICE, "cudaMalloc", 10, "cudaMalloc(&d, n);");
    const uint32_t a =
        script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 11, "cudaStreamCreate(&a);");
    const uint32_t b =
        script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 12, "cudaStreamCreate(&b);");
    const uint32_t never = script_event(&script, 13, "cudaEventCreate(&never);");
    script_wait(&script, b, never, 20, "cudaStreamWaitEvent(b, never, 0);");
    script_update(&script, a, "first", dev, 21, "first<<<1, 1, 0, a>>>(d);");
    script_update(&script, b, "second", dev, 22, "second<<<1, 1, 0, b>>>(d);");
    script_free(&script, 1, "cudaFree", 23, "cudaFree(d);");
    script_sync(&script, SSAN_sync_kind_DEVICE, 1, "cudaDeviceSynchronize", 30, NULL);
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    unsigned errors = 0, advice = 0;
    for (size_t i = 0; i < report.finding_count; i++) {
        const struct finding *finding = report.findings[i];
        errors += finding->severity == SEVERITY_ERROR;
        advice += finding->severity == SEVERITY_ADVICE;
        for (size_t k = 0; k < finding->folded_count; k++) {
            assert_true(finding->folded[k]->severity <= finding->severity);
            assert_int_not_equal(FAMILY_MISUSE, check_info(finding->folded[k]->check)->family);
        }
    }
    assert_int_equal(1, errors);
    assert_int_equal(1, advice);
    report_finish(&report);
}

/* Without a budget, and where the trace can't be read again, findings stand without fixes; what
 * lies between the same two operations still is one finding. */
static bool stop_at_once(void *self)
{
    return true;
}

static void test_limits(void **state)
{
    const struct explain_options stopped = {.stop = stop_at_once};
    struct report report;
    script_begin(&script);
    handover(false);
    assert_int_equal(SSAN_OK, script_explain(&script, &stopped, &report));
    assert_true(report.finding_count > 1);
    for (size_t i = 0; i < report.finding_count; i++) {
        const struct finding *finding = report.findings[i];
        assert_null(finding->fix);
        for (size_t k = 0; k < finding->folded_count; k++) { /* of the same two operations */
            assert_int_equal(finding->first.op, finding->folded[k]->first.op);
            assert_int_equal(finding->then.op, finding->folded[k]->then.op);
        }
    }
    report_finish(&report);

    script_begin(&script);
    handover(false);
    script.no_rewind = true;
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_true(report.finding_count > 1);
    assert_int_equal(-1, report.findings[0]->first.op);
    report_finish(&report);
}

/* Repeats of one pair of places are one finding with a count, also where each repeat has blocks of
 * its own. */
static void test_repeats(void **state)
{
    struct report report;
    script_begin(&script);
    const uint32_t a =
        script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 11, "cudaStreamCreate(&a);");
    const uint32_t b =
        script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 12, "cudaStreamCreate(&b);");
    for (int i = 0; i < 5; i++) {
        const uint64_t dev =
            script_alloc(&script, SSAN_memory_DEVICE, "cudaMalloc", 20, "cudaMalloc(&d, n);");
        script_update(&script, a, "first", dev, 21, "first<<<1, 1, 0, a>>>(d);");
        script_update(&script, b, "second", dev, 22, "second<<<1, 1, 0, b>>>(d);");
    }
    script_sync(&script, SSAN_sync_kind_DEVICE, 1, "cudaDeviceSynchronize", 30, NULL);
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_int_equal(1, report.finding_count);
    assert_int_equal(5, report.findings[0]->count);
    assert_string_equal("s1.1", report.ops[report.findings[0]->first.op].id);
    report_finish(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_finding), cmocka_unit_test(test_tables),
        cmocka_unit_test(test_run),         cmocka_unit_test(test_pool),
        cmocka_unit_test(test_incomplete),  cmocka_unit_test(test_names),
        cmocka_unit_test(test_ids),         cmocka_unit_test(test_severities),
        cmocka_unit_test(test_limits),      cmocka_unit_test(test_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
