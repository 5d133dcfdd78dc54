// VERDICT: errors
// EXIT: 66
// STDOUT: seen 5
// FINDING: error SSAN-RAW 'flag' [0,4) first=kernel:raise then=host-read
// FINDING: folded error SSAN-RAW 'payload' [0,4) first=kernel:raise then=host-read
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// STDOUT: seen 5
// FINDING: error SSAN-RAW 'flag' [0,4) first=kernel:raise then=host-read
// FINDING: folded error SSAN-RAW 'payload' [0,4) first=kernel:raise then=host-read
/* The host spins on a mapped flag: it must see it (no hang), and what it then reads is told. */
#include "common.h"

static __global__ void raise(volatile int *flag, int *payload)
{
    *payload = 5;
    __threadfence_system();
    *flag = 1;
}

int main(void)
{
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    int *flag, *payload = new_pinned(4), *flag_there;
    CK(cudaHostAlloc((void **)&flag, 4, cudaHostAllocMapped));
    CK(cudaHostGetDevicePointer((void **)&flag_there, flag, 0));
    *flag = 0;
    raise<<<1, 1, 0, s>>>(flag_there, payload);
    while (!*(volatile int *)flag) {
        (void)cudaStreamQuery(0);
    }
    SSAN_HOST_READ(flag, 4);
    SSAN_HOST_READ(payload, 4);
    printf("seen %d\n", *payload);
    CK(cudaDeviceSynchronize());
    return 0;
}
