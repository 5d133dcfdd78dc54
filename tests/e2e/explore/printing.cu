/* Three kernels print and touch nothing else: in each order the output is another one. */
#include <cstdio>
#include <cuda_runtime.h>

__global__ void say(int value) { printf("kernel %d\n", value); }

int main() {
    cudaStream_t streams[3];
    for (cudaStream_t &stream : streams) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    }
    for (int i = 0; i < 3; i++) {
        say<<<1, 1, 0, streams[i]>>>(i);
    }
    for (cudaStream_t &stream : streams) {
        cudaStreamSynchronize(stream);
    }
    return 0;
}
