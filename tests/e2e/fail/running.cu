/* running leaves|joins: a call fails while a kernel runs in another thread's join, with work behind it. */
#include <cuda_runtime.h>
#include <cstring>
#include <pthread.h>

static cudaStream_t stream;

__global__ void take_long(volatile int *begun, int *sum, int rounds)
{
    *begun = 1;
    for (int i = 0; i < rounds; i++) {
        *sum += i;
    }
}

static void *join(void *)
{
    cudaStreamSynchronize(stream);
    return NULL;
}

int main(int, char **argv)
{
    pthread_t thread;
    int *begun, *sum;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaHostAlloc(&begun, sizeof *begun, cudaHostAllocMapped);
    cudaMalloc(&sum, sizeof *sum);
    *begun = 0;
    take_long<<<1, 1, 0, stream>>>(begun, sum, 100000);
    cudaMemsetAsync(sum, 0, sizeof *sum, stream);
    pthread_create(&thread, NULL, join, NULL);
    while (!*(volatile int *)begun) {
    }
    int failed = cudaSetDevice(0) == cudaErrorIllegalAddress;
    if (strcmp(argv[1], "joins") == 0) {
        pthread_join(thread, NULL);
    }
    return failed ? 3 : 1;
}
