/* Names that explain takes from the text of the calls that make an object, and of their callers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "explain_script.h"

static struct script script;

/* Several calls on one line, and a call that the headers make out of another. */
static void test_names_on_one_line(void **state)
{
    static const char lines[4][80] = {
        "cudaStreamCreate(&a); cudaStreamCreate(&b);",
        "cudaStreamCreate(&a); cudaStreamCreate(&b);",
        "cudaMallocHost(&x, n); cudaMallocHost(&y, n);",
        "cudaMallocHost(&x, n); cudaMallocHost(&y, n);",
    };
    struct report report;
    script_begin(&script);
    const uint32_t a = script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 12, lines[0]);
    const uint32_t b = script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 12, lines[1]);
    script_alloc(&script, SSAN_memory_PINNED, "cudaHostAlloc", 13, lines[2]);
    const uint64_t y = script_alloc(&script, SSAN_memory_PINNED, "cudaHostAlloc", 13, lines[3]);
    script_update(&script, a, "k", y, 20, NULL);
    script_update(&script, b, "k", y, 21, NULL);
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_string_equal("a", report.streams[0].name);
    assert_string_equal("b", report.streams[1].name);
    assert_string_equal("y", report.buffers[0].name);
    report_finish(&report);
}

/* The same in a function that is called from two places. */
static void test_one_line_of_two_callers(void **state)
{
    static const char lines[4][64] = {
        "cudaStreamCreate(&p->a); cudaStreamCreate(&p->b);",
        "cudaStreamCreate(&p->a); cudaStreamCreate(&p->b);",
        "cudaStreamCreate(&p->a); cudaStreamCreate(&p->b);",
        "cudaStreamCreate(&p->a); cudaStreamCreate(&p->b);",
    };
    struct report report;
    uint32_t streams[4];
    script_begin(&script);
    const uint64_t x =
        script_alloc(&script, SSAN_memory_DEVICE, "cudaMalloc", 11, "cudaMalloc(&x, n);");
    for (unsigned i = 0; i < 4; i++) {
        script.function = "make";
        const uint32_t site = script_site(&script, 12, lines[i]);
        script_frame(&script, site, 20 + i / 2, "main", i < 2 ? "make(&one);" : "make(&two);");
        streams[i] = script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 12, lines[i]);
    }
    script.function = "main";
    for (unsigned i = 0; i < 4; i++) {
        script_update(&script, streams[i], "k", x, 30 + i, NULL);
    }
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_int_equal(4, report.stream_count);
    assert_string_equal("p->a", report.streams[0].name);
    assert_string_equal("p->b", report.streams[1].name);
    assert_string_equal("p->a#2", report.streams[2].name);
    assert_string_equal("p->b#2", report.streams[3].name);
    report_finish(&report);
}

/* The same through a template of a header, whose caller is known by its line alone. */
static void test_headers_on_one_line(void **state)
{
    static const char line[] =
        "cudaMallocHost(&h, n); CK(cudaMalloc(&x, n)); CK(cudaMalloc(&y, n));";
    static const char header[2][64] = {"return ::cudaMalloc((void **)(void *)devPtr, size);",
                                       "return ::cudaMalloc((void **)(void *)devPtr, size);"};
    uint64_t blocks[2];
    struct report report;
    script_begin(&script);
    for (int i = 0; i < 2; i++) {
        script.file = "/usr/include/cuda_runtime.h";
        script.function = "cudaMalloc<float>";
        const uint32_t site = script_site(&script, 879, header[i]);
        script.file = "handover.cu";
        script_frame(&script, site, 13, "main", line);
        blocks[i] = script_alloc(&script, SSAN_memory_DEVICE, "cudaMalloc", 879, header[i]);
    }
    script.function = "main";
    const uint32_t a = script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 14, NULL);
    const uint32_t b = script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 15, NULL);
    for (int i = 0; i < 2; i++) {
        script_update(&script, a, "k", blocks[i], 20 + (unsigned)i, NULL);
        script_update(&script, b, "k", blocks[i], 30 + (unsigned)i, NULL);
    }
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_int_equal(2, report.buffer_count);
    assert_string_equal("x", report.buffers[0].name);
    assert_string_equal("y", report.buffers[1].name);
    report_finish(&report);
}

/* A wrapper's caller names what the wrapper makes. */
static void test_wrapper_names(void **state)
{
    struct report report;
    script_begin(&script);
    script.function = "make";
    const uint32_t site = script_site(&script, 5, "cudaMalloc(p, n);");
    script_frame(&script, site, 20, "main", "make((void **)&weights, 4 * n);");
    const uint64_t dev =
        script_alloc(&script, SSAN_memory_DEVICE, "cudaMalloc", 5, script.lines[0].text.ptr);
    script.function = "main";
    const uint32_t a = script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 12, NULL);
    const uint32_t b = script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 13, NULL);
    script_update(&script, a, "k", dev, 20, NULL);
    script_update(&script, b, "k", dev, 21, NULL);
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    assert_string_equal("weights", report.buffers[0].name);
    assert_string_equal("make", report.buffers[0].allocated.function);
    report_finish(&report);
}

/* Pageable memory begins at the lowest operand and is named by its first use; or at the annotated
 * pointer. */
static void test_pageable(void **state)
{
    struct report report;
    for (int named = 0; named < 2; named++) {
        script_begin(&script);
        const uint64_t dev =
            script_alloc(&script, SSAN_memory_DEVICE, "cudaMalloc", 10, "cudaMalloc(&d, n);");
        const uint32_t stream =
            script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 12, "cudaStreamCreate(&s);");
        if (named) {
            script_name(&script, SSAN_object_POINTER, 0x5000, "row");
        }
        script_copy(&script, stream, SSAN_form_ASYNC, dev, 0x5000, 20,
                    "cudaMemcpyAsync(d, h_row + r * n, bytes, cudaMemcpyHostToDevice, s);");
        script_host(&script, SSAN_access_WRITE, 0x5000, 21, "HOST_WRITE(h_row, bytes);");
        script_sync(&script, SSAN_sync_kind_DEVICE, 1, "cudaDeviceSynchronize", 30, NULL);
        assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
        assert_int_equal(1, report.finding_count);
        const struct finding *finding = report.findings[0];
        assert_int_equal(CHECK_WAR, finding->check);
        assert_int_equal(SEVERITY_WARNING, finding->severity);
        assert_non_null(finding->ordered_by);
        assert_int_equal(NEAREST_PAGEABLE_STAGING, finding->nearest.kind);
        const struct report_buffer *buffer = &report.buffers[finding->buffer];
        assert_string_equal(named ? "row" : "h_row", buffer->name);
        assert_int_equal(SSAN_memory_PAGEABLE, buffer->memory);
        assert_int_equal(0, buffer->size_bytes);
        assert_null(buffer->call);
        assert_int_equal(0, finding->bytes.items[0].begin);
        assert_int_equal(SCRIPT_BYTES, finding->bytes.items[0].end);
        assert_string_equal("h1.2", report.ops[finding->then.op].id);
        report_finish(&report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_on_one_line),
        cmocka_unit_test(test_one_line_of_two_callers),
        cmocka_unit_test(test_headers_on_one_line),
        cmocka_unit_test(test_wrapper_names),
        cmocka_unit_test(test_pageable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
