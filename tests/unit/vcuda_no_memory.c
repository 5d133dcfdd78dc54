/* Every allocation of the device fails, alone and with all behind it, while a program with a race
 * runs: calls answer with an error, nothing crashes, the trace stays readable.
 *
 * A program that was told of no failure has done all that it meant to: its trace shows the race, or
 * says that something is missing. Each STEP-th allocation is tried, all of them, under both
 * schedules, with STREAMSAN_TEST_ALL set. */
#include "core/engine.h" /* first: both have a macro CHECK, and this one gives it up */

#include "vcuda_support.h"

#include "base/mem.h"
#include "ssan/compiler_abi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STEP       3
#define TOLD       3 /* exit code of a program that had a call fail */
#define MOST_TRIED 5000

/* Shared with the child. */
struct plan {
    uint64_t nth; /* 0: none fails */
    bool once;
    uint64_t counted; /* allocations of the program */
    bool told;        /* a call has failed */
    bool no_block;    /* ... that of the block which kernels then write to all the same */
};

static struct plan *plan;

static const char blob[] =
    SSAN_BLOB_MAGIC ".version 7.0\n.target sm_70\n.address_size 64\n"
                    ".visible .global .align 4 .u32 counter = 7;\n"
                    ".file 1 \"fill.cu\"\n"
                    ".visible .entry fill(.param .u64 fill_param_0, .param .u32 fill_param_1)\n{\n"
                    ".reg .b32 %r<6>; .reg .b64 %rd<4>;\n"
                    "ld.param.u64 %rd1, [fill_param_0]; ld.param.u32 %r1, [fill_param_1];\n"
                    "mov.u32 %r4, %tid.x; mul.wide.s32 %rd2, %r4, 8; add.s64 %rd3, %rd1, %rd2;\n"
                    ".loc 1 11 5\n"
                    "st.global.u32 [%rd3], %r1; ret;\n}\n";

static struct {
    int magic, version;
    const void *data;
    void *unused;
} wrapper = {0x466243b1, 1, blob, NULL};

static char fill, counter; /* stub and shadow: addresses only */

static void load(void)
{
    static char names[][8] = {"fill", "counter"};
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &fill, names[0], "fill", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, &counter, names[1], "counter", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
}

static cudaError_t launch(void *p, int value, cudaStream_t s)
{
    void *args[] = {&p, &value};
    const dim3 grid = {1, 1, 1}, block = {64, 1, 1};
    return cudaLaunchKernel(&fill, grid, block, args, 0, s);
}

static void on_run(void *data)
{
    *(int *)data = 1;
}

/* Only what a full heap may answer, and what follows from an object that could not be made. */
static bool may_be(cudaError_t error)
{
    plan->told = plan->told || (error != cudaSuccess && error != cudaErrorNotReady);
    return error == cudaSuccess || error == cudaErrorMemoryAllocation ||
           error == cudaErrorInitializationError || error == cudaErrorInvalidValue ||
           error == cudaErrorInvalidResourceHandle || error == cudaErrorNotReady ||
           error == cudaErrorInvalidDeviceFunction || error == cudaErrorInvalidSymbol ||
           (error == cudaErrorIllegalAddress && plan->no_block);
}

#define MAY(call) check_in_child(may_be(call), #call, __FILE__, __LINE__)

