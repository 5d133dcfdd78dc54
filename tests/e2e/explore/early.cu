/* The host looks at results before it waits for them: wrong where the third copy alone is done by
 * then. With an argument there are more places to try than are tried, and nothing is wrong. */
#include <cstdio>
#include <cuda_runtime.h>

#define COPIES 16

int main(int argc, char **)
{
    int copies = argc > 1 ? COPIES : 4;
    int *cells, *host, seen = 0;
    bool third = false;
    cudaStream_t streams[COPIES];
    cudaMalloc(&cells, COPIES * sizeof *cells);
    cudaMallocHost(&host, COPIES * sizeof *host);
    cudaMemset(cells, 1, COPIES * sizeof *cells);
    cudaDeviceSynchronize();
    for (int i = 0; i < copies; i++) {
        host[i] = 0;
        cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
    }
    for (int i = 0; i < copies; i++) {
        cudaMemcpyAsync(host + i, cells, sizeof *host, cudaMemcpyDeviceToHost, streams[i]);
        seen += host[i] != 0;
        third = third || (i == 2 && host[i] != 0 && seen == 1);
    }
    cudaDeviceSynchronize();
    std::printf("%s\n", third && argc == 1 ? "wrong" : "right");
    return 0;
}
