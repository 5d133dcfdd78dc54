/* The host releases a kernel behind its launch: it can't be done before, which no result may be taken from. */
#include <cstdio>
#include <cuda_runtime.h>
#include <streamsan/annotate.h>

__global__ void wait(volatile int *flag, int *d) {
    while (*flag == 0) {
    }
    *d = 7;
}

int main() {
    int *flag;
    cudaStream_t stream;
    cudaHostAlloc(&flag, 64, cudaHostAllocMapped);
    flag[0] = flag[8] = 0;
    SSAN_IGNORE(flag, 64);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    wait<<<1, 1, 0, stream>>>(flag, flag + 8);
    *static_cast<volatile int *>(flag) = 1;
    cudaStreamSynchronize(stream);
    std::printf("%d\n", flag[8]);
    return 0;
}
