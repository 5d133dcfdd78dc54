/* Kernels: launches and what they check, symbols, faults and what comes after them, kernels that
 * spin. */
#include "vcuda_support.h"

#include "ssan/compiler_abi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static const char *const schedules[] = {"eager", "lazy", "random:1", "random:2"};

#define EACH_SCHEDULE(body)                                                                        \
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {                            \
        assert_int_equal(device_run(schedules[i], body, NULL, NULL), 0);                           \
    }

static const char blob[] = SSAN_BLOB_MAGIC
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .const .align 4 .u32 factor = 3;\n"
    ".file 1 \"fill.cu\"\n"
    /* *(int *)(p + 4 * i) = value, for every thread i of the grid */
    ".visible .entry fill(.param .u64 fill_param_0, .param .u32 fill_param_1)\n{\n"
    ".reg .b32 %r<6>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [fill_param_0]; ld.param.u32 %r1, [fill_param_1];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, "
    "%r4;\n"
    "mul.wide.s32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2;\n"
    ".loc 1 11 5\n"
    "st.global.u32 [%rd3], %r1; ret;\n}\n"
    /* until *p is not 0 */
    ".visible .entry spin(.param .u64 spin_param_0)\n{\n"
    ".reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [spin_param_0];\n"
    ".loc 1 20 5\n"
    "$loop: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0; @%p1 bra $loop;\n"
    "ret;\n}\n"
    /* counter = counter * factor */
    ".visible .entry count()\n{\n"
    ".reg .b32 %r<4>;\n"
    "ld.global.u32 %r1, [counter]; ld.const.u32 %r2, [factor]; mul.lo.s32 %r3, %r1, %r2;\n"
    "st.global.u32 [counter], %r3; ret;\n}\n";

static struct {
    int magic, version;
    const void *data;
    void *unused;
} wrapper = {0x466243b1, 1, blob, NULL};

static char fill, spin, count, unknown, counter, factor; /* stubs and shadows: addresses only */

static void load(void)
{
    void **handle = __cudaRegisterFatBinary(&wrapper);
    char names[][8] = {"fill", "spin", "count", "counter", "factor"};
    __cudaRegisterFunction(handle, &fill, names[0], "fill", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, &spin, names[1], "spin", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, &count, names[2], "count", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, &counter, names[3], "counter", 0, 4, 0, 0);
    __cudaRegisterVar(handle, &factor, names[4], "factor", 0, 4, 1, 0);
    __cudaRegisterFatBinaryEnd(handle);
}

static const dim3 one = {1, 1, 1};

static cudaError_t launch_fill(void *p, int value, unsigned blocks, unsigned threads,
                               cudaStream_t s)
{
    void *args[] = {&p, &value};
    dim3 grid = {blocks, 1, 1}, block = {threads, 1, 1};
    return cudaLaunchKernel(&fill, grid, block, args, 0, s);
}

static cudaError_t launch_spin(const void *p, cudaStream_t s)
{
    void *args[] = {&p};
    return cudaLaunchKernel(&spin, one, one, args, 0, s);
}

static int fill_and_read(void *unused)
{
    int *d, h[256];
    load();
    OK(cudaMalloc((void **)&d, sizeof h));
    OK(launch_fill(d, 42, 4, 64, 0));
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++) {
        CHECK(h[i] == 42);
    }
    return 0;
}

static void test_a_kernel_runs(void **state)
{
    struct trace trace;
    const struct ssan_event *event;
    EACH_SCHEDULE(fill_and_read)
    assert_int_equal(device_run("lazy", fill_and_read, NULL, &trace), 0);
    event = trace_at(&trace, SSAN_EV_op, 0);
    assert_true(str_is(event->op.name, "fill"));
    assert_int_equal(event->op.grid_x, 4);
    assert_int_equal(event->op.block_x, 64);
    event = trace_at(&trace, SSAN_EV_set, 0);
    assert_int_equal(event->set.op, 1);
    assert_int_equal(event->set.access, SSAN_access_WRITE);
    assert_int_equal(event->set.width, 4);
    assert_int_equal(event->set.runs.ptr[0].length, 1024);
    event = trace_at(&trace, SSAN_EV_line, 0);
    assert_int_equal(event->line.line, 11);
    assert_true(str_is(event->line.file, "fill.cu"));
    trace_finish(&trace);
}

static int symbols(void *unused)
{
    int value = 5;
    void *address;
    size_t size;
    load();
    OK(cudaMemcpyFromSymbol(&value, &counter, 4, 0, cudaMemcpyDeviceToHost));
    CHECK(value == 7);
    OK(cudaLaunchKernel(&count, one, one, NULL, 0, 0));
    OK(cudaMemcpyFromSymbol(&value, &counter, 4, 0, cudaMemcpyDeviceToHost));
    CHECK(value == 21);
    value = 2;
    OK(cudaMemcpyToSymbol(&factor, &value, 4, 0, cudaMemcpyHostToDevice));
    OK(cudaLaunchKernel(&count, one, one, NULL, 0, 0));
    OK(cudaMemcpyFromSymbolAsync(&value, &counter, 4, 0, cudaMemcpyDeviceToHost, 0));
    CHECK(value == 42);
    OK(cudaGetSymbolAddress(&address, &counter));
    OK(cudaGetSymbolSize(&size, &counter));
    CHECK(address && size == 4);
    FAILS(cudaFree(address), cudaErrorInvalidValue);
    FAILS(cudaMemcpyToSymbol(&counter, &value, 4, 1, cudaMemcpyHostToDevice),
          cudaErrorInvalidValue);
    FAILS(cudaGetSymbolAddress(&address, &unknown), cudaErrorInvalidSymbol);
    return 0;
}

