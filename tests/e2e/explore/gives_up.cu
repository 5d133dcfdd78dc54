/* A loop that gives up after some polls and then does what was to wait (-DTIMES: so many; -DWORK: it works between them).
 * Runs in which the last query finds the event done submit the same items, and have no race. */
#include <cstdio>
#include <cuda_runtime.h>

#ifndef TIMES
#define TIMES 3
#endif

__global__ void set(int *d, int value) { *d = value; }
__global__ void scale(int *d) { *d *= 5; }
__global__ void count(int *d) { *d += 1; }
__global__ void collect(int *sum, const int *d) { *sum = *sum * 3 + *d; }

int main() {
    int *d, result[2], polls = 0;
    cudaStream_t a, b;
    cudaEvent_t done;
    cudaMalloc(&d, 2 * sizeof *d);
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    set<<<1, 1, 0, a>>>(d, 1);
    set<<<1, 1, 0, a>>>(d + 1, 1);
    cudaDeviceSynchronize();
    scale<<<1, 1, 0, a>>>(d);
    cudaEventRecord(done, a);
    while (cudaEventQuery(done) == cudaErrorNotReady && polls < TIMES) {
#ifdef WORK
        count<<<1, 1, 0, b>>>(d + 1);
#endif
        polls++;
    }
#ifdef FIXED
    cudaStreamWaitEvent(b, done, 0);
#endif
    collect<<<1, 1, 0, b>>>(d + 1, d);
    cudaDeviceSynchronize();
    cudaMemcpy(result, d, sizeof result, cudaMemcpyDeviceToHost);
    std::printf("%d %d\n", result[0], (result[1] - 5) % 3);
    return 0;
}
