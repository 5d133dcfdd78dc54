// Two host threads use the default stream, which orders them; their per-thread streams would not. The hand-over between the
// threads is announced.
// ASSUME per-thread-default-stream: SSAN-RAW twice
#include "common.cuh"
#include <pthread.h>

static int *a;

static void *second(void *none)
{
    SSAN_HAPPENS_AFTER(&a);
    twice<<<8, 256>>>(a);
    CK(cudaStreamSynchronize(0));        // @redundant
    return none;
}

int main(void)
{
    pthread_t thread;
    CK(cudaMalloc((void **)&a, BYTES));
    fill<<<8, 256>>>(a);
    SSAN_HAPPENS_BEFORE(&a);
    pthread_create(&thread, NULL, second, NULL);
    pthread_join(thread, NULL);
    printf("done\n");
    return 0;
}
