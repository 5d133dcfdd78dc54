/* Every allocation of explain fails once: a status, no crash, nothing leaked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "explain_script.h"

static struct script script;

/* Two streams, a record, a host access, a free: every table has a row. */
static void program(void)
{
    script_begin(&script);
    const uint64_t in =
        script_alloc(&script, SSAN_memory_PINNED, "cudaMallocHost", 9, "cudaMallocHost(&h, n);");
    const uint64_t dev =
        script_alloc(&script, SSAN_memory_DEVICE, "cudaMalloc", 10, "cudaMalloc(&d, n);");
    const uint32_t a =
        script_stream(&script, SSAN_stream_flavour_NON_BLOCKING, 11, "cudaStreamCreate(&a);");
    const uint32_t b = script_stream(&script, SSAN_stream_flavour_LEGACY, 12, NULL);
    const uint32_t done = script_event(&script, 13, "cudaEventCreate(&done);");
    script_name(&script, SSAN_object_POINTER, 0x5000, "plain");
    script_copy(&script, a, SSAN_form_ASYNC, dev, in, 20, "cudaMemcpyAsync(d, h, n, kind, a);");
    script_update(&script, a, "first", dev, 21, "first<<<1, 1, 0, a>>>(d);");
    script_record(&script, a, done, 22, "cudaEventRecord(done, a);");
    script_update(&script, b, "second", dev, 23, "second<<<1, 1>>>(d);");
    script_copy(&script, b, SSAN_form_SYNC, dev, 0x5000, 24, "cudaMemcpy(d, plain, n, kind);");
    script_host(&script, SSAN_access_WRITE, in, 25, "HOST_WRITE(h, n);");
    script_free(&script, 2, "cudaFree", 26, "cudaFree(d);");
    script_sync(&script, SSAN_sync_kind_DEVICE, 1, "cudaDeviceSynchronize", 30, NULL);
    script_finish(&script);
}

static void test_each_allocation(void **state)
{
    struct report report;
    program();
    assert_int_equal(SSAN_OK, script_explain(&script, NULL, &report));
    const uint64_t allocations = script.allocations;
    assert_true(report.finding_count > 0);
    report_finish(&report);
    print_message("%llu allocations\n", (unsigned long long)allocations);
    for (uint64_t nth = 1; nth <= allocations; nth++) {
        script.fail_at = nth;
        assert_int_equal(SSAN_NO_MEMORY, script_explain(&script, NULL, &report));
        report_finish(&report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
