/* A host function reads what a copy of another stream brings. FIXED: its stream waits for the copy. */
#include <cstdio>
#include <cuda_runtime.h>

constexpr int COUNT = 16;

__global__ void count_up(int *d) { d[threadIdx.x] = threadIdx.x; }

static int *out, sum;

static void CUDART_CB add_up(void *) {
    for (int i = 0; i < COUNT; i++) {
        sum += out[i];
    }
}

int main() {
    int *d;
    cudaStream_t work, report;
    cudaEvent_t copied;
    cudaMallocHost(&out, COUNT * sizeof *out);
    cudaMalloc(&d, COUNT * sizeof *d);
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&report, cudaStreamNonBlocking);
    cudaEventCreate(&copied);
    for (int i = 0; i < COUNT; i++) {
        out[i] = 0;
    }
    count_up<<<1, COUNT, 0, work>>>(d);
    cudaMemcpyAsync(out, d, COUNT * sizeof *out, cudaMemcpyDeviceToHost, work);
    cudaEventRecord(copied, work);
#ifdef FIXED
    cudaStreamWaitEvent(report, copied, 0);
#endif
    cudaLaunchHostFunc(report, add_up, nullptr);
    cudaDeviceSynchronize();
    std::printf("sum=%d\n", sum);
    return 0;
}