static void test_symbols(void **state)
{
    EACH_SCHEDULE(symbols)
}

static int launch_checks(void *unused)
{
    int *d;
    struct cudaFuncAttributes attributes;
    int blocks, value = 0;
    void *args[] = {&d, &value};
    const dim3 deep = {1, 1, 65}, tall = {1, 65536, 1};
    load();
    OK(cudaMalloc((void **)&d, 4096));
    FAILS(launch_fill(d, 1, 0, 32, 0), cudaErrorInvalidConfiguration);
    FAILS(launch_fill(d, 1, 1, 0, 0), cudaErrorInvalidConfiguration);
    FAILS(launch_fill(d, 1, 1, 1025, 0), cudaErrorInvalidConfiguration);
    FAILS(cudaLaunchKernel(&fill, one, deep, args, 0, 0), cudaErrorInvalidConfiguration);
    FAILS(cudaLaunchKernel(&fill, tall, one, args, 0, 0), cudaErrorInvalidConfiguration);
    FAILS(cudaLaunchKernel(&fill, one, one, args, 49153, 0), cudaErrorInvalidValue);
    FAILS(cudaLaunchKernel(&unknown, one, one, args, 0, 0), cudaErrorInvalidDeviceFunction);
    FAILS(launch_fill(d, 1, 1, 32, (cudaStream_t)(uintptr_t)77), cudaErrorInvalidResourceHandle);
    FAILS(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    OK(cudaDeviceSynchronize()); /* a failed launch enqueues nothing */
    OK(cudaFuncSetAttribute(&fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    OK(cudaLaunchKernel(&fill, one, one, args, 65536, 0));
    OK(cudaFuncGetAttributes(&attributes, &fill));
    CHECK(attributes.maxThreadsPerBlock == 1024);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &fill, 256, 0));
    CHECK(blocks == 8);
    return 0;
}

static void test_launch_checks(void **state)
{
    EACH_SCHEDULE(launch_checks)
}

static int out_of_bounds(void *unused)
{
    int *d, *other;
    load();
    OK(cudaMalloc((void **)&d, 100 * sizeof *d));
    OK(launch_fill(d, 1, 1, 128, 0));
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    FAILS(cudaMalloc((void **)&other, 4), cudaErrorIllegalAddress); /* the context is dead */
    FAILS(cudaGetLastError(), cudaErrorIllegalAddress);
    FAILS(cudaGetLastError(), cudaErrorIllegalAddress);
    return 0;
}

static void test_out_of_bounds(void **state)
{
    struct trace trace;
    const struct ssan_event *fault;
    EACH_SCHEDULE(out_of_bounds)
    assert_int_equal(device_run("lazy", out_of_bounds, NULL, &trace), 0);
    fault = trace_at(&trace, SSAN_EV_fault, 0);
    assert_int_equal(fault->fault.op, 1);
    assert_int_equal(fault->fault.error, cudaErrorIllegalAddress);
    assert_int_equal(trace_at(&trace, SSAN_EV_line, 0)->line.line, 11);
    assert_non_null(strstr(fault->fault.text.ptr, "behind the end of a block of 400 bytes"));
    assert_int_equal(trace_at(&trace, SSAN_EV_line, 0)->line.site, fault->fault.site);
    assert_true(trace_closed_at(&trace, 1) != SIZE_MAX);
    trace_finish(&trace);
}

static int use_after_free(void *unused)
{
    int *d;
    load();
    OK(cudaMalloc((void **)&d, 400));
    OK(cudaFree(d));
    OK(launch_fill(d, 1, 1, 32, 0));
    OK(launch_fill(d, 1, 1, 32, cudaStreamPerThread));
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    return 0;
}

static void test_use_after_free(void **state)
{
    struct trace trace;
    assert_int_equal(device_run("lazy", use_after_free, NULL, &trace), 0);
    assert_int_equal(trace_count(&trace, SSAN_EV_fault), 1);
    assert_int_equal(trace_count(&trace, SSAN_EV_op_closed), 2); /* what pended is closed too */
    assert_non_null(strstr(trace_at(&trace, SSAN_EV_fault, 0)->fault.text.ptr, "has been freed"));
    trace_finish(&trace);
}

static int wait_for_nobody(void *unused)
{
    int *flag;
    load();
    OK(cudaMalloc((void **)&flag, 4));
    OK(cudaMemset(flag, 0, 4));
    OK(launch_spin(flag, 0));
    FAILS(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
    return 0;
}

static void test_a_kernel_that_nobody_releases(void **state)
{
    struct trace trace;
    const struct ssan_event *fault;
    EACH_SCHEDULE(wait_for_nobody)
    assert_int_equal(device_run("eager", wait_for_nobody, NULL, &trace), 0);
    fault = trace_at(&trace, SSAN_EV_fault, 0);
    assert_int_equal(fault->fault.error, cudaErrorLaunchTimeout);
    assert_int_equal(trace_at(&trace, SSAN_EV_line, 0)->line.line, 20);
    assert_int_equal(trace_at(&trace, SSAN_EV_line, 0)->line.site, fault->fault.site);
    trace_finish(&trace);
}

/* The flag is set by a kernel that no join asks for, then by the host, then by another host thread.
 */
static int released_by_kernel(void *unused)
{
    int *flag;
    cudaStream_t a, b;
    load();
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaMalloc((void **)&flag, 4));
    OK(cudaMemset(flag, 0, 4));
    OK(cudaDeviceSynchronize());
    OK(launch_spin(flag, a));
    OK(launch_fill(flag, 1, 1, 1, b));
    OK(cudaStreamSynchronize(a));
    return 0;
}

/* What the host does to memory that a kernel uses meanwhile, by names that tsan.supp lists. */
static void host_sets_flag(int *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

static bool host_sees_flag(const int *flag)
{
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE) != 0;
}

static int released_by_host(void *unused)
{
    int *flag;
    load();
    OK(cudaHostAlloc((void **)&flag, 4, cudaHostAllocMapped));
    *flag = 0;
    OK(launch_spin(flag, 0));
    host_sets_flag(flag);
    OK(cudaDeviceSynchronize());
    return 0;
}

static int *shared_flag;

static void *release(void *unused)
{
    while (cudaStreamQuery(cudaStreamLegacy) != cudaErrorNotReady) {
    }
    host_sets_flag(shared_flag);
    return NULL;
}

static int released_by_thread(void *unused)
{
    pthread_t thread;
    load();
    OK(cudaMallocHost((void **)&shared_flag, 4));
    *shared_flag = 0;
    OK(launch_spin(shared_flag, 0));
    CHECK(pthread_create(&thread, NULL, release, NULL) == 0);
    OK(cudaDeviceSynchronize());
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}

static void test_kernels_that_spin_are_released(void **state)
{
    EACH_SCHEDULE(released_by_kernel)
    EACH_SCHEDULE(released_by_host)
    EACH_SCHEDULE(released_by_thread)
}

/* The device goes on while the host spins on memory that a kernel writes. */
static int host_spins(void *unused)
{
    int *flag;
    load();
    OK(cudaMallocHost((void **)&flag, 4));
    *flag = 0;
    OK(launch_fill(flag, 1, 1, 1, 0));
    while (!host_sees_flag(flag)) {
    }
    OK(cudaDeviceSynchronize());
    return 0;
}

static void test_the_host_may_spin(void **state)
{
    EACH_SCHEDULE(host_spins)
}

static int pending_kernel(void *unused)
{
    int *d;
    load();
    OK(cudaMalloc((void **)&d, 4096));
    OK(launch_fill(d, 1, 4, 256, 0));
    return 0;
}

static void test_a_kernel_that_pends_at_exit(void **state)
{
    struct trace trace;
    assert_int_equal(device_run("lazy", pending_kernel, NULL, &trace), 0);
    assert_int_equal(trace_count(&trace, SSAN_EV_set), 1);
    assert_true(trace_closed_at(&trace, 1) < trace.count - 1);
    assert_int_equal(trace.items[trace.count - 1].kind, SSAN_EV_exit);
    trace_finish(&trace);
}

static const char broken[] =
    SSAN_BLOB_MAGIC ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry "
                    "fill()\n{\nfrobnicate.u32;\nret;\n}\n";

static int unknown_opcode(void *unused)
{
    wrapper.data = broken;
    load();
    FAILS(cudaLaunchKernel(&fill, one, one, NULL, 0, 0), cudaErrorNotSupported);
    return 0;
}

static void test_an_unknown_opcode_is_named(void **state)
{
    struct trace trace;
    assert_int_equal(device_run("lazy", unknown_opcode, NULL, &trace), 0);
    assert_non_null(
        strstr(trace_at(&trace, SSAN_EV_unsupported, 0)->unsupported.call.ptr, "frobnicate"));
    trace_finish(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_kernel_runs),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_launch_checks),
        cmocka_unit_test(test_out_of_bounds),
        cmocka_unit_test(test_use_after_free),
        cmocka_unit_test(test_a_kernel_that_nobody_releases),
        cmocka_unit_test(test_kernels_that_spin_are_released),
        cmocka_unit_test(test_the_host_may_spin),
        cmocka_unit_test(test_a_kernel_that_pends_at_exit),
        cmocka_unit_test(test_an_unknown_opcode_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
