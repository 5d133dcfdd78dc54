/* 200 streams, each with memory of its own; the last two write one number besides, and the later one in the program's own order
 * should win. */
#include <cstdio>
#include <cuda_runtime.h>

#define STREAMS 200

__global__ void fill(int *d, int at, int value) { d[at] = value; }

int main() {
    int host[STREAMS + 1];
    int *d;
    cudaStream_t streams[STREAMS];
    cudaMalloc(&d, sizeof host);
    for (int i = 0; i < STREAMS; i++) {
        cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
        cudaMemsetAsync(d + i, 0, sizeof *d, streams[i]);
        fill<<<1, 1, 0, streams[i]>>>(d, i, i);
    }
    fill<<<1, 1, 0, streams[STREAMS - 2]>>>(d, STREAMS, 1);
    fill<<<1, 1, 0, streams[STREAMS - 1]>>>(d, STREAMS, 2);
    cudaDeviceSynchronize();
    cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("last=%d\n", host[STREAMS]);
    return 0;
}
