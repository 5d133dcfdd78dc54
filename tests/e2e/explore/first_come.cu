/* Results are taken as their events come: what is launched for each is the same item with other memory. */
#include <cstdio>
#include <cuda_runtime.h>

__global__ void set(int *d, int value) { *d = value; }
__global__ void add(int *sum, const int *d) { *sum = *sum * 3 + *d; }

int main() {
    int *d, result = 0;
    cudaStream_t streams[3];
    cudaEvent_t done[2];
    cudaMalloc(&d, 3 * sizeof *d);
    cudaMemset(d, 0, 3 * sizeof *d);
    for (cudaStream_t &stream : streams) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    }
    cudaDeviceSynchronize();
    for (int i = 0; i < 2; i++) {
        cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming);
        set<<<1, 1, 0, streams[i]>>>(d + i, i + 1);
        cudaEventRecord(done[i], streams[i]);
    }
    int first = cudaEventQuery(done[0]) != cudaSuccess && cudaEventQuery(done[1]) == cudaSuccess;
    cudaDeviceSynchronize();
    add<<<1, 1, 0, streams[2]>>>(d + 2, d + first);
    add<<<1, 1, 0, streams[2]>>>(d + 2, d + !first);
    cudaDeviceSynchronize();
    cudaMemcpy(&result, d + 2, sizeof result, cudaMemcpyDeviceToHost);
    std::printf("%d\n", result);
    return 0;
}
