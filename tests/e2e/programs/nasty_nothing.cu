// BUILD:
// VERDICT: clean
// EXIT: 0
// STDOUT: 9 1 9 21 1
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// STDOUT: 9 1 9 21 1
// BUILD: -DSTALE
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,16384) first=kernel:fill then=kernel:take nearest=recorded-early
// FINDING: error SSAN-UNCHECKED-LAUNCH then=failed:big
/* Calls that fail, and copies of no bytes, enqueue nothing: they neither race nor order. */
#include "common.h"

static __global__ void big(int *out)
{
    __shared__ int tile[1024];
    tile[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    cudaEvent_t ready = new_event();
    int *data = new_device(BYTES), *out = new_device(BYTES), *host = new_pinned(BYTES);
    int codes[4];
    fill<<<GRID, 256, 0, a>>>(data, 1);
    big<<<1, 2048, 0, b>>>(data);
    codes[0] = cudaGetLastError();
    big<<<1, 256, 1 << 30, b>>>(data);
    codes[1] = cudaGetLastError();
    fill<<<0, 256, 0, b>>>(data, 3);
    codes[2] = cudaGetLastError();
    codes[3] = cudaMemcpyAsync(host, data, BYTES, (cudaMemcpyKind)77, b);
    CK(cudaMemcpyAsync(host, data, 0, cudaMemcpyDeviceToHost, b));
    CK(cudaMemsetAsync(data, 1, 0, b));
    CK(cudaMemcpy2DAsync(host, 64, data, 64, 32, 0, cudaMemcpyDeviceToHost, b));
    CK(cudaEventRecord(ready, a));
#ifdef STALE
    fill<<<GRID, 256, 0, a>>>(data, 2);
    big<<<1, 2048, 0, a>>>(data);
#endif
    CK(cudaStreamWaitEvent(b, ready, 0));
    take<<<GRID, 256, 0, b>>>(data, out);
    cudaStreamSynchronize(a);
    CK(cudaStreamSynchronize(b));
    printf("%d %d %d %d %d\n", codes[0], codes[1], codes[2], codes[3],
           cudaMemcpy(NULL, data, 4, cudaMemcpyDeviceToHost));
    return 0;
}
