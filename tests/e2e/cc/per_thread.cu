/* Built with --default-stream per-thread: stream 0 of launches and copies is the thread's own, and
 * blocks on nothing. */
#include <cuda_runtime.h>

#include <cstdio>
#include <thread>

__global__ void fill(int *out, int value)
{
    out[threadIdx.x] = value;
}

static int work(int value)
{
    int *device = nullptr, host[32], bad = 0;
    if (cudaMalloc(&device, sizeof host) != cudaSuccess) {
        return 1;
    }
    fill<<<1, 32>>>(device, value);
    if (cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, 0) != cudaSuccess ||
        cudaStreamSynchronize(0) != cudaSuccess ||
        cudaStreamQuery(cudaStreamPerThread) != cudaSuccess) {
        return 1;
    }
    for (int word : host) {
        bad += word != value;
    }
    return bad;
}

int main()
{
    int bad = 0;
    std::thread other([&bad] { bad = work(7); });
    other.join();
    bad += work(8);
    std::printf("elements=%d mismatches=%d\n", 64, bad);
    return bad ? 2 : 0;
}
