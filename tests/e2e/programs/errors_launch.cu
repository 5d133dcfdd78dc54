// BUILD:
// VERDICT: errors
// EXIT: 66
// STDOUT: 1
// FINDING: error SSAN-UNCHECKED-LAUNCH then=failed:fill
// RUN: --schedule lazy
// FINDING: error SSAN-UNCHECKED-LAUNCH then=failed:fill
// BUILD: -DASKED
// VERDICT: clean
// EXIT: 0
// RUN: --fail cudaLaunchKernel:2=cudaErrorLaunchOutOfResources
// VERDICT: clean
// EXIT: 0
// BUILD: -DPEEKED
// VERDICT: clean
// EXIT: 0
// BUILD: -DASKED_LATE
// VERDICT: clean
// EXIT: 0
// MAY: advice SSAN-UNCHECKED-LAUNCH
// SAYS: 1 advice
// BUILD: -DRETURNED
// VERDICT: clean
// EXIT: 0
// BUILD: -DOTHER_THREAD
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-UNCHECKED-LAUNCH then=failed:fill
// BUILD: -DABORTED
// VERDICT: incomplete
// EXIT: 67
// BUILD: -DHOST_FUNCTION
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-UNCHECKED-LAUNCH
/* A launch that can't be made, and who asks for its error: nobody, its thread behind it, behind the next join, another thread,
 * the caller of cudaLaunchKernel; a program that is aborted may have been about to; a launch in a host function fails, too. */
#include "common.h"

#include <stdlib.h>
#include <thread>

static void in_host_function(void *data)
{
    fill<<<GRID, 256>>>((int *)data, 3);
}

int main(void)
{
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    int *data = new_device(BYTES), *host = new_pinned(BYTES);
    fill<<<GRID, 256, 0, s>>>(data, 1);
    CK(cudaGetLastError());
#ifdef HOST_FUNCTION
    CK(cudaLaunchHostFunc(s, in_host_function, data));
#elif defined RETURNED
    int value = 2;
    void *args[] = {&data, &value};
    (void)in_host_function;
    if (cudaLaunchKernel((const void *)fill, dim3(GRID), dim3(2048), args, 0, s) == cudaSuccess) {
        return 1;
    }
#else
    (void)in_host_function;
    fill<<<GRID, 2048, 0, s>>>(data, 2);
#endif
#ifdef ASKED
    if (cudaGetLastError() == cudaSuccess) {
        return 1;
    }
#elif defined PEEKED
    if (cudaPeekAtLastError() == cudaSuccess) {
        return 1;
    }
#elif defined OTHER_THREAD
    std::thread([] { (void)cudaGetLastError(); }).join();
#elif defined ABORTED
    abort();
#endif
    CK(cudaMemcpyAsync(host, data, BYTES, cudaMemcpyDeviceToHost, s));
    CK(cudaStreamSynchronize(s));
#ifdef ASKED_LATE
    if (cudaGetLastError() == cudaSuccess) {
        return 1;
    }
#endif
    printf("%d\n", host[0]);
    return 0;
}
