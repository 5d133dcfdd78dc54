/* The N-th allocation fails, for every N: calls answer with an error, nothing crashes, the trace
 * stays readable. */
#include "vcuda_support.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static void on_run(void *data)
{
    *(int *)data = 1;
}

/* Only what a full heap may answer, and what follows from an object that could not be made. */
static bool may_be(cudaError_t error)
{
    return error == cudaSuccess || error == cudaErrorMemoryAllocation ||
           error == cudaErrorInitializationError || error == cudaErrorInvalidValue ||
           error == cudaErrorInvalidResourceHandle || error == cudaErrorNotReady;
}

#define MAY(call) check_in_child(may_be(call), #call, __FILE__, __LINE__)

static int program(void *nth)
{
    char host[64] = {0}, *d = NULL, *h = NULL;
    int called = 0;
    cudaStream_t s = 0;
    cudaEvent_t e = 0;
    mem_fail_at(*(const uint64_t *)nth);
    MAY(cudaStreamCreate(&s));
    MAY(cudaEventCreate(&e));
    MAY(cudaMalloc((void **)&d, 64));
    MAY(cudaMallocHost((void **)&h, 64));
    MAY(cudaMemcpyAsync(d, host, 64, cudaMemcpyHostToDevice, s));
    MAY(cudaMemsetAsync(d, 1, 64, cudaStreamPerThread));
    MAY(cudaEventRecord(e, s));
    MAY(cudaStreamWaitEvent(0, e, 0));
    MAY(cudaLaunchHostFunc(0, on_run, &called));
    MAY(cudaMemcpy(d, host, 64, cudaMemcpyHostToDevice));
    MAY(cudaStreamQuery(s));
    MAY(cudaStreamQuery(s));
    MAY(cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s));
    MAY(cudaStreamSynchronize(0));
    MAY(cudaStreamDestroy(s));
    MAY(cudaFree(d));
    mem_fail_at(0);
    MAY(cudaDeviceSynchronize());
    MAY(cudaFreeHost(h));
    return 0;
}

static void test_every_allocation_may_fail(void **state)
{
    const char *schedules[] = {"lazy", "eager"};
    uint64_t most = 110;
    for (uint64_t nth = 1; nth <= most; nth++) {
        if (device_run(schedules[nth % 2], program, &nth, NULL) != 0) {
            fail_msg("allocation %d", (int)nth);
        }
    }
    for (uint64_t nth = 1; nth <= most; nth += 3) {
        struct trace trace;
        if (device_run("lazy", program, &nth, &trace) != 0 || (trace.count && !trace.whole)) {
            fail_msg("allocation %d, with a trace", (int)nth);
        }
        trace_finish(&trace);
    }
    print_message("allocations 1 to %d failed\n", (int)most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
