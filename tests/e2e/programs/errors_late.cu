// BUILD:
// VERDICT: incomplete
// EXIT: 67
// FINDING: warning SSAN-LATE-ERROR first=kernel:stray
// RUN: --schedule lazy
// FINDING: warning SSAN-LATE-ERROR first=kernel:stray then=failed:cudaStreamSynchronize
// BUILD: -DASKED
// VERDICT: incomplete
// EXIT: 67
// BUILD: -DSPELLED
// VERDICT: incomplete
// EXIT: 67
// BUILD: -DSTOPPED
// VERDICT: incomplete
// EXIT: 67
// BUILD: -DSYNTAX_ONLY
// VERDICT: incomplete
// EXIT: 67
// BUILD: -DRIGHT
// VERDICT: clean
// EXIT: 0
// RUN: --fail cudaLaunchKernel=cudaErrorIllegalAddress
// VERDICT: clean
// EXIT: 0
// FINDING: warning SSAN-LATE-ERROR first=kernel:stray
/* A kernel leaves its buffer, a join returns that, and the program goes on; or it asks, spells the error, cleans up and stops, or
 * does nothing but launch in between, which tells it nothing. */
#include "common.h"

static __global__ void stray(int *out)
{
#ifdef RIGHT
    out[threadIdx.x] = 1;
#else
    out[threadIdx.x << 22] = 1;
#endif
}

int main(void)
{
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    int *data = new_device(BYTES), *host = new_pinned(BYTES);
    stray<<<1, 256, 0, s>>>(data);
#ifdef SYNTAX_ONLY
    fill<<<GRID, 256, 0, s>>>(data, 1);
    fill<<<GRID, 256, 0, s>>>(data, 2);
#endif
    cudaError_t error = cudaStreamSynchronize(s);
#ifdef ASKED
    error = cudaPeekAtLastError();
#elif defined SPELLED
    puts(cudaGetErrorString(error));
#endif
#if !defined STOPPED && !defined SYNTAX_ONLY
    fill<<<GRID, 256, 0, s>>>(data, 3);
    cudaMemcpyAsync(host, data, BYTES, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
#endif
    (void)error;
    cudaStreamDestroy(s);
    cudaFreeHost(host);
    cudaFree(data);
    return 0;
}
