/* What the device writes: every event with its fields, in the order in which calls were accepted.
 */
#include "vcuda_support.h"

#include "streamsan/annotate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_run(void *data)
{
    SSAN_HOST_WRITE(data, 4);
}

static int program(void *unused)
{
    char *d, *h, pageable[64];
    cudaStream_t s;
    cudaEvent_t e;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    OK(cudaMalloc((void **)&d, 256));
    OK(cudaMallocHost((void **)&h, 64));
    SSAN_NAME(s, "side");
    SSAN_NAME(e, "ready");
    SSAN_NAME(d, "d_x");
    SSAN_USAGE(d, "once");
    OK(cudaStreamWaitEvent(s, e, 0)); /* never recorded */
    OK(cudaMemcpy(d, pageable, 64, cudaMemcpyHostToDevice));
    OK(cudaMemset2DAsync(d + 128, 32, 0, 16, 4, s));
    OK(cudaEventRecord(e, s));
    OK(cudaStreamWaitEvent(0, e, 0));
    OK(cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, 0));
    OK(cudaLaunchHostFunc(0, on_run, h));
    OK(cudaStreamSynchronize(0));
    SSAN_HOST_READ(h, 64);
    SSAN_IGNORE(h, 8);
    SSAN_HAPPENS_BEFORE(&s);
    SSAN_HAPPENS_AFTER(&s);
    SSAN_POOL_ALLOC(&e, d, 16);
    SSAN_POOL_FREE(&e, d);
    OK(cudaEventQuery(e));
    FAILS(cudaFree(d + 1), cudaErrorInvalidValue);
    OK(cudaFree(d));
    OK(cudaEventDestroy(e));
    OK(cudaStreamDestroy(s));
    return 7;
}

/* The process first, every site told before it is used, every operation closed. */
static void check_shape(const struct trace *trace)
{
    uint32_t sites = 0, modules = 0;
    assert_int_equal(trace->items[0].kind, SSAN_EV_process);
    assert_int_equal(trace->items[trace->count - 1].kind, SSAN_EV_exit);
    for (size_t i = 0; i < trace->count; i++) {
        const struct ssan_event *event = &trace->items[i];
        if (event->kind == SSAN_EV_site) {
            assert_int_equal(event->site.site, ++sites);
            for (uint32_t frame = 0; frame < event->site.frames.count; frame++) {
                assert_in_range(event->site.frames.ptr[frame] >> 48, 1, modules);
            }
        } else if (event->kind == SSAN_EV_module) {
            assert_int_equal(event->module.module, ++modules);
            assert_true(event->module.path.length > 0);
        } else if (event->kind == SSAN_EV_op) {
            assert_in_range(event->op.site, 1, sites);
            assert_true(trace_closed_at(trace, event->op.op) != SIZE_MAX);
        } else if (event->kind == SSAN_EV_alloc) {
            assert_in_range(event->alloc.site, 1, sites);
        }
    }
}

static const struct ssan_event *op_of_call(const struct trace *trace, const char *call)
{
    for (size_t i = 0; i < trace->count; i++) {
        if (trace->items[i].kind == SSAN_EV_op && str_is(trace->items[i].op.call, call)) {
            return &trace->items[i];
        }
    }
    fail_msg("no operation of %s", call);
    return NULL;
}

static const struct ssan_event *set_of(const struct trace *trace, uint64_t op,
                                       enum ssan_access access)
{
    for (size_t i = 0; i < trace->count; i++) {
        const struct ssan_event *event = &trace->items[i];
        if (event->kind == SSAN_EV_set && event->set.op == op && event->set.access == access) {
            return event;
        }
    }
    fail_msg("no accesses of operation %d", (int)op);
    return NULL;
}

static void check_operations(const struct trace *trace)
{
    const struct ssan_event *alloc = trace_at(trace, SSAN_EV_alloc, 0);
    const struct ssan_event *copy = op_of_call(trace, "cudaMemcpy"), *set;
    assert_int_equal(copy->op.form, SSAN_form_SYNC);
    assert_int_equal(copy->op.dst, alloc->alloc.address);
    assert_int_equal(copy->op.width, 64);
    assert_int_equal(copy->op.height, 1);
    set = set_of(trace, copy->op.op, SSAN_access_WRITE);
    assert_int_equal(set->set.runs.ptr[0].address, alloc->alloc.address);
    assert_int_equal(set->set.runs.ptr[0].length, 64);
    copy = op_of_call(trace, "cudaMemset2DAsync");
    set = set_of(trace, copy->op.op, SSAN_access_WRITE);
    assert_int_equal(set->set.runs.ptr[0].length, 16);
    assert_int_equal(set->set.runs.ptr[0].stride, 32);
    assert_int_equal(set->set.runs.ptr[0].count, 4);
    copy = op_of_call(trace, "cudaEventRecord");
    assert_int_equal(copy->op.event, 1);
    assert_int_equal(copy->op.stream, 1);
    copy = op_of_call(trace, "cudaLaunchHostFunc");
    assert_true(str_is(copy->op.name, "on_run"));
    assert_int_equal(trace_at(trace, SSAN_EV_callback_begin, 0)->callback_begin.op, copy->op.op);
    assert_int_equal(trace_count(trace, SSAN_EV_op), 7);
    assert_int_equal(trace_count(trace, SSAN_EV_op_return), 3); /* of copies and memsets */
}