/* The two launches race. */
static int program(void *unused)
{
    char host[1024] = {0}, *d = NULL, *h = NULL;
    int called = 0, value = 0;
    cudaStream_t s = 0, u = 0;
    cudaEvent_t e = 0;
    if (plan->once) {
        mem_fail_once(plan->nth);
    } else {
        mem_fail_at(plan->nth);
    }
    load();
    MAY(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    MAY(cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking));
    MAY(cudaEventCreate(&e));
    MAY(cudaMalloc((void **)&d, sizeof host));
    plan->no_block = !d;
    MAY(cudaMallocHost((void **)&h, sizeof host));
    MAY(cudaMemcpyFromSymbol(&value, &counter, 4, 0, cudaMemcpyDeviceToHost));
    MAY(cudaMemcpyAsync(d, host, sizeof host, cudaMemcpyHostToDevice, s));
    MAY(cudaMemsetAsync(h, 1, 64, cudaStreamPerThread));
    MAY(cudaEventRecord(e, s));
    MAY(cudaStreamWaitEvent(u, e, 0));
    MAY(launch(d, 1, s));
    MAY(launch(d, 2, u));
    MAY(cudaLaunchHostFunc(0, on_run, &called));
    MAY(cudaStreamQuery(s));
    MAY(cudaStreamQuery(s));
    MAY(cudaDeviceSynchronize());
    MAY(cudaMemcpyAsync(h, d, sizeof host, cudaMemcpyDeviceToHost, s));
    MAY(cudaStreamSynchronize(s));
    MAY(cudaStreamDestroy(s));
    MAY(cudaFree(d));
    plan->counted = mem_count();
    mem_fail_at(0);
    MAY(cudaDeviceSynchronize());
    MAY(cudaFreeHost(h));
    return plan->told ? TOLD : 0;
}

/* The trace shows an error, or that something is missing. */
static bool is_suspicious(const struct trace *trace)
{
    const struct engine_options options = {.threads = THREADS_OBSERVED};
    struct engine *engine = engine_create(&options);
    struct ssan_error err = {0};
    size_t count;
    assert_non_null(engine);
    for (size_t i = 0; i < trace->count; i++) {
        if (engine_feed(engine, &trace->items[i], &err) != SSAN_OK) {
            fail_msg("allocation %d %s: the trace contradicts itself: %s", (int)plan->nth,
                     plan->once ? "alone" : "and all behind", err.text);
        }
    }
    assert_int_equal(engine_finish(engine, &err), SSAN_OK);
    const struct engine_totals *totals = engine_totals(engine);
    bool suspicious = !trace->whole || totals->open_operations > 0 || totals->operations == 0;
    for (size_t i = 0; i < ssan_loss_count; i++) {
        suspicious = suspicious || totals->lost[i] > 0;
    }
    const struct hazard *hazards = engine_hazards(engine, &count);
    for (size_t i = 0; i < count; i++) {
        suspicious = suspicious || hazards[i].severity == SEVERITY_ERROR;
    }
    engine_destroy(engine);
    return suspicious;
}

/* False when there are fewer allocations than `nth`. */
static bool try(const char *schedule, bool once, uint64_t nth)
{
    struct trace trace;
    *plan = (struct plan){.nth = nth, .once = once};
    const int code = device_run(schedule, program, NULL, &trace);
    if (code != 0 && code != TOLD) {
        fail_msg("%s, allocation %d %s: exit code %d", schedule, (int)nth,
                 once ? "alone" : "and all behind", code);
    }
    const bool suspicious = is_suspicious(&trace);
    if (code == 0 && !suspicious) {
        fail_msg("%s, allocation %d %s: nobody was told, and the trace is clean", schedule,
                 (int)nth, once ? "alone" : "and all behind");
    }
    trace_finish(&trace);
    return nth == 0 || plan->counted >= nth;
}

static void sweep(const char *schedule, bool once)
{
    const uint64_t step = getenv("STREAMSAN_TEST_ALL") ? 1 : STEP;
    uint64_t tried = 0;
    try(schedule, once, 0);
    assert_false(plan->told);
    for (uint64_t nth = once ? 1 : 2; try(schedule, once, nth); nth += step) {
        tried++;
        assert_true(tried < MOST_TRIED);
    }
    print_message("%s: %llu allocations failed %s, of %llu\n", schedule, (unsigned long long)tried,
                  once ? "alone" : "with all behind", (unsigned long long)plan->counted);
    assert_true(tried > 20);
}

static void test_every_allocation_may_fail(void **state)
{
    plan = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(plan != MAP_FAILED);
    sweep("lazy", false);
    sweep("eager", true);
    if (getenv("STREAMSAN_TEST_ALL")) {
        sweep("eager", false);
        sweep("lazy", true);
    }
    munmap(plan, sizeof *plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
