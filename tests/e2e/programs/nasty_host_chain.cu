// BUILD:
// VERDICT: clean
// EXIT: 0
// STDOUT: total 30
// RUN: --threads strict
// VERDICT: clean
// EXIT: 0
// STDOUT: total 30
// BUILD: -DRACY
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'results' [16,20) first=copy then=host-read
/* Host functions post a semaphore that the host waits on; the racy host counts one post short and
 * reads the last result as well. */
#include "common.h"

#include <semaphore.h>

enum { STEPS = 5 };

static sem_t posted;

static void post(void *)
{
    SSAN_HAPPENS_BEFORE(&posted);
    sem_post(&posted);
}

static __global__ void step(int *out, int value)
{
    *out = value * 2;
}

int main(void)
{
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    int *d = new_device(BYTES), *results = new_pinned(STEPS * sizeof(int)), total = 0;
    sem_init(&posted, 0, 0);
    for (int i = 0; i < STEPS; i++) {
        step<<<1, 1, 0, s>>>(d, i + 1);
        CK(cudaMemcpyAsync(&results[i], d, sizeof(int), cudaMemcpyDeviceToHost, s));
#ifdef RACY
        if (i < STEPS - 1)
#endif
            CK(cudaLaunchHostFunc(s, post, NULL));
    }
#ifdef RACY
    for (int i = 0; i < STEPS - 1; i++) {
#else
    for (int i = 0; i < STEPS; i++) {
#endif
        sem_wait(&posted);
        SSAN_HAPPENS_AFTER(&posted);
    }
    for (int i = 0; i < STEPS; i++) {
        SSAN_HOST_READ(&results[i], sizeof(int));
        total += results[i];
    }
    printf("total %d\n", total);
    CK(cudaStreamSynchronize(s));
    return 0;
}