static void check_words(const struct trace *trace)
{
    const struct ssan_event *event = trace_at(trace, SSAN_EV_name, 0);
    assert_int_equal(event->name.object, SSAN_object_STREAM);
    assert_int_equal(event->name.id, 1);
    assert_true(str_is(event->name.text, "side"));
    event = trace_at(trace, SSAN_EV_name, 1);
    assert_int_equal(event->name.object, SSAN_object_EVENT);
    event = trace_at(trace, SSAN_EV_name, 2);
    assert_int_equal(event->name.object, SSAN_object_POINTER);
    assert_int_equal(event->name.id, trace_at(trace, SSAN_EV_alloc, 0)->alloc.address);
    event = trace_at(trace, SSAN_EV_name, 3);
    assert_int_equal(event->name.object, SSAN_object_USAGE);
    assert_int_equal(event->name.id, trace_at(trace, SSAN_EV_alloc, 0)->alloc.address);
    assert_true(str_is(event->name.text, "once"));
    event = trace_at(trace, SSAN_EV_host_access, 0);
    assert_int_equal(event->host_access.thread,
                     trace_at(trace, SSAN_EV_callback_begin, 0)->callback_begin.thread);
    assert_int_equal(event->host_access.access, SSAN_access_WRITE);
    event = trace_at(trace, SSAN_EV_host_access, 1);
    assert_int_equal(event->host_access.thread, 1);
    assert_int_equal(event->host_access.size, 64);
    assert_int_equal(trace_count(trace, SSAN_EV_ignore), 1);
    assert_int_equal(trace_count(trace, SSAN_EV_release), 1);
    assert_int_equal(trace_count(trace, SSAN_EV_acquire), 1);
    assert_int_equal(trace_count(trace, SSAN_EV_pool_alloc), 1);
    assert_int_equal(trace_count(trace, SSAN_EV_pool_free), 1);
}

static void test_every_event(void **state)
{
    const char *schedules[] = {"eager", "lazy", "random:4"};
    for (size_t i = 0; i < 3; i++) {
        struct trace trace;
        assert_int_equal(device_run(schedules[i], program, NULL, &trace), 7);
        assert_true(trace.whole);
        assert_true(str_is(trace.items[0].process.schedule, schedules[i]));
        assert_int_equal(trace.items[0].process.source, SSAN_producer_VIRTUAL_DEVICE);
        assert_int_equal(trace_at(&trace, SSAN_EV_exit, 0)->exit.code, 7);
        check_shape(&trace);
        check_operations(&trace);
        check_words(&trace);
        assert_int_equal(trace_count(&trace, SSAN_EV_stream_create), 2);
        assert_int_equal(trace_at(&trace, SSAN_EV_stream_create, 1)->stream_create.flavour,
                         SSAN_stream_flavour_LEGACY);
        assert_int_equal(trace_count(&trace, SSAN_EV_sync), 2);
        assert_int_equal(trace_count(&trace, SSAN_EV_sync_return), 2);
        assert_int_equal(trace_at(&trace, SSAN_EV_sync, 1)->sync.kind, SSAN_sync_kind_EVENT_QUERY);
        assert_int_equal(trace_count(&trace, SSAN_EV_free), 1); /* the wrong one left nothing */
        trace_finish(&trace);
    }
}

static int unknown_calls(void *unused)
{
    void *d;
    cudaGraph_t graph;
    FAILS(cudaMallocAsync(&d, 4, 0), cudaErrorNotSupported);
    FAILS(cudaMallocAsync(&d, 4, 0), cudaErrorNotSupported);
    FAILS(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal), cudaErrorNotSupported);
    FAILS(cudaStreamEndCapture(0, &graph), cudaErrorNotSupported);
    FAILS(cudaMallocManaged(&d, 4, cudaMemAttachGlobal), cudaErrorNotSupported);
    return 0;
}

static void test_calls_that_are_not_modelled(void **state)
{
    struct trace trace;
    assert_int_equal(device_run("eager", unknown_calls, NULL, &trace), 0);
    assert_int_equal(trace_count(&trace, SSAN_EV_unsupported), 5);
    assert_true(
        str_is(trace_at(&trace, SSAN_EV_unsupported, 0)->unsupported.call, "cudaMallocAsync"));
    trace_finish(&trace);
}

static int no_operation(void *unused)
{
    int count;
    OK(cudaGetDeviceCount(&count));
    return 0;
}

static void test_a_run_without_operations(void **state)
{
    struct trace trace;
    assert_int_equal(device_run("eager", no_operation, NULL, &trace), 0);
    assert_int_equal(trace_count(&trace, SSAN_EV_op), 0);
    assert_int_equal(trace.count, 2); /* process and exit */
    trace_finish(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_event),
        cmocka_unit_test(test_calls_that_are_not_modelled),
        cmocka_unit_test(test_a_run_without_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
