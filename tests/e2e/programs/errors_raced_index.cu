// BUILD:
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'indices' [0,16384) first=copy then=copy
// SAYS: also incomplete: a device fault ended the run early
// RUN: --schedule eager
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'indices' [0,16384) first=copy then=copy
// BUILD: -DMEMSET
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'indices' [0,16384) first=memset then=copy
// SAYS: also incomplete: a device fault ended the run early
// BUILD: -DRIGHT
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
/* Numbers of elements are copied on before they are there, and a kernel that uses them faults: what
 * was to write them never runs, and is the reason. */
#include "common.h"

static __global__ void gather(const int *indices, const int *from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[indices[i]];
}

int main(void)
{
    cudaStream_t producer = new_stream(cudaStreamNonBlocking),
                 consumer = new_stream(cudaStreamNonBlocking);
    int *indices = new_device(BYTES), *mine = new_device(BYTES), *from = new_device(BYTES),
        *to = new_device(BYTES);
    int *zeros = new_pinned(BYTES);
    cudaEvent_t there;
    CK(cudaEventCreateWithFlags(&there, cudaEventDisableTiming));
    for (int i = 0; i < COUNT; i++) {
        zeros[i] = 0;
    }
    CK(cudaMemset(indices, 0x3f, BYTES));
    CK(cudaDeviceSynchronize());
#ifdef MEMSET
    CK(cudaMemsetAsync(indices, 0, BYTES, producer));
#else
    CK(cudaMemcpyAsync(indices, zeros, BYTES, cudaMemcpyHostToDevice, producer));
#endif
    CK(cudaEventRecord(there, producer));
#ifdef RIGHT
    CK(cudaStreamWaitEvent(consumer, there, 0));
#endif
    CK(cudaMemcpyAsync(mine, indices, BYTES, cudaMemcpyDeviceToDevice, consumer));
    gather<<<GRID, 256, 0, consumer>>>(mine, from, to);
    (void)cudaStreamSynchronize(consumer);
    (void)cudaDeviceSynchronize();
    (void)cudaGetLastError();
    return 0;
}
